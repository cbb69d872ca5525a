# SPDX-License-Identifier: MIT
"""Early callbacks: what a callback is given is complete before the step comes to it.

::

    k(g, ..), l(h, ..), callback(g)     becomes  k(g, ..), callback(g), l(h, ..)

So communication begins while backward goes on, although hooks of leaves run when it has
ended.  A callback moves up to the last one that uses what it reads or writes.  What the
host does keeps its order.  A callback that is given nothing stays where it is.
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
    """Return how many of the instructions before it must stay before it."""
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
