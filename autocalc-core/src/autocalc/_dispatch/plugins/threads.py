# SPDX-License-Identifier: MIT
"""The thread budget, and its announcement to the engine and all loaded kernel sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral

from autocalc._config import MOST_THREADS
from autocalc._dispatch.engine import native
from autocalc._dispatch.machine.thread_budget import (
    choose_budget,
    chosen_budget,
    get_num_threads,
    warn_if_over,
)
from autocalc._dispatch.plugins.discovery import registry
from autocalc.errors import ArgumentError


def set_num_threads(count: int) -> None:
    """Set the number of threads that kernels may use.

    Parameters
    ----------
    count
        The number of threads, from 1 to 4096.

    Raises
    ------
    ArgumentError
        If `count` is not an integer from 1 to 4096.

    Warns
    -----
    ConfigWarning
        If `count` is larger than the number of cores that the process may use
        (CPU affinity and cgroup quota).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_num_threads(1)
    >>> ac.get_num_threads()
    1
    """
    if not _is_count(count):
        raise ArgumentError(
            f"set_num_threads: `count` is {count!r}; it must be 1 or more, up to "
            f"{MOST_THREADS}."
        )
    warn_if_over("set_num_threads", count)
    apply_budget(int(count))


def apply_budget(count: int | None) -> None:
    """Set a budget in the engine and loaded sets; None restores the machine's."""
    choose_budget(count)
    budget = get_num_threads() if count is None else count
    native.set_num_threads(budget)
    for kernel_set in registry().loaded_sets():
        if kernel_set.set_num_threads is not None:
            kernel_set.set_num_threads(budget)


def _is_count(value: object) -> bool:
    """Return whether `value` is a valid number of threads, and not True."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and 0 < value <= MOST_THREADS  # type: ignore[operator]  # an int


@contextmanager
def serial() -> Iterator[None]:
    """Run kernels on one thread in a ``with`` block.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.serial():
    ...     ac.get_num_threads()
    1
    """
    before = chosen_budget()
    apply_budget(1)
    try:
        yield
    finally:
        apply_budget(before)
