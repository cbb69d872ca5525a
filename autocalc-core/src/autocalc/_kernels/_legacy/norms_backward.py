# SPDX-License-Identifier: MIT
"""Backward kernels of the normalisations over the last axis.

With ``h`` the normalised row and ``gw = g * weight``, the normalisation takes out of
`gw` what would only move the row's scale (and, for `layer_norm`, its mean)::

    dx = rstd * (gw - mean(gw) - h * mean(gw * h))
"""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets_norms as budgets
from autocalc._kernels._legacy import _samples_norms as samples
from autocalc._kernels._legacy.norms import expect_a_last_axis
from autocalc._kernels.accumulate import plus, plus_in
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element

# ---- rules ---------------------------------------------------------------------------


def _layer_norm_rule(
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


# ---- layer_norm ----------------------------------------------------------------------


def layer_norm_backward(
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


def _mean(xp: Any, a: Array) -> Array:
    return xp.true_divide(xp.sum(a, axis=-1, keepdims=True), a.shape[-1])


def _over_rows(xp: Any, a: Array) -> Array:
    return xp.sum(a, axis=tuple(range(a.ndim - 1)))


def layer_norm_backward_in_primitives(
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


def _without(k: Any, rest: Array, gw: Array, h: Array) -> Array:
    """Return rest - h * mean(gw * h)."""
    return k.add(rest, k.neg(k.mul(h, _mean_in(k, k.mul(gw, h)))))


def _mean_in(k: Any, a: Array) -> Array:
    shape = k.shape(a)
    return k.div(k.sum(a, (len(shape) - 1,), True), k.constant(shape[-1], a))


def _over_rows_in(k: Any, a: Array) -> Array:
    axes = tuple(range(len(k.shape(a)) - 1))
    return k.sum(a, axes, False) if axes else a


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="layer_norm_backward",
        kind="composite",
        signature="dx? dweight? dbias? ; g x mean rstd weight? ; accumulate:int",
        doc=(
            "h = (x - mean) * rstd, gw = g * weight: dx = rstd * (gw - mean(gw) - h * "
            "mean(gw * h)) over the last axis; dweight = sum of g * h over rows, dbias "
            "= sum of g over rows."
        ),
        rule=_layer_norm_rule,
        reference=layer_norm_backward,
        decomposition=layer_norm_backward_in_primitives,
        lead="sum",
        budget=budgets.layer_norm_backward,
        samples=samples.layer_norm_backward,
        work=per_element(_layer_norm_rule, 14),
        accumulates=("dweight", "dbias"),
        alias=(("dx", "g"), ("dx", "x")),
    ),
)
