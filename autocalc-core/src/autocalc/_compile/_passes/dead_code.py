# SPDX-License-Identifier: MIT
"""Dead code: calls whose results are not read."""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._form import Instruction, Program


def run(program: Program) -> Program:
    """Remove instructions that only write temporaries which nothing reads later.

    One loop from the end suffices.  A slot is needed if it is visible after the run, or
    if an instruction that stays reads it.  Instructions of the host always stay.
    """
    wanted = program.kept()
    stays: list[Instruction] = []
    for instruction in reversed(program.instructions):
        written = {view.slot for view in instruction.writes()}
        if instruction.spec is None or written & wanted:
            stays.append(instruction)
            wanted |= {view.slot for view in instruction.reads()}
    return replace(program, instructions=stays[::-1])
