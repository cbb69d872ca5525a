# SPDX-License-Identifier: MIT
"""The number of threads that kernel sets, BLAS libraries and data workers may use."""

from __future__ import annotations

import functools
import warnings

from autocalc._config import settings
from autocalc._dispatch.machine.cpu import limited_by, usable_cores
from autocalc.errors import ConfigWarning

_budget: int | None = None


def get_num_threads() -> int:
    """Return the number of threads that kernels may use.

    It is the last value of `set_num_threads`, or else that of the environment variable
    ``AUTOCALC_NUM_THREADS`` or ``OMP_NUM_THREADS``, or else the number of cores that
    the process may use (CPU affinity and cgroup quota).

    Warns
    -----
    ConfigWarning
        If the environment requests more threads than there are cores; it is issued
        once.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_num_threads() >= 1
    True
    """
    if _budget is not None:
        return _budget
    given = environments_budget()
    if given is None:
        return usable_cores()
    _warn_once(given)
    return given


def environments_budget() -> int | None:
    """Return the number of threads that the environment requests; None if none."""
    now = settings()
    return now.omp_num_threads if now.num_threads is None else now.num_threads


@functools.lru_cache(maxsize=8)
def _warn_once(count: int) -> None:
    name = "OMP" if settings().num_threads is None else "AUTOCALC"
    warn_if_over(f"{name}_NUM_THREADS={count}", count)


def warn_if_over(given: str, count: int) -> None:
    """Warn of a budget above the usable cores; `given` names its source."""
    text = over(count)
    if text:
        warnings.warn(f"{given}: {text}", ConfigWarning, stacklevel=3)


def over(count: int) -> str:
    """Return what is wrong with a budget, and a remedy; "" if nothing is wrong."""
    cores = usable_cores()
    if count <= cores:
        return ""
    many = "1 core" if cores == 1 else f"{cores} cores"
    return (
        f"{count} threads are more than the {many} {limited_by()}. They take turns "
        f"and wait for each other, which is slower. Ask for {cores}, or leave the "
        f"number out."
    )


def chosen_budget() -> int | None:
    """Return the last value of `set_num_threads`; None while the machine's applies.

    This is a fast way to see whether the budget is still the same.  Asking the system
    for the usable cores takes 0.1 ms each time.
    """
    return _budget


def choose_budget(count: int | None) -> None:
    """Set another budget without announcing it; None restores the machine's."""
    global _budget
    _budget = count
