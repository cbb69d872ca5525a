# SPDX-License-Identifier: MIT
"""A program with the conditions under which it may replace a call."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autocalc._compile._affine import at
from autocalc._compile._agreement import Links
from autocalc._compile._build import build
from autocalc._compile._check import State
from autocalc._compile._guards import Elements, equal, leave_out
from autocalc._compile._motion import Motion
from autocalc._compile._moving import Number
from autocalc._compile._passes import optimize
from autocalc._compile._prologue import Prologue
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._replay import Replay
from autocalc._compile._signature import Signature
from autocalc._compile._table import MemoryReport, Segment, program_table, segments
from autocalc._compile._together import Together
from autocalc._compile._trace import Constant, Owned, Trace
from autocalc._dispatch.selection.select import allocator
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Leaf
from autocalc._program._form import Instruction
from autocalc._program._plan import plan
from autocalc.errors import CompileError


class CompiledProgram:
    """A program bound to memory, with the conditions under which it may be replayed.

    `print` shows its instructions, and where Python runs among them.

    Attributes
    ----------
    program
        The instructions and slots.
    memory
        The peak of the memory, and the values that use it: `memory.table()`,
        `memory.plot(file)`.
    """

    def __init__(
        self,
        trace: Trace,
        links: Links,
        recording: StepRecorder,
        empty: Callable[..., Any],
        off: Iterable[str],
        motion: Motion | None = None,
        limit: int | None = None,
    ) -> None:
        linked = frozenset(link.source for link in links.values())
        self._motion = None if motion is None else _Mover(motion, trace)
        given = linked if motion is None else linked | {motion.source}
        guards = [g for g in trace.guards if g.source not in linked]
        for settings in trace.again.values():
            leave_out(guards, settings.keys)
        group = Together()
        captured = frozenset(source for source in linked if isinstance(source, tuple))
        alone = []
        for guard in guards:
            if isinstance(guard, Elements):
                guard.linked = captured
            if not guard.join(group):
                alone.append(guard)
        self._guards = [g.holds for g in alone]
        self._watched = [g.holds for g in guards if g not in alone]
        self._sources = {g.source: g.get for g in trace.guards if g.source in linked}
        numbers = trace.numbers.items()
        own = {g.source for g in trace.guards}
        self._fixed = [
            (source, value)
            for source, value in numbers
            if source not in given and source not in own
        ]
        self._ranges: list[tuple[Any, float, float]] = [
            (source, span.low, span.high)
            for source, span in trace.spans.items()
            if source in linked
        ]
        self._deciding = [
            (source, span)
            for source, span in trace.spans.items()
            if source in given and span.decisions
        ]
        self._classes = {source: value.__class__ for source, value in numbers}
        if motion is not None:
            self._ranges.append((motion.source, motion.low, motion.high))
        self._cells = [(_own_cell(trace, slot), link) for slot, link in links.items()]
        self._fresh, self._cleared = trace.fresh, trace.cleared
        owned = [b.tensor for b in trace.bindings.values() if isinstance(b, Owned)]
        self._edges = [(tensor, tensor._edge) for tensor in owned]
        self._hooks = [
            (edge, _hooks(edge)) for _, edge in self._edges if edge.__class__ is Leaf
        ]
        self._aliases = [(tensor, tensor._array) for tensor in trace.aliases]
        self._watch_edges(group)
        self._unchanged = group.check()
        self._generators = recording.generators
        self._trace = trace
        number = None if self._motion is None else self._motion.number
        self.program = optimize(build(trace, motion, number, limit), off=off)
        places = plan(self.program)
        self.memory = MemoryReport(self.program, places)
        _trim()  # replays do not need what the recordings freed
        self._replay = Replay(self.program, places, trace, empty)
        self._is_first = True
        has_prologue = bool(self.program.prologue)
        self._prologue = Prologue(self.program, trace) if has_prologue else None
        trace.memory.let_go()

    def __str__(self) -> str:
        return program_table(self.program)

    def __repr__(self) -> str:
        return f"<program of {len(self.program.instructions)} instructions>"

    @property
    def instructions(self) -> list[Instruction]:
        """The instructions, in order."""
        return self.program.instructions

    @property
    def segments(self) -> list[Segment]:
        """Runs of instructions: in native code, or in Python one by one."""
        return segments(self.program)

    @property
    def cuts(self) -> list[int]:
        """Indices of the instructions that run in Python, callbacks included."""
        return [i for part in self.segments if part.python for i in part.instructions]

    def holds(self, call: Signature) -> bool:
        """Return whether the program does what the function would do with `call`."""
        if (call.numbers or self._ranges) and not self._takes(call.numbers):
            return False
        for holds in self._guards:
            if not holds():
                return False
        if not (self._unchanged.holds() or self._equal()):
            return False
        for leaf in self._fresh:
            if leaf.grad is not None:
                return False
        return self._replay.holds()

    def _watch_edges(self, group: Together) -> None:
        """Let the group compare edges, aliases and hooks."""
        group.slots += [(tensor, "_edge", edge) for tensor, edge in self._edges]
        group.slots += [(tensor, "_array", array) for tensor, array in self._aliases]
        for leaf, _ in self._hooks:
            for name in ("hooks", "accumulated"):
                called = getattr(leaf, name)
                group.slots.append((leaf, name, called))
                if isinstance(called, dict):
                    group.dicts.append((called, called.copy()))

    def _takes(self, numbers: dict[Any, Any]) -> bool:
        """Return whether the program is valid for these numbers."""
        for source, value in self._fixed:
            now = numbers[source]
            if now is not value and not equal(now, value):
                return False
        return all(
            low <= (now := self._number(source, numbers)) <= high
            and (low < high or _sign(now) == _sign(low))
            for source, low, high in self._ranges
        ) and all(
            span.answers_alike(self._number(source, numbers))
            for source, span in self._deciding
        )

    def _number(self, source: Any, numbers: dict[Any, Any]) -> Any:
        """Return the current value of an input number; NaN if its class has changed."""
        get = self._sources.get(source)
        now = numbers[source] if get is None else get()
        return now if now.__class__ is self._classes.get(source) else math.nan

    def _equal(self) -> bool:
        """Return whether guarded objects that were replaced still pass the guards."""
        return (
            all(holds() for holds in self._watched)
            and all(tensor._edge is edge for tensor, edge in self._edges)
            and all(tensor._array is array for tensor, array in self._aliases)
            and all(_hooks(leaf) == hooks for leaf, hooks in self._hooks)
        )

    def run(self, call: Signature) -> Any:
        """Run the program; return what the function returns."""
        for cell, link in self._cells:
            get = self._sources.get(link.source)
            cell[()] = link.of(call.numbers[link.source] if get is None else get())
        if self._motion is not None:
            self._motion.move(call.numbers)
        if self._prologue is not None:
            self._prologue.refresh()
        result = self._replay.run(call.tensors)
        if self._is_first:
            self._is_first = False
            _trim()  # frees the gradients of the last recording
        for leaf in self._cleared:
            leaf.grad = None
        return result

    def checked(self, call: Signature, function: Callable[..., Any]) -> Any:
        """Run the program, then the function from the same state, and compare them.

        Returns the result of the function, whose writes stay.

        Raises
        ------
        CompileError
            If a result, a gradient or something written differs by more than rounding.
        """
        state = State(self._trace, self._generators, call.tensors)
        result = self.run(call)
        replayed = state.seen(result)
        state.restore()
        expected = function(*call.args, **call.kwargs)
        worst = state.difference(replayed, expected)
        if worst:
            raise CompileError(f"compile: a replay differs from eager code: {worst}")
        return expected


class _Mover:
    """Sets the number that calls depend on, and the constants that change with it."""

    def __init__(self, motion: Motion, trace: Trace) -> None:
        self._source = motion.source
        self.number = Number(trace.numbers[motion.source])
        self._cells = [
            (_own_cell(trace, slot), values) for slot, values in motion.values.items()
        ]

    def move(self, numbers: dict[Any, Any]) -> None:
        """Prepare the next run for these numbers."""
        value = self.number.value = numbers[self._source]
        for cell, values in self._cells:
            cell.reshape(-1)[:] = at(values, value)


def _trim() -> None:
    """Return freed memory that the allocator keeps for reuse to the system."""
    found = allocator(current().selection)
    if found is not None:
        found.trim()


def _sign(number: float) -> float:
    """Return the sign of a number, also of a zero."""
    return math.copysign(1.0, number)


def _hooks(leaf: Leaf) -> tuple[Any, ...]:
    """Return the hooks of a leaf: the program contains what they computed."""
    return (*(leaf.hooks or {}).values(), *(leaf.accumulated or {}).values())


def _own_cell(trace: Trace, slot: int) -> Any:
    """Give a constant an array of its own, which each replay fills."""
    binding = trace.bindings[slot]
    assert isinstance(binding, Constant)
    cell = np.array(binding.array)
    trace.memory.slots[slot].replace(cell)
    trace.bindings[slot] = Constant(cell)
    return cell
