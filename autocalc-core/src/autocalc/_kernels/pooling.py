# SPDX-License-Identifier: MIT
"""Pooling over windows: largest elements and means, forward and backward.

A window reads as one of a convolution does.  With `ceil` a last one may reach over the
end; what lies outside is never the largest, and counts in a mean only where
`count_include_pad` says that padding does.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels import _budgets_pooling as budgets
from autocalc._kernels import _samples_pooling as samples
from autocalc._kernels._budgets import EXACT
from autocalc._kernels._rules import INT64, expect_shape, float_dtype, one_of
from autocalc._kernels._spec import Array, KernelSpec, Meta, Shape
from autocalc._kernels._wide import narrow, wide
from autocalc._kernels._windows import (
    Ints,
    Windows,
    added,
    added_in,
    columns,
    columns_in,
    padded_in,
    patches_in,
)
from autocalc._kernels._work import per_element
from autocalc._kernels.indexing import checked
from autocalc.errors import ShapeError

# ---- rules ---------------------------------------------------------------------------


def expect_planes(where: str, name: str, meta: Meta, dims: int) -> None:
    """Raise unless an operand is (N, C, ...) with `dims` dimensions behind."""
    if dims < 1 or len(meta.shape) != dims + 2:
        message = (
            f"{where}: `{name}` has shape {meta.shape}; it must be (N, C, ...) with "
            f"{max(dims, 1)} dimensions behind."
        )
        raise ShapeError(message)


def _max_pool_rule(
    x: Meta, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil: bool
) -> tuple[Meta, Meta]:
    name = "max_pool"
    dtype = float_dtype(name, x)
    expect_planes(name, "x", x, len(kernel))
    windows = _checked(name, Windows(kernel, stride, padding, dilation))
    shape = (*x.shape[:2], *windows.counts(name, x.shape[2:], ceil))
    return Meta(shape, dtype), Meta(shape, INT64)


def _max_pool_backward_rule(g: Meta, indices: Meta, sizes: Ints) -> Meta:
    name = "max_pool_backward"
    dtype = float_dtype(name, g)
    expect_planes(name, "g", g, len(sizes))
    one_of(name, "indices", indices, (INT64,))
    expect_shape(name, "indices", indices, g.shape)
    return Meta((*g.shape[:2], *sizes), dtype)


def _avg_pool_rule(
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
    windows = _checked(name, _plain(kernel, stride, padding))
    return Meta((*x.shape[:2], *windows.counts(name, x.shape[2:], ceil)), dtype)


def _avg_pool_backward_rule(
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
    windows = _checked(name, _plain(kernel, stride, padding))
    counts = windows.counts(name, sizes, ceil)
    expect_shape(name, "g", g, (*g.shape[:2], *counts))
    return Meta((*g.shape[:2], *sizes), dtype)


def _plain(kernel: Ints, stride: Ints, padding: Ints) -> Windows:
    return Windows(kernel, stride, padding, (1,) * len(kernel))


def _checked(where: str, windows: Windows) -> Windows:
    windows.check(where, len(windows.kernel))
    halves = tuple(span // 2 for span in windows.spans)
    if any(p > half for p, half in zip(windows.padding, halves, strict=True)):
        message = (
            f"{where}: `padding` is {windows.padding}; it can be at most {halves}, "
            f"half a window of {windows.spans}."
        )
        raise ShapeError(message)
    return windows


# ---- the largest ---------------------------------------------------------------------


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


def max_pool_in_primitives(
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
    taps = columns_in(k, x, windows, counts, -math.inf)
    if not want & 0b10:
        return k.max(taps, (2,), False), None
    outside = math.prod(sizes)
    places = k.reshape(k.arange(outside, x), (1, 1, *sizes))
    places = columns_in(k, places, windows, counts, outside)
    return largest_in(k, taps, places, outside)


def largest_in(k: Any, taps: Array, places: Array, outside: int) -> tuple[Array, Array]:
    """Return the same as `largest` in primitives."""
    index = k.gather(k.expand(places, k.shape(taps)), k.argmax(taps, 2, True), 2)
    first = k.neg(k.max(k.neg(places), (2,), True))
    is_outside = k.compare(index, k.constant(outside, index), "eq")
    index = k.where(is_outside, first, index)
    out = k.max(taps, (2,), False)
    return out, k.reshape(index, k.shape(out))


def max_pool_backward(xp: Any, g: Array, indices: Array, sizes: Ints) -> Array:
    n = math.prod(sizes)
    indices = checked(xp, "max_pool_backward", "indices", indices, n)
    planes = math.prod(g.shape[:2])
    rows = xp.arange(planes).reshape(*g.shape[:2], *(1,) * len(sizes))
    zeros = xp.zeros((planes, n), g.dtype)
    total = xp.index_add(zeros, (xp.broadcast_to(rows, g.shape), indices), g)
    return total.reshape(*g.shape[:2], *sizes)


def max_pool_backward_in_primitives(
    k: Any, g: Array, indices: Array, sizes: Ints
) -> Array:
    batch, channels, *counts = k.shape(g)
    planes, n = batch * channels, math.prod(counts)
    zeros = k.zeros((planes, math.prod(sizes)), k.dtype(g))
    index = k.reshape(indices, (planes, n))
    total = k.scatter_add(zeros, index, k.reshape(g, (planes, n)), 1)
    return k.reshape(total, (batch, channels, *sizes))


# ---- means ---------------------------------------------------------------------------


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
    windows = _plain(kernel, stride, padding)
    counts = windows.counts("avg_pool", x.shape[2:], ceil)
    taps = columns(xp, wide(xp, x), windows, counts)
    total = xp.sum(taps, axis=tuple(range(2, 2 + len(kernel))))
    lengths = _lengths(windows, x.shape[2:], counts, count_include_pad)
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
    windows, counts = _plain(kernel, stride, padding), g.shape[2:]
    lengths = _lengths(windows, sizes, counts, count_include_pad)
    share = wide(xp, g) / (divisor or _area(xp, lengths))
    shape = (*g.shape[:2], *kernel, *counts)
    taps = share.reshape(*g.shape[:2], *(1,) * len(kernel), *counts)
    return narrow(added(xp, xp.broadcast_to(taps, shape), sizes, windows), g)


def _lengths(
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


def avg_pool_in_primitives(
    k: Any,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil: bool,
    count_include_pad: bool,
    divisor: int,
) -> Array:
    sizes, windows = k.shape(x)[2:], _plain(kernel, stride, padding)
    counts = windows.counts("avg_pool", sizes, ceil)
    total = _summed_in(k, x, windows, counts)
    lengths = _lengths(windows, sizes, counts, count_include_pad)
    return k.div(total, _area_in(k, x, lengths, divisor))


def avg_pool_backward_in_primitives(
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
    windows, counts = _plain(kernel, stride, padding), tuple(k.shape(g)[2:])
    lengths = _lengths(windows, sizes, counts, count_include_pad)
    share = k.div(g, _area_in(k, g, lengths, divisor))
    return added_in(k, [share] * windows.taps, sizes, windows, counts)


def _summed_in(k: Any, x: Array, windows: Windows, counts: Shape) -> Array:
    high = windows.high(k.shape(x)[2:], counts)
    total, *others = patches_in(
        k, padded_in(k, x, windows.padding, high), windows, counts
    )
    for part in others:
        total = k.add(total, part)
    return total


def _area_in(k: Any, like: Array, lengths: list[list[int]], divisor: int) -> Array:
    """Return by what each window is divided: one number, where they are alike."""
    if divisor or all(len(set(line)) <= 1 for line in lengths):
        one = math.prod(line[0] for line in lengths if line)
        return k.constant(divisor or one, like)
    dims = len(lengths)
    area = k.constant(1, like)
    for axis, line in enumerate(lengths):
        parts = [k.full((1,) * dims, n, k.dtype(like)) for n in line]
        area = k.mul(area, k.cat(parts, axis))
    return area


# ---- specs ---------------------------------------------------------------------------

_WINDOWS = "kernel:ints stride:ints padding:ints"
_MEAN = f"{_WINDOWS} ceil:bool count_include_pad:bool divisor:int"

SPECS = (
    KernelSpec(
        name="max_pool",
        kind="composite",
        signature=f"out indices? ; x ; {_WINDOWS} dilation:ints ceil:bool",
        doc=(
            "The largest element of each window of x [N, C, ...], and where it lies in "
            "its plane, counted row by row: the first of equals; NaN is the largest."
        ),
        rule=_max_pool_rule,
        reference=max_pool,
        decomposition=max_pool_in_primitives,
        lead="max",
        budget=EXACT,
        samples=samples.max_pool,
        work=per_element(_max_pool_rule, 1),
        key="shapes",
        layout="like",
    ),
    KernelSpec(
        name="max_pool_backward",
        kind="composite",
        signature="dx ; g indices ; sizes:ints",
        doc=(
            "dx [N, C, *sizes] = 0, then dx[n, c, indices[n, c, t]] += g[n, c, t], "
            "planes counted row by row."
        ),
        rule=_max_pool_backward_rule,
        reference=max_pool_backward,
        decomposition=max_pool_backward_in_primitives,
        lead="scatter_add",
        budget=budgets.max_pool_backward,
        samples=samples.max_pool_backward,
        work=per_element(_max_pool_backward_rule, 1),
        key="shapes",
        layout="like",
    ),
    KernelSpec(
        name="avg_pool",
        kind="composite",
        signature=f"out ; x ; {_MEAN}",
        doc=(
            "The sum of each window of x [N, C, ...] by `divisor`, or, where that is "
            "0, by its elements: padding counts if `count_include_pad`."
        ),
        rule=_avg_pool_rule,
        reference=avg_pool,
        decomposition=avg_pool_in_primitives,
        lead="div",
        budget=budgets.avg_pool,
        samples=samples.avg_pool,
        work=per_element(_avg_pool_rule, 1),
        key="shapes",
        layout="like",
    ),
    KernelSpec(
        name="avg_pool_backward",
        kind="composite",
        signature=f"dx ; g ; sizes:ints {_MEAN}",
        doc="The adjoint of avg_pool, from g to dx [N, C, *sizes].",
        rule=_avg_pool_backward_rule,
        reference=avg_pool_backward,
        decomposition=avg_pool_backward_in_primitives,
        lead="div",
        budget=budgets.avg_pool_backward,
        samples=samples.avg_pool_backward,
        work=per_element(_avg_pool_backward_rule, 1),
        key="shapes",
        layout="like",
    ),
)
