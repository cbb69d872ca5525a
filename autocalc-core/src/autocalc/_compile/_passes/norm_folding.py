# SPDX-License-Identifier: MIT
"""Folding: a batch norm by running statistics becomes part of the product before it.

::

    t = conv(x, w, b), y = f(norm(t))     becomes     t = conv(x, w', b'), y = f(t)
    w' = w * s,  b' = (b - mean) * s + beta,  s = gamma / sqrt(var + eps)

and the same of `linear`.  w' and b' are of parameters that the program does not write,
and belong to its prologue: they are computed when a parameter has changed.  A norm of w
with mean 0 is w', a norm of b is b'.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from autocalc._compile._kernel_choice import instruction as chosen
from autocalc._compile._passes._fused_forms import activation_of
from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, alike, one
from autocalc._program._form import Instruction, Program, views_of
from autocalc._program._views import Operand, View

#: Kernels that may take a norm, and the dimensions of their results if one has to be.
PRODUCTS = {"conv": None, "linear": 2}

#: Bytes of folded weights that a program keeps at most.
MAX_BYTES = 1 << 30

#: How many numbers of a norm's attributes an activation takes.
_NUMBERS = {"relu": 0, "hardtanh": 2, "leaky_relu": 1, "hardswish": 0, "silu": 0}


class _Folded(NamedTuple):
    """Operands of a product that does the norm too, and the calls that compute them."""

    weight: View
    bias: View
    calls: list[Instruction]


def run(program: Program) -> Program:
    """Fold norms of products of parameters that stay."""
    flow = Flow(program)
    fixed = program.parameters - {s for s, at in flow.writers.items() if at}
    prologue = list(program.prologue)
    left = MAX_BYTES
    for at, instruction in flow:
        first = _product(flow, at) if instruction.name == "batch_norm_running" else None
        if first is None or not _parameters(flow[first], instruction) <= fixed:
            continue
        size = one(flow[first].inputs[1]).nbytes
        if size <= left and _fold(flow, first, at, prologue):
            left -= size
    return replace(flow.result(), prologue=prologue)


def _product(flow: Flow, at: int) -> int | None:
    """Return the product whose result a norm alone reads."""
    norm = flow[at]
    out, x, other = one(norm.outputs[0]), one(norm.inputs[0]), norm.inputs[-1]
    first = flow.only_writer(x) if flow.is_whole(x) else None
    if first is None or other is not None or flow.readers[x.slot] != {at}:
        return None
    product = flow[first]
    if product.name not in PRODUCTS or PRODUCTS[product.name] not in (
        None,
        len(x.shape),
    ):
        return None
    plain = activation_of(product) in {None, "none"}
    return first if plain and product.outputs[0] == x and alike(x, out) else None


def _parameters(product: Instruction, norm: Instruction) -> set[int]:
    """Return the slots of what is folded."""
    return {v.slot for v in views_of((*product.inputs[1:3], *norm.inputs[1:5]))}


def _fold(flow: Flow, first: int, at: int, prologue: list[Instruction]) -> bool:
    """Put a product with folded parameters where a product and a norm were."""
    product, norm = flow[first], flow[at]
    folded = _folded(flow, product, norm)
    last = _activation(norm)
    if folded is None or (last is None and norm.attributes[1] != "none"):
        return False
    assert product.spec is not None, "the host makes no products"
    out = product.outputs[0] if last else norm.outputs[0]
    outputs, operands = (out, *product.outputs[1:]), (folded.weight, folded.bias)
    fused = chosen(
        product.spec,
        outputs,
        (product.inputs[0], *operands),
        product.attributes,
        (product, norm),
    )
    if fused is None or not (last or flow.merge(first, at, fused)):
        return False
    if last:
        flow.put(first, fused)
        flow.put(at, last)
    prologue.extend(folded.calls)
    return True


def _activation(norm: Instruction) -> Instruction | None:
    """Return the activation of a norm as a call of its own, if it has one."""
    _, name, *numbers = norm.attributes
    if name not in _NUMBERS:
        return None
    given = tuple(numbers[: _NUMBERS[name]])
    return chosen(TABLE[name], norm.outputs, norm.inputs[:1], given, (norm,))


def _folded(flow: Flow, product: Instruction, norm: Instruction) -> _Folded | None:
    """Return the parameters of a product with a norm folded in."""
    _, mean, var, gamma, beta, _ = norm.inputs
    w, zeros = one(product.inputs[1]), flow.zeros(one(mean))
    b = product.inputs[2] or zeros
    weight, bias = flow.kept_like(w), flow.kept_like(one(b))
    calls = [
        _scaled(weight, w, (zeros, var, gamma, None), norm),
        _scaled(bias, one(b), (mean, var, gamma, beta), norm),
    ]
    made = [call for call in calls if call is not None]
    return _Folded(weight, bias, made) if len(made) == len(calls) else None


def _scaled(
    out: View, of: View, statistics: tuple[Operand, ...], norm: Instruction
) -> Instruction | None:
    """Return the norm of a parameter whose first dimension is that of channels."""
    assert norm.spec is not None, "the host norms nothing"
    attributes = norm.attributes[0], "none", 0.0, 0.0
    operands = _batch(of), *statistics, None
    return chosen(norm.spec, (_batch(out),), operands, attributes, (norm,))


def _batch(view: View) -> View:
    """Return a parameter as a batch of one."""
    return view._replace(shape=(1, *view.shape), strides=(view.nbytes, *view.strides))
