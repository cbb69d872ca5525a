# SPDX-License-Identifier: MIT
"""The clocks of kernel sets: waiting times of threads, and phases of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import Any

from autocalc._dispatch.engine import native
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection.select import Selection
from autocalc._kernels.kernel_set import PoolClock, PoolTimes


class NoPool:
    """The clock if no set has one; it only measures the time."""

    now = staticmethod(perf_counter_ns)

    def measure(self, on: bool) -> None:
        """Do nothing, because there are no threads."""

    def between(self, begin: int, end: int) -> PoolTimes:
        """Return the begin and the end."""
        return PoolTimes(begin, end, 0, 0, {})


class Clocks:
    """The clocks of kernel sets; each is made when it is first needed.

    Attributes
    ----------
    first
        The clock for all sets without a clock of their own.  It is the clock of the
        first usable set that has one, otherwise that of the engine, or None.
    """

    def __init__(self, base: Selection) -> None:
        self._made: dict[Callable[[], PoolClock], PoolClock] = {}
        self._runs = False
        self.first: PoolClock | None = self._first_of(base)

    def _first_of(self, base: Selection) -> PoolClock | None:
        for kernel_set, _ in base.order():
            make = kernel_set.pool_clock
            if make is not None and registry().kernels(kernel_set.name):
                return self._clock(make)
        return None if native.clock is None else self._clock(engine_clock)

    def measure(self, on: bool) -> None:
        """Start or stop measuring."""
        self._runs = on
        for clock in self._made.values():
            clock.measure(on)

    def of(self, name: str = "") -> PoolClock:
        """Return the clock for kernels of the set `name`."""
        kernel_set = registry().sets.get(name)
        make = None if kernel_set is None else kernel_set.pool_clock
        return (self.first or NoPool()) if make is None else self._clock(make)

    def _clock(self, make: Callable[[], PoolClock]) -> PoolClock:
        if make not in self._made:
            self._made[make] = make()
            if self._runs:
                self._made[make].measure(True)
        return self._made[make]


def engine_clock() -> PoolClock:
    """Return the clock of core's engine, which must exist."""
    assert native.clock is not None
    return native.clock


def summed(many: dict[str, int], one: Mapping[str, int]) -> dict[str, int]:
    """Add the phases of one call to the sums in `many`, and return these."""
    for name, nanoseconds in one.items():
        many[name] = many.get(name, 0) + nanoseconds
    return many


def rest(phases: Mapping[str, int], part: Mapping[str, int]) -> Mapping[str, int]:
    """Return the phases of a call minus those of an inner call."""
    if not part:
        return phases
    left = {name: taken - part.get(name, 0) for name, taken in phases.items()}
    return {name: taken for name, taken in left.items() if taken > 0}


def shares(phases: Mapping[str, int], worked: int) -> dict[str, float]:
    """Return each phase's share of the threads' working time, in the same order."""
    whole = max(worked, sum(phases.values()))
    return {name: taken / whole for name, taken in phases.items()} if whole else {}


def words(phases: Mapping[str, Any]) -> str:
    """Return the shares as text: ``pack 3%, compute 90%``."""
    return ", ".join(f"{name} {_percent(share)}" for name, share in phases.items())


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"
