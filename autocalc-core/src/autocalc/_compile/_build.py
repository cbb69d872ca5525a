# SPDX-License-Identifier: MIT
"""Builds a program from a recording, and sorts its slots by their use."""

from __future__ import annotations

from autocalc._compile._motion import Motion, most_bytes
from autocalc._compile._moving import Number, moving_instruction
from autocalc._compile._settings import reading
from autocalc._compile._trace import Constant, Gradient, NewLeaf, Owned, Trace
from autocalc._program._form import Program
from autocalc._tensor.storage import is_exported


def build(
    trace: Trace,
    motion: Motion | None = None,
    number: Number | None = None,
    limit: int | None = None,
) -> Program:
    """Return the program of a recording, before any pass changes it.

    With a `motion`, its calls depend on `number`.
    """
    slots = trace.memory.slots
    registered = set(map(id, trace.registered))
    parameters = {
        index: binding.tensor
        for index, binding in trace.bindings.items()
        if isinstance(binding, Owned) and id(binding.tensor) in registered
    }
    used = {v.slot for i in trace.instructions for v in i.views()}
    returned = {leaf.view.slot for leaf in trace.leaves if isinstance(leaf, NewLeaf)}
    used |= returned
    results = {view.slot for _, view in trace.gradients}
    results |= {index for index in trace.lent() if slots[index].made}
    results |= {slot for slot in returned if slots[slot].made}
    made = {index for index in used if slots[index].made}
    instructions = list(trace.instructions)
    for i in trace.again:
        instructions[i] = reading(instructions[i])
    sizes = {index: slots[index].nbytes for index in used}
    if motion is not None and number is not None:
        for i, moves in motion.calls.items():
            instructions[i] = moving_instruction(instructions[i], moves, number, motion)
        sizes = {slot: most_bytes(motion, slot, size) for slot, size in sizes.items()}
    return Program(
        instructions,
        sizes,
        temporaries=made - results,
        results=results,
        gradients=set() if motion is not None else _only_gradients(trace) - returned,
        others=used - made,
        constants={
            index: binding.array
            for index, binding in trace.bindings.items()
            if isinstance(binding, Constant) and not binding.array.flags.writeable
        },
        parameters=set(parameters),
        exported={i for i, x in parameters.items() if is_exported(x)},
        limit=limit,
    )


def _only_gradients(trace: Trace) -> set[int]:
    """Return the slots of new gradients of leaves whose old gradients are not read.

    A program with callbacks has none of these: a callback may read any gradient.
    """
    if any(i.callback is not None for i in trace.instructions):
        return set()
    bound = {
        binding.leaf
        for binding in trace.bindings.values()
        if isinstance(binding, Gradient)
    }
    read = {view.slot for leaf, view in trace.gradients if leaf in bound}
    return {view.slot for _, view in trace.gradients} - read
