# SPDX-License-Identifier: MIT
"""Convolution over any number of dimensions, its input and its weight gradient.

Strictly a correlation: the kernel is not flipped.  In one dimension, one group::

    out[n, o, t] = bias[o] + sum over c, i of
                   weight[o, c, i] * x[n, c, t * stride - padding + i * dilation]

Channels fall into `groups`, each output channel reading those of its own.  The three
are each other's derivatives, so that convolutions can be differentiated any number of
times; a transposed convolution is the input gradient (Dumoulin, Visin: A guide to
convolution arithmetic for deep learning, 2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._kernels._legacy import _budgets_conv as budgets
from autocalc._kernels._legacy import _references_conv as references
from autocalc._kernels._legacy import _samples_conv as samples
from autocalc._kernels._legacy._conv_in_primitives import (
    conv_dweight_in_primitives,
    conv_dx_in_primitives,
    conv_in_primitives,
)
from autocalc._kernels.rules import expect_ndim, expect_shape, float_dtype
from autocalc._kernels.spec import KernelSpec, Meta, Shape, Work
from autocalc._kernels.windows import (
    Ints,
    Windows,
)
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

# ---- rules ---------------------------------------------------------------------------


def _windows(
    where: str, kernel: Shape, stride: Ints, padding: Ints, dilation: Ints, dims: int
) -> Windows:
    windows = Windows(kernel, stride, padding, dilation)
    windows.check(where, dims)
    return windows


def _expect_dims(where: str, name: str, meta: Meta) -> None:
    if len(meta.shape) < 3:
        message = (
            f"{where}: `{name}` has shape {meta.shape}; it must be (N, C, ...) with "
            f"one dimension behind them or more."
        )
        raise ShapeError(message)


def _expect_groups(where: str, outs: int, groups: int) -> None:
    if groups < 1 or outs % groups:
        message = (
            f"{where}: {outs} channels do not fall into {groups} groups; `groups` "
            f"must divide the channels on both sides."
        )
        raise ShapeError(message)


def _conv_rule(
    x: Meta,
    weight: Meta,
    bias: Meta | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Meta:
    dtype = float_dtype("conv", x, weight, bias)
    _expect_dims("conv", "x", x)
    expect_ndim("conv", "weight", weight, len(x.shape))
    outs, ins, *kernel = weight.shape
    _expect_groups("conv", outs, groups)
    expect_shape("conv", "x", x, (x.shape[0], ins * groups, *x.shape[2:]))
    expect_shape("conv", "bias", bias, (outs,))
    dims = len(kernel)
    windows = _windows("conv", tuple(kernel), stride, padding, dilation, dims)
    return Meta((x.shape[0], outs, *windows.counts("conv", x.shape[2:])), dtype)


def _dx_rule(
    g: Meta,
    weight: Meta,
    bias: Meta | None,
    sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Meta:
    name = "conv_dx"
    dtype = float_dtype(name, g, weight, bias)
    _expect_dims(name, "g", g)
    expect_ndim(name, "weight", weight, len(g.shape))
    outs, ins, *kernel = weight.shape
    _expect_groups(name, outs, groups)
    dims = len(kernel)
    expect_ndim(name, "sizes", Meta((1,) * len(sizes), dtype), dims)
    windows = _windows(name, tuple(kernel), stride, padding, dilation, dims)
    counts = windows.counts(name, sizes)
    expect_shape(name, "g", g, (g.shape[0], outs, *counts))
    expect_shape(name, "bias", bias, (ins * groups,))
    return Meta((g.shape[0], ins * groups, *sizes), dtype)


def _dweight_rule(
    g: Meta,
    x: Meta,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> tuple[Meta, Meta]:
    name = "conv_dweight"
    dtype = float_dtype(name, g, x)
    _expect_dims(name, "x", x)
    expect_ndim(name, "g", g, len(x.shape))
    batch, channels, *sizes = x.shape
    outs = g.shape[1]
    _expect_groups(name, outs, groups)
    _expect_groups(name, channels, groups)
    windows = _windows(name, kernel, stride, padding, dilation, len(sizes))
    counts = windows.counts(name, tuple(sizes))
    expect_shape(name, "g", g, (batch, outs, *counts))
    return Meta((outs, channels // groups, *kernel), dtype), Meta((outs,), dtype)


# ---- specs ---------------------------------------------------------------------------


def _work(rule: Callable[..., Any], pairs: Callable[..., float]) -> Callable[..., Work]:
    """Count two operations for each product; `pairs(*metas)` counts the products."""

    def work(*args: Any) -> Work:
        outs = rule(*args)
        outs = (outs,) if isinstance(outs, Meta) else outs
        metas = [x for x in args if isinstance(x, Meta)]
        return Work(2.0 * pairs(outs[0], *args), nbytes(*metas, outs[0]))

    return work


def _conv_pairs(out: Meta, x: Meta, weight: Meta, *rest: Any) -> float:
    return size(out) * math.prod(weight.shape[1:])


def _dx_pairs(out: Meta, g: Meta, weight: Meta, *rest: Any) -> float:
    return size(g) * math.prod(weight.shape[1:])


def _dweight_pairs(out: Meta, g: Meta, x: Meta, *rest: Any) -> float:
    return size(g) * math.prod(out.shape[1:])


_GEOMETRY = "stride:ints padding:ints dilation:ints groups:int"

SPECS = (
    KernelSpec(
        name="conv",
        kind="composite",
        signature=f"out ; x weight bias? ; {_GEOMETRY}",
        doc=(
            "out[n, o, t] = bias[o] + sum of weight[o, c, i] * x[n, c, t * stride - "
            "padding + i * dilation] over c, i; x [N, C, ...], weight [O, C / groups, "
            "...], zeros around x."
        ),
        rule=_conv_rule,
        reference=references.conv,
        decomposition=conv_in_primitives,
        lead="gemm",
        budget=budgets.conv,
        exceptions={"winograd": budgets.conv_winograd},
        samples=samples.conv,
        work=_work(_conv_rule, _conv_pairs),
        key="shapes",
        layout="prefers channels-last",
    ),
    KernelSpec(
        name="conv_dx",
        kind="composite",
        signature=f"dx ; g weight bias? ; sizes:ints {_GEOMETRY} accumulate:int",
        doc=(
            "The gradient of conv for an x of [N, C, *sizes]: weight[o, c, i] * g[n, "
            "o, t] summed where conv reads x; the transposed convolution of g, plus "
            "bias[c]."
        ),
        rule=_dx_rule,
        reference=references.conv_dx,
        decomposition=conv_dx_in_primitives,
        lead="gemm",
        budget=budgets.conv_dx,
        exceptions={"winograd": budgets.conv_dx_winograd},
        samples=samples.conv_dx,
        work=_work(_dx_rule, _dx_pairs),
        key="shapes",
        layout="prefers channels-last",
        accumulates=("dx",),
    ),
    KernelSpec(
        name="conv_dweight",
        kind="composite",
        signature=f"dweight dbias? ; g x ; kernel:ints {_GEOMETRY} accumulate:int",
        doc=(
            "The gradients of conv: dweight[o, c, i] = sum of g[n, o, t] * x[n, c, t "
            "* stride - padding + i * dilation] over n, t; dbias[o] = sum of g."
        ),
        rule=_dweight_rule,
        reference=references.conv_dweight,
        decomposition=conv_dweight_in_primitives,
        lead="gemm",
        budget=budgets.conv_dweight,
        exceptions={"winograd": budgets.conv_dweight_winograd},
        samples=samples.conv_dweight,
        work=_work(_dweight_rule, _dweight_pairs),
        key="shapes",
        layout="prefers channels-last",
        accumulates=("dweight", "dbias"),
    ),
)
