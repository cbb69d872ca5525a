# SPDX-License-Identifier: MIT
"""Rows of tables: times of kernels, operators or modules, and shares of the peak."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from autocalc.profiler._account import Account, Key, Sums
from autocalc.profiler._clocks import shares, summed
from autocalc.profiler._peaks import Peaks

#: The ways to group calls.
GROUPS = ("kernel", "operator", "module")

#: The names for Python code without a kernel, and for calls outside of modules.
NO_KERNEL, OUTSIDE = "(no kernel)", "(outside of modules)"


@dataclass(slots=True)
class Row:
    """One row of a table, with the sums over all steps.

    Attributes
    ----------
    name, chosen
        The name of the row, and the kernel sets that ran its kernels.
    calls
        The number of kernel calls.
    total, self_time, python
        Times in seconds.  For a kernel, `total` includes the kernels that it calls; for
        an operator, it includes the Python code around its kernels; for a module, it
        also includes the modules inside.  `self_time` is the time of the row's own
        kernels, and `python` is the time of the Python code before these kernels.
    share
        The sum of `self_time` and `python` as a share of the time of all steps; the
        shares of all rows add up to 1.
    gflops, gbs, intensity
        The operations per second (in 10^9), the bytes per second (in 10^9), and the
        operations per byte while the kernels of the row ran.  They are computed from
        the kernels' specs.
    roof
        The share of this machine's peak performance that was reached; None if the peaks
        were not measured.
    waiting
        The share of time in which threads waited for other threads of the same kernel;
        None if it is not known.
    phases
        The shares of the working time that the threads spent in each phase, by name:
        ``"pack"``, ``"compute"`` and ``"epilogue"``.  They add up to less than 1 if
        there are other phases.  Empty if the kernels do not report phases.
    bound
        The limit of the kernels: ``"memory"`` or ``"compute"``; "" if it is not known.
    saved
        The seconds that would be saved at the peak performance; None if the peaks were
        not measured.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"), ac.profiler.profile() as prof:
    ...     for _ in range(3):
    ...         y = ac.ones(64, 64) @ ac.ones(64, 64)
    ...         prof.step()
    >>> row = next(row for row in prof.table("kernel").rows if row.name == "gemm")
    >>> row.chosen, row.calls
    ('reference', 2)
    """

    name: str
    chosen: str = ""
    calls: int = 0
    total: float = 0.0
    self_time: float = 0.0
    python: float = 0.0
    share: float = 0.0
    gflops: float = 0.0
    gbs: float = 0.0
    intensity: float = 0.0
    roof: float | None = None
    bound: str = ""
    waiting: float | None = None
    saved: float | None = None
    phases: dict[str, float] = field(default_factory=dict)


class _Group:
    """The sums of times and the work of a row."""

    def __init__(self, name: str) -> None:
        self.row = Row(name)
        self.sets: dict[str, int] = {}
        self.flops = self.nbytes = self.at_roof = self.moving = 0.0
        self.waited = self.worked = 0
        self.phases: dict[str, int] = {}

    def add(self, key: Key, sums: Sums, peaks: Peaks | None) -> None:
        row, kernel = self.row, key.kernel
        row.calls += sums.calls
        row.self_time += sums.own / 1e9
        row.python += sums.python / 1e9
        self.waited += sums.waited
        self.worked += sums.worked
        summed(self.phases, sums.phases)
        if kernel is None:
            return
        self.sets[kernel.chosen] = self.sets.get(kernel.chosen, 0) + sums.own
        flops, nbytes = kernel.work
        self.flops += flops * sums.calls
        self.nbytes += nbytes * sums.calls
        if peaks is not None:
            seconds = sums.calls * peaks.seconds(flops, nbytes, kernel.dtype)
            self.at_roof += seconds
            if peaks.is_memory_bound(flops, nbytes, kernel.dtype):
                self.moving += seconds

    def finish(self, whole: float, peaks: Peaks | None, threads: int | None) -> Row:
        row = self.row
        if threads is not None and row.self_time:
            row.waiting = self.waited / 1e9 / (threads * row.self_time)
        row.phases = shares(self.phases, self.worked)
        row.chosen = ", ".join(sorted(self.sets, key=lambda s: -self.sets[s]))
        row.share = (row.self_time + row.python) / whole if whole else 0.0
        if row.self_time and self.nbytes:
            row.gflops = self.flops / row.self_time / 1e9
            row.gbs = self.nbytes / row.self_time / 1e9
            row.intensity = self.flops / self.nbytes
            if peaks is not None:
                row.roof = self.at_roof / row.self_time
                row.saved = max(0.0, row.self_time - self.at_roof)
                memory = self.moving > self.at_roof / 2
                row.bound = "memory" if memory else "compute"
        return row


def rows_of(account: Account, by: str, peaks: Peaks | None) -> list[Row]:
    """Return the rows of a table, those with the largest shares first."""
    names: dict[str, Callable[[Key], str]] = {
        "kernel": _kernel,
        "operator": _operator,
        "module": lambda key: key.place.label or OUTSIDE,
    }
    groups: dict[str, _Group] = {}
    for key, sums in account.sums.items():
        name = names[by](key)
        if name not in groups:
            groups[name] = _Group(name)
        groups[name].add(key, sums, peaks)
        if by == "kernel":
            groups[name].row.total += sums.total / 1e9
    whole = account.nanoseconds / 1e9
    rows = [group.finish(whole, peaks, account.threads) for group in groups.values()]
    if by == "operator":
        for row in rows:
            row.total = row.self_time + row.python
    if by == "module":
        rows = _with_totals(rows, account)
    return sorted(rows, key=lambda row: -(row.self_time + row.python))


def _kernel(key: Key) -> str:
    return NO_KERNEL if key.kernel is None else key.kernel.label


def _operator(key: Key) -> str:
    if key.kernel is None or key.site is None:
        return NO_KERNEL
    return key.site.name(key.kernel.label)


def _with_totals(rows: list[Row], account: Account) -> list[Row]:
    """Add the times of inner modules; a module may have no time of its own."""
    found = {row.name: row for row in rows}
    for key, sums in account.sums.items():
        names = {place.label for place in key.place.path()} or {OUTSIDE}
        for name in names:
            row = found.setdefault(name, Row(name))
            row.total += (sums.own + sums.python) / 1e9
    return list(found.values())


def totals(rows: Iterable[Row]) -> tuple[float, float]:
    """Return the total seconds of kernels and of Python."""
    rows = list(rows)
    return sum(row.self_time for row in rows), sum(row.python for row in rows)
