# SPDX-License-Identifier: MIT
"""Windows written out as columns, and columns added back where they were read."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _samples_unfolding as samples
from autocalc._kernels._legacy._budgets import EXACT, Inputs, budget, magnitude, ulp
from autocalc._kernels._legacy.pooling import expect_planes
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.spec import Array, Attributes, KernelSpec, Meta
from autocalc._kernels.windows import (
    Ints,
    Windows,
    added,
    added_in,
    columns,
    columns_in,
)
from autocalc._kernels.work import per_element
from autocalc.errors import ShapeError


def _unfold_rule(
    x: Meta, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Meta:
    name = "unfold"
    dtype = float_dtype(name, x)
    expect_planes(name, "x", x, len(kernel))
    windows = Windows(kernel, stride, padding, dilation)
    windows.check(name, len(kernel))
    count = math.prod(windows.counts(name, x.shape[2:]))
    return Meta((x.shape[0], x.shape[1] * windows.taps, count), dtype)


def _fold_rule(
    x: Meta, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Meta:
    name = "fold"
    dtype = float_dtype(name, x)
    expect_planes(name, "x", x, 1)
    windows = Windows(kernel, stride, padding, dilation)
    windows.check(name, len(sizes))
    if x.shape[1] % windows.taps:
        message = (
            f"{name}: `x` has shape {x.shape}; its {x.shape[1]} rows must be channels "
            f"times {windows.taps}, the elements of a window of {kernel}."
        )
        raise ShapeError(message)
    count = math.prod(windows.counts(name, sizes))
    expect_shape(name, "x", x, (*x.shape[:2], count))
    return Meta((x.shape[0], x.shape[1] // windows.taps, *sizes), dtype)


def unfold(
    xp: Any, x: Array, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Array:
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("unfold", x.shape[2:])
    taps = columns(xp, x, windows, counts)
    return taps.reshape(x.shape[0], x.shape[1] * windows.taps, math.prod(counts))


def unfold_in_primitives(
    k: Any, x: Array, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Array:
    batch, channels, *sizes = k.shape(x)
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("unfold", tuple(sizes))
    taps = columns_in(k, x, windows, counts)
    if windows.taps == 1:  # then it may be x itself
        taps = k.copy(taps)
    return k.reshape(taps, (batch, channels * windows.taps, math.prod(counts)))


def fold(
    xp: Any,
    x: Array,
    sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
) -> Array:
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("fold", sizes)
    channels = x.shape[1] // windows.taps
    taps = wide(xp, x).reshape(x.shape[0], channels, *kernel, *counts)
    return narrow(added(xp, taps, sizes, windows), x)


def fold_in_primitives(
    k: Any,
    x: Array,
    sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
) -> Array:
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("fold", sizes)
    batch, rows, _ = k.shape(x)
    n = windows.taps
    taps = k.reshape(x, (batch, rows // n, n, *counts))
    parts = [k.slice(taps, (slice(None), slice(None), i)) for i in range(n)]
    out = added_in(k, parts, sizes, windows, counts)
    return k.copy(out) if n == 1 else out


@budget("(n - 1) * eps * sum(|x|), n terms at one place")
def _fold_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> list[Any]:
    size = fold(numpy_xp, magnitude(inputs[0]), *attributes)
    steps = math.prod(attributes[1]) - 1
    return [steps * eps * size + (ulp(expected[0], eps) if steps else 0)]


_WINDOWS = "kernel:ints stride:ints padding:ints dilation:ints"

SPECS = (
    KernelSpec(
        name="unfold",
        kind="composite",
        signature=f"out ; x ; {_WINDOWS}",
        doc=(
            "Windows of x [N, C, ...] as columns [N, C * taps, windows], both counted "
            "row by row, zeros around x."
        ),
        rule=_unfold_rule,
        reference=unfold,
        decomposition=unfold_in_primitives,
        lead="copy",
        budget=EXACT,
        samples=samples.unfold,
        work=per_element(_unfold_rule, 0),
        key="shapes",
    ),
    KernelSpec(
        name="fold",
        kind="composite",
        signature=f"out ; x ; sizes:ints {_WINDOWS}",
        doc=(
            "The adjoint of unfold: columns x [N, C * taps, windows] added into zeros "
            "[N, C, *sizes] where unfold reads them."
        ),
        rule=_fold_rule,
        reference=fold,
        decomposition=fold_in_primitives,
        lead="add",
        budget=_fold_budget,
        samples=samples.fold,
        work=per_element(_fold_rule, 1),
        key="shapes",
    ),
)
