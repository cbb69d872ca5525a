# SPDX-License-Identifier: MIT
"""Prologue: calls that depend only on parameters run only when these have changed.

A program for inference does not write its parameters.  Values computed from them are
then equal in each replay.  Examples are the folded weights of a convolution and its
batch norm, transposed copies, and embeddings of all positions.
"""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._flow import Flow
from autocalc._program._form import Program

#: The most bytes of results that a program keeps for its prologue.
MAX_BYTES = 1 << 30


def run(program: Program) -> Program:
    """Move calls whose operands are parameters, constants or results of moved calls."""
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
    own = dict(flow.program.own)  # keep what only the prologue uses, too
    return replace(flow.result(), prologue=prologue, own=own)
