# SPDX-License-Identifier: MIT
"""Identities: arithmetic that returns its operand becomes a copy, bit for bit.

x * 1, x / 1 and x - 0 are x for every x, including -0.0 and infinities.  x + 0 is x
only for integers, because -0.0 + 0 is 0.  The pass `copies` then finds which copies are
not needed.
"""

from __future__ import annotations

from math import copysign

from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, one
from autocalc._program._form import Instruction, Program
from autocalc._program._kernel_choice import instruction as chosen
from autocalc._program._views import View

#: For each operand: the number that makes the other operand the result.
_NEUTRAL: dict[str, tuple[int | None, int]] = {
    "mul": (1, 1),
    "div": (None, 1),
    "sub": (None, 0),
    "add": (0, 0),
}


def run(program: Program) -> Program:
    """Replace calls that return their operand by copies."""
    flow = Flow(program)
    for at, instruction in flow:
        operand = _unchanged(flow, instruction)
        if operand is None:
            continue
        copy = chosen(
            TABLE["copy"], instruction.outputs, (operand,), (), (instruction,)
        )
        if copy is not None:
            flow.put(at, copy)
    return flow.result()


def _unchanged(flow: Flow, instruction: Instruction) -> View | None:
    """Return the operand that an instruction returns unchanged; None if none."""
    if instruction.name not in _NEUTRAL:
        return None
    out, a, b = map(one, (*instruction.outputs, *instruction.inputs))
    for neutral, x, other in zip(
        _NEUTRAL[instruction.name], (a, b), (b, a), strict=True
    ):
        fits = (other.shape, other.dtype) == (out.shape, out.dtype)
        exact = instruction.name != "add" or out.dtype.kind in "iub"
        if neutral is not None and fits and exact and _is(flow, x, neutral):
            return other
    return None


def _is(flow: Flow, view: View, number: int) -> bool:
    """Return whether a view is a constant whose elements all equal a number."""
    value = flow.value(view)
    if value is None or not value.size or value.dtype.kind not in "fiub":
        return False
    first = value.item() if value.size == 1 else None
    if first is None:
        return False
    return bool(first == number) and copysign(1.0, first) > 0
