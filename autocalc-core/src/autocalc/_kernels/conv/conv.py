# SPDX-License-Identifier: MIT
"""Convolution over any number of dimensions.

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

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, absent, floats, join
from autocalc._kernels.conv._checks import check_conv
from autocalc._kernels.conv._depth import (
    depth_and_flat,
    images_of,
    joined_planes,
    of_images,
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
from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample
from autocalc._kernels.windows import Ints, Windows, columns, columns_in
from autocalc._kernels.work import size

conv = composite(
    "conv",
    f"out ; x weight bias? ; {GEOMETRY}",
    "out[n, o, t] = bias[o] + sum of weight[o, c, i] * x[n, c, t * stride - "
    "padding + i * dilation] over c, i; x [N, C, ...], weight [O, C / groups, "
    "...], zeros around x.",
    key="shapes",
    layout="prefers channels-last",
    complex=True,
)


@conv.rule
def conv_rule(
    x: Meta,
    weight: Meta,
    bias: Meta | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Meta:
    dtype = float_dtype("conv", x, weight, bias)
    b = None if bias is None else bias.shape
    check_conv("conv", x.shape, weight.shape, b, groups, "x")
    outs, _, *kernel = weight.shape
    dims = len(kernel)
    windows = checked_windows("conv", tuple(kernel), stride, padding, dilation, dims)
    return Meta((x.shape[0], outs, *windows.counts("conv", x.shape[2:])), dtype)


@conv.reference
def conv_reference(
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
    out = xp.matmul(weight_matrices(weight, groups), grouped(taps, groups, len(stride)))
    out = out.reshape(x.shape[0], weight.shape[0], *counts)
    return out if bias is None else out + by_channel(bias, x)


@conv.decomposition(lead="gemm")
def _(
    k: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    (batch, _, *sizes), (outs, ins, *kernel) = k.shape(x), k.shape(weight)
    windows = Windows(tuple(kernel), stride, padding, dilation)
    counts = windows.counts("conv", tuple(sizes))
    geometry = stride, padding, dilation
    if len(kernel) == 3:
        depth, flat = depth_and_flat(sizes[0], counts[0], kernel[0], geometry)
        filters = k.reshape(weight, of_images((outs, ins, *kernel)))
        images = k.conv(images_of(k, x, depth), filters, bias, *flat, groups)
        return joined_planes(k, images, counts[0])
    taps = columns_in(k, x, windows, counts)
    rows = rows_in(k, weight, groups)
    out, _ = k.gemm(rows, grouped_in(k, taps, groups, 1), None)
    return with_bias(k, k.reshape(out, (batch, outs, *counts)), bias)


@conv.budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    x, weight, bias = inputs
    sizes = conv_reference(numpy_xp, magnitude(x), magnitude(weight), None, *attributes)
    off = (math.prod(weight.shape[1:]) + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * by_channel(magnitude(bias), x)
    return [off + ulp(expected[0], eps)]


@conv.samples
def _(make: Make) -> Iterator[Sample]:
    for i, call in enumerate(CALLS):
        bias = make.normal(call.weight[0]) if i % 2 else None
        x, weight = make.normal(*call.x), make.normal(*call.weight)
        yield Sample(call.label, (x, weight, bias), call[2:])
    x = one_nan(make.normal(2, 2, 5, 5))
    weight, geometry = make.normal(3, 2, 3, 3), ((1, 1), (1, 1), (1, 1), 1)
    yield Sample("one nan", (x, weight, None), geometry)


def _conv_pairs(out: Meta, x: Meta, weight: Meta, *rest: Any) -> float:
    return size(out) * math.prod(weight.shape[1:])


conv.work(work(conv_rule, _conv_pairs))


@conv.benchmarks
def _() -> Iterator[Case]:
    for layer in LAYERS:
        yield Case(
            layer.label,
            join(floats(*layer.images), floats(*layer.weights), absent),
            layer.attributes,
        )


def conv_sums(x: Array, weight: Array, geometry: Attributes) -> Array:
    return conv_reference(numpy_xp, x, weight, None, *geometry)


conv.exception(
    "bfloat16",
    Budget(
        f"(n + 2) * eps * (the sum of the n terms' sizes){FLUSHED}",
        flushed(conv_budget.tolerance, conv_sums),
    ),
)


@conv.exception("winograd", WINOGRAD)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, weight, bias = inputs
    _, padding, _, groups = attributes
    off = winograd(magnitude(x), magnitude(weight), groups, padding, expected[0], eps)
    if bias is not None:
        off = off + 2 * eps * magnitude(bias)[:, None, None]
    return [off + ulp(expected[0], eps)]
