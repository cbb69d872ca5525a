# SPDX-License-Identifier: MIT
"""Time kernel calls with each kernel set, in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import click

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.select import Candidate
from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._dispatch.selection.upcast import half_of, least_work
from autocalc._kernels.benchmarks import ROWS, BenchmarkRow, arguments
from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import Meta, meta_of
from autocalc._kernels.table import TABLE
from autocalc._tensor.dtypes import DType, float32
from autocalc.cli._words import hint

#: The least seconds of a turn; shorter turns would measure the clock.
TURN = 2e-3

#: Each set gets this many turns for a row, if there is enough time.
MOST_TURNS, FEWEST_TURNS = 25, 3


class TimedRow:
    """One row of `ROWS`, ready to run with any choice of kernel sets.

    Float32 arrays can be converted to another dtype; numbers such as learning rates
    stay.
    """

    def __init__(self, row: BenchmarkRow, dtype: DType = float32) -> None:
        self.row = row
        self.dtype = dtype
        self.spec = TABLE[row.kernel]
        self.operands = [_own(x, dtype.numpy) for x in arguments(row)]
        self.run = partial(
            getattr(arrays, row.kernel), *self.operands, *row.attributes, **row.keywords
        )

    @property
    def is_of_dtype(self) -> bool:
        """Whether an operand has the requested dtype, or no dtype is requested."""
        return self.dtype is float32 or half_of(*self.operands) is not None

    @property
    def work(self) -> float:
        """The floating-point operations of the call, or the bytes that it moves."""
        metas, free = tuple(map(meta_of, self.operands)), self.row.free
        result = Meta(**free) if free else None
        work = least_work(self.spec, metas, self.row.attributes, result)
        return float(work.flops if self.row.by_products else work.bytes)

    @property
    def key(self) -> DispatchKey:
        """The key by which the dispatcher decides the call."""
        call = KernelCall(self.spec)
        return call.key(*self.operands, *self.row.attributes, **self.row.keywords)

    def sets(self) -> list[str]:
        """Return the sets that support the call, ordered by rank."""
        able = [offer for offer in self._offers() if offer.refusal is None]
        return [offer.name for offer in sorted(able, key=lambda offer: -offer.rank)]

    def refusal(self, name: str) -> str | None:
        """Return why a set does not support the call, or None if it does."""
        refusals = {offer.name: offer.refusal for offer in self._offers()}
        return refusals.get(name, "it is not among the sets in use")

    def _offers(self) -> Iterator[Candidate]:
        return current().selection.candidates(self.spec, self.key)


def _own(operand: Any, dtype: Any) -> Any:
    """Return a copy on the device of the results; keep a transposed layout."""
    if isinstance(operand, list):
        return [_own(one, dtype) for one in operand]
    if operand is None or not operand.ndim:
        return operand
    if operand.dtype != float32.numpy:
        dtype = operand.dtype
    if not operand.flags.c_contiguous:
        return arrays.cast(operand.T, dtype).T if dtype != operand.dtype else operand
    return arrays.cast(operand, dtype)


def seconds_of(call: TimedRow, sets: Sequence[str], budget: float) -> dict[str, float]:
    """Return the median seconds of a call with each set, in turns.

    Turns alternate, so that another program that runs for a while slows all sets
    equally.
    """
    turns = {name: _turn(call, name) for name in sets}
    times: dict[str, list[float]] = {name: [turn()] for name, turn in turns.items()}
    end = perf_counter() + budget
    for done in range(1, MOST_TURNS):
        if done >= FEWEST_TURNS and perf_counter() > end:
            break
        for name, turn in turns.items():
            times[name].append(turn())
    return {name: median(values) for name, values in times.items()}


def _turn(call: TimedRow, name: str) -> Callable[[], float]:
    """Return a function that runs the call for a while and returns seconds per call."""
    selection = current().selection.derive(choices=(name,))

    def seconds(repeats: int) -> float:
        token = enter(selection=selection)
        try:
            started = perf_counter()
            for _ in range(repeats):
                call.run()
            return (perf_counter() - started) / repeats
        finally:
            leave(token)

    seconds(1)  # chooses the kernel, allocates memory
    repeats = max(1, round(TURN / max(seconds(1), 1e-7)))
    return partial(seconds, repeats)


def rows_of(names: Sequence[str]) -> list[BenchmarkRow]:
    """Return the rows of these kernels, or all rows if none is named."""
    known = {row.kernel for row in ROWS.values()}
    for name in names:
        if name not in known:
            raise click.BadParameter(
                f"{name!r} is not a kernel that is timed.{hint(name, known)} The "
                f"timed kernels are: {', '.join(sorted(known))}.",
                param_hint="KERNEL",
            )
    return [row for row in ROWS.values() if not names or row.kernel in names]
