# SPDX-License-Identifier: MIT
"""Runs a program: every call bound to its arrays once, then only called.

The class here is the definition; core's engine has another one that does the same in
less time (`_dispatch/_engine.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from autocalc._dispatch._addresses import address
from autocalc._kernels.kernel_set import ExecutorCall
from autocalc._kernels.spec import Array
from autocalc._program._form import Instruction, views_of
from autocalc._program._views import Operand, View, owner_of, view_at
from autocalc.errors import CompileError


class Placement(NamedTuple):
    """Where a slot's memory is: bytes behind the beginning of `root`."""

    root: Any
    offset: int

    def array(self, view: View) -> Array:
        """Return the operand that lies at `view`."""
        return view_at(self.root, self.offset + view.offset, view)


def calls_of(
    instructions: Iterable[Instruction], places: Mapping[int, Placement]
) -> list[ExecutorCall]:
    """Return the calls of a program, with arrays in these places."""
    return [_call(instruction, places) for instruction in instructions]


def _call(instruction: Instruction, places: Mapping[int, Placement]) -> ExecutorCall:
    function, native = instruction.function, instruction.native
    if instruction.callback is not None:
        given = tuple(views_of(instruction.inputs))
        arrays = [places[view.slot].array(view) for view in given]
        return ExecutorCall(function, None, (arrays,), (_slots(given),))
    if instruction.name == "host":  # which holds its arrays itself
        return ExecutorCall(function, None, (), ())
    operands = (*instruction.outputs, *instruction.inputs)
    arrays = [_bound(x, places) for x in operands]
    slots = tuple(map(_slots, operands))
    return ExecutorCall(function, native, (*arrays, *instruction.attributes), slots)


def _bound(x: Operand, places: Mapping[int, Placement]) -> Any:
    if x is None:
        return None
    if isinstance(x, View):
        return places[x.slot].array(x)
    return [places[view.slot].array(view) for view in x]


def _slots(x: Operand) -> int | tuple[int, ...] | None:
    if x is None:
        return None
    return x.slot if isinstance(x, View) else tuple(view.slot for view in x)


class _Use(NamedTuple):
    """An array of a call that lies in a slot: where it stands, and how it lies."""

    among: list[Any]
    position: int
    view: View


class PythonExecutor:
    """Calls kernels one after another, in Python.

    Parameters
    ----------
    calls
        What runs.
    places
        Where each slot's memory is.
    """

    def __init__(
        self,
        calls: Sequence[ExecutorCall],
        places: Mapping[int, tuple[Array, int]],
    ) -> None:
        self._calls: list[tuple[Callable[..., Any], list[Any]]] = []
        self._uses: dict[int, list[_Use]] = {slot: [] for slot in places}
        self._running = False
        for call in calls:
            arguments = [list(x) if isinstance(x, list) else x for x in call.arguments]
            self._calls.append((call.function, arguments))
            for position, slot in enumerate(call.slots):
                if isinstance(slot, int):
                    self._add(arguments, position, slot, places)
                for element, one in enumerate(slot if isinstance(slot, tuple) else ()):
                    self._add(arguments[position], element, one, places)

    def _add(self, among: list[Any], position: int, slot: int, places: Any) -> None:
        array = among[position]
        root, offset = places[slot]
        at = address(array) - address(root) - offset
        view = View(slot, at, array.shape, array.strides, array.dtype)
        self._uses[slot].append(_Use(among, position, view))

    def move(self, slot: int, root: Array, offset: int) -> None:
        """Let every call use other memory for a slot."""
        if self._running:
            raise CompileError(_AT_WORK)
        place = Placement(root, offset)
        for among, position, view in self._uses[slot]:
            among[position] = place.array(view)

    def run(self) -> None:
        """Run the program once."""
        if self._running:
            raise CompileError(_AT_WORK)
        self._running = True
        try:
            for function, arguments in self._calls:
                function(*arguments)
        finally:
            self._running = False


_AT_WORK = (
    "compile: this program is at work already, in another thread or further up in this "
    "one, and its memory is for one run at a time. Wait until that run has ended."
)


def placement_of(array: Array, offset: int) -> Placement:
    """Return the place that lies `offset` bytes behind the first element of `array`."""
    root = owner_of(array)
    return Placement(root, address(array) - address(root) + offset)
