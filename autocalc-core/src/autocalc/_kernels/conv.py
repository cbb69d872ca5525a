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

from autocalc._kernels import _budgets_conv as budgets
from autocalc._kernels import _samples_conv as samples
from autocalc._kernels._accumulate import plus
from autocalc._kernels._conv_in_primitives import (
    conv_dweight_in_primitives,
    conv_dx_in_primitives,
    conv_in_primitives,
)
from autocalc._kernels._rules import expect_ndim, expect_shape, float_dtype
from autocalc._kernels._spec import Array, KernelSpec, Meta, Shape, Work
from autocalc._kernels._wide import narrow, wide
from autocalc._kernels._windows import (
    Ints,
    Windows,
    added,
    columns,
)
from autocalc._kernels._work import nbytes, size
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


# ---- references ----------------------------------------------------------------------


def conv(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    windows = Windows(weight.shape[2:], stride, padding, dilation)
    counts = windows.counts("conv", x.shape[2:])
    taps = columns(xp, x, windows, counts)
    out = xp.matmul(_rows(weight, groups), _grouped(taps, groups, len(stride)))
    out = out.reshape(x.shape[0], weight.shape[0], *counts)
    return out if bias is None else out + _by_channel(bias, x)


def conv_dx(
    xp: Any,
    g: Array,
    weight: Array,
    bias: Array | None,
    sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    *,
    dx: Array | None = None,
) -> Array:
    kernel, counts = weight.shape[2:], g.shape[2:]
    windows = Windows(kernel, stride, padding, dilation)
    rows = xp.swapaxes(_rows(weight, groups), 1, 2)
    taps = xp.matmul(rows, _grouped(g, groups, 0))
    channels = weight.shape[1] * groups
    taps = taps.reshape(g.shape[0], channels, *kernel, *counts)
    out = added(xp, taps, sizes, windows)
    return plus(dx, out if bias is None else out + _by_channel(bias, g))


def conv_dweight(
    xp: Any,
    g: Array,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array, Array]:
    taps = columns(xp, x, Windows(kernel, stride, padding, dilation), g.shape[2:])
    read, given = _grouped(taps, groups, len(stride)), _grouped(g, groups, 0)
    ins, outs, n = read.shape[2], given.shape[2], g.shape[0] * given.shape[3]
    given = xp.transpose(given, (1, 2, 0, 3)).reshape(groups, outs, n)
    read = xp.transpose(read, (1, 0, 3, 2)).reshape(groups, n, ins)
    product = xp.matmul(given, read)
    product = product.reshape(g.shape[1], x.shape[1] // groups, *kernel)
    total = xp.sum(wide(xp, g), axis=(0, *range(2, g.ndim)))
    return plus(dweight, product), narrow(plus(dbias, total), g)


def _rows(weight: Array, groups: int) -> Array:
    """Return a weight as one matrix for each group: [groups, outs, ins * taps]."""
    outs = weight.shape[0] // groups
    return weight.reshape(groups, outs, math.prod(weight.shape[1:]))


def _grouped(a: Array, groups: int, taps: int) -> Array:
    """Return [N, C, *taps, *counts] as [N, groups, C / groups * taps, counts]."""
    batch, channels, *rest = a.shape
    inner = channels // groups * math.prod(rest[:taps])
    return a.reshape(batch, groups, inner, math.prod(rest[taps:]))


def _by_channel(bias: Array, like: Array) -> Array:
    return bias.reshape(-1, *(1,) * (like.ndim - 2))


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
        reference=conv,
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
        reference=conv_dx,
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
        reference=conv_dweight,
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
