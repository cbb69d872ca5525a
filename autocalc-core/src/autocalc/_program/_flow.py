# SPDX-License-Identifier: MIT
"""The writers and readers of slots, about which every pass asks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from autocalc._dispatch.selection.state import current
from autocalc._kernels.spec import Array
from autocalc._program._form import Instruction, Program, views_of
from autocalc._program._views import Operand, View, view_at


class Flow:
    """A program that a pass changes, with the places that write and read each slot.

    The place of an instruction is a number that stays the same until the end.  A
    removed instruction leaves a gap.
    """

    def __init__(self, program: Program) -> None:
        self.program = replace(
            program,
            sizes=dict(program.sizes),
            temporaries=set(program.temporaries),
            others=set(program.others),
            constants=dict(program.constants),
            own=dict(program.own),
            prologue=list(program.prologue),
        )
        self.writers: dict[int, set[int]] = defaultdict(set)
        self.readers: dict[int, set[int]] = defaultdict(set)
        self._instructions: list[Instruction | None] = []
        for instruction in program.instructions:
            self._instructions.append(instruction)
            self._note(len(self._instructions) - 1, instruction)

    def __iter__(self) -> Iterator[tuple[int, Instruction]]:
        """Yield places and instructions, including changes made during the loop."""
        for at in range(len(self._instructions)):
            instruction = self._instructions[at]
            if instruction is not None:
                yield at, instruction

    def __getitem__(self, at: int) -> Instruction:
        instruction = self._instructions[at]
        assert instruction is not None, "a place that was given up"
        return instruction

    def put(self, at: int, instruction: Instruction | None) -> None:
        """Put an instruction at a place, or remove the one that is there."""
        old = self._instructions[at]
        if old is not None:
            for view in old.views():
                self.writers[view.slot].discard(at)
                self.readers[view.slot].discard(at)
        self._instructions[at] = instruction
        if instruction is not None:
            self._note(at, instruction)

    def _note(self, at: int, instruction: Instruction) -> None:
        for view in instruction.writes():
            self.writers[view.slot].add(at)
        for view in instruction.reads():
            self.readers[view.slot].add(at)

    def uses(self, slot: int) -> set[int]:
        """Return the places that read or write a slot."""
        return self.writers.get(slot, set()) | self.readers.get(slot, set())

    def is_written(self, slot: int, first: int, last: int) -> bool:
        """Return whether a place from `first` to `last` (inclusive) writes a slot."""
        return any(first <= at <= last for at in self.writers.get(slot, ()))

    def is_used(self, slot: int, first: int, last: int) -> bool:
        """Return whether a place from `first` to `last` (inclusive) uses a slot."""
        return any(first <= at <= last for at in self.uses(slot))

    def is_whole(self, view: View) -> bool:
        """Return whether a view covers all of its slot, each byte once."""
        return view.offset == 0 and view.nbytes == self.program.sizes[view.slot]

    def only_writer(self, view: View) -> int | None:
        """Return a temporary's only writer, if there is one and it writes all of it."""
        writers = self.writers[view.slot]
        if view.slot not in self.program.temporaries or len(writers) != 1:
            return None
        (at,) = writers
        instruction = self[at]
        if instruction.spec is None or view.slot in _slots(instruction.reads()):
            return None
        mine = [v for v in instruction.writes() if v.slot == view.slot]
        return at if len(mine) == 1 and self.is_whole(mine[0]) else None

    def adjoin(self, first: int, last: int) -> tuple[int, int] | None:
        """Bring two instructions side by side; return their places, or None.

        Either `last` moves up to `first`, or `first` moves down to `last`.  In the
        second case the instructions between that use its results move after both.
        """
        places = [i for i in range(first, last + 1) if self._instructions[i]]
        between = [self[i] for i in places[1:-1]]
        a, b = self[first], self[last]
        if not any(_depends(b, one) for one in between):
            self._order(places, [a, b, *between])
            return places[0], places[1]
        moved: list[Instruction] = [a]
        stay: list[Instruction] = []
        for one in between:
            (moved if any(_depends(one, m) for m in moved) else stay).append(one)
        if any(_depends(b, one) for one in moved[1:]):
            return None
        self._order(places, [*stay, a, b, *moved[1:]])
        return places[len(stay)], places[len(stay) + 1]

    def merge(
        self,
        first: int,
        last: int,
        fused: Instruction,
        after: Instruction | None = None,
    ) -> bool:
        """Replace two instructions by `fused` and `after`, if they can be adjacent."""
        places = self.adjoin(first, last)
        if places is None:
            return False
        self.put(places[0], fused)
        self.put(places[1], after)
        return True

    def _order(self, places: list[int], instructions: list[Instruction]) -> None:
        for at, instruction in zip(places, instructions, strict=True):
            if self._instructions[at] is not instruction:
                self.put(at, instruction)

    def rename(self, slot: int, place: Callable[[View], View]) -> None:
        """Let every use of a slot use the view that `place` returns for its view."""
        for at in sorted(self.uses(slot)):
            self.put(at, self[at].moved(lambda v: place(v) if v.slot == slot else v))

    def results_of(self, at: int, known: AbstractSet[int]) -> set[int]:
        """Return the slots that a call fills if it reads only `known` slots; else none.

        Nothing else writes these slots.
        """
        instruction = self[at]
        reads = {view.slot for view in instruction.reads()}
        outputs = list(views_of(instruction.outputs))
        if instruction.spec is None or reads - known:
            return set()
        if any(self.only_writer(view) is None for view in outputs):
            return set()
        return {view.slot for view in outputs}

    def keep(self, slot: int) -> Array:
        """Turn a temporary into memory that the program owns; return this memory."""
        program = self.program
        program.temporaries.discard(slot)
        program.others.add(slot)
        size = (program.sizes[slot],)
        root = program.own[slot] = current().selection.empty(size, np.dtype(np.uint8))
        return root

    def kept_like(self, view: View) -> View:
        """Return a view of new memory of the program, for an array like `view`."""
        slot = max(self.program.sizes) + 1
        self.program.sizes[slot] = view.nbytes
        self.keep(slot)
        return view._replace(slot=slot, offset=0, strides=_dense(view))

    def zeros(self, view: View) -> View:
        """Return a view of a new constant with a 0 for each element of a view."""
        made = self.kept_like(view)
        self.program.others.discard(made.slot)
        root = self.program.own.pop(made.slot)
        root[...] = 0
        root.flags.writeable = False
        self.program.constants[made.slot] = root
        return made

    def value(self, view: View) -> Array | None:
        """Return the elements of a view of a constant; None if it is no constant."""
        root = self.program.constants.get(view.slot)
        return None if root is None else view_at(root, view.offset, view)

    def result(self) -> Program:
        """Return the changed program."""
        instructions = [one for one in self._instructions if one is not None]
        used = {v.slot for one in instructions for v in one.views()}
        program = self.program
        own = {slot: root for slot, root in program.own.items() if slot in used}
        unused = program.own.keys() - used
        return replace(
            program,
            instructions=instructions,
            temporaries=program.temporaries & used,
            others=program.others - unused,
            own=own,
        )


