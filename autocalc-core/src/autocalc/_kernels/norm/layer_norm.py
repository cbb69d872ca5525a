# SPDX-License-Identifier: MIT
"""Normalisations over the last axis; `norms_backward` has their backward kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.accumulate import plus, plus_in
from autocalc._kernels.budgets import Inputs, log2, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join, positive
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.samples import TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc.errors import ShapeError

layer_norm = composite(
    "layer_norm",
    "out mean? rstd? ; x weight? bias? ; eps:float",
    "out = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(mean((x - "
    "mean)**2) + eps) over the last axis, which mean and rstd lack.",
    alias=(("out", "x"),),
    defaults=(1e-5,),
)


def expect_a_last_axis(where: str, x: Meta) -> None:
    """Raise unless there is a last axis to normalise over."""
    if not x.shape:
        message = f"{where}: `x` has no dimensions; it is normalised over the last one."
        raise ShapeError(message)


@layer_norm.rule
def _(
    x: Meta, weight: Meta | None, bias: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    dtype = float_dtype("layer_norm", x, weight, bias)
    expect_a_last_axis("layer_norm", x)
    expect_shape("layer_norm", "weight", weight, x.shape[-1:])
    expect_shape("layer_norm", "bias", bias, x.shape[-1:])
    row = Meta(x.shape[:-1], dtype)
    return Meta(x.shape, dtype), row, row


@layer_norm.reference
def _(
    xp: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    *,
    want: int = -1,
) -> tuple[Array, Array, Array]:
    w, n = wide(xp, x), x.shape[-1]
    mean = xp.true_divide(xp.sum(w, axis=-1, keepdims=True), n)
    centered = w - mean
    square = xp.sum(xp.square(centered), axis=-1, keepdims=True)
    rstd = 1 / xp.sqrt(xp.true_divide(square, n) + eps)
    out = centered * rstd
    out = out if weight is None else out * weight
    out = out if bias is None else out + bias
    return narrow(out, x), narrow(mean[..., 0], x), narrow(rstd[..., 0], x)


@layer_norm.decomposition(lead="sum")
def _(
    k: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    *,
    want: int = -1,
) -> tuple[Array, Array, Array]:
    shape = k.shape(x)
    axes, n = (len(shape) - 1,), k.constant(shape[-1], x)
    mean = k.div(k.sum(x, axes, True), n)
    centered = k.add(x, k.neg(mean))
    variance = k.div(k.sum(k.mul(centered, centered), axes, True), n)
    rstd = k.pow(k.add(variance, k.constant(eps, x)), k.constant(-0.5, x))
    out = k.mul(centered, rstd)
    out = out if weight is None else k.mul(out, weight)
    out = out if bias is None else k.add(out, bias)
    return out, k.reshape(mean, shape[:-1]), k.reshape(rstd, shape[:-1])


@layer_norm.budget(
    "eps * (log2(n) + 6) * |weight| * rstd * (|x - mean| + mean(|x|)), 2 eps * |bias|"
)
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias = inputs
    out, mean, rstd = expected
    steps = eps * (log2(x.shape[-1]) + 6)
    # What the mean is off by moves the whole row, and its square adds to the variance.
    shift = steps * np.mean(magnitude(x), axis=-1)
    relative = steps + np.square(shift * magnitude(rstd))
    rows = magnitude(rstd)[..., None]
    off = rows * (relative[..., None] * magnitude(x - mean[..., None])
                  + shift[..., None])  # fmt: skip
    off = off if weight is None else off * magnitude(weight)
    off = off if bias is None else off + 2 * eps * magnitude(bias)
    rstd_off = relative * magnitude(rstd) + ulp(rstd, eps)
    return [off + ulp(out, eps), shift + ulp(mean, eps), rstd_off]


def _rows(make: Make) -> Iterator[tuple[str, Array]]:
    """Yield rows on which a normalisation may go wrong, and many of them."""
    yield "equal values", np.full((2, 9), 3, make.dtype)
    # The mean of squares less the square of the mean would leave nothing in float32.
    yield "far from 0", make.normal(4, 65) + make.scalar(1e4)
    yield "small", make.normal(4, 33, scale=1e-3)
    yield "long", make.normal(2, 5003)
    yield "large", make.normal(700, 401)
    yield "large, short rows", make.normal(20_003, 7)
    for value in (np.inf, np.nan):
        x = make.normal(3, 21)
        x[1, 4] = value
        yield f"one {value}", x


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
    for label, x in _rows(make):
        triple = (x, make.normal(x.shape[-1]), make.normal(x.shape[-1]))
        yield Sample(label, triple, (eps,), want=0b110)


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
    accumulates=("dweight", "dbias"),
    alias=(("dx", "g"), ("dx", "x")),
)


@layer_norm_backward.rule
def _(
    g: Meta, x: Meta, mean: Meta, rstd: Meta, weight: Meta | None
) -> tuple[Meta, Meta, Meta]:
    name = "layer_norm_backward"
    dtype = float_dtype(name, g, x, mean, rstd, weight)
    expect_a_last_axis(name, x)
    shape = same_shape(name, g=g, x=x)
    expect_shape(name, "mean", mean, shape[:-1])
    expect_shape(name, "rstd", rstd, shape[:-1])
    expect_shape(name, "weight", weight, shape[-1:])
    column = Meta(shape[-1:], dtype)
    return Meta(shape, dtype), column, column


def _mean(xp: Any, a: Array) -> Array:
    return xp.true_divide(xp.sum(a, axis=-1, keepdims=True), a.shape[-1])


def _over_rows(xp: Any, a: Array) -> Array:
    return xp.sum(a, axis=tuple(range(a.ndim - 1)))


@layer_norm_backward.reference
def _(
    xp: Any,
    g: Array,
    x: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array, Array, Array]:
    g_, scale = wide(xp, g), wide(xp, rstd)[..., None]
    h = (wide(xp, x) - mean[..., None]) * scale
    gw = g_ if weight is None else g_ * weight
    dx = scale * (gw - _mean(xp, gw) - h * _mean(xp, gw * h))
    return (
        narrow(dx, x),
        narrow(plus(dweight, _over_rows(xp, g_ * h)), x),
        narrow(plus(dbias, _over_rows(xp, g_)), x),
    )


def _mean_in(k: Any, a: Array) -> Array:
    shape = k.shape(a)
    return k.div(k.sum(a, (len(shape) - 1,), True), k.constant(shape[-1], a))


def _without(k: Any, rest: Array, gw: Array, h: Array) -> Array:
    """Return rest - h * mean(gw * h)."""
    return k.add(rest, k.neg(k.mul(h, _mean_in(k, k.mul(gw, h)))))


def _over_rows_in(k: Any, a: Array) -> Array:
    axes = tuple(range(len(k.shape(a)) - 1))
    return k.sum(a, axes, False) if axes else a


@layer_norm_backward.decomposition(lead="sum")
def _(
    k: Any,
    g: Array,
    x: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, Array | None, Array | None]:
    row = (*k.shape(x)[:-1], 1)
    scale = k.reshape(rstd, row)
    h = k.mul(k.add(x, k.neg(k.reshape(mean, row))), scale)
    dx = None
    if want & 0b001:
        gw = g if weight is None else k.mul(g, weight)
        rest = k.add(gw, k.neg(_mean_in(k, gw)))
        dx = k.mul(scale, _without(k, rest, gw, h))
    if want & 0b010:
        dweight = plus_in(k, dweight, _over_rows_in(k, k.mul(g, h)))
    if want & 0b100:
        dbias = plus_in(k, dbias, _over_rows_in(k, g))
    return dx, dweight, dbias


def _in_float64(inputs: Inputs) -> list[Any]:
    return [None if a is None else np.asarray(a, np.float64) for a in inputs]


def _dx(
    gw: Array, h: Array, scale: Array, expected: Array, centered: bool, eps: float
) -> Array:
    """Return eps * rstd * (4 |gw| + (log2(n) + 6) * the means taken out of it)."""
    steps = log2(gw.shape[-1]) + 6
    taken = magnitude(h) * np.mean(magnitude(gw * h), axis=-1, keepdims=True)
    if centered:
        taken = taken + np.mean(magnitude(gw), axis=-1, keepdims=True)
    size = 4 * magnitude(gw) + steps * taken
    return eps * magnitude(scale) * size + ulp(expected, eps)


def _columns(g: Array, eps: float, extra: float) -> Array:
    """Return 2 * eps * (log2(rows) + extra) * sum(|g|) over the rows."""
    rows = magnitude(g).reshape(-1, g.shape[-1])
    return 2 * eps * (log2(rows.shape[0]) + extra) * rows.sum(axis=0)


@layer_norm_backward.budget(
    "eps * (log2(n) + 6) * the sum of the terms' sizes, in each output"
)
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, mean, rstd, weight = _in_float64(inputs)
    scale = rstd[..., None]
    h = (x - mean[..., None]) * scale
    gw = g if weight is None else g * weight
    dx = _dx(gw, h, scale, expected[0], True, eps)
    return [dx, _columns(g * h, eps, 2), _columns(g, eps, 0)]


def _backward_rows(make: Make) -> Iterator[tuple[str, Array, Array | None]]:
    for n in TAILS[1:]:
        yield f"rows of {n}", make.normal(3, n), make.normal(n)
    for rows in TAILS:
        yield f"{rows} rows", make.normal(rows, 5), make.normal(5)
    for shape in ((7,), (2, 3, 17), (2, 1, 2, 5), (2, 0, 3)):
        yield f"{shape}, no weight", make.normal(*shape), None
    for label, x in _rows(make):
        yield label, x, make.normal(x.shape[-1])


@layer_norm_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for label, x, weight in _backward_rows(make):
        with np.errstate(all="ignore"):
            w = x.astype(np.float64)
            mean, var = w.mean(axis=-1), w.var(axis=-1)
            rstd = 1 / np.sqrt(var + 1e-5)
        rows = (np.asarray(a, make.dtype) for a in (mean, rstd))
        yield Sample(label, (make.normal(*x.shape), x, *rows, weight), want=0b111)


layer_norm_backward.work(flops_per_element=14)
layer_norm_backward.benchmarks(
    Case(
        "4096x768",
        join(*[floats(4096, 768)] * 2, *[positive(4096)] * 2, floats(768)),
        want=0b111,
    )
)
