# SPDX-License-Identifier: MIT
"""Which kernels run: choose them, see them, and learn why.

`use` chooses, `explain` tells why a call runs where it does, `show` lists what is
installed, `count` counts what ran.
"""

from __future__ import annotations

from autocalc._dispatch._choice import (
    are_deterministic_algorithms_enabled,
    available,
    count,
    reload,
    use,
    use_deterministic_algorithms,
)
from autocalc._dispatch._explain import Explanation, Report, explain, show

__all__ = [
    "Explanation",
    "Report",
    "are_deterministic_algorithms_enabled",
    "available",
    "count",
    "explain",
    "reload",
    "show",
    "use",
    "use_deterministic_algorithms",
]
