# SPDX-License-Identifier: MIT
"""Epilogues: what follows a matrix product is done while its result is in registers.

::

    t = linear(x, w), u = t + b                 becomes  u = linear(x, w, b)
    t = linear(x, w, b), u = f(t)               becomes  u, pre? = linear(x, w, b; f)
    t, .. = linear'(g, x, w), u = relu'(t, x)   becomes  u, .. = linear_relu'(g, x, w)

for f relu and gelu.  The product before the activation, `pre`, is kept where somebody
else reads it, such as the activation's backward kernel.
"""

from __future__ import annotations

from autocalc._compile._kernel_choice import instruction as chosen
from autocalc._compile._passes._fused_forms import (
    activation_of,
    name_of,
    with_activation,
)
from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, alike, one, shifted
from autocalc._program._form import Instruction, Program
from autocalc._program._views import Operand, View


def run(program: Program) -> Program:
    """Give biases and activations to the products before them."""
    flow = Flow(program)
    for at, instruction in flow:
        if instruction.name == "add":
            _bias(flow, at)
        elif (name := name_of(instruction)) is not None:
            _activate(flow, at, name)
        elif instruction.name == "relu_backward":
            _mask(flow, at)
    return flow.result()


def _product(flow: Flow, view: Operand) -> int | None:
    """Return the plain product that makes a temporary, if one does."""
    if not isinstance(view, View) or not flow.is_whole(view):
        return None
    at = flow.only_writer(view)
    if at is None:
        return None
    product = flow[at]
    plain = activation_of(product) == "none"
    return at if plain and not product.accumulated and not product.outputs[1] else None


def _activate(flow: Flow, at: int, name: str) -> None:
    """Let the product before an activation apply it."""
    out, a = map(one, (*flow[at].outputs, *flow[at].inputs))
    product = _product(flow, a)
    if product is None or not alike(out, a):
        return
    first, last = flow[product], flow[at]
    before = one(first.outputs[0])
    pre = before if flow.readers[a.slot] != {at} else None
    outputs = shifted(before, out), pre
    attributes = with_activation(first, name)
    fused = _made(first, outputs, first.inputs, attributes, last)
    if fused is not None:
        flow.merge(product, at, fused)


def _mask(flow: Flow, at: int) -> None:
    """Let the backward kernel of a layer mask its gradient by the relu before it."""
    out, t, y = map(one, (*flow[at].outputs, *flow[at].inputs))
    maker = flow.only_writer(t) if flow.is_whole(t) else None
    if maker is None or flow[maker].name != "linear_backward":
        return
    first, last = flow[maker], flow[at]
    plain = first.outputs[0] == t and first.inputs[1] == y and alike(t, out)
    used = {view.slot for view in first.reads()}
    if not plain or flow.readers[t.slot] != {at} or out.slot in used:
        return
    spec, outputs = TABLE["linear_relu_backward"], (out, *first.outputs[1:])
    fused = chosen(spec, outputs, first.inputs, first.attributes, (first, last))
    if fused is not None and fused.chosen == first.chosen:
        flow.merge(maker, at, fused)


def _bias(flow: Flow, at: int) -> None:
    """Let the product before the addition of a row add it."""
    out, *inputs = map(one, (*flow[at].outputs, *flow[at].inputs))
    for t, b in (inputs, inputs[::-1]):
        product = _product(flow, t)
        if product is None or flow[product].inputs[2] is not None:
            continue
        first = flow[product]
        before = one(first.outputs[0])
        row = _row(b, t)
        if row is None or before != t or not alike(out, t):
            continue
        if flow.readers[t.slot] == {at}:
            outputs = shifted(before, out), None
            operands = (*first.inputs[:2], row)
            fused = _made(first, outputs, operands, first.attributes, flow[at])
            if fused is not None:
                flow.merge(product, at, fused)
            return


def _row(view: View, of: View) -> View | None:
    """Return a bias as one row of `of`, if it is that."""
    n, itemsize = of.shape[-1], view.dtype.itemsize
    lead = view.shape[:-1]
    plain = view.shape[-1:] == (n,) and set(lead) <= {1} and view.dtype == of.dtype
    if not plain or (n != 1 and view.strides[-1] != itemsize):
        return None
    return view._replace(shape=(n,), strides=(itemsize,))


def _made(
    first: Instruction,
    outputs: tuple[Operand, ...],
    inputs: tuple[Operand, ...],
    attributes: tuple[object, ...],
    last: Instruction,
) -> Instruction | None:
    """Return the product and what follows it in one; None if its set has no such."""
    assert first.spec is not None, "the host makes no products"
    slots = [view.slot for view in first.reads()]
    if any(isinstance(x, View) and x.slot in slots for x in outputs):
        return None
    fused = chosen(first.spec, outputs, inputs, attributes, (first, last))
    return fused if fused is not None and fused.chosen == first.chosen else None