def _dense(view: View) -> tuple[int, ...]:
    """Return the strides of a view without gaps; row-major strides for others."""
    size = view.dtype.itemsize
    pairs = list(zip(view.shape, view.strides, strict=True))
    if size + sum((n - 1) * stride for n, stride in pairs) == view.nbytes:
        return view.strides
    return tuple(size * math.prod(view.shape[i + 1 :]) for i in range(len(view.shape)))


def _slots(views: tuple[View, ...]) -> set[int]:
    return {view.slot for view in views}


def _depends(later: Instruction, earlier: Instruction) -> bool:
    """Return whether two instructions must keep their order."""
    if later.spec is None and earlier.spec is None:
        return True
    writes, before = _slots(later.writes()), _slots(earlier.writes())
    reads = _slots(later.reads())
    return bool(writes & before or reads & before or writes & _slots(earlier.reads()))


def one(x: Operand) -> View:
    """Return an operand, which is neither absent nor a list."""
    assert isinstance(x, View), "an operand that is always one array"
    return x


def shifted(view: View, to: View) -> View:
    """Return a view in the slot of `to`, moved by the offset of `to`."""
    return view._replace(slot=to.slot, offset=view.offset + to.offset)


def alike(a: View, b: View) -> bool:
    """Return whether two views differ at most in their slot and offset."""
    return (a.shape, a.dtype) == (b.shape, b.dtype) and _steps(a) == _steps(b)


def _steps(view: View) -> list[int]:
    """Return the strides of dimensions with several elements; only these matter."""
    pairs = zip(view.shape, view.strides, strict=True)
    return [stride for n, stride in pairs if n != 1]
