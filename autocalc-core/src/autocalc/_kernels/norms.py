# SPDX-License-Identifier: MIT
"""Normalisation over the last axis."""

from __future__ import annotations

from typing import Any

from autocalc._kernels import _budgets as budgets
from autocalc._kernels import _samples as samples
from autocalc._kernels._rules import expect_shape, float_dtype
from autocalc._kernels._spec import Array, KernelSpec, Meta
from autocalc._kernels._wide import narrow, wide
from autocalc._kernels._work import per_element
from autocalc.errors import ShapeError


def _rms_norm_rule(x: Meta, weight: Meta | None, eps: float) -> tuple[Meta, Meta]:
    dtype = float_dtype("rms_norm", x, weight)
    if not x.shape:
        message = "rms_norm: `x` has no dimensions; it is normalised over the last one."
        raise ShapeError(message)
    expect_shape("rms_norm", "weight", weight, x.shape[-1:])
    return Meta(x.shape, dtype), Meta((*x.shape[:-1], 1), dtype)


def rms_norm(
    xp: Any, x: Array, weight: Array | None, eps: float, *, want: int = -1
) -> tuple[Array, Array]:
    w = wide(xp, x)
    square = xp.sum(xp.square(w), axis=-1, keepdims=True)
    rstd = 1 / xp.sqrt(xp.true_divide(square, x.shape[-1]) + eps)
    out = w * rstd
    return narrow(out if weight is None else out * weight, x), narrow(rstd, x)


SPECS = (
    KernelSpec(
        name="rms_norm",
        kind="primitive",
        signature="out rstd? ; x weight? ; eps:float",
        doc=(
            "out = x * rstd * weight, rstd = 1 / sqrt(mean(x**2) + eps) over the last "
            "axis (rstd keeps it as 1)."
        ),
        rule=_rms_norm_rule,
        reference=rms_norm,
        budget=budgets.rms_norm,
        samples=samples.rms_norm,
        work=per_element(_rms_norm_rule, 4),
        alias=(("out", "x"),),
    ),
)
