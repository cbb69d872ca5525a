# SPDX-License-Identifier: MIT
"""The references of pooling: the largest elements and means of windows and boxes."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from autocalc._kernels._legacy.indexing import checked
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.spec import Array, Shape
from autocalc._kernels.windows import Ints, Windows, added, columns

# ---- the largest of windows ----------------------------------------------------------


def max_pool(
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


def largest(xp: Any, taps: Array, places: Array, outside: int) -> tuple[Array, Array]:
    """Return the largest over axis 2, and where it lies; NaN is the largest of all.

    Of equals it is the first, but never one that lies outside.
    """
    best = xp.argmax(taps, axis=2)[:, :, None]
    index = xp.take_along_axis(xp.broadcast_to(places, taps.shape), best, 2)
    index = xp.where(index == outside, xp.min(places, axis=2, keepdims=True), index)
    return xp.take_along_axis(taps, best, 2)[:, :, 0], index[:, :, 0]


def max_pool_backward(xp: Any, g: Array, indices: Array, sizes: Ints) -> Array:
    n = math.prod(sizes)
    indices = checked(xp, "max_pool_backward", "indices", indices, n)
    planes = math.prod(g.shape[:2])
    rows = xp.arange(planes).reshape(*g.shape[:2], *(1,) * len(sizes))
    zeros = xp.zeros((planes, n), g.dtype)
    total = xp.index_add(zeros, (xp.broadcast_to(rows, g.shape), indices), g)
    return total.reshape(*g.shape[:2], *sizes)


# ---- means of windows ----------------------------------------------------------------


def plain(kernel: Ints, stride: Ints, padding: Ints) -> Windows:
    return Windows(kernel, stride, padding, (1,) * len(kernel))


def avg_pool(
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


def avg_pool_backward(
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


def lengths_of(
    windows: Windows, sizes: Shape, counts: Shape, count_include_pad: bool
) -> list[list[int]]:
    """Return for each dimension how many elements of each window count.

    It is 1 at least: a window all in the padding has the sum 0, and is 0.
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


# ---- boxes, as many as the result has elements ---------------------------------------


def spans(n: int, size: int) -> list[slice]:
    """Return which of `n` elements each of `size` outputs takes."""
    return [slice(i * n // size, -(-(i + 1) * n // size)) for i in range(size)]


def adaptive_max_pool(
    xp: Any, x: Array, sizes: Ints, *, want: int = -1
) -> tuple[Array, Array]:
    planes = x.shape[2:]
    n = math.prod(planes)
    places = xp.arange(n).reshape(1, 1, *planes)
    outs, indices = [], []
    for box in product(*map(spans, planes, sizes)):
        index: Any = (..., *box)
        area = math.prod(one.stop - one.start for one in box)
        window, place = (a[index].reshape(*a.shape[:2], area, 1) for a in (x, places))
        out, index = largest(xp, window, place, n)
        outs.append(out)
        indices.append(index)
    shape = (*x.shape[:2], *sizes)
    out, index = (xp.concatenate(parts, 2).reshape(shape) for parts in (outs, indices))
    return out, index


# ---- their means: one dimension after the other --------------------------------------


def adaptive_avg_pool(xp: Any, x: Array, sizes: Ints) -> Array:
    out = wide(xp, x)
    for axis, size in enumerate(sizes, 2):
        parts = [
            xp.sum(_part(out, axis, one), axis=axis, keepdims=True)
            / (one.stop - one.start)
            for one in spans(out.shape[axis], size)
        ]
        out = xp.concatenate(parts, axis)
    return narrow(out, x)


def adaptive_avg_pool_backward(xp: Any, g: Array, sizes: Ints) -> Array:
    out = wide(xp, g)
    for axis, size in enumerate(sizes, 2):
        shape = list(out.shape)
        taken = spans(size, shape[axis])
        shape[axis] = size
        total = xp.zeros(tuple(shape), out.dtype)
        for i, one in enumerate(taken):
            part = _part(out, axis, slice(i, i + 1)) / (one.stop - one.start)
            place = _part(total, axis, one)
            place += part
        out = total
    return narrow(out, g)


def _part(a: Array, axis: int, one: slice) -> Array:
    """Return the view of `a` that takes `one` slice of an axis."""
    index = (*(slice(None),) * axis, one)
    return a[index]
