# SPDX-License-Identifier: MIT
"""Transposed weights: a weight is stored in the layout in which its product reads it.

::

    linear(x, w, b)                 becomes  linear(x, w', b)

where w' holds the numbers of w column by column.

The weight of a linear layer has a row for each result.  A product with few rows of x
gathers the columns of the weight at each call.  Where a program does not write a weight
(inference), the prologue makes a transposed copy, and makes it again when the weight
has changed.  The kernel's set decides for which calls that is faster
(`KernelImpl.transposed_weight`).  It may change the order of sums.
"""

from __future__ import annotations

from dataclasses import replace

from autocalc._dispatch.plugins.discovery import registry
from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow
from autocalc._program._form import Instruction, Program
from autocalc._program._kernel_choice import instruction as chosen
from autocalc._program._kernel_choice import key_of
from autocalc._program._views import View

#: The axis along which products sum in their second input, the weight.
AXES = {"linear": 1, "gemm": 0}

#: The most bytes of copies that a program keeps.
MAX_BYTES = 1 << 26


def run(program: Program) -> Program:
    """Let products read transposed copies of constant weights, where sets ask so."""
    flow = Flow(program)
    prologue = list(program.prologue)
    written = {slot for slot, writers in flow.writers.items() if writers}
    fixed = _fixed(program) - written
    copies: dict[View, View] = {}
    left = MAX_BYTES
    for at, product in flow:
        weight = _weight(product)
        if weight is None or weight.slot not in fixed or not _is_asked_for(product):
            continue
        if weight not in copies:
            call = _copy(flow, weight, product) if weight.nbytes <= left else None
            if call is None:
                continue
            left -= weight.nbytes
            prologue.append(call)
            (copies[weight],) = call.writes()
        flow.put(at, _reading(product, copies[weight]))
    own = dict(flow.program.own)  # keep what only the prologue uses, too
    return replace(flow.result(), prologue=prologue, own=own)


def _fixed(program: Program) -> set[int]:
    """Return the slots that seldom change and that nothing can write unnoticed.

    If a weight could be written unnoticed, each replay would have to copy it.  That
    takes longer than it saves.
    """
    fixed = program.parameters - program.exported
    known = fixed | program.constants.keys()
    for call in program.prologue:
        if all(view.slot in known for view in call.reads()):
            known |= {view.slot for view in call.writes()}
    return known - program.constants.keys()


def _weight(product: Instruction) -> View | None:
    """Return the weight of a product if its sums run along contiguous memory."""
    axis = AXES.get(product.name)
    weight = None if axis is None else product.inputs[1]
    if axis is None or not isinstance(weight, View) or len(weight.shape) != 2:
        return None
    along = weight.strides[axis] == weight.dtype.itemsize
    apart = weight.strides[1 - axis] == weight.shape[axis] * weight.dtype.itemsize
    return weight if along and apart else None


def _is_asked_for(product: Instruction) -> bool:
    """Return whether the kernel set of a product wants its weight transposed."""
    assert product.spec is not None, "a product is a kernel"
    found = registry()
    if product.chosen not in found.sets:  # 16-bit floats are multiplied in float32
        return False
    impl = (found.kernels(product.chosen) or {}).get(product.name)
    if impl is None or impl.transposed_weight is None:
        return False
    key = key_of(product.spec, product.outputs, product.inputs, product.attributes)
    return impl.transposed_weight(key)


def _copy(flow: Flow, weight: View, product: Instruction) -> Instruction | None:
    """Return the call that makes the transposed copy of a weight."""
    axis = AXES[product.name]
    step = weight.dtype.itemsize
    strides = [step, step]
    strides[axis] = step * weight.shape[1 - axis]
    place = flow.kept_like(weight)._replace(strides=tuple(strides))
    return chosen(TABLE["copy"], (place,), (weight,), (), (product,))


def _reading(product: Instruction, weight: View) -> Instruction:
    """Return the product, reading its weight from another view."""
    x, _, *others = product.inputs
    return replace(product, inputs=(x, weight, *others))
