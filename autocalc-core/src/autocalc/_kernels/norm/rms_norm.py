# SPDX-License-Identifier: MIT
"""Root mean square normalisation over the last axis, and its backward kernel.

Zhang, Sennrich: Root mean square layer normalization (NeurIPS 2019).  With
``h = x * rstd`` and ``gw = g * weight``, the gradient is `gw` without the part that
would only change the scale of the row::

    dx = rstd * (gw - h * mean(gw * h))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join, positive
from autocalc._kernels.declare import composite, primitive
from autocalc._kernels.norm import _rows as rows
from autocalc._kernels.precision import narrow, plus, wide
from autocalc._kernels.reduction._scaling import scaled, scaled_eps
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.samples import TAILS, Make, Sample, far_rows
from autocalc._kernels.spec import Array, Attributes, Meta

rms_norm = primitive(
    "rms_norm",
    "out rstd? ; x weight? ; eps:float",
    "out = x * rstd * weight, rstd = 1 / sqrt(mean(x**2) + eps) over the last axis, "
    "which has size 1 in rstd.",
    alias=(("out", "x"),),
    halves=rows.OF_HALVES,
)


@rms_norm.rule
def rms_norm_rule(x: Meta, weight: Meta | None, eps: float) -> tuple[Meta, Meta]:
    dtype = float_dtype("rms_norm", x, weight)
    rows.expect_a_last_axis("rms_norm", x)
    expect_shape("rms_norm", "weight", weight, x.shape[-1:])
    return Meta(x.shape, dtype), Meta((*x.shape[:-1], 1), dtype)


@rms_norm.reference
def rms_norm_reference(
    xp: Any, x: Array, weight: Array | None, eps: float, *, want: int = -1
) -> tuple[Array, Array]:
    w, unit = scaled(xp, x, -1, eps)
    square = xp.sum(xp.square(w), axis=-1, keepdims=True)
    rstd = 1 / xp.sqrt(square / x.shape[-1] + scaled_eps(xp, eps, unit))
    out = w * rstd
    out = out if weight is None else out * weight
    return narrow(out, x), narrow(rstd * unit, x)


@rms_norm.budget("eps * (log2(n) + 6) * |out|")
def rms_norm_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    steps = log2(inputs[0].shape[-1]) + 6
    return [
        None if e is None else eps * (steps * magnitude(e)) + ulp(e, eps)
        for e in expected
    ]


@rms_norm.samples
def _(make: Make) -> Iterator[Sample]:
    eps = 1e-6
    for n in TAILS[1:]:
        x, weight = make.normal(3, n), make.normal(n)
        yield Sample(f"rows of {n}", (x, weight), (eps,), want=0b10)
        yield Sample(f"rows of {n}, no weight", (x, None), (eps,), want=0b10)
    for shape in ((7,), (0, 3), (2, 3, 17), (2, 1, 2, 5)):
        yield Sample(f"{shape}", (make.normal(*shape), None), (eps,), want=0b10)
    yield Sample("zeros", (np.zeros((2, 9), make.dtype), None), (eps,), want=0b10)
    x, weight = make.normal(700, 401), make.normal(401)
    yield Sample("large", (x, weight), (eps,), want=0b10)
    for value in (np.inf, np.nan):
        x = make.normal(3, 21)
        x[1, 4] = value
        yield Sample(f"one {value}", (x, make.normal(21)), (eps,), want=0b10)
    for label, x in far_rows(make):
        for small in (eps, 0.0):
            pair = x, make.normal(x.shape[-1])
            yield Sample(f"{label}, eps={small}", pair, (small,), want=0b10)


rms_norm.work(flops_per_element=4)
rms_norm.benchmarks(
    Case("4096x768", join(floats(4096, 768), floats(768)), (1e-5,), 0b11)
)

# ---- backward ------------------------------------------------------------------------

rms_norm_backward = composite(
    "rms_norm_backward",
    "dx? dweight? ; g x rstd weight? ; accumulate:int",
    "h = x * rstd, gw = g * weight: dx = rstd * (gw - h * mean(gw * h)) over the last "
    "axis; dweight = sum of g * h over rows.",
    accumulates=("dx", "dweight"),
    alias=(("dx", "g"), ("dx", "x")),
    halves=rows.OF_HALVES,
)


@rms_norm_backward.rule
def _(g: Meta, x: Meta, rstd: Meta, weight: Meta | None) -> tuple[Meta, Meta]:
    name = "rms_norm_backward"
    dtype = float_dtype(name, g, x, rstd, weight)
    rows.expect_a_last_axis(name, x)
    shape = same_shape(name, g=g, x=x)
    expect_shape(name, "rstd", rstd, (*shape[:-1], 1))
    expect_shape(name, "weight", weight, shape[-1:])
    return Meta(shape, dtype), Meta(shape[-1:], dtype)


@rms_norm_backward.formula(lead="sum")
def _(
    xp: Any,
    g: Array,
    x: Array,
    rstd: Array,
    weight: Array | None,
    *,
    want: int = -1,
    dx: Array | None = None,
    dweight: Array | None = None,
) -> tuple[Array | None, Array | None]:
    g_ = wide(xp, g)
    h, scale = rows.by_statistics(xp, x, None, rstd)
    if want & 0b01:
        gw = g_ if weight is None else g_ * weight
        along = scale * (gw - h * rows.row_mean(xp, gw * h))
        dx = narrow(plus(dx, along), x)
    if want & 0b10:
        dweight = narrow(plus(dweight, rows.sum_over_rows(xp, g_ * h)), x)
    return dx, dweight


@rms_norm_backward.budget(
    "eps * (log2(n) + 6) * the sum of the terms' sizes, in each output"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, x, rstd, weight = rows.in_float64(inputs)
    h = x * rstd
    gw = g if weight is None else g * weight
    dx = rows.dx_tolerance(gw, h, rstd, expected[0], False, eps)
    return [dx, rows.sum_over_rows_tolerance(g * h, eps, 2)]


@rms_norm_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for label, x, weight in rows.backward_rows(make):
        with np.errstate(all="ignore"):
            square = np.square(x.astype(np.float64)).mean(axis=-1, keepdims=True)
            rstd = np.asarray(1 / np.sqrt(square + 1e-6), make.dtype)
        yield Sample(label, (make.normal(*x.shape), x, rstd, weight), want=0b11)


rms_norm_backward.work(flops_per_element=10)
rms_norm_backward.benchmarks(
    Case(
        "4096x768",
        join(*[floats(4096, 768)] * 2, positive(4096, 1), floats(768)),
        want=0b11,
    )
)
