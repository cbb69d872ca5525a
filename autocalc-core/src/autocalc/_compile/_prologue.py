# SPDX-License-Identifier: MIT
"""Runs a program's prologue whenever the parameters that it reads have changed."""

from __future__ import annotations

from operator import attrgetter, is_
from typing import Any

from autocalc._compile._executor import Executor, Place, calls_of, place_of
from autocalc._compile._program import Program
from autocalc._compile._trace import Owned, Trace
from autocalc._tensor import Tensor


class Prologue:
    """The calls that compute of parameters alone.

    `refresh` runs them if a parameter was written or replaced since.  An array that
    was given to NumPy or another library may be written unseen: then they run each
    time.
    """

    def __init__(self, program: Program, trace: Trace) -> None:
        instructions = program.prologue
        read = {v.slot for i in instructions for v in i.reads()}
        bindings = [(slot, trace.bindings.get(slot)) for slot in sorted(read)]
        self._owners = [
            (slot, b.tensor, trace.offset_of(slot, b.tensor._array))
            for slot, b in bindings
            if isinstance(b, Owned)
        ]
        places = {slot: Place(root, 0) for slot, root in program.own.items()}
        for slot, root in program.constants.items():
            places.setdefault(slot, Place(root, 0))
        for slot, tensor, offset in self._owners:
            places[slot] = place_of(tensor._array, -offset)
        self._tensors = [tensor for _, tensor, _ in self._owners]
        self._cells = [_cell(tensor) for tensor in self._tensors]
        self._arrays: list[Any] = [tensor._array for tensor in self._tensors]
        self._counts: list[int] | None = None
        self._executor = Executor(calls_of(instructions, places), places)

    def refresh(self) -> None:
        """Run the calls if what they read is, or may be, another."""
        followed = all(map(is_, map(_array_of, self._tensors), self._arrays))
        if not followed:
            self._follow()
        same = followed and list(map(_count_of, self._cells)) == self._counts
        if not same or any(map(_is_exported, self._cells)):
            self._executor.run()
            self._counts = list(map(_count_of, self._cells))

    def _follow(self) -> None:
        """Let the calls read the memory that parameters have now."""
        for i, (slot, tensor, offset) in enumerate(self._owners):
            array = tensor._array
            if array is not self._arrays[i]:
                self._arrays[i], self._cells[i] = array, _cell(tensor)
                self._executor.move(slot, *place_of(array, -offset))


#: Read for each parameter at each replay, in loops of C.
_array_of, _count_of = attrgetter("_array"), attrgetter("count")
#: Whether somebody else may write the memory.
_is_exported = attrgetter("exported")


def _cell(tensor: Tensor) -> Any:
    """Return the version cell of a tensor, which then says whether it is exported."""
    cell = tensor._cell()
    cell.exported = getattr(cell, "exported", False)
    return cell
