# SPDX-License-Identifier: MIT
"""layer_norm and its backward kernel.

J. L. Ba, J. R. Kiros, G. E. Hinton: Layer normalization, 2016.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join, positive
from autocalc._kernels.declare import composite
from autocalc._kernels.norm import _rows as rows
from autocalc._kernels.precision import narrow, plus, wide
from autocalc._kernels.reduction._scaling import deviations, scaled_eps
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.samples import TAILS, Make, far_rows
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

layer_norm = composite(
    "layer_norm",
    "out mean? rstd? ; x weight? bias? ; eps:float",
    "out = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(mean((x - mean)**2) + "
    "eps) over the last axis; mean and rstd do not have this axis.",
    alias=(("out", "x"),),
    halves=rows.OF_HALVES,
    defaults=(1e-5,),
)


@layer_norm.rule
def layer_norm_rule(
    x: Meta, weight: Meta | None, bias: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    dtype = float_dtype("layer_norm", x, weight, bias)
    rows.expect_a_last_axis("layer_norm", x)
    expect_shape("layer_norm", "weight", weight, x.shape[-1:])
    expect_shape("layer_norm", "bias", bias, x.shape[-1:])
    row = Meta(x.shape[:-1], dtype)
    return Meta(x.shape, dtype), row, row


@layer_norm.formula(lead="sum")
def layer_norm_formula(
    xp: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    *,
    want: int = -1,
) -> tuple[Array, Array, Array]:
    centered, mean, unit = deviations(xp, x, -1, eps)
    square = xp.sum(xp.square(centered), axis=-1, keepdims=True)
    rstd = 1 / xp.sqrt(square / x.shape[-1] + scaled_eps(xp, eps, unit))
    out = centered * rstd
    out = out if weight is None else out * weight
    out = out if bias is None else out + bias
    mean, rstd = mean / unit, rstd * unit
    each = x.shape[:-1]
    mean, rstd = mean.reshape(each), rstd.reshape(each)
    return narrow(out, x), narrow(mean, x), narrow(rstd, x)


@layer_norm.budget(
    "eps * (log2(n) + 6) * |weight| * rstd * (|x - mean| + mean(|x - mean|)), 2 eps * "
    "|bias|, and the square of that factor of mean(|x|)"
)
def layer_norm_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    x, weight, bias = inputs
    out, mean, rstd = expected
    steps = eps * (log2(x.shape[-1]) + 6)
    centered, scale = magnitude(x - mean[..., None]), magnitude(rstd)[..., None]
    shift, relative = rows.off_center(
        centered, steps * np.mean(magnitude(x), axis=-1, keepdims=True), scale, steps
    )
    off = scale * (relative * centered + shift)
    off = off if weight is None else off * magnitude(weight)
    off = off if bias is None else off + 2 * eps * magnitude(bias)
    rstd_off = (relative * scale)[..., 0] + ulp(rstd, eps)
    return [off + ulp(out, eps), shift[..., 0] + ulp(mean, eps), rstd_off]


@layer_norm.samples
def _(make: Make) -> Iterator[Sample]:
    eps = 1e-5
    for n in TAILS[1:]:
        x, weight, bias = make.normal(3, n), make.normal(n), make.normal(n)
        yield Sample(f"rows of {n}", (x, weight, bias), (eps,), want=0b110)
    for given in ((True, False), (False, True), (False, False)):
        weight, bias = (make.normal(21) if one else None for one in given)
        label = f"weight {given[0]}, bias {given[1]}"
        yield Sample(label, (make.normal(5, 21), weight, bias), (eps,), want=0b110)
    for shape in ((7,), (0, 3), (2, 3, 17), (2, 1, 2, 5)):
        yield Sample(f"{shape}", (make.normal(*shape), None, None), (eps,), want=0b110)
    for label, x in rows.hard_rows(make):
        triple = (x, make.normal(x.shape[-1]), make.normal(x.shape[-1]))
        yield Sample(label, triple, (eps,), want=0b110)
    for label, x in far_rows(make):
        triple = (x, make.normal(x.shape[-1]), make.normal(x.shape[-1]))
        for small in (eps, 0.0):
            yield Sample(f"{label}, eps={small}", triple, (small,), want=0b110)


layer_norm.work(flops_per_element=8)
layer_norm.benchmarks(
    Case("4096x768", join(floats(4096, 768), *[floats(768)] * 2), (1e-5,), 0b111)
)


layer_norm_backward = composite(
    "layer_norm_backward",
    "dx? dweight? dbias? ; g x mean rstd weight? ; accumulate:int",
    "h = (x - mean) * rstd, gw = g * weight: dx = rstd * (gw - mean(gw) - h * "
    "mean(gw * h)) over the last axis; dweight = sum of g * h over rows, dbias "
    "= sum of g over rows.",
    accumulates=("dx", "dweight", "dbias"),
    alias=(("dx", "g"), ("dx", "x")),
    halves=rows.OF_HALVES,
)


@layer_norm_backward.rule
def _(
    g: Meta, x: Meta, mean: Meta, rstd: Meta, weight: Meta | None
) -> tuple[Meta, Meta, Meta]:
    name = "layer_norm_backward"
    dtype = float_dtype(name, g, x, mean, rstd, weight)
    rows.expect_a_last_axis(name, x)
    shape = same_shape(name, g=g, x=x)
    expect_shape(name, "mean", mean, shape[:-1])
    expect_shape(name, "rstd", rstd, shape[:-1])
    expect_shape(name, "weight", weight, shape[-1:])
    column = Meta(shape[-1:], dtype)
    return Meta(shape, dtype), column, column


@layer_norm_backward.formula(lead="sum")
def _(
    xp: Any,
    g: Array,
    x: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    *,
    want: int = -1,
    dx: Array | None = None,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, Array | None, Array | None]:
    g_, row = wide(xp, g), (*x.shape[:-1], 1)
    h, scale = rows.by_statistics(xp, x, mean.reshape(row), rstd.reshape(row))
    if want & 0b001:
        gw = g_ if weight is None else g_ * weight
        along = gw - rows.row_mean(xp, gw) - h * rows.row_mean(xp, gw * h)
        dx = narrow(plus(dx, scale * along), x)
    if want & 0b010:
        dweight = narrow(plus(dweight, rows.sum_over_rows(xp, g_ * h)), x)
    if want & 0b100:
        dbias = narrow(plus(dbias, rows.sum_over_rows(xp, g_)), x)
    return dx, dweight, dbias


@layer_norm_backward.budget(
    "eps * (log2(n) + 6) * the sum of the terms' sizes, in each output"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, x, mean, rstd, weight = rows.in_float64(inputs)
    scale = rstd[..., None]
    h = (x - mean[..., None]) * scale
    gw = g if weight is None else g * weight
    dx = rows.dx_tolerance(gw, h, scale, expected[0], True, eps)
    return [
        dx,
        rows.sum_over_rows_tolerance(g * h, eps, 2),
        rows.sum_over_rows_tolerance(g, eps, 0),
    ]


@layer_norm_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for label, x, weight in rows.backward_rows(make):
        with np.errstate(all="ignore"):
            w = x.astype(np.float64)
            mean, var = w.mean(axis=-1), w.var(axis=-1)
            rstd = 1 / np.sqrt(var + 1e-5)
        saved = (np.asarray(a, make.dtype) for a in (mean, rstd))
        yield Sample(label, (make.normal(*x.shape), x, *saved, weight), want=0b111)


layer_norm_backward.work(flops_per_element=14)
layer_norm_backward.benchmarks(
    Case(
        "4096x768",
        join(*[floats(4096, 768)] * 2, *[positive(4096)] * 2, floats(768)),
        want=0b111,
    )
)
