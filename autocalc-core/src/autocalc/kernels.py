# SPDX-License-Identifier: MIT
"""Which kernels run: choose them, see them, and learn why.

`use` chooses kernel sets, `explain` gives the reason for a choice, `show` lists
installed sets, `count` counts calls, `falls` lists calls that no package took.  `lock`
keeps which kernels ran, and `use_lock` runs the same again.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from autocalc._dispatch.plugins.fallbacks import Fall, falls
from autocalc._dispatch.selection.choice import (
    are_deterministic_algorithms_enabled,
    available,
    count,
    get_deterministic_debug_mode,
    is_deterministic_algorithms_warn_only_enabled,
    reload,
    set_deterministic_debug_mode,
    use,
    use_deterministic_algorithms,
)

if TYPE_CHECKING:
    from autocalc._compile._explained import explain
    from autocalc._dispatch.explain.explain import Explanation, Report, show
    from autocalc._dispatch.explain.explain_calls import CallsExplanation, KernelUse
    from autocalc._dispatch.locks.lock import Lock, LockedSet, lock, use_lock

__all__ = [
    "CallsExplanation",
    "Explanation",
    "Fall",
    "KernelUse",
    "Lock",
    "LockedSet",
    "Report",
    "are_deterministic_algorithms_enabled",
    "available",
    "count",
    "explain",
    "falls",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "lock",
    "reload",
    "set_deterministic_debug_mode",
    "show",
    "use",
    "use_deterministic_algorithms",
    "use_lock",
]

#: Imported when they are first used: the answers' classes take 5 ms to make.
_LATE = {
    "autocalc._dispatch.explain.explain": ("Explanation", "Report", "show"),
    "autocalc._dispatch.explain.explain_calls": ("CallsExplanation", "KernelUse"),
    "autocalc._dispatch.locks.lock": ("Lock", "LockedSet", "lock", "use_lock"),
    "autocalc._compile._explained": ("explain",),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATE.items():
        if name in names:
            return getattr(_import_module(module), name)
    raise AttributeError(f"module 'autocalc.kernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
