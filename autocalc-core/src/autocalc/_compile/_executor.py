# SPDX-License-Identifier: MIT
"""Runs a program: every call bound to its arrays once, then only called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autocalc._compile._memory import Operand, View, view_at
from autocalc._compile._program import Instruction
from autocalc._kernels.spec import Array


class Place(NamedTuple):
    """Where a slot's memory is: bytes behind the beginning of `root`."""

    root: Any
    offset: int

    def array(self, view: View) -> Array:
        """Return the operand that lies at `view`."""
        return view_at(self.root, self.offset + view.offset, view)


class _Use(NamedTuple):
    """An operand of a call that lies in a slot."""

    call: int
    position: int
    element: int | None
    view: View


class Executor:
    """Calls kernels one after another, in Python.

    Parameters
    ----------
    instructions
        What runs.
    places
        Where each slot's memory is.
    """

    def __init__(
        self, instructions: list[Instruction], places: dict[int, Place]
    ) -> None:
        self._calls: list[tuple[Callable[..., Any], list[Any]]] = []
        self._uses: dict[int, list[_Use]] = {}
        for i, instruction in enumerate(instructions):
            self._bind(i, instruction, places)

    def _bind(self, i: int, instruction: Instruction, places: Any) -> None:
        operands = (*instruction.outputs, *instruction.inputs)
        if instruction.spec is None:
            self._calls.append((instruction.function, []))
            return
        arrays: list[Any] = [_bound(x, places) for x in operands]
        self._calls.append((instruction.function, [*arrays, *instruction.attributes]))
        for position, x in enumerate(operands):
            if isinstance(x, View):
                use = _Use(i, position, None, x)
                self._uses.setdefault(x.slot, []).append(use)
            elif x is not None:
                for element, view in enumerate(x):
                    use = _Use(i, position, element, view)
                    self._uses.setdefault(view.slot, []).append(use)

    def move(self, slot: int, place: Place) -> None:
        """Let every call use other memory for a slot."""
        for call, position, element, view in self._uses.get(slot, ()):
            arguments = self._calls[call][1]
            if element is None:
                arguments[position] = place.array(view)
            else:
                arguments[position][element] = place.array(view)

    def run(self) -> None:
        """Run the program once."""
        for function, arguments in self._calls:
            function(*arguments)


def _bound(x: Operand, places: dict[int, Place]) -> Any:
    if x is None:
        return None
    if isinstance(x, View):
        return places[x.slot].array(x)
    return [places[view.slot].array(view) for view in x]
