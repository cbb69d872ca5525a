# SPDX-License-Identifier: MIT
"""Batch normalisation, followed by the addition of a shortcut and an activation.

::

    out = f(batch_norm(x) + other)        other: the shortcut, or absent

The gradient of the activation is computed from `out`, which the next layer saves
anyway.  That of hardswish and silu is computed from their input, which is recomputed
from x.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude
from autocalc._kernels.cases import Case, absent, floats, join, positive
from autocalc._kernels.declare import composite
from autocalc._kernels.norm import _rows as rows
from autocalc._kernels.norm._activated import (
    ATTRIBUTES,
    BY_INPUT,
    SAMPLED,
    activated,
    change_of_slope,
    most_change,
    passed,
    steps_of,
)
from autocalc._kernels.norm._channels import (
    EPS,
    batches,
    by_statistics,
    channel_column,
    channels,
    normalised,
    statistics,
)
from autocalc._kernels.norm.batch_norm import (
    batch_norm_backward_budget,
    batch_norm_backward_formula,
    batch_norm_budget,
)
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

batch_norm_activation = composite(
    "batch_norm_activation",
    f"out mean var ; x weight? bias? other? ; eps:float {ATTRIBUTES}",
    "For each channel of x [N, C, ...]: out = f((x - mean) / sqrt(var + eps) * weight "
    "+ bias + other) with var = mean((x - mean)**2), where f is the activation.",
    key="shapes",
    layout="like",
    alias=(("out", "x"), ("out", "other")),
    halves=rows.OF_HALVES,
)


@batch_norm_activation.rule
def _(
    x: Meta,
    weight: Meta | None,
    bias: Meta | None,
    other: Meta | None,
    *attributes: Any,
) -> tuple[Meta, Meta, Meta]:
    name = "batch_norm_activation"
    dtype = float_dtype(name, x, weight, bias, other)
    expect_shape(name, "other", other, x.shape)
    each = Meta(channels(name, x, weight=weight, bias=bias), dtype)
    return Meta(x.shape, dtype), each, each


@batch_norm_activation.formula(lead="sum")
def _(
    xp: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    other: Array | None,
    eps: float,
    activation: str,
    alpha: float,
    beta: float,
) -> tuple[Array, Array, Array]:
    out, mean, var = normalised(xp, x, weight, bias, eps)
    out = activated(xp, out if other is None else out + other, activation, alpha, beta)
    return narrow(out, x), narrow(mean, x), narrow(var, x)


@batch_norm_activation.budget(
    "that of batch_norm, and 2 eps * |other|, times the activation's steepest slope, "
    "and its own 4 ULP; mean and var as there"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, weight, bias, other = inputs
    eps_, activation, alpha, _ = attributes
    z, *_ = normalised(np, np.asarray(x, np.float64), weight, bias, eps_)
    off, *statistics = batch_norm_budget.tolerance(
        (x, weight, bias), attributes, (z, *expected[1:]), eps
    )
    off = off if other is None else off + 2 * eps * magnitude(other)
    z = z if other is None else z + other
    own = eps * steps_of(activation, z, alpha)
    return [most_change(activation) * off + own, *statistics]


@batch_norm_activation.samples
def _(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(batches(make)):
        weight = make.normal(x.shape[1]) if i % 4 < 3 else None
        bias = make.normal(x.shape[1]) if i % 4 < 2 else None
        for j, f in enumerate(SAMPLED):
            other = make.normal(*x.shape) if (i + j) % 2 else None
            inputs = (x, weight, bias, other)
            yield Sample(f"{label}, {f[0]}", inputs, (EPS, *f))


batch_norm_activation.work(flops_per_element=10)
batch_norm_activation.benchmarks(
    Case(
        "32x64x56x56",
        join(floats(32, 64, 56, 56), *[floats(64)] * 2, absent),
        (1e-5, "relu", 0.0, 0.0),
        0b111,
    ),
    Case(
        "32x64x56x56, silu",
        join(floats(32, 64, 56, 56), *[floats(64)] * 2, absent),
        (1e-5, "silu", 0.0, 0.0),
        0b111,
    ),
)


batch_norm_activation_backward = composite(
    "batch_norm_activation_backward",
    "dx? dweight? dbias? dother? ; g x out? other? mean var weight? bias? ; "
    f"eps:float {ATTRIBUTES} accumulate:int",
    "`dother` = g times the derivative of the activation. It is computed from out, or "
    "for hardswish and silu from x, weight, bias and other. dx, dweight and dbias are "
    "the results of batch_norm_backward for `dother`.",
    key="shapes",
    layout="like",
    accumulates=("dweight", "dbias"),
    alias=(("dx", "x"), ("dx", "out")),
    halves=rows.OF_HALVES,
)


@batch_norm_activation_backward.rule
def _(
    g: Meta,
    x: Meta,
    out: Meta | None,
    other: Meta | None,
    mean: Meta,
    var: Meta,
    weight: Meta | None,
    bias: Meta | None,
    *attributes: Any,
) -> tuple[Meta, Meta, Meta, Meta]:
    name = "batch_norm_activation_backward"
    dtype = float_dtype(name, g, x, out, other, mean, var, weight, bias)
    like_x = Meta(same_shape(name, g=g, x=x), dtype)
    expect_shape(name, "out", out, x.shape)
    expect_shape(name, "other", other, x.shape)
    shape = channels(name, x, mean=mean, var=var, weight=weight, bias=bias)
    each = Meta(shape, dtype)
    return like_x, each, each, like_x


def before(
    xp: Any,
    x: Array,
    other: Array | None,
    mean: Array,
    var: Array,
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> Array:
    """Return the input of the activation, in float64."""
    column = channel_column(x.shape)
    scale = 1 / xp.sqrt(wide(xp, var) + eps)
    scale = scale if weight is None else scale * weight
    z = (wide(xp, x) - mean.reshape(column)) * scale.reshape(column)
    return affine(z, other, None, bias)


def affine(
    h: Array, other: Array | None, weight: Array | None, bias: Array | None
) -> Array:
    """Return h * weight + bias + other."""
    column = channel_column(h.shape)
    z = h if weight is None else h * weight.reshape(column)
    z = z if bias is None else z + bias.reshape(column)
    return z if other is None else z + other


@batch_norm_activation_backward.formula(lead="sum")
def _(
    xp: Any,
    g: Array,
    x: Array,
    out: Array | None,
    other: Array | None,
    mean: Array,
    var: Array,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    activation: str,
    alpha: float,
    beta: float,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, ...]:
    known = out
    if activation in BY_INPUT:
        h, _ = by_statistics(xp, x, mean, var, eps)
        known = affine(h, other, weight, bias)
    through = passed(xp, wide(xp, g), known, activation, alpha, beta)
    grads = batch_norm_backward_formula(
        xp, through, wide(xp, x), mean, var, weight, eps, want=want & 0b111,
        dweight=dweight, dbias=dbias,
    )  # fmt: skip
    found = (*grads, through if want & 0b1000 else None)
    return tuple([None if a is None else narrow(a, x) for a in found])


def before_budget(z: Array, parts: Sequence[Any], eps: float) -> Array:
    """Return the error bound of z: a few roundings of each part of the sum."""
    x, other, mean, var, weight, bias, eps_ = parts
    column = channel_column(x.shape)
    scale = magnitude(1 / np.sqrt(np.asarray(var, np.float64) + eps_))
    scale = scale if weight is None else scale * magnitude(weight)
    far = magnitude(np.asarray(x, np.float64) - np.asarray(mean).reshape(column))
    off = 6 * eps * far * scale.reshape(column) + 2 * eps * magnitude(z)
    off = off if bias is None else off + 2 * eps * magnitude(bias).reshape(column)
    return off if other is None else off + 2 * eps * magnitude(other)


@batch_norm_activation_backward.budget(
    "that of batch_norm_backward from the activation's gradient, which is off where "
    "the activation's slope is of rounded numbers"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, x, out, other, mean, var, weight, bias = inputs
    eps_, activation, alpha, beta = attributes[:4]
    parts = (x, other, mean, var, weight, bias)
    z = before(np, np.asarray(x, np.float64), *parts[1:], eps_)
    known = z if activation in BY_INPUT else out
    through = passed(np, np.asarray(g, np.float64), known, activation, alpha, beta)
    off = np.zeros(g.shape)
    if activation in BY_INPUT:
        moved = before_budget(z, (*parts, eps_), eps)
        off = magnitude(g) * (change_of_slope(activation) * moved + 8 * eps)
    if activation == "leaky_relu":
        off = 2 * eps * magnitude(through)
    # The passed gradient is enlarged, so that its rounding errors cover its actual
    # error.
    larger = through + np.sign(through) * (off / eps)
    larger = np.where(through == 0, off / eps, larger)
    operands = (larger, x, mean, var, weight)
    grads = batch_norm_backward_budget.tolerance(
        operands, attributes, expected[:3], eps
    )
    return [*grads, None if expected[3] is None else off]


@batch_norm_activation_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(batches(make)):
        weight = make.normal(x.shape[1]) if i % 3 else None
        bias = make.normal(x.shape[1]) if i % 4 < 2 else None
        mean, var = statistics(make, x)
        for j, f in enumerate(SAMPLED):
            out, other = make.normal(*x.shape), None
            if f[0] == "relu":
                out = np.maximum(out, np.zeros((), make.dtype))
            if f[0] in BY_INPUT:
                out, other = None, out if (i + j) % 2 else None
            inputs = (make.normal(*x.shape), x, out, other, mean, var, weight, bias)
            yield Sample(f"{label}, {f[0]}", inputs, (EPS, *f), want=0b1111)


batch_norm_activation_backward.work(flops_per_element=13)
batch_norm_activation_backward.benchmarks(
    Case(
        "32x64x56x56",
        join(
            *[floats(32, 64, 56, 56)] * 3,
            absent, floats(64), positive(64), floats(64), floats(64),
        ),
        (1e-5, "relu", 0.0, 0.0),
        0b111,
    )
)  # fmt: skip
