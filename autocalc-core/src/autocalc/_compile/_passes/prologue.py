# SPDX-License-Identifier: MIT
"""Prologue: what is computed of parameters alone runs only when these have changed.

A program for inference does not write its parameters. So folded weights of a
convolution and its batch norm, transposed copies, embeddings of all positions and the
like are equal in each replay.
"""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._flow import Flow
from autocalc._program._form import Program

#: Bytes that a program keeps at most of what it computed of its parameters.
MAX_BYTES = 1 << 30


def run(program: Program) -> Program:
    """Move calls whose operands are parameters, constants or such results."""
    flow = Flow(program)
    constants = program.constants.keys()
    written = {slot for slot, writers in flow.writers.items() if writers}
    fixed = program.parameters - written
    prologue = list(program.prologue)
    left = MAX_BYTES
    for at, instruction in flow:
        slots = flow.results_of(at, fixed | constants)
        if not fixed & {view.slot for view in instruction.reads()}:
            continue
        size = sum(program.sizes[slot] for slot in slots)
        if not slots or size > left:
            continue
        prologue.append(instruction)
        flow.put(at, None)
        left -= size
        fixed = fixed | slots
        for slot in slots:
            flow.keep(slot)
    own = dict(flow.program.own)  # what the prologue alone uses must stay, too
    return replace(flow.result(), prologue=prologue, own=own)
