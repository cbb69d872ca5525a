# SPDX-License-Identifier: MIT
"""Normalisations over the last axis; `norms_backward` has their backward kernels."""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets_norms as budgets
from autocalc._kernels._legacy import _samples_norms as samples
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element
from autocalc.errors import ShapeError


def expect_a_last_axis(where: str, x: Meta) -> None:
    """Raise unless there is a last axis to normalise over."""
    if not x.shape:
        message = f"{where}: `x` has no dimensions; it is normalised over the last one."
        raise ShapeError(message)


def _layer_norm_rule(
    x: Meta, weight: Meta | None, bias: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    dtype = float_dtype("layer_norm", x, weight, bias)
    expect_a_last_axis("layer_norm", x)
    expect_shape("layer_norm", "weight", weight, x.shape[-1:])
    expect_shape("layer_norm", "bias", bias, x.shape[-1:])
    row = Meta(x.shape[:-1], dtype)
    return Meta(x.shape, dtype), row, row


def layer_norm(
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


def layer_norm_in_primitives(
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


SPECS = (
    KernelSpec(
        name="layer_norm",
        kind="composite",
        signature="out mean? rstd? ; x weight? bias? ; eps:float",
        doc=(
            "out = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(mean((x - "
            "mean)**2) + eps) over the last axis, which mean and rstd lack."
        ),
        rule=_layer_norm_rule,
        reference=layer_norm,
        decomposition=layer_norm_in_primitives,
        lead="sum",
        budget=budgets.layer_norm,
        samples=samples.layer_norm,
        work=per_element(_layer_norm_rule, 8),
        alias=(("out", "x"),),
        defaults=(1e-5,),
    ),
)
