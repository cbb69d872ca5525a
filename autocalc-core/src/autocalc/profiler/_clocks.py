# SPDX-License-Identifier: MIT
"""The clocks of kernel sets: what threads wait, and what phases of kernels take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autocalc._dispatch._plugins import registry
from autocalc._dispatch._select import Selection
from autocalc._kernels.kernel_set import PhaseClock, PoolClock

#: What a `PhaseClock` says of a call.
Phases = tuple[int, Mapping[str, int]]


def no_phases() -> None:
    """Stand for a clock that knows of no phases."""


class Clocks:
    """The clocks of the sets that run, each made when it is first needed.

    Attributes
    ----------
    first
        That of the first usable set which has one, for all sets without; or None.
    """

    def __init__(self, base: Selection) -> None:
        self._made: dict[Callable[[], PoolClock], PoolClock] = {}
        self._runs = False
        self.first: PoolClock | None = None
        for kernel_set, _ in base.order():
            make = kernel_set.pool_clock
            if make is not None and registry().kernels(kernel_set.name):
                self.first = self._clock(make)
                break

    def measure(self, on: bool) -> None:
        """Measure from now on, or no longer."""
        self._runs = on
        for clock in self._made.values():
            clock.measure(on)

    def waited(self, name: str = "") -> Callable[[], int]:
        """Return what tells how long threads waited in kernels of the set `name`."""
        clock = self._of(name)
        return int if clock is None else clock.waited

    def phases(self, name: str = "") -> Callable[[], Phases | None]:
        """Return what tells the phases of kernels of the set `name`."""
        clock = self._of(name)
        return clock.phases if isinstance(clock, PhaseClock) else no_phases

    def _of(self, name: str) -> PoolClock | None:
        kernel_set = registry().sets.get(name)
        make = None if kernel_set is None else kernel_set.pool_clock
        return self.first if make is None else self._clock(make)

    def _clock(self, make: Callable[[], PoolClock]) -> PoolClock:
        if make not in self._made:
            self._made[make] = make()
            if self._runs:
                self._made[make].measure(True)
        return self._made[make]


def summed(many: dict[str, int], one: Mapping[str, int]) -> dict[str, int]:
    """Add what phases took of one call to that of others, and return these."""
    for name, nanoseconds in one.items():
        many[name] = many.get(name, 0) + nanoseconds
    return many


def shares(phases: Mapping[str, int], worked: int) -> dict[str, float]:
    """Return the share of each phase in what all threads worked, in the same order."""
    whole = max(worked, sum(phases.values()))
    return {name: taken / whole for name, taken in phases.items()} if whole else {}


def words(phases: Mapping[str, Any]) -> str:
    """Return shares for a reader: ``pack 3%, compute 90%``."""
    return ", ".join(f"{name} {_percent(share)}" for name, share in phases.items())


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"
