# SPDX-License-Identifier: MIT
"""Residual norms: a norm over the last axis adds the residual that it reads.

::

    x = a + b, y = layer_norm(x)   becomes  x, y = add_layer_norm(a, b)

and the same for `rms_norm`.  The sum is written as before, but is read while it lies in
the L1 cache.
"""

from __future__ import annotations

from autocalc._compile._kernel_choice import instruction as chosen
from autocalc._compile._passes._fused_forms import NORMS_OF_SUMS
from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, alike, one
from autocalc._program._form import Program


def run(program: Program) -> Program:
    """Let norms make the sums that they normalise."""
    flow = Flow(program)
    for at, instruction in flow:
        if instruction.name in NORMS_OF_SUMS:
            _join(flow, at)
    return flow.result()


def _join(flow: Flow, at: int) -> None:
    """Let a norm make its operand, where this is the sum of two whole arrays."""
    norm = flow[at]
    x = one(norm.inputs[0])
    maker = flow.only_writer(x) if flow.is_whole(x) else None
    if maker is None or flow[maker].name != "add":
        return
    add = flow[maker]
    total, a, b = map(one, (*add.outputs, *add.inputs))
    if total != x or not (alike(a, x) and alike(b, x)):
        return
    spec = TABLE[NORMS_OF_SUMS[norm.name]]
    outputs, inputs = (x, *norm.outputs), (a, b, *norm.inputs[1:])
    fused = chosen(spec, outputs, inputs, norm.attributes, (add, norm))
    if fused is not None and fused.chosen == norm.chosen:
        flow.merge(maker, at, fused)
