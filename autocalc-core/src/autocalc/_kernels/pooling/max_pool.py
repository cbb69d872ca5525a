# SPDX-License-Identifier: MIT
"""The maximum of windows, forward and backward.

Windows are the same as in a convolution.  With `ceil`, a last window may extend beyond
the end of the input.  An element outside of the input is never the maximum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import EXACT, Inputs, Limits, magnitude
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import composite
from autocalc._kernels.indexing._places import checked
from autocalc._kernels.pooling._windows import (
    CALLS,
    Pooling,
    checked_windows,
    expect_planes,
    hard,
    largest,
    largest_in,
)
from autocalc._kernels.rules import INT64, expect_shape, float_dtype, one_of
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc._kernels.windows import Ints, Windows, columns, columns_in

_WINDOWS = "kernel:ints stride:ints padding:ints"


max_pool = composite(
    "max_pool",
    f"out indices? ; x ; {_WINDOWS} dilation:ints ceil:bool",
    "The largest element of each window of x [N, C, ...], and its row-major index in "
    "its plane. Of equal elements it is the first; NaN counts as the largest.",
    key="shapes",
    layout="like",
)


@max_pool.rule
def _(
    x: Meta, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil: bool
) -> tuple[Meta, Meta]:
    name = "max_pool"
    dtype = float_dtype(name, x)
    expect_planes(name, "x", x, len(kernel))
    windows = checked_windows(name, Windows(kernel, stride, padding, dilation))
    shape = (*x.shape[:2], *windows.counts(name, x.shape[2:], ceil))
    return Meta(shape, dtype), Meta(shape, INT64)


@max_pool.reference
def max_pool_reference(
    xp: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil: bool,
    *,
    want: int = -1,
) -> tuple[Array, Array]:
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("max_pool", x.shape[2:], ceil)
    taps = columns(xp, x, windows, counts, -math.inf)
    outside = math.prod(x.shape[2:])
    places = xp.arange(outside).reshape(1, 1, *x.shape[2:])
    places = columns(xp, places, windows, counts, outside)
    values, first = (
        a.reshape(*a.shape[:2], windows.taps, *counts) for a in (taps, places)
    )
    return largest(xp, values, first, outside)


@max_pool.decomposition(lead="max")
def _(
    k: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil: bool,
    *,
    want: int = -1,
) -> tuple[Array, Array | None]:
    sizes = k.shape(x)[2:]
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("max_pool", sizes, ceil)
    if len(kernel) == 3:
        return _of_planes_then_depth(k, x, windows, ceil, want)
    taps = columns_in(k, x, windows, counts, -math.inf)
    if not want & 0b10:
        return k.max(taps, (2,), False), None
    outside = math.prod(sizes)
    places = k.reshape(k.arange(outside, x), (1, 1, *sizes))
    places = columns_in(k, places, windows, counts, outside)
    return largest_in(k, taps, places, outside)


def _of_planes_then_depth(
    k: Any, x: Array, windows: Windows, ceil: bool, want: int
) -> tuple[Array, Array | None]:
    """Return the maxima of volumes, first within each plane, then along the depth.

    Of equal elements, the first one in the first plane is also the first one in the
    volume.
    """
    batch, channels, depth, *sides = k.shape(x)
    along, across = (tuple(v[:1] for v in windows), tuple(v[1:] for v in windows))
    planes = k.reshape(x, (batch, channels * depth, *sides))
    out, within = k.max_pool(planes, *across, ceil, want=want)
    counts = k.shape(out)[2:]
    lines = (batch, channels, depth, math.prod(counts))
    beside = ((1,), (1,), (0,), (1,))
    joined = [one + other for one, other in zip(along, beside, strict=True)]
    out, places = k.max_pool(k.reshape(out, lines), *joined, ceil, want=want)
    shape = (batch, channels, k.shape(out)[2], *counts)
    if not want & 0b10:
        return k.reshape(out, shape), None
    area = k.constant(math.prod(sides), within)
    first = k.mul(k.reshape(k.arange(depth, x), (depth, 1)), area)
    volume = k.add(k.reshape(within, lines), first)
    flat = k.reshape(volume, (batch * channels, depth * lines[3]))
    index = k.reshape(places, (batch * channels, math.prod(shape[2:])))
    return k.reshape(out, shape), k.reshape(k.gather(flat, index, 1), shape)


max_pool.budget(EXACT)


@max_pool.samples
def _(make: Make) -> Iterator[Sample]:
    for call in CALLS:
        yield Sample(call.label, (make.normal(*call.x),), call[1:], want=0b10)
    call = Pooling((2, 2, 5, 6), (3, 3), (2, 2), (1, 1), (1, 1))
    for label, x in hard(make, call.x):
        yield Sample(label, (x,), call[1:], want=0b10)


max_pool.work(flops_per_element=1)
max_pool.benchmarks(
    Case(
        "32x64x112x112, 3x3 by 2",
        floats(32, 64, 112, 112),
        ((3, 3), (2, 2), (1, 1), (1, 1), False),
        0b11,
    )
)


max_pool_backward = composite(
    "max_pool_backward",
    "dx ; g indices ; sizes:ints",
    "dx [N, C, *sizes] = 0, then dx[n, c, indices[n, c, t]] += g[n, c, t], with "
    "row-major indices in a plane.",
    key="shapes",
    layout="like",
)


@max_pool_backward.rule
def _(g: Meta, indices: Meta, sizes: Ints) -> Meta:
    name = "max_pool_backward"
    dtype = float_dtype(name, g)
    expect_planes(name, "g", g, len(sizes))
    one_of(name, "indices", indices, (INT64,))
    expect_shape(name, "indices", indices, g.shape)
    return Meta((*g.shape[:2], *sizes), dtype)


@max_pool_backward.reference
def max_pool_backward_reference(
    xp: Any, g: Array, indices: Array, sizes: Ints
) -> Array:
    n = math.prod(sizes)
    indices = checked(xp, "max_pool_backward", "indices", indices, n)
    planes = math.prod(g.shape[:2])
    rows = xp.arange(planes).reshape(*g.shape[:2], *(1,) * len(sizes))
    zeros = xp.zeros((planes, n), g.dtype)
    total = xp.index_add(zeros, (xp.broadcast_to(rows, g.shape), indices), g)
    return total.reshape(*g.shape[:2], *sizes)


@max_pool_backward.decomposition(lead="scatter_add")
def _(k: Any, g: Array, indices: Array, sizes: Ints) -> Array:
    batch, channels, *counts = k.shape(g)
    planes, n = batch * channels, math.prod(counts)
    zeros = k.zeros((planes, math.prod(sizes)), k.dtype(g))
    index = k.reshape(indices, (planes, n))
    total = k.scatter_add(zeros, index, k.reshape(g, (planes, n)), 1)
    return k.reshape(total, (batch, channels, *sizes))


@max_pool_backward.budget("n * eps * sum(|g|), n terms at one place")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, indices = inputs
    (sizes,) = attributes
    total = max_pool_backward_reference(numpy_xp, magnitude(g), indices, sizes)
    count = max_pool_backward_reference(numpy_xp, np.ones(g.shape), indices, sizes)
    return [eps * np.maximum(count - 1, 0) * total]


@max_pool_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for call in CALLS:
        _, indices = max_pool_reference(numpy_xp, make.normal(*call.x), *call[1:])
        inputs = (make.normal(*indices.shape), indices)
        yield Sample(call.label, inputs, (call.x[2:],))


max_pool_backward.work(flops_per_element=1)
max_pool_backward.benchmarks(
    Case(
        "32x64x112x112, 3x3 by 2",
        join(floats(32, 64, 56, 56), indices(112 * 112, 32, 64, 56, 56)),
        ((112, 112),),
    )
)
