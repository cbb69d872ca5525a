# SPDX-License-Identifier: MIT
"""Constants: calls that always compute the same run once, when the program is made.

A constant is memory that no tensor owns and that nothing writes.  It holds a number, or
values computed from numbers only: the 1 where backward starts, zeros, ranges, masks.
"""

from __future__ import annotations

from typing import Any

from autocalc._kernels.spec import Array
from autocalc._program._flow import Flow, one
from autocalc._program._form import Instruction, Program
from autocalc._program._views import Operand, View, view_at

#: The most bytes of constants that a program keeps in addition to its arena.
MAX_BYTES = 1 << 26


def run(program: Program) -> Program:
    """Run calls whose operands are all constants, and keep the results as constants."""
    flow = Flow(program)
    constants = flow.program.constants
    left = MAX_BYTES
    for at, instruction in flow:
        slots = flow.results_of(at, constants.keys()) or _background(
            flow, at, instruction
        )
        size = sum(program.sizes[slot] for slot in slots)
        if not slots or size > left:
            continue
        roots = {slot: flow.keep(slot) for slot in slots}
        _call(instruction, {**constants, **roots})
        flow.put(at, None)
        for slot, root in roots.items():
            if not flow.writers[slot]:
                root.flags.writeable = False
                constants[slot] = root
        left -= size
    return flow.result()


def _background(flow: Flow, at: int, instruction: Instruction) -> set[int]:
    """Return the slot whose background a call fills before others fill parts of it.

    If the others write the same parts each time, before anything reads the slot, then
    the memory between the parts can be kept from run to run.
    """
    if instruction.name != "fill":
        return set()
    out, value = map(one, (*instruction.outputs, *instruction.inputs))
    slot, known = out.slot, value.slot in flow.program.constants
    if not known or slot not in flow.program.temporaries or not flow.is_whole(out):
        return set()
    writers, readers = flow.writers[slot], flow.readers[slot]
    if at != min(writers) or max(writers) >= min(readers, default=0):
        return set()
    return {slot} if all(flow[i].spec is not None for i in writers) else set()


def _call(instruction: Instruction, roots: dict[int, Array]) -> None:
    """Run an instruction whose operands are in `roots`."""

    def bound(x: Operand) -> Any:
        if x is None:
            return None
        if isinstance(x, View):
            return view_at(roots[x.slot], x.offset, x)
        return [view_at(roots[view.slot], view.offset, view) for view in x]

    operands = map(bound, (*instruction.outputs, *instruction.inputs))
    instruction.function(*operands, *instruction.attributes)
