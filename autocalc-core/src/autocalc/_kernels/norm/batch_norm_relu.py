# SPDX-License-Identifier: MIT
"""Batch normalisation with what follows it in a residual network.

::

    out = max(batch_norm(x) + other, 0)        other: the shortcut, or absent

The gradient passes where out > 0: out is kept by whoever reads it next, so neither what
lies before the maximum nor a mask need be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.activations.relu import (
    relu_backward_in_primitives,
    relu_backward_reference,
)
from autocalc._kernels.budgets import Inputs, magnitude
from autocalc._kernels.cases import Case, absent, floats, join, positive
from autocalc._kernels.declare import composite
from autocalc._kernels.norm._channels import (
    EPS,
    batches,
    channels,
    normalised,
    statistics,
)
from autocalc._kernels.norm.batch_norm import (
    batch_norm_backward_budget,
    batch_norm_backward_in_primitives,
    batch_norm_backward_reference,
    batch_norm_budget,
    batch_norm_in_primitives,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

batch_norm_relu = composite(
    "batch_norm_relu",
    "out mean var ; x weight? bias? other? ; eps:float",
    "Each channel of x [N, C, ...]: out = max((x - mean) / sqrt(var + eps) * "
    "weight + bias + other, 0) with its mean and its var = mean((x - mean)**2).",
    key="shapes",
    layout="like",
    alias=(("out", "x"), ("out", "other")),
)


_NAME = "batch_norm_relu"


@batch_norm_relu.rule
def _(
    x: Meta, weight: Meta | None, bias: Meta | None, other: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    dtype = float_dtype(_NAME, x, weight, bias, other)
    expect_shape(_NAME, "other", other, x.shape)
    each = Meta(channels(_NAME, x, weight=weight, bias=bias), dtype)
    return Meta(x.shape, dtype), each, each


@batch_norm_relu.reference
def _(
    xp: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    other: Array | None,
    eps: float,
) -> tuple[Array, Array, Array]:
    out, mean, var = normalised(xp, x, weight, bias, eps)
    out = out if other is None else out + other
    out = xp.maximum(out, xp.zeros((), out.dtype))
    return narrow(out, x), narrow(mean, x), narrow(var, x)


@batch_norm_relu.decomposition(lead="sum")
def _(
    k: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    other: Array | None,
    eps: float,
) -> tuple[Array, Array, Array]:
    out, mean, var = batch_norm_in_primitives(k, x, weight, bias, eps)
    out = out if other is None else k.add(out, other)
    return k.maximum(out, k.constant(0, out)), mean, var


@batch_norm_relu.budget(
    "that of batch_norm, and 2 eps * |other|; mean and var as there"
)
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias, other = inputs
    off, *statistics = batch_norm_budget.tolerance(
        (x, weight, bias), attributes, expected, eps
    )
    off = off if other is None else off + 2 * eps * magnitude(other)
    return [off, *statistics]


@batch_norm_relu.samples
def _(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(batches(make)):
        weight = make.normal(x.shape[1]) if i % 4 < 3 else None
        bias = make.normal(x.shape[1]) if i % 4 < 2 else None
        other = make.normal(*x.shape) if i % 2 else None
        yield Sample(label, (x, weight, bias, other), (EPS,))


batch_norm_relu.work(flops_per_element=10)
batch_norm_relu.benchmarks(
    Case(
        "32x64x56x56",
        join(floats(32, 64, 56, 56), *[floats(64)] * 2, absent),
        (1e-5,),
        0b111,
    )
)


batch_norm_relu_backward = composite(
    "batch_norm_relu_backward",
    "dx? dweight? dbias? dother? ; g x out mean var weight? ; eps:float accumulate:int",
    "dother = g where out > 0, else 0; dx, dweight and dbias are those of "
    "batch_norm_backward from it.",
    key="shapes",
    layout="like",
    accumulates=("dweight", "dbias"),
    alias=(("dx", "x"), ("dx", "out")),
)


@batch_norm_relu_backward.rule
def _(
    g: Meta, x: Meta, out: Meta, mean: Meta, var: Meta, weight: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta, Meta]:
    name = "batch_norm_relu_backward"
    dtype = float_dtype(name, g, x, out, mean, var, weight)
    like_x = Meta(same_shape(name, g=g, x=x, out=out), dtype)
    each = Meta(channels(name, x, mean=mean, var=var, weight=weight), dtype)
    return like_x, each, each, like_x


@batch_norm_relu_backward.reference
def _(
    xp: Any,
    g: Array,
    x: Array,
    out: Array,
    mean: Array,
    var: Array,
    weight: Array | None,
    eps: float,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array, Array, Array, Array]:
    passed = relu_backward_reference(xp, g, out)
    grads = batch_norm_backward_reference(
        xp, passed, x, mean, var, weight, eps, dweight=dweight, dbias=dbias
    )
    return (*grads, passed)


@batch_norm_relu_backward.decomposition(lead="sum")
def _(
    k: Any,
    g: Array,
    x: Array,
    out: Array,
    mean: Array,
    var: Array,
    weight: Array | None,
    eps: float,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, Array | None, Array | None, Array | None]:
    passed = relu_backward_in_primitives(k, g, out)
    grads = batch_norm_backward_in_primitives(
        k, passed, x, mean, var, weight, eps, want=want & 0b111,
        dweight=dweight, dbias=dbias,
    )  # fmt: skip
    return (*grads, passed if want & 0b1000 else None)


@batch_norm_relu_backward.budget(
    "that of batch_norm_backward from g where out > 0; dother is exact"
)
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, out, *statistics = inputs
    passed = np.where(out <= 0, np.zeros((), g.dtype), g)
    operands = (passed, x, *statistics)
    grads = batch_norm_backward_budget.tolerance(
        operands, attributes, expected[:3], eps
    )
    return [*grads, None if expected[3] is None else np.zeros(g.shape)]


@batch_norm_relu_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(batches(make)):
        weight = make.normal(x.shape[1]) if i % 3 else None
        out = np.maximum(make.normal(*x.shape), np.zeros((), make.dtype))
        inputs = (make.normal(*x.shape), x, out, *statistics(make, x), weight)
        yield Sample(label, inputs, (EPS,), want=0b1111)


batch_norm_relu_backward.work(flops_per_element=13)
batch_norm_relu_backward.benchmarks(
    Case(
        "32x64x56x56",
        join(*[floats(32, 64, 56, 56)] * 3, floats(64), positive(64), floats(64)),
        (1e-5,),
        0b111,
    )
)
