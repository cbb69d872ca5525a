# SPDX-License-Identifier: MIT
"""How a value can be computed again: with which calls, from what, at which cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from autocalc._compile._passes._parts import part_of
from autocalc._program._form import Instruction, Program
from autocalc._program._plan import LiveRange
from autocalc._program._views import View
from autocalc._program._work import work_of

#: The longest chain of calls that may compute one value again.
DEPTH = 6

#: The number of times that a value may be computed again.
TIMES = 3

#: The operations that a core does in the time in which it moves a byte.
FLOPS_PER_BYTE = 8


@dataclass
class Remake:
    """The calls that compute a value again.

    Attributes
    ----------
    slot
        The slot that is computed again; from place `at` on, the new slot is read.
    at
        The place before which the calls run.
    calls
        The calls, in order.
    new
        For each slot that the calls write: the slot that holds its value from `at` on.
    products
        How many of the calls cost as much as matrix products.
    cost
        The bytes moved, plus the operations converted to bytes.
    gain
        The bytes that no longer live between the uses before `at` and after it.
    """

    slot: int
    at: int
    calls: list[Instruction] = field(default_factory=list)
    new: dict[int, int] = field(default_factory=dict)
    products: int = 0
    cost: float = 0.0
    gain: int = 0

    def take_back(self, before: Remake) -> None:
        """Restore the state of an earlier copy."""
        self.calls, self.new = before.calls, before.new
        self.products, self.cost = before.products, before.cost
        self.gain = before.gain


def is_product(instruction: Instruction) -> bool:
    """Return whether a call costs as much as a matrix product, not just one pass."""
    spec = instruction.spec
    if spec is None or spec.name == "elementwise_chain":
        return False
    standalone = spec.kind == "standalone" and not spec.elementwise
    return standalone or "gemm" in (spec.name, spec.lead)


class Values:
    """The values of a program: which instruction makes each, and when it lives.

    Parameters
    ----------
    program
        The program; it is not changed.
    lives
        The live ranges of its temporaries.
    origin
        For each slot that holds a recomputed value: the slot that held the value first.
    """

    def __init__(
        self, program: Program, lives: dict[int, LiveRange], origin: dict[int, int]
    ) -> None:
        self.program, self.lives, self.origin = program, lives, origin
        self._writers: dict[int, list[int]] = {}
        self.uses: dict[int, list[int]] = {}
        for at, instruction in enumerate(program.instructions):
            for slot in {view.slot for view in instruction.views()}:
                self.uses.setdefault(slot, []).append(at)
            for view in instruction.writes():
                self._writers.setdefault(view.slot, []).append(at)
        self._same: dict[int, list[int]] = {}
        for slot in program.temporaries:
            self._same.setdefault(self._first(slot), []).append(slot)

    def _first(self, slot: int) -> int:
        return self.origin.get(slot, slot)

    def remake(self, slot: int, at: int) -> Remake | None:
        """Return how to recompute a temporary before a place; None if impossible."""
        if len(self._same[self._first(slot)]) > TIMES:
            return None
        draft = Remake(slot, at)
        return draft if self._add(slot, draft, DEPTH) else None

    def _add(self, slot: int, draft: Remake, depth: int) -> bool:
        """Append the calls that make a slot; return whether that is possible."""
        maker = self._maker(slot)
        if maker is None or not depth:
            return False
        at, call = maker
        before = replace(draft, calls=[*draft.calls], new={**draft.new})
        where: dict[int, int] = {}
        for view in call.reads():
            found = self._operand(view.slot, at, draft, depth)
            if found is None:
                draft.take_back(before)
                return False
            where[view.slot] = found
        if slot not in draft.new:  # an earlier call may have made this slot as well
            self._append(call, where, draft)
        return True

    def _append(self, call: Instruction, where: dict[int, int], draft: Remake) -> None:
        """Append a call that reads operands in other slots and writes to new slots."""
        index = max(*self.program.sizes, *draft.new.values(), 0)
        results: dict[int, int] = {}
        for view in call.writes():
            if view.slot not in results:
                index += 1
                results[view.slot] = draft.new[view.slot] = index
        reading = call.moved(lambda v: _at(v, where))
        writing = call.moved(lambda v: _at(v, results))
        again = replace(reading, outputs=writing.outputs, recomputed=True)
        work = work_of(again)
        draft.calls.append(again)
        draft.products += is_product(again)
        draft.cost += work.bytes + work.flops / FLOPS_PER_BYTE

    def _operand(self, slot: int, made: int, draft: Remake, depth: int) -> int | None:
        """Return the slot that holds, at the draft's place, the value a call read."""
        if slot in draft.new:
            return draft.new[slot]
        if any(made <= at < draft.at for at in self._writers.get(slot, ())):
            return None
        if slot not in self.program.temporaries:
            return slot
        for other in self._same[self._first(slot)]:
            life = self.lives[other]
            if other != draft.slot and life.first < draft.at <= life.last:
                return other
        if self._add(slot, draft, depth - 1):
            return draft.new[slot]
        if self.program.sizes[slot] < self.program.sizes[draft.slot]:
            draft.gain -= self.program.sizes[slot]
            return slot
        return None

    def _maker(self, slot: int) -> tuple[int, Instruction] | None:
        """Return the call that makes all of a temporary, and the place of its operands.

        Return None if the slot has several writers, or if its writer reads the old
        content.
        """
        writers = self._writers.get(slot, [])
        if slot not in self.program.temporaries or len(writers) != 1:
            return None
        at = writers[0]
        call = self.program.instructions[at]
        spec = call.spec
        if spec is None or spec.writes or call.accumulated:
            return None
        (view,) = (v for v in call.writes() if v.slot == slot)
        if view.offset or view.nbytes != self.program.sizes[slot]:
            return None
        part = part_of(call, view)
        return (at, call) if part is None else (at + 1, part)

    def companions(self, draft: Remake) -> Iterator[int]:
        """Yield the other slots whose later uses may read the results of the calls."""
        for slot in draft.new:
            if slot in self.program.temporaries and self._maker(slot) is not None:
                yield slot


def _at(view: View, where: dict[int, int]) -> View:
    return view._replace(slot=where.get(view.slot, view.slot))
