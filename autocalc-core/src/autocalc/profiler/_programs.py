# SPDX-License-Identifier: MIT
"""Run compiled programs instruction by instruction, to time each instruction.

The executor of a kernel package runs a whole program in one call.  Here each
instruction gets its own executor of the same kind.  It therefore runs in the same C
form and on the same temporary memory.  The time is read between two instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any
from weakref import WeakKeyDictionary

from autocalc._compile._bookkeeping import Bookkeeping
from autocalc._compile._origins import Origin
from autocalc._compile._replay import Replay
from autocalc._dispatch._callers import FORWARD, Site
from autocalc._dispatch.engine.native import executor as native_executor
from autocalc._kernels.kernel_set import ExecutorCall
from autocalc._kernels.spec import Array
from autocalc._program._executor import PythonExecutor
from autocalc._program._form import Instruction, meta, views_of
from autocalc._program._work import work_of
from autocalc.errors import CompileError
from autocalc.profiler._recording import Kernel, Recording, dtype, words


class TimedExecutor:
    """Runs calls one after another, and records the begin and the end of each.

    Parameters
    ----------
    recording
        The recording that receives the times.
    instructions
        The instructions, in the order of the calls.
    """

    def __init__(
        self,
        recording: Recording,
        instructions: Sequence[Instruction],
        calls: Sequence[ExecutorCall],
        places: Mapping[int, tuple[Array, int]],
    ) -> None:
        make_one: Callable[..., Any] = native_executor or PythonExecutor
        self._recording = recording
        self._of_slot: dict[int, list[Any]] = {slot: [] for slot in places}
        self._running = False
        self._timed: list[tuple[Callable[[], None], Kernel, Site, str]] = []
        for instruction, call in zip(instructions, calls, strict=True):
            used = dict.fromkeys(_flat(call.slots))
            one = make_one([call], {slot: places[slot] for slot in used})
            for slot in used:
                self._of_slot[slot].append(one)
            kernel, line = _kernel_of(instruction), instruction.line
            site, module = FORWARD, ""
            if isinstance(line, Origin):
                site, module = line.site, line.module
            self._timed.append((one.run, kernel, site, module))

    def move(self, slot: int, root: Array, offset: int) -> None:
        """Make all calls use other memory for a slot."""
        for one in self._of_slot[slot]:
            one.move(slot, root, offset)

    def run(self) -> None:
        """Run the program once."""
        if self._running:
            raise CompileError("compile: this program is already running.")
        append, clock = self._recording.events.append, self._recording.clocks.of()
        now = clock.now
        self._running = True
        try:
            append((perf_counter_ns(),))
            begin = now()
            for run, kernel, site, module in self._timed:
                run()
                end = now()
                append((begin, end, clock, kernel, site, module))
                begin = end
        finally:
            self._running = False


class Programs:
    """The compiled programs that a recording has seen."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._timed: WeakKeyDictionary[Replay, tuple[Bookkeeping, bool]]
        self._timed = WeakKeyDictionary()

    def of(self, replay: Replay, tensors: list[Any]) -> tuple[Bookkeeping, bool]:
        """Return the program's timed executor, and whether it writes parameters."""
        known = self._timed.get(replay)
        if known is None:
            around = replay.rebound(self._executor, tensors)
            known = self._timed[replay] = around, _writes_parameters(replay)
        return known

    def _executor(self, instructions: Any, calls: Any, places: Any) -> TimedExecutor:
        return TimedExecutor(self._recording, instructions, calls, places)


def _writes_parameters(replay: Replay) -> bool:
    """Return whether a program updates parameters, as a training step does."""
    parameters = replay.program.parameters
    return any(
        view.slot in parameters
        for instruction in replay.program.instructions
        for view in instruction.writes()
    )


def _kernel_of(instruction: Instruction) -> Kernel:
    operands = tuple(map(meta, instruction.inputs or instruction.outputs))
    return Kernel(
        instruction.name,
        instruction.chosen or "Python",
        words(operands),
        dtype(tuple(views_of((*instruction.outputs, *instruction.inputs)))),
        work_of(instruction),
        instruction.fused,
    )


def _flat(slots: Sequence[Any]) -> list[int]:
    found: list[int] = []
    for slot in slots:
        found += slot if isinstance(slot, tuple) else () if slot is None else (slot,)
    return found
