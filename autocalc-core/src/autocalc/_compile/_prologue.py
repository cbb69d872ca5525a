# SPDX-License-Identifier: MIT
"""Runs a program's prologue whenever the parameters that it reads have changed."""

from __future__ import annotations

from typing import Any

from autocalc._compile._trace import Owned, Trace
from autocalc._compile._unchanged import Attribute, Unchanged, unchanged
from autocalc._program._executor import (
    Placement,
    PythonExecutor,
    calls_of,
    placement_of,
)
from autocalc._program._form import Program
from autocalc._tensor.storage import is_exported


class Prologue:
    """The calls that depend on parameters only.

    `refresh` runs them if a parameter was written or replaced since the last time.
    NumPy or another library may write an exported array unnoticed.  If there is one,
    the calls run each time.
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
        places = {slot: Placement(root, 0) for slot, root in program.own.items()}
        for slot, root in program.constants.items():
            places.setdefault(slot, Placement(root, 0))
        for slot, tensor, offset in self._owners:
            places[slot] = placement_of(tensor._array, -offset)
        self._tensors = [tensor for _, tensor, _ in self._owners]
        self._arrays: list[Any] = [tensor._array for tensor in self._tensors]
        self._unchanged: Unchanged | None = None
        self._executor = PythonExecutor(calls_of(instructions, places), places)

    def refresh(self) -> None:
        """Run the calls if their operands have changed or may have changed."""
        if self._unchanged is not None and self._unchanged.holds():
            return
        for i, (slot, tensor, offset) in enumerate(self._owners):
            array = tensor._array
            if array is not self._arrays[i]:
                self._arrays[i] = array
                self._executor.move(slot, *placement_of(array, -offset))
        self._executor.run()
        self._unchanged = self._watched()

    def _watched(self) -> Unchanged:
        """Return a check for writes; it always fails for exported arrays."""
        slots: list[Attribute] = []
        for tensor, array in zip(self._tensors, self._arrays, strict=True):
            cell = tensor._cell()
            slots += [(tensor, "_array", array), (cell, "count", cell.count)]
            cell.exported = is_exported(tensor)
            slots.append((cell, "exported", False))
        return unchanged(slots, [])
