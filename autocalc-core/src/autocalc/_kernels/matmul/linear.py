# SPDX-License-Identifier: MIT
"""The linear layer and its backward kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, Tolerance, log2, magnitude
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.matmul._bounds import (
    ACTIVATIONS,
    FEWER_PARTS,
    SAMPLED_ACTIVATIONS,
    SIZES,
    SPLIT,
    Bound,
    Pair,
    gemm_tolerance,
    product,
    product_of_parts,
    said_of_parts,
    split_product,
)
from autocalc._kernels.precision import narrow, plus, wide
from autocalc._kernels.rules import expect_ndim, expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample, Shape, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

linear = composite(
    "linear",
    "out pre? ; x weight bias? ; activation:none,relu,gelu,gelu_tanh",
    "out = activation(pre), pre = x @ weight.T + bias (weight is [out, in]).",
    key="shapes",
    defaults=("none",),
    complex=True,
)


def _remedy(x: Meta, weight: Meta) -> str:
    """Return the advice for an input that does not fit the layer."""
    if len(x.shape) > 2 and math.prod(x.shape[1:]) == weight.shape[1]:
        return "Flatten it first: x.flatten(1), or the layer nn.Flatten()."
    size = x.shape[-1] if x.shape else 0
    return f"Make a layer of {size} inputs, or give it what it was made for."


@linear.rule
def _linear_rule(
    x: Meta, weight: Meta, bias: Meta | None, activation: str
) -> tuple[Meta, Meta]:
    dtype = float_dtype("linear", x, weight, bias)
    expect_ndim("linear", "weight", weight, 2)
    if not x.shape:
        raise ShapeError(
            "linear: both arguments must be at least 1D, but `x` has shape (); give a "
            f"vector of {weight.shape[1]} elements."
        )
    if x.shape[-1:] != weight.shape[1:]:
        raise ShapeError(
            f"linear: `x` has shape {x.shape} and `weight` {weight.shape}; the last "
            f"dimension of `x` must be {weight.shape[1]} (`weight` is [out, in]): mat1 "
            f"and mat2 shapes cannot be multiplied. {_remedy(x, weight)}"
        )
    expect_shape("linear", "bias", bias, weight.shape[:1])
    out = Meta((*x.shape[:-1], weight.shape[0]), dtype)
    return out, out


@linear.reference
def _(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    activation: str,
    *,
    want: int = -1,
) -> Pair:
    pre = xp.matmul(x, weight.T)
    if bias is not None:
        pre = pre + bias
    return ACTIVATIONS[activation](xp, pre), pre


def _rows(shape: Shape) -> Shape:
    """Return the shape as a matrix, with all dimensions except the last as rows."""
    return math.prod(shape[:-1]), shape[-1]


@linear.decomposition(lead="gemm")
def _(
    k: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    activation: str,
    *,
    want: int = -1,
) -> Pair:
    rows = k.reshape(x, _rows(k.shape(x)))
    columns = k.permute(weight, (1, 0))
    out, pre = k.gemm(rows, columns, bias, 1.0, 1.0, activation, want=want & 0b11)
    shape = (*k.shape(x)[:-1], k.shape(weight)[0])
    return k.reshape(out, shape), None if pre is None else k.reshape(pre, shape)


def _linear(of: Bound) -> Tolerance:
    gemm = gemm_tolerance(of)

    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
        x, weight, bias = inputs
        return gemm((x, weight.T, bias), (1.0, 1.0, *attributes), expected, eps)

    return tolerance


linear.budget(
    Budget("(K + 2) * eps * (|x| |weight.T|), through the activation", _linear(product))
)


@linear.samples
def _(make: Make) -> Iterator[Sample]:
    for m, k, n in SIZES:
        x, weight = make.normal(m, k), make.normal(n, k)
        yield Sample(f"{m}x{k}x{n}", (x, weight, None), ("none",), want=0b10)
        yield Sample(
            f"{m}x{k}x{n}, bias", (x, weight, make.normal(n)), ("none",), want=0b10
        )
    for activation in SAMPLED_ACTIVATIONS:
        triple = (make.normal(9, 20), make.normal(37, 20), make.normal(37))
        yield Sample(activation, triple, (activation,), want=0b10)
    for shape in ((), (2, 3), (2, 1, 3), (0, 2)):
        triple = (make.normal(*shape, 20), make.normal(33, 20), make.normal(33))
        yield Sample(f"leading {shape}", triple, ("relu",), want=0b10)
    triple = (make.normal(301, 260), make.normal(225, 260), make.normal(225))
    yield Sample("large", triple, ("relu",))


def _linear_work(x: Meta, weight: Meta, bias: Meta | None, activation: str) -> Work:
    out, _ = _linear_rule(x, weight, bias, activation)
    return Work(2.0 * size(x) * weight.shape[0], nbytes(x, weight, bias, out))


linear.work(_linear_work)
linear.benchmarks(
    Case(
        "256x784 to 1024",
        join(floats(256, 784), floats(1024, 784), floats(1024)),
        ("none",),
    )
)


linear_split = Budget(
    f"(K + 2) * eps * (|A| |B|){SPLIT}, through the activation", _linear(split_product)
)


linear.exception("split", linear_split)
linear.exception("bfloat16", linear_split)
for _parts in FEWER_PARTS:
    linear.exception(
        _parts,
        Budget(
            f"{said_of_parts(_parts)}, through the activation",
            _linear(product_of_parts(_parts)),
        ),
    )


linear_backward = composite(
    "linear_backward",
    "dx? dweight? dbias? ; g x? weight? ; accumulate:int",
    "dx = g @ weight, dweight = g.T @ x, dbias = sum of g over rows.",
    key="shapes",
    accumulates=("dx", "dweight", "dbias"),
    complex=True,
)


@linear_backward.rule
def linear_backward_rule(
    g: Meta, x: Meta | None, weight: Meta | None
) -> tuple[Meta | None, Meta | None, Meta]:
    name = "linear_backward"
    dtype = float_dtype(name, g, x, weight)
    if not g.shape:
        raise ShapeError(f"{name}: `g` has no dimensions; it must be [..., out].")
    out, dx, dweight = g.shape[-1], None, None
    if weight is not None:
        expect_ndim(name, "weight", weight, 2)
        expect_shape(name, "weight", weight, (out, weight.shape[1]))
        dx = Meta((*g.shape[:-1], weight.shape[1]), dtype)
    if x is not None:
        features = x.shape[-1] if dx is None else dx.shape[-1]
        expect_shape(name, "x", x, (*g.shape[:-1], features))
        dweight = Meta((out, features), dtype)
    return dx, dweight, Meta((out,), dtype)


@linear_backward.formula(lead="gemm")
def linear_backward_formula(
    xp: Any,
    g: Array,
    x: Array | None,
    weight: Array | None,
    *,
    want: int = -1,
    dx: Array | None = None,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, Array | None, Array | None]:
    rows = g.reshape(_rows(g.shape))
    if weight is not None and want & 0b001:
        dx = plus(dx, xp.matmul(g, weight))
    if x is not None and want & 0b010:
        dweight = plus(dweight, xp.matmul(rows.T, x.reshape(_rows(x.shape))))
    if want & 0b100:
        dbias = narrow(plus(dbias, xp.sum(wide(xp, rows), axis=0)), g)
    return dx, dweight, dbias


def _linear_backward(of: Bound) -> Tolerance:
    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
        g, x, weight = inputs
        rows = g.reshape(int(np.prod(g.shape[:-1])), g.shape[-1])
        dx = None if weight is None else of(g, weight, eps)
        dweight = None
        if x is not None:
            dweight = of(rows.T, x.reshape(rows.shape[0], x.shape[-1]), eps)
        dbias = 2 * eps * log2(rows.shape[0]) * magnitude(rows).sum(axis=0)
        return [dx, dweight, dbias]

    return tolerance


linear_backward_budget = Budget(
    "(K + 2) * eps * (|A| |B|) for each product; dbias as sum",
    _linear_backward(product),
)
linear_backward.budget(linear_backward_budget)


@linear_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for m, k, n in SIZES:
        g, x, weight = make.normal(m, n), make.normal(m, k), make.normal(n, k)
        yield Sample(f"{m}x{k}x{n}", (g, x, weight), want=0b111)
    g, x, weight = make.normal(9, 20), make.normal(9, 33), make.normal(20, 33)
    yield Sample("no x", (g, None, weight), want=0b101)
    yield Sample("no weight", (g, x, None), want=0b110)
    yield Sample("neither", (g, None, None), want=0b100)
    for shape in ((), (2, 3), (2, 1, 3), (0, 2)):
        g, x = make.normal(*shape, 20), make.normal(*shape, 33)
        yield Sample(f"leading {shape}", (g, x, make.normal(20, 33)), want=0b111)
    g, x, weight = make.normal(301, 225), make.normal(301, 260), make.normal(225, 260)
    yield Sample("large", (g, x, weight), want=0b111)


def linear_backward_work(g: Meta, x: Meta | None, weight: Meta | None) -> Work:
    outs = linear_backward_rule(g, x, weight)
    flops = sum(2.0 * size(g) * out.shape[-1] for out in outs[:2] if out is not None)
    return Work(flops + size(g), nbytes(g, x, weight, *outs))


linear_backward.work(linear_backward_work)
linear_backward.benchmarks(
    Case(
        "256x784 to 1024",
        join(floats(256, 1024), floats(256, 784), floats(1024, 784)),
        want=0b111,
    )
)


linear_backward_split = Budget(
    f"(K + 2) * eps * (|A| |B|){SPLIT} for each product; dbias as sum",
    _linear_backward(split_product),
)


linear_backward_exceptions = {
    "split": linear_backward_split,
    "bfloat16": linear_backward_split,
} | {
    parts: Budget(
        f"{said_of_parts(parts)} for each product; dbias as sum",
        _linear_backward(product_of_parts(parts)),
    )
    for parts in FEWER_PARTS
}


for _name, _budget in linear_backward_exceptions.items():
    linear_backward.exception(_name, _budget)
