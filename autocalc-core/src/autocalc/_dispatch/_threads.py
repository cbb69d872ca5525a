# SPDX-License-Identifier: MIT
"""One thread budget for every kernel set, BLAS library and data worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autocalc._config import settings
from autocalc._dispatch._cpu import usable_cores
from autocalc.errors import ArgumentError

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


def set_num_threads(count: int) -> None:
    """Set the thread budget of all kernel sets.

    Parameters
    ----------
    count
        1 or more.

    Raises
    ------
    ArgumentError
        If `count` is not a positive integer.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_num_threads(2)
    >>> ac.get_num_threads()
    2
    """
    if not _is_count(count):
        message = f"set_num_threads: `count` is {count!r}; it must be 1 or more."
        raise ArgumentError(message)
    global _budget
    _budget = count
    _tell_loaded_sets(count)


def _is_count(value: object) -> bool:
    """Return whether `value` is a whole number above 0, and not True."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _tell_loaded_sets(count: int) -> None:
    from autocalc._dispatch._plugins import registry

    for kernel_set in registry().loaded_sets():
        if kernel_set.set_num_threads is not None:
            kernel_set.set_num_threads(count)


@contextmanager
def serial() -> Iterator[None]:
    """Run kernels on one thread within the ``with`` block.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.serial():
    ...     ac.get_num_threads()
    1
    """
    global _budget
    before = _budget
    set_num_threads(1)
    try:
        yield
    finally:
        _budget = before
        _tell_loaded_sets(get_num_threads())
