# SPDX-License-Identifier: MIT
"""The input gradient of a convolution: the transposed convolution.

Strictly speaking, this is a correlation: the kernel is not flipped.  In one dimension
and with one group::

    out[n, o, t] = bias[o] + sum over c, i of
                   weight[o, c, i] * x[n, c, t * stride - padding + i * dilation]

The channels are divided into `groups`; each output channel reads the input channels of
its own group.  The derivatives of `conv`, `conv_dx` and `conv_dweight` are again these
three kernels, so convolutions can be differentiated any number of times.  A transposed
convolution is the input gradient (Dumoulin, Visin: A guide to convolution arithmetic
for deep learning, 2016).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, absent, floats, join
from autocalc._kernels.conv._checks import check_conv_transpose
from autocalc._kernels.conv._depth import (
    depth_and_flat,
    of_images,
    planes_of,
    volumes_of,
)
from autocalc._kernels.conv._geometry import (
    CALLS,
    FLUSHED,
    GEOMETRY,
    LAYERS,
    WINOGRAD,
    by_channel,
    checked_windows,
    flushed,
    grouped,
    grouped_in,
    one_nan,
    rows_in,
    weight_matrices,
    winograd,
    with_bias,
    work,
)
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import plus, plus_in
from autocalc._kernels.rules import expect_ndim, expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample
from autocalc._kernels.windows import Ints, Windows, added, added_in
from autocalc._kernels.work import size

conv_dx = composite(
    "conv_dx",
    f"dx ; g weight bias? ; sizes:ints {GEOMETRY} accumulate:int",
    "The gradient of conv with respect to x [N, C, *sizes]: weight[o, c, i] * g[n, o, "
    "t] is added where conv reads x. It is also the transposed convolution of g, plus "
    "bias[c].",
    key="shapes",
    layout="prefers channels-last",
    accumulates=("dx",),
    complex=True,
)


@conv_dx.rule
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
    b = None if bias is None else bias.shape
    check_conv_transpose(name, g.shape, weight.shape, b, groups, "g")
    outs, ins, *kernel = weight.shape
    dims = len(kernel)
    expect_ndim(name, "sizes", Meta((1,) * len(sizes), dtype), dims)
    windows = checked_windows(name, tuple(kernel), stride, padding, dilation, dims)
    counts = windows.counts(name, sizes)
    expect_shape(name, "g", g, (g.shape[0], outs, *counts))
    return Meta((g.shape[0], ins * groups, *sizes), dtype)


@conv_dx.reference
def conv_dx_reference(
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
    rows = xp.swapaxes(weight_matrices(weight, groups), 1, 2)
    taps = xp.matmul(rows, grouped(g, groups, 0))
    channels = weight.shape[1] * groups
    taps = taps.reshape(g.shape[0], channels, *kernel, *counts)
    out = added(xp, taps, sizes, windows)
    return plus(dx, out if bias is None else out + by_channel(bias, g))


@conv_dx.decomposition(lead="gemm")
def _(
    k: Any,
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
    (batch, _, *counts), (outs, ins, *kernel) = k.shape(g), k.shape(weight)
    if len(kernel) == 3:
        geometry = stride, padding, dilation
        depth, flat = depth_and_flat(sizes[0], counts[0], kernel[0], geometry)
        filters = k.reshape(weight, of_images((outs, ins, *kernel)))
        images = k.conv_dx(planes_of(k, g), filters, None, sizes[1:], *flat, groups)
        out = volumes_of(k, images, batch, depth)
        return plus_in(k, dx, with_bias(k, out, bias))
    windows = Windows(tuple(kernel), stride, padding, dilation)
    rows = k.permute(rows_in(k, weight, groups), (0, 2, 1))
    taps, _ = k.gemm(rows, grouped_in(k, g, groups, 0), None)
    taps = k.reshape(taps, (batch, ins * groups, windows.taps, *counts))
    parts = [k.slice(taps, (slice(None),) * 2 + (i,)) for i in range(windows.taps)]
    out = added_in(k, parts, sizes, windows, tuple(counts))
    return plus_in(k, dx, with_bias(k, out, bias))


@conv_dx.budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv_dx_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    g, weight, bias = inputs
    sizes = conv_dx_reference(
        numpy_xp, magnitude(g), magnitude(weight), None, *attributes
    )
    terms = weight.shape[0] // attributes[-1] * math.prod(weight.shape[2:])
    off = (terms + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * by_channel(magnitude(bias), g)
    return [off + ulp(expected[0], eps)]


@conv_dx.samples
def _(make: Make) -> Iterator[Sample]:
    for i, call in enumerate(CALLS):
        channels = call.x[1]
        bias = make.normal(channels) if i % 2 else None
        g = make.normal(call.x[0], call.weight[0], *call.counts)
        inputs = (g, make.normal(*call.weight), bias)
        yield Sample(call.label, inputs, (call.x[2:], *call[2:]))
    g, weight = one_nan(make.normal(2, 3, 5, 5)), make.normal(3, 2, 3, 3)
    geometry = ((5, 5), (1, 1), (1, 1), (1, 1), 1)
    yield Sample("one nan", (g, weight, None), geometry)


def _dx_pairs(out: Meta, g: Meta, weight: Meta, *rest: Any) -> float:
    return size(g) * math.prod(weight.shape[1:])


conv_dx.work(work(_dx_rule, _dx_pairs))


@conv_dx.benchmarks
def _() -> Iterator[Case]:
    for layer in LAYERS:
        yield Case(
            layer.label,
            join(floats(*layer.gradient), floats(*layer.weights), absent),
            (layer.images[2:], *layer.attributes),
        )


def _sums(g: Array, weight: Array, attributes: Attributes) -> Array:
    return conv_dx_reference(numpy_xp, g, weight, None, *attributes)


conv_dx.exception(
    "bfloat16",
    Budget(
        f"(n + 2) * eps * (the sum of the n terms' sizes){FLUSHED}",
        flushed(conv_dx_budget.tolerance, _sums),
    ),
)


@conv_dx.exception("winograd", WINOGRAD)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, weight, bias = inputs
    groups = attributes[-1]
    outs, ins = weight.shape[:2]
    taps = magnitude(weight)[:, :, ::-1, ::-1].reshape(
        groups, outs // groups, ins, 3, 3
    )
    taps = np.swapaxes(taps, 1, 2).reshape(groups * ins, outs // groups, 3, 3)
    padding = tuple(2 - p for p in attributes[2])
    off = winograd(magnitude(g), taps, groups, padding, expected[0], eps)
    if bias is not None:
        off = off + 2 * eps * magnitude(bias)[:, None, None]
    return [off + ulp(expected[0], eps)]
