# SPDX-License-Identifier: MIT
"""Which kernels run: choose them, see them, and learn why.

`use` chooses, `explain` tells why a call runs where it does, `show` lists what is
installed, `count` counts what ran.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc._dispatch._choice import (
    are_deterministic_algorithms_enabled,
    available,
    count,
    reload,
    use,
    use_deterministic_algorithms,
)

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name in __all__:  # the answers' classes take 5 ms of `import autocalc` to make
        from autocalc._dispatch import _explain

        return getattr(_explain, name)
    message = f"module 'autocalc.kernels' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
