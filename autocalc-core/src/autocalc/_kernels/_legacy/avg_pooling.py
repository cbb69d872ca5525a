# SPDX-License-Identifier: MIT
"""The means of windows, forward and backward.

A window reads as one of a convolution does.  With `ceil` a last one may reach over the
end; what lies outside counts only where `count_include_pad` says that padding does.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels._legacy import _budgets_pooling as budgets
from autocalc._kernels._legacy import _references_pooling as references
from autocalc._kernels._legacy import _samples_pooling as samples
from autocalc._kernels._legacy.pooling import checked_windows, expect_planes
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.spec import Array, KernelSpec, Meta, Shape
from autocalc._kernels.windows import (
    Ints,
    Windows,
    added_in,
    padded_in,
    patches_in,
)
from autocalc._kernels.work import per_element

# ---- rules ---------------------------------------------------------------------------


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
    windows = checked_windows(name, references.plain(kernel, stride, padding))
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
    windows = checked_windows(name, references.plain(kernel, stride, padding))
    counts = windows.counts(name, sizes, ceil)
    expect_shape(name, "g", g, (*g.shape[:2], *counts))
    return Meta((*g.shape[:2], *sizes), dtype)


# ---- in primitives -------------------------------------------------------------------


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
    sizes, windows = k.shape(x)[2:], references.plain(kernel, stride, padding)
    counts = windows.counts("avg_pool", sizes, ceil)
    total = _summed_in(k, x, windows, counts)
    lengths = references.lengths_of(windows, sizes, counts, count_include_pad)
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
    windows, counts = references.plain(kernel, stride, padding), tuple(k.shape(g)[2:])
    lengths = references.lengths_of(windows, sizes, counts, count_include_pad)
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
        name="avg_pool",
        kind="composite",
        signature=f"out ; x ; {_MEAN}",
        doc=(
            "The sum of each window of x [N, C, ...] by `divisor`, or, where that is "
            "0, by its elements: padding counts if `count_include_pad`."
        ),
        rule=_avg_pool_rule,
        reference=references.avg_pool,
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
        reference=references.avg_pool_backward,
        decomposition=avg_pool_backward_in_primitives,
        lead="div",
        budget=budgets.avg_pool_backward,
        samples=samples.avg_pool_backward,
        work=per_element(_avg_pool_backward_rule, 1),
        key="shapes",
        layout="like",
    ),
)
