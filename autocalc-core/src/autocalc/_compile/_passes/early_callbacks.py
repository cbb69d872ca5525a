# SPDX-License-Identifier: MIT
"""Early callbacks: a callback runs as soon as its operands are complete.

::

    k(g, ..), l(h, ..), callback(g)     becomes  k(g, ..), callback(g), l(h, ..)

Communication then begins while backward still runs, although hooks of leaves run only
when it has ended.  A callback moves to the place after the last instruction that uses
one of its slots.  The order of the host's instructions does not change.  A callback
without operands stays where it is.
"""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._form import Instruction, Program


def run(program: Program) -> Program:
    """Let callbacks run as soon as their tensors are complete."""
    order: list[Instruction] = []
    for instruction in program.instructions:
        order.insert(_place(order, instruction), instruction)
    return replace(program, instructions=order)


def _place(before: list[Instruction], instruction: Instruction) -> int:
    """Return how many of the earlier instructions must stay before this one."""
    at = len(before)
    if instruction.callback is None or not instruction.inputs:
        return at
    slots = {view.slot for view in instruction.views()}
    while at:
        other = before[at - 1]
        if other.spec is None or slots & {view.slot for view in other.views()}:
            return at
        at -= 1
    return at
