# SPDX-License-Identifier: MIT
"""Runs programs in Python: steps over registers that hold arrays.

A compiled program has its arrays from the start, and every call is bound to them once
(`PythonExecutor`).  A short program makes its arrays as it runs (`_short_executor.py`).
Core's engine has faster executors that do the same (`_dispatch/engine/native.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from autocalc._dispatch.device.addresses import address
from autocalc._kernels.kernel_set import ExecutorCall
from autocalc._kernels.spec import Array
from autocalc._program._form import Instruction, views_of
from autocalc._program._steps import Registers
from autocalc._program._views import Operand, View, owner_of, view_at
from autocalc.errors import CompileError


class Placement(NamedTuple):
    """The place of a slot's memory: `offset` bytes after the beginning of `root`."""

    root: Any
    offset: int

    def array(self, view: View) -> Array:
        """Return the array of the operand at `view`."""
        return view_at(self.root, self.offset + view.offset, view)


def calls_of(
    instructions: Iterable[Instruction], places: Mapping[int, Placement]
) -> list[ExecutorCall]:
    """Return the calls of a program, bound to arrays in these places."""
    return [_call(instruction, places) for instruction in instructions]


def _call(instruction: Instruction, places: Mapping[int, Placement]) -> ExecutorCall:
    function, native = instruction.function, instruction.native
    if instruction.callback is not None:
        given = tuple(views_of(instruction.inputs))
        arrays = [places[view.slot].array(view) for view in given]
        return ExecutorCall(function, None, (arrays,), (_slots(given),))
    if instruction.name == "host":  # its function holds its arrays itself
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


#: The codes of steps, which combine a function or a dtype with registers.
RUN, MAKE, RETURN, TAKE, FREE, EXTEND = range(6)

#: The code, the object (such as a function), and further data (such as registers).
BoundStep = tuple[int, Any, Any]


def execute(
    steps: Sequence[BoundStep],
    registers: list[Any],
    empty: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Run steps over registers; each new array is appended to the registers."""
    for code, thing, more in steps:
        if code == RUN:
            thing(*more(registers))
        elif code == RETURN:
            registers.append(thing(*more(registers)))
        elif code == MAKE:
            registers.append(empty(more, thing))  # type: ignore[misc]  # it is given then
        elif code == TAKE:
            registers.append(thing(registers[more]))
        elif code == FREE:
            registers[more] = None
        else:
            registers += thing(more)


def operands_of(places: Sequence[Registers]) -> Callable[[list[Any]], Any]:
    """Return a function that selects a kernel's operands from all registers."""
    if len(places) > 1 and not any(isinstance(at, tuple) for at in places):
        return itemgetter(*places)

    def operands(registers: list[Any]) -> list[Any]:
        return [
            [registers[one] for one in at] if isinstance(at, tuple) else registers[at]
            for at in places
        ]

    return operands


class PythonExecutor:
    """Calls kernels one after another in Python; each view has a register.

    Parameters
    ----------
    calls
        The calls, in order.
    places
        The place of each slot's memory.
    """

    def __init__(
        self, calls: Sequence[ExecutorCall], places: Mapping[int, tuple[Array, int]]
    ) -> None:
        self._registers: list[Any] = []
        self._known: dict[View, int] = {}
        self._of_slot: dict[int, list[tuple[int, View]]] = {slot: [] for slot in places}
        self._steps = [
            (RUN, call.function, self._bound(call, places)) for call in calls
        ]
        self._running = False

    def _bound(self, call: ExecutorCall, places: Any) -> Callable[[list[Any]], Any]:
        operands = zip(call.arguments, call.slots, strict=False)
        registers = [self._operand(x, slot, places) for x, slot in operands]
        registers += [self._keep(x) for x in call.arguments[len(call.slots) :]]
        return operands_of(registers)

    def _operand(self, x: Any, slot: Any, places: Any) -> Registers:
        if isinstance(slot, tuple):
            pairs = zip(x, slot, strict=True)
            return tuple([self._array(one, at, *places[at]) for one, at in pairs])
        return self._keep(x) if slot is None else self._array(x, slot, *places[slot])

    def _array(self, array: Array, slot: int, root: Array, offset: int) -> int:
        at = address(array) - address(root) - offset
        view = View(slot, at, array.shape, array.strides, array.dtype)
        if view not in self._known:
            self._known[view] = self._keep(array)
            self._of_slot[slot].append((self._known[view], view))
        return self._known[view]

    def _keep(self, x: Any) -> int:
        self._registers.append(x)
        return len(self._registers) - 1

    def move(self, slot: int, root: Array, offset: int) -> None:
        """Let every call use other memory for a slot."""
        if self._running:
            raise CompileError(_AT_WORK)
        place = Placement(root, offset)
        for register, view in self._of_slot[slot]:
            self._registers[register] = place.array(view)

    def run(self) -> None:
        """Run the program once."""
        if self._running:
            raise CompileError(_AT_WORK)
        self._running = True
        try:
            execute(self._steps, self._registers)
        finally:
            self._running = False


_AT_WORK = (
    "compile: this program is at work already, in another thread or further up in this "
    "one, and its memory is for one run at a time. Wait until that run has ended."
)


def placement_of(array: Array, offset: int) -> Placement:
    """Return the place `offset` bytes after the first element of `array`."""
    root = owner_of(array)
    return Placement(root, address(array) - address(root) + offset)
