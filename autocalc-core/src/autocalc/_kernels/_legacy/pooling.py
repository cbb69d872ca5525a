# SPDX-License-Identifier: MIT
"""The largest elements of windows, and the way back to them.

A window reads as one of a convolution does.  With `ceil` a last one may reach over the
end; what lies outside is never the largest.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels._legacy import _budgets_pooling as budgets
from autocalc._kernels._legacy import _references_pooling as references
from autocalc._kernels._legacy import _samples_pooling as samples
from autocalc._kernels._legacy._budgets import EXACT
from autocalc._kernels.rules import INT64, expect_shape, float_dtype, one_of
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.windows import (
    Ints,
    Windows,
    columns_in,
)
from autocalc._kernels.work import per_element
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
    windows = checked_windows(name, Windows(kernel, stride, padding, dilation))
    shape = (*x.shape[:2], *windows.counts(name, x.shape[2:], ceil))
    return Meta(shape, dtype), Meta(shape, INT64)


def _max_pool_backward_rule(g: Meta, indices: Meta, sizes: Ints) -> Meta:
    name = "max_pool_backward"
    dtype = float_dtype(name, g)
    expect_planes(name, "g", g, len(sizes))
    one_of(name, "indices", indices, (INT64,))
    expect_shape(name, "indices", indices, g.shape)
    return Meta((*g.shape[:2], *sizes), dtype)


def checked_windows(where: str, windows: Windows) -> Windows:
    windows.check(where, len(windows.kernel))
    halves = tuple(span // 2 for span in windows.spans)
    if any(p > half for p, half in zip(windows.padding, halves, strict=True)):
        message = (
            f"{where}: `padding` is {windows.padding}; it can be at most {halves}, "
            f"half a window of {windows.spans}."
        )
        raise ShapeError(message)
    return windows


# ---- in primitives -------------------------------------------------------------------


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


def max_pool_backward_in_primitives(
    k: Any, g: Array, indices: Array, sizes: Ints
) -> Array:
    batch, channels, *counts = k.shape(g)
    planes, n = batch * channels, math.prod(counts)
    zeros = k.zeros((planes, math.prod(sizes)), k.dtype(g))
    index = k.reshape(indices, (planes, n))
    total = k.scatter_add(zeros, index, k.reshape(g, (planes, n)), 1)
    return k.reshape(total, (batch, channels, *sizes))


# ---- specs ---------------------------------------------------------------------------

_WINDOWS = "kernel:ints stride:ints padding:ints"

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
        reference=references.max_pool,
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
        reference=references.max_pool_backward,
        decomposition=max_pool_backward_in_primitives,
        lead="scatter_add",
        budget=budgets.max_pool_backward,
        samples=samples.max_pool_backward,
        work=per_element(_max_pool_backward_rule, 1),
        key="shapes",
        layout="like",
    ),
)
