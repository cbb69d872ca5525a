# SPDX-License-Identifier: MIT
"""The mean of windows, forward and backward.

Windows are the same as in a convolution.  With `ceil`, a last window may extend beyond
the end of the input.  Elements outside of the input count only if `count_include_pad`
is True and they are padding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.pooling._windows import (
    CALLS,
    Pooling,
    checked_windows,
    expect_planes,
)
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Shape
from autocalc._kernels.windows import (
    Ints,
    Windows,
    added,
    added_in,
    columns,
    padded_in,
    patches_in,
)

_WINDOWS = "kernel:ints stride:ints padding:ints"


_MEAN = f"{_WINDOWS} ceil:bool count_include_pad:bool divisor:int"


avg_pool = composite(
    "avg_pool",
    f"out ; x ; {_MEAN}",
    "The sum of each window of x [N, C, ...], divided by `divisor`. If `divisor` is 0, "
    "it is divided by the number of elements; padding counts if `count_include_pad`.",
    key="shapes",
    layout="like",
)


def plain(kernel: Ints, stride: Ints, padding: Ints) -> Windows:
    return Windows(kernel, stride, padding, (1,) * len(kernel))


@avg_pool.rule
def _(
    x: Meta,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Meta:
    name = "avg_pool"
    dtype = float_dtype(name, x)
    expect_planes(name, "x", x, len(kernel))
    windows = checked_windows(name, plain(kernel, stride, padding))
    return Meta((*x.shape[:2], *windows.counts(name, x.shape[2:], ceil)), dtype)


def lengths_of(
    windows: Windows, sizes: Shape, counts: Shape, count_include_pad: bool
) -> list[list[int]]:
    """Return, for each dimension, how many elements of each window count.

    The number is at least 1: a window in the padding has the sum 0 and thus the mean 0.
    """
    result = []
    for n, p, k, step, count in zip(
        sizes, windows.padding, windows.kernel, windows.stride, counts, strict=True
    ):
        low, high = (-p, n + p) if count_include_pad else (0, n)
        starts = [i * step - p for i in range(count)]
        result.append([max(min(i + k, high) - max(i, low), 1) for i in starts])
    return result


def _area(xp: Any, lengths: list[list[int]]) -> Array:
    area = xp.array(1)
    for line in lengths:
        area = area[..., None] * xp.array(line)
    return area


@avg_pool.reference
def avg_pool_reference(
    xp: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Array:
    windows = plain(kernel, stride, padding)
    counts = windows.counts("avg_pool", x.shape[2:], ceil)
    taps = columns(xp, wide(xp, x), windows, counts)
    total = xp.sum(taps, axis=tuple(range(2, 2 + len(kernel))))
    lengths = lengths_of(windows, x.shape[2:], counts, count_include_pad)
    return narrow(total / (divisor or _area(xp, lengths)), x)


def _summed_in(k: Any, x: Array, windows: Windows, counts: Shape) -> Array:
    high = windows.high(k.shape(x)[2:], counts)
    total, *others = patches_in(
        k, padded_in(k, x, windows.padding, high), windows, counts
    )
    for part in others:
        total = k.add(total, part)
    return total


def _area_in(k: Any, like: Array, lengths: list[list[int]], divisor: int) -> Array:
    """Return the divisor of each window, or one number if all are equal."""
    if divisor or all(len(set(line)) <= 1 for line in lengths):
        one = math.prod(line[0] for line in lengths if line)
        return k.constant(divisor or one, like)
    dims = len(lengths)
    area = k.constant(1, like)
    for axis, line in enumerate(lengths):
        parts = [k.full((1,) * dims, n, k.dtype(like)) for n in line]
        area = k.mul(area, k.cat(parts, axis))
    return area


@avg_pool.decomposition(lead="div")
def _(
    k: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Array:
    sizes, windows = k.shape(x)[2:], plain(kernel, stride, padding)
    if len(kernel) == 3 and not divisor:
        geometry = kernel, stride, padding
        return _of_planes_then_depth(k, x, geometry, ceil, count_include_pad)
    counts = windows.counts("avg_pool", sizes, ceil)
    total = _summed_in(k, x, windows, counts)
    lengths = lengths_of(windows, sizes, counts, count_include_pad)
    return k.div(total, _area_in(k, x, lengths, divisor))


def _of_planes_then_depth(
    k: Any, x: Array, geometry: tuple[Ints, ...], ceil: bool, count_include_pad: bool
) -> Array:
    """Return the means of volumes, first within each plane, then along the depth.

    The elements that count form a box, so its mean is the mean of the means of its
    planes.
    """
    batch, channels, depth, *sides = k.shape(x)
    planes = k.reshape(x, (batch, channels * depth, *sides))
    options = ceil, count_include_pad, 0
    out = k.avg_pool(planes, *(values[1:] for values in geometry), *options)
    counts = k.shape(out)[2:]
    lines = k.reshape(out, (batch, channels, depth, math.prod(counts)))
    along = [(v[0], beside) for v, beside in zip(geometry, (1, 1, 0), strict=True)]
    out = k.avg_pool(lines, *along, *options)
    return k.reshape(out, (batch, channels, k.shape(out)[2], *counts))


@avg_pool.budget("(n + 2) * eps * mean(|x|) over the n elements of a window")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    size = avg_pool_reference(numpy_xp, magnitude(inputs[0]), *attributes)
    steps = math.prod(attributes[0]) + 2
    return [eps * steps * np.abs(size) + ulp(expected[0], eps)]


def _means() -> Iterator[tuple[Pooling, tuple[Any, ...]]]:
    for i, call in enumerate(CALLS):
        plain = call._replace(dilation=(1,) * len(call.kernel))
        divisor = 3 if i % 4 == 2 else 0
        yield plain, (*call[1:4], call.ceil, i % 2 == 0, divisor)
        if any(call.padding):
            yield plain, (*call[1:4], call.ceil, i % 2 == 1, 0)


@avg_pool.samples
def _(make: Make) -> Iterator[Sample]:
    for call, attributes in _means():
        label = f"{call.label}, {attributes[-2:]}"
        yield Sample(label, (make.normal(*call.x),), attributes)
    x = make.normal(2, 1, 5)
    x[1, 0, 2] = np.nan
    yield Sample("one nan", (x,), ((2,), (1,), (1,), False, True, 0))


avg_pool.work(flops_per_element=1)
avg_pool.benchmarks(
    Case(
        "32x64x56x56, 2x2",
        floats(32, 64, 56, 56),
        ((2, 2), (2, 2), (0, 0), False, True, 0),
    )
)


avg_pool_backward = composite(
    "avg_pool_backward",
    f"dx ; g ; sizes:ints {_MEAN}",
    "The adjoint of avg_pool, from g to dx [N, C, *sizes].",
    key="shapes",
    layout="like",
)


@avg_pool_backward.rule
def _(
    g: Meta,
    sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Meta:
    name = "avg_pool_backward"
    dtype = float_dtype(name, g)
    expect_planes(name, "g", g, len(sizes))
    windows = checked_windows(name, plain(kernel, stride, padding))
    counts = windows.counts(name, sizes, ceil)
    expect_shape(name, "g", g, (*g.shape[:2], *counts))
    return Meta((*g.shape[:2], *sizes), dtype)


@avg_pool_backward.reference
def avg_pool_backward_reference(
    xp: Any,
    g: Array,
    sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Array:
    windows, counts = plain(kernel, stride, padding), g.shape[2:]
    lengths = lengths_of(windows, sizes, counts, count_include_pad)
    share = wide(xp, g) / (divisor or _area(xp, lengths))
    shape = (*g.shape[:2], *kernel, *counts)
    taps = share.reshape(*g.shape[:2], *(1,) * len(kernel), *counts)
    return narrow(added(xp, xp.broadcast_to(taps, shape), sizes, windows), g)


@avg_pool_backward.decomposition(lead="div")
def _(
    k: Any,
    g: Array,
    sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Array:
    windows, counts = plain(kernel, stride, padding), tuple(k.shape(g)[2:])
    lengths = lengths_of(windows, sizes, counts, count_include_pad)
    share = k.div(g, _area_in(k, g, lengths, divisor))
    return added_in(k, [share] * windows.taps, sizes, windows, counts)


@avg_pool_backward.budget(
    "(n + 2) * eps * (the sum of the terms' sizes), n elements in a window"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    size = avg_pool_backward_reference(numpy_xp, magnitude(inputs[0]), *attributes)
    steps = math.prod(attributes[1]) + 2
    return [eps * steps * np.abs(size) + ulp(expected[0], eps)]


@avg_pool_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for call, attributes in _means():
        label = f"{call.label}, {attributes[-2:]}"
        g = make.normal(*call.x[:2], *call.counts)
        yield Sample(label, (g,), (call.x[2:], *attributes))


avg_pool_backward.work(flops_per_element=1)
avg_pool_backward.benchmarks(
    Case(
        "32x64x56x56, 2x2",
        floats(32, 64, 28, 28),
        ((56, 56), (2, 2), (2, 2), (0, 0), False, True, 0),
    )
)
