# SPDX-License-Identifier: MIT
"""Prologue: what is computed of parameters alone runs only when these have changed.

In a program that does not write its parameters (inference) the weights of a convolution
with the batch norm behind it folded in, transposed copies, embeddings of all positions
and the like are the same from replay to replay.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autocalc._compile._passes._flow import Flow
from autocalc._compile._program import Instruction, Program, views_of
from autocalc._dispatch._state import current

#: Bytes that a program keeps at most of what it computed of its parameters.
MAX_BYTES = 1 << 30


def run(program: Program) -> Program:
    """Move calls whose operands are parameters, constants or such results."""
    flow = Flow(
        replace(
            program,
            temporaries=set(program.temporaries),
            others=set(program.others),
            own=dict(program.own),
        )
    )
    changed = flow.program
    written = {slot for slot, writers in flow.writers.items() if writers}
    fixed = program.parameters - written
    prologue: list[Instruction] = []
    left = MAX_BYTES
    for at, instruction in flow:
        slots = _results(flow, instruction, fixed)
        size = sum(program.sizes[slot] for slot in slots)
        if not slots or size > left:
            continue
        prologue.append(instruction)
        flow.put(at, None)
        left -= size
        fixed = fixed | slots
        for slot in slots:
            changed.temporaries.discard(slot)
            changed.others.add(slot)
            changed.own[slot] = current().selection.empty(
                (program.sizes[slot],), np.dtype(np.uint8)
            )
    own = dict(changed.own)  # what the prologue alone uses must stay, too
    return replace(flow.result(), prologue=prologue, own=own)


def _results(flow: Flow, instruction: Instruction, fixed: set[int]) -> set[int]:
    """Return the slots that a call of fixed operands fills; none if it is no such."""
    outputs = list(views_of(instruction.outputs))
    reads = {view.slot for view in instruction.reads()}
    if instruction.spec is None or not reads & fixed:
        return set()
    if reads - fixed - flow.program.constants.keys():
        return set()
    if any(flow.only_writer(view) is None for view in outputs):
        return set()
    return {view.slot for view in outputs}
