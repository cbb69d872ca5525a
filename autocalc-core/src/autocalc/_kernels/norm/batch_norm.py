# SPDX-License-Identifier: MIT
"""Normalisation of each channel over a batch, forward and backward.

With ``h = (x - mean) * rstd``, ``rstd = 1 / sqrt(var + eps)`` and n elements in a
channel (Ioffe, Szegedy: Batch normalization, 2015)::

    out = h * weight + bias
    dweight = sum(g * h)    dbias = sum(g)
    dx = weight * rstd * (g - dbias / n - h * dweight / n)

The forward kernel returns the variance and not rstd, because running statistics need
the variance.  Computing it from rstd would have an error that grows as eps / var.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join, positive
from autocalc._kernels.declare import composite
from autocalc._kernels.norm import _rows as rows
from autocalc._kernels.norm._channels import (
    EPS,
    back,
    batches,
    by_statistics,
    channel_column,
    channel_rows,
    channels,
    count,
    far_batches,
    normalised,
    over,
    standardised,
    statistics,
)
from autocalc._kernels.precision import narrow, plus, wide
from autocalc._kernels.rules import float_dtype, same_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

batch_norm = composite(
    "batch_norm",
    "out mean var ; x weight? bias? ; eps:float",
    "For each channel of x [N, C, ...]: out = (x - mean) / sqrt(var + eps) * weight + "
    "bias with var = mean((x - mean)**2). Without elements, mean is 0 and var is 1.",
    key="shapes",
    layout="like",
    alias=(("out", "x"),),
    halves=rows.OF_HALVES,
)


@batch_norm.rule
def _(
    x: Meta, weight: Meta | None, bias: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    dtype = float_dtype("batch_norm", x, weight, bias)
    each = Meta(channels("batch_norm", x, weight=weight, bias=bias), dtype)
    return Meta(x.shape, dtype), each, each


@batch_norm.formula(lead="sum")
def _(
    xp: Any, x: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    out, mean, var = normalised(xp, x, weight, bias, eps)
    return narrow(out, x), narrow(mean, x), narrow(var, x)


@batch_norm.budget(
    "eps * (log2(n) + 6) * |weight| * rstd * (|x - mean| + mean(|x - mean|)), 2 eps * "
    "|bias|, and the square of that factor of mean(|x|); mean and var as their kernels"
)
def batch_norm_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    x, weight, bias = inputs
    out, mean, var = (np.asarray(e, np.float64) for e in expected)
    *_, found = standardised(np, np.asarray(x, np.float64), attributes[0])
    values = channel_rows(x)
    n = max(values.shape[1], 1)
    steps = eps * (log2(n) + 6)
    rstd = magnitude(found).reshape(-1, 1)
    centered = magnitude(values - mean[:, None])
    lost = steps * np.sum(magnitude(values), axis=1, keepdims=True) / n
    shift, relative = rows.off_center(centered, lost, rstd, steps)
    off = rstd * (relative * centered + shift)
    off = off if weight is None else off * magnitude(weight)[:, None]
    off = off if bias is None else off + 2 * eps * magnitude(bias)[:, None]
    return [
        back(off, x.shape) + ulp(out, eps),
        shift[:, 0] + ulp(mean, eps),
        2 * steps * (magnitude(var) + lost[:, 0] ** 2) + ulp(var, eps),
    ]


@batch_norm.samples
def _(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(batches(make)):
        weight = make.normal(x.shape[1]) if i % 4 < 3 else None
        bias = make.normal(x.shape[1]) if i % 4 < 2 else None
        yield Sample(label, (x, weight, bias), (EPS,))
    for label, x in far_batches(make):
        pair = make.normal(x.shape[1]), make.normal(x.shape[1])
        for eps in (EPS, 0.0):
            yield Sample(f"{label}, eps={eps}", (x, *pair), (eps,))


batch_norm.work(flops_per_element=8)
batch_norm.benchmarks(
    Case("32x64x56x56", join(floats(32, 64, 56, 56), *[floats(64)] * 2), (1e-5,), 0b111)
)


batch_norm_backward = composite(
    "batch_norm_backward",
    "dx? dweight? dbias? ; g x mean var weight? ; eps:float accumulate:int",
    "h = (x - mean) * rstd, rstd = 1 / sqrt(var + eps), n elements in a "
    "channel: dweight = sum(g * h), dbias = sum(g), dx = weight * rstd * (g - "
    "dbias / n - h * dweight / n).",
    key="shapes",
    layout="like",
    accumulates=("dweight", "dbias"),
    alias=(("dx", "g"), ("dx", "x")),
    halves=rows.OF_HALVES,
)


@batch_norm_backward.rule
def _(
    g: Meta, x: Meta, mean: Meta, var: Meta, weight: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    name = "batch_norm_backward"
    dtype = float_dtype(name, g, x, mean, var, weight)
    shape = same_shape(name, g=g, x=x)
    each = Meta(channels(name, x, mean=mean, var=var, weight=weight), dtype)
    return Meta(shape, dtype), each, each


@batch_norm_backward.formula(lead="sum")
def batch_norm_backward_formula(
    xp: Any,
    g: Array,
    x: Array,
    mean: Array,
    var: Array,
    weight: Array | None,
    eps: float,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, Array | None, Array | None]:
    g_, column, n = wide(xp, g), channel_column(x.shape), max(count(x.shape), 1)
    h, rstd = by_statistics(xp, x, mean, var, eps)
    dx = None
    if want & 0b011:
        products = xp.sum(g_ * h, axis=over(x.shape))
    if want & 0b101:
        total = xp.sum(g_, axis=over(x.shape))
    if want & 0b001:
        scale = rstd if weight is None else rstd * weight
        mean_g, mean_gh = ((a / n).reshape(column) for a in (total, products))
        along = scale.reshape(column) * (g_ - mean_g - h * mean_gh)
        dx = narrow(along, x)
    if want & 0b010:
        dweight = narrow(plus(dweight, products), x)
    if want & 0b100:
        dbias = narrow(plus(dbias, total), x)
    return dx, dweight, dbias


@batch_norm_backward.budget(
    "eps * (log2(n) + 8) * the sum of the terms' sizes, in each output"
)
def batch_norm_backward_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    g, x, mean, var, weight = inputs
    mean, var = (np.asarray(a, np.float64)[:, None] for a in (mean, var))
    rstd = 1 / np.sqrt(var + attributes[0])
    rows, h = magnitude(channel_rows(g)), magnitude((channel_rows(x) - mean) * rstd)
    n = rows.shape[1]
    steps = eps * (log2(n) + 8)
    taken = rows.sum(axis=1, keepdims=True) / max(n, 1)
    taken = taken + h * (rows * h).sum(axis=1, keepdims=True) / max(n, 1)
    off = magnitude(rstd) * (8 * eps * rows + steps * taken)
    off = off if weight is None else off * magnitude(weight)[:, None]
    dx = None if expected[0] is None else back(off, x.shape) + ulp(expected[0], eps)
    sums = ((rows * h).sum(axis=1), rows.sum(axis=1))
    return [dx, *(2 * steps * a for a in sums)]


@batch_norm_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(batches(make)):
        weight = make.normal(x.shape[1]) if i % 3 else None
        inputs = (make.normal(*x.shape), x, *statistics(make, x), weight)
        yield Sample(label, inputs, (EPS,), want=0b111)


batch_norm_backward.work(flops_per_element=12)
batch_norm_backward.benchmarks(
    Case(
        "32x64x56x56",
        join(*[floats(32, 64, 56, 56)] * 2, floats(64), positive(64), floats(64)),
        (1e-5,),
        0b111,
    )
)
