# SPDX-License-Identifier: MIT
"""Early updates: the optimizer changes parameters as soon as gradients are complete.

::

    k(g, ..), l(h, ..), update(p q, g h)    becomes  k(g, ..), update(p, g),
                                                     l(h, ..), update(q, h)

A gradient is then read while it is in a cache.  If nothing reads it after the step, its
memory becomes free for later temporaries.  A call updates at least `PART` bytes, so
that there are few calls.  A step with fewer bytes stays unchanged.  So does a step with
fewer than `KEPT` bytes of gradients that stay, because the last-level cache holds them
anyway.

The kernels of optimizers treat each parameter separately, so results have the same
bits.  An update waits for the last use of its parameters and for the last write of its
gradients, as when all gradients are clipped.  It does not move across Python code,
which may read a parameter.  It does not move across a kernel that may refuse values,
such as an index out of range: after such an error all parameters are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from autocalc._kernels.spec import KernelSpec
from autocalc._kernels.table import TABLE
from autocalc._program._form import Instruction, Program
from autocalc._program._kernel_choice import instruction as chosen
from autocalc._program._views import Operand, View

#: The fewest bytes of gradients that one call updates.
PART = 1 << 20

#: The fewest bytes of gradients that stay for which the pass is worthwhile.
KEPT = 1 << 25

#: Families whose kernels check values and may refuse them. Their backward kernels read
#: values that the forward kernels have checked.
CHECKING = ("indexing", "linalg", "losses")

#: Kernels of other families that may refuse values: they divide integers.
DIVISIONS = frozenset({"floor_divide", "remainder", "fmod"})


def run(program: Program) -> Program:
    """Update parameters where their gradients are complete."""
    cells = _cells(program.instructions)
    order: list[Instruction] = []
    for instruction in program.instructions:
        if is_update(instruction.spec):
            spreading = _Spreading(order, instruction, cells)
            order = spreading.result(least=_least(program, instruction))
        else:
            order.append(instruction)
    return replace(program, instructions=order)


def is_update(spec: KernelSpec | None) -> bool:
    """Return whether a kernel is an optimizer's: it treats parameters separately."""
    return (
        spec is not None
        and any(operand.name == "grads" for operand in spec.inputs)
        and all(x.is_list and x.name in spec.writes for x in spec.outputs)
    )


def may_refuse(instruction: Instruction) -> bool:
    """Return whether a kernel may raise because of its operands' values."""
    for name in instruction.fused or (instruction.name,):
        spec = TABLE.get(name)
        if spec is None or name in DIVISIONS:
            return True
        family = spec.reference.__module__.split(".")[-2]
        if family in CHECKING and not name.endswith("_backward"):
            return True
    return False


class _Part(NamedTuple):
    """Parameters that are updated together, before the instruction at place `at`."""

    at: int
    members: list[int]


