# SPDX-License-Identifier: MIT
"""Batch normalisation with what follows it in a residual network.

::

    out = max(batch_norm(x) + other, 0)        other: the shortcut, or absent

The gradient passes where out > 0: out is kept by whoever reads it next, so neither what
lies before the maximum nor a mask need be.
"""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets_batch_norm as budgets
from autocalc._kernels._legacy import _samples_batch_norm as samples
from autocalc._kernels._legacy.batch_norm import (
    batch_norm_backward,
    batch_norm_backward_in_primitives,
    batch_norm_in_primitives,
    channels,
    normalised,
)
from autocalc._kernels._legacy.elementwise_composites import (
    relu_backward,
    relu_backward_in_primitives,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import expect_shape, float_dtype, same_shape
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element

_NAME = "batch_norm_relu"

# ---- rules ---------------------------------------------------------------------------


def _rule(
    x: Meta, weight: Meta | None, bias: Meta | None, other: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta]:
    dtype = float_dtype(_NAME, x, weight, bias, other)
    expect_shape(_NAME, "other", other, x.shape)
    each = Meta(channels(_NAME, x, weight=weight, bias=bias), dtype)
    return Meta(x.shape, dtype), each, each


def _backward_rule(
    g: Meta, x: Meta, out: Meta, mean: Meta, var: Meta, weight: Meta | None, eps: float
) -> tuple[Meta, Meta, Meta, Meta]:
    name = "batch_norm_relu_backward"
    dtype = float_dtype(name, g, x, out, mean, var, weight)
    like_x = Meta(same_shape(name, g=g, x=x, out=out), dtype)
    each = Meta(channels(name, x, mean=mean, var=var, weight=weight), dtype)
    return like_x, each, each, like_x


# ---- references ----------------------------------------------------------------------


def batch_norm_relu(
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


def batch_norm_relu_backward(
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
    passed = relu_backward(xp, g, out)
    grads = batch_norm_backward(
        xp, passed, x, mean, var, weight, eps, dweight=dweight, dbias=dbias
    )
    return (*grads, passed)


# ---- in primitives -------------------------------------------------------------------


def batch_norm_relu_in_primitives(
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


def batch_norm_relu_backward_in_primitives(
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


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name=_NAME,
        kind="composite",
        signature="out mean var ; x weight? bias? other? ; eps:float",
        doc=(
            "Each channel of x [N, C, ...]: out = max((x - mean) / sqrt(var + eps) * "
            "weight + bias + other, 0) with its mean and its var = mean((x - mean)**2)."
        ),
        rule=_rule,
        reference=batch_norm_relu,
        decomposition=batch_norm_relu_in_primitives,
        lead="sum",
        budget=budgets.batch_norm_relu,
        samples=samples.batch_norm_relu,
        work=per_element(_rule, 10),
        key="shapes",
        layout="like",
        alias=(("out", "x"), ("out", "other")),
    ),
    KernelSpec(
        name="batch_norm_relu_backward",
        kind="composite",
        signature=(
            "dx? dweight? dbias? dother? ; g x out mean var weight? ; eps:float "
            "accumulate:int"
        ),
        doc=(
            "dother = g where out > 0, else 0; dx, dweight and dbias are those of "
            "batch_norm_backward from it."
        ),
        rule=_backward_rule,
        reference=batch_norm_relu_backward,
        decomposition=batch_norm_relu_backward_in_primitives,
        lead="sum",
        budget=budgets.batch_norm_relu_backward,
        samples=samples.batch_norm_relu_backward,
        work=per_element(_backward_rule, 13),
        key="shapes",
        layout="like",
        accumulates=("dweight", "dbias"),
        alias=(("dx", "x"), ("dx", "out")),
    ),
)
