# SPDX-License-Identifier: MIT
"""How many threads kernel sets, BLAS libraries and data workers may use."""

from __future__ import annotations

from autocalc._config import settings
from autocalc._dispatch._cpu import usable_cores

_budget: int | None = None


def get_num_threads() -> int:
    """Return the thread budget.

    It is `set_num_threads`' last value, else ``AUTOCALC_NUM_THREADS``, else the number
    of cores that the process may use (CPU affinity and cgroup quota).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_num_threads() >= 1
    True
    """
    if _budget is not None:
        return _budget
    return settings().num_threads or usable_cores()


def chosen_budget() -> int | None:
    """Return `set_num_threads`' last value; None while the machine's is in force.

    It tells in no time whether the budget is still the same: the usable cores are
    asked of the system anew each time, which takes 0.1 ms.
    """
    return _budget


def choose_budget(count: int | None) -> None:
    """Put another budget in force, or with None the machine's again; tell nobody."""
    global _budget
    _budget = count
