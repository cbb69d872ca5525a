# SPDX-License-Identifier: MIT
"""Dead code: calls whose results are not read."""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._form import Instruction, Program


def run(program: Program) -> Program:
    """Leave out instructions that only write temporaries which are not read later.

    One loop from the end: a slot is wanted if it is seen after the run, or read by an
    instruction that stays.  What the host does always stays.
    """
    wanted = program.kept()
    stays: list[Instruction] = []
    for instruction in reversed(program.instructions):
        written = {view.slot for view in instruction.writes()}
        if instruction.spec is None or written & wanted:
            stays.append(instruction)
            wanted |= {view.slot for view in instruction.reads()}
    return replace(program, instructions=stays[::-1])