class _Spreading:
    """The instructions before an update, and the places for its parts among them."""

    def __init__(
        self, before: Sequence[Instruction], update: Instruction, cells: set[int]
    ) -> None:
        self._before = before
        self._update = update
        self._cells = cells
        last = {
            slot: at
            for at, one in enumerate(before)
            if self._is_setting(one)
            for slot in _written(one)
        }
        #: The instructions that fill this call's cells: the learning rate, the step
        #: count.
        self._own = {last[view.slot] for view in update.reads() if view.slot in last}

    def _is_setting(self, instruction: Instruction) -> bool:
        """Return whether the host fills cells that only updates read."""
        return instruction.name == "host" and bool(_written(instruction) & self._cells)

    def result(self, *, least: int) -> list[Instruction]:
        """Return all instructions, in a new order if `least` bytes are updated."""
        grads = _lists(self._update)[-1:]
        size = sum(view.nbytes for some in grads for view in some)
        parts = self._parts() if size >= least else []
        calls = [(part.at, self._call(sorted(part.members))) for part in parts]
        found = [(at, call) for at, call in calls if call is not None]
        if len(found) < max(1, len(calls)):
            return [*self._before, self._update]
        first = found[0][0]
        late = sorted(at for at in self._own if at >= first)
        order: list[Instruction] = []
        for at in range(len(self._before) + 1):
            if at == first:
                order += [self._before[i] for i in late]
            order += [call for place, call in found if place == at]
            if at < len(self._before) and at not in late:
                order.append(self._before[at])
        return order

    def _parts(self) -> list[_Part]:
        """Return the parts of at least `PART` bytes, in order."""
        update, end = self._update, len(self._before)
        slots = [view.slot for view in update.writes()]
        if not slots or len(set(slots)) < len(slots):
            return []  # parameters share memory: the last one to write wins
        floor = max((self._behind(at) for at in self._own), default=0)
        grads = _lists(update)[-1]
        places: dict[int, list[int]] = {}
        for i in range(len(grads)):
            places.setdefault(max(floor, self._earliest(i)), []).append(i)
        parts: list[_Part] = []
        members: list[int] = []
        for at in sorted(places):
            members += places[at]
            if sum(grads[i].nbytes for i in members) >= PART:
                parts.append(_Part(at, members))
                members = []
        if members:  # too few bytes for a separate call
            last = parts.pop().members if parts else []
            parts.append(_Part(end, [*last, *members]))
        return parts

    def _call(self, members: list[int]) -> Instruction | None:
        """Return the call that updates some of the parameters."""
        update = self._update
        assert update.spec is not None, "an optimizer's kernel"
        outputs, inputs = (
            tuple(_those(x, members) for x in operands)
            for operands in (update.outputs, update.inputs)
        )
        made = chosen(update.spec, outputs, inputs, update.attributes, (update,))
        if made is None or made.chosen != update.chosen:
            return None
        return replace(made, line=update.line, fused=update.fused)

    def _earliest(self, i: int) -> int:
        """Return the first place at which parameter `i` can be updated."""
        mine = [x[i] for x in _lists(self._update)]
        written = {view.slot for view in mine[:-1]}
        return self._place(written, mine[-1].slot, len(self._before))

    def _behind(self, at: int) -> int:
        """Return the place to which an instruction that fills a cell can move."""
        return self._place(_written(self._before[at]), None, at)

    def _place(self, written: set[int], grad: int | None, end: int) -> int:
        """Return the first place at which slots can be written.

        `grad` is a slot that is read there.
        """
        for at in range(end - 1, -1, -1):
            one = self._before[at]
            if written & {v.slot for v in one.views()} or grad in _written(one):
                return at + 1
            if self._is_setting(one):
                continue
            if one.spec is None or may_refuse(one):
                return at + 1
        return 0


def _cells(instructions: Iterable[Instruction]) -> set[int]:
    """Return the slots that the host fills and that only updates read."""
    filled: set[int] = set()
    used: set[int] = set()
    for one in instructions:
        if one.name == "host":
            filled |= _written(one)
        elif not is_update(one.spec):
            used |= {view.slot for view in one.views()}
    return filled - used


def _least(program: Program, update: Instruction) -> int:
    """Return the fewest bytes of gradients for which the pass is worthwhile."""
    grads = _lists(update)[-1:]
    fleeting = all(v.slot in program.temporaries for some in grads for v in some)
    return PART if fleeting else KEPT


def _written(instruction: Instruction) -> set[int]:
    return {view.slot for view in instruction.writes()}


def _lists(update: Instruction) -> list[tuple[View, ...]]:
    """Return the lists of an update that are not empty; the gradients come last."""
    operands: Iterable[Operand] = (*update.outputs, *update.inputs)
    return [x for x in operands if x and not isinstance(x, View)]


def _those(operand: Operand, members: list[int]) -> Operand:
    """Return some elements of a list operand; other operands as they are."""
    if not operand or isinstance(operand, View):
        return operand
    return tuple(operand[i] for i in members)
