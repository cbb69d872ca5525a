# SPDX-License-Identifier: MIT
"""Normalisation of each channel over a batch, forward and backward.

With ``h = (x - mean) * rstd``, ``rstd = 1 / sqrt(var + eps)`` and n elements in a
channel (Ioffe, Szegedy: Batch normalization, 2015)::

    out = h * weight + bias
    dweight = sum(g * h)    dbias = sum(g)
    dx = weight * rstd * (g - dbias / n - h * dweight / n)

The forward kernel answers the variance, not rstd: running statistics need it, and from
rstd it comes back with an error that grows as eps / var.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels._legacy import _budgets_batch_norm as budgets
from autocalc._kernels._legacy import _samples_batch_norm as samples
from autocalc._kernels.accumulate import plus, plus_in
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.spec import Array, KernelSpec, Meta, Shape
from autocalc._kernels.work import per_element
from autocalc.errors import ShapeError

# ---- rules ---------------------------------------------------------------------------


def channels(where: str, x: Meta, **operands: Meta | None) -> Shape:
    """Return (C,), if x is (N, C, ...) and each operand has a number for a channel."""
    if len(x.shape) < 2:
        message = f"{where}: `x` has shape {x.shape}; it must be (N, C, ...)."
        raise ShapeError(message)
    for name, meta in operands.items():
        expect_shape(where, name, meta, x.shape[1:2])
    return x.shape[1:2]


def _rule(
    x: Meta, weight: Meta | None, bias: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    dtype = float_dtype("batch_norm", x, weight, bias)
    each = Meta(channels("batch_norm", x, weight=weight, bias=bias), dtype)
    return Meta(x.shape, dtype), each, each


def _backward_rule(
    g: Meta, x: Meta, mean: Meta, var: Meta, weight: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    name = "batch_norm_backward"
    dtype = float_dtype(name, g, x, mean, var, weight)
    shape = same_shape(name, g=g, x=x)
    each = Meta(channels(name, x, mean=mean, var=var, weight=weight), dtype)
    return Meta(shape, dtype), each, each


def over(shape: Shape) -> tuple[int, ...]:
    """Return the axes of (N, C, ...) that lie within one channel."""
    return (0, *range(2, len(shape)))


def _column(shape: Shape) -> Shape:
    """Return the shape in which a number for each channel meets (N, C, ...)."""
    return (shape[1], *(1,) * (len(shape) - 2))


def _count(shape: Shape) -> int:
    return shape[0] * math.prod(shape[2:])


# ---- references ----------------------------------------------------------------------


def normalised(
    xp: Any, x: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Return result, mean and variance in float64, not yet rounded."""
    w, column = wide(xp, x), _column(x.shape)
    n = _count(x.shape)
    mean = xp.true_divide(xp.sum(w, axis=over(x.shape)), n)
    centered = w - mean.reshape(column)
    var = xp.true_divide(xp.sum(xp.square(centered), axis=over(x.shape)), n)
    out = centered * (1 / xp.sqrt(var + eps)).reshape(column)
    out = out if weight is None else out * weight.reshape(column)
    out = out if bias is None else out + bias.reshape(column)
    return out, mean, var


def batch_norm(
    xp: Any, x: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    out, mean, var = normalised(xp, x, weight, bias, eps)
    return narrow(out, x), narrow(mean, x), narrow(var, x)


def batch_norm_backward(
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
) -> tuple[Array, Array, Array]:
    g_, column, n = wide(xp, g), _column(x.shape), _count(x.shape)
    rstd = 1 / xp.sqrt(wide(xp, var) + eps)
    h = (wide(xp, x) - mean.reshape(column)) * rstd.reshape(column)
    products = xp.sum(g_ * h, axis=over(x.shape))
    total = xp.sum(g_, axis=over(x.shape))
    scale = rstd if weight is None else rstd * weight
    means = (xp.true_divide(a, n).reshape(column) for a in (total, products))
    mean_g, mean_gh = means
    dx = scale.reshape(column) * (g_ - mean_g - h * mean_gh)
    return (
        narrow(dx, x),
        narrow(plus(dweight, products), x),
        narrow(plus(dbias, total), x),
    )


# ---- in primitives -------------------------------------------------------------------


def batch_norm_in_primitives(
    k: Any, x: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    shape = k.shape(x)
    axes, column = over(shape), _column(shape)
    n = k.constant(_count(shape), x)
    mean = k.div(k.sum(x, axes, False), n)
    centered = k.add(x, k.neg(k.reshape(mean, column)))
    var = k.div(k.sum(k.mul(centered, centered), axes, False), n)
    scale = _scale_in(k, var, weight, eps)
    out = k.mul(centered, k.reshape(scale, column))
    out = out if bias is None else k.add(out, k.reshape(bias, column))
    return out, mean, var


def _scale_in(k: Any, var: Array, weight: Array | None, eps: float) -> Array:
    """Return weight / sqrt(var + eps)."""
    rstd = k.pow(k.add(var, k.constant(eps, var)), k.constant(-0.5, var))
    return rstd if weight is None else k.mul(rstd, weight)


def batch_norm_backward_in_primitives(
    k: Any,
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
    shape = k.shape(x)
    axes, column = over(shape), _column(shape)
    n = k.constant(_count(shape), x)
    rstd = k.reshape(_scale_in(k, var, None, eps), column)
    h = k.mul(k.add(x, k.neg(k.reshape(mean, column))), rstd)
    dx, products, total = None, None, None
    if want & 0b011:
        products = k.sum(k.mul(g, h), axes, False)
    if want & 0b101:
        total = k.sum(g, axes, False)
    if want & 0b001:
        mean_g, mean_gh = (k.reshape(k.div(a, n), column) for a in (total, products))
        scale = rstd if weight is None else k.mul(rstd, k.reshape(weight, column))
        centered = k.add(g, k.neg(mean_g))
        dx = k.mul(scale, k.add(centered, k.neg(k.mul(h, mean_gh))))
    return (
        dx,
        plus_in(k, dweight, products) if want & 0b010 else None,
        plus_in(k, dbias, total) if want & 0b100 else None,
    )


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="batch_norm",
        kind="composite",
        signature="out mean var ; x weight? bias? ; eps:float",
        doc=(
            "Each channel of x [N, C, ...]: out = (x - mean) / sqrt(var + eps) * "
            "weight + bias with its mean and its var = mean((x - mean)**2)."
        ),
        rule=_rule,
        reference=batch_norm,
        decomposition=batch_norm_in_primitives,
        lead="sum",
        budget=budgets.batch_norm,
        samples=samples.batch_norm,
        work=per_element(_rule, 8),
        key="shapes",
        layout="like",
        alias=(("out", "x"),),
    ),
    KernelSpec(
        name="batch_norm_backward",
        kind="composite",
        signature=(
            "dx? dweight? dbias? ; g x mean var weight? ; eps:float accumulate:int"
        ),
        doc=(
            "h = (x - mean) * rstd, rstd = 1 / sqrt(var + eps), n elements in a "
            "channel: dweight = sum(g * h), dbias = sum(g), dx = weight * rstd * (g - "
            "dbias / n - h * dweight / n)."
        ),
        rule=_backward_rule,
        reference=batch_norm_backward,
        decomposition=batch_norm_backward_in_primitives,
        lead="sum",
        budget=budgets.batch_norm_backward,
        samples=samples.batch_norm_backward,
        work=per_element(_backward_rule, 12),
        key="shapes",
        layout="like",
        accumulates=("dweight", "dbias"),
        alias=(("dx", "g"), ("dx", "x")),
    ),
)
