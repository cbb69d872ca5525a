# SPDX-License-Identifier: MIT
"""Copy windows to columns, and add columns back to the positions of the windows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import EXACT, Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.pooling._windows import expect_planes
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Shape
from autocalc._kernels.windows import (
    Ints,
    Windows,
    added,
    added_in,
    columns,
    columns_in,
)
from autocalc.errors import ShapeError

_WINDOWS = "kernel:ints stride:ints padding:ints dilation:ints"


unfold = composite(
    "unfold",
    f"out ; x ; {_WINDOWS}",
    "The windows of x [N, C, ...] as columns [N, C * taps, windows], both in row-major "
    "order, with zeros around x.",
    key="shapes",
    complex=True,
)


@unfold.rule
def _(x: Meta, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Meta:
    name = "unfold"
    dtype = float_dtype(name, x)
    expect_planes(name, "x", x, len(kernel))
    windows = Windows(kernel, stride, padding, dilation)
    windows.check(name, len(kernel))
    count = math.prod(windows.counts(name, x.shape[2:]))
    return Meta((x.shape[0], x.shape[1] * windows.taps, count), dtype)


@unfold.reference
def _(
    xp: Any, x: Array, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Array:
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("unfold", x.shape[2:])
    taps = columns(xp, x, windows, counts)
    return taps.reshape(x.shape[0], x.shape[1] * windows.taps, math.prod(counts))


@unfold.decomposition(lead="copy")
def _(
    k: Any, x: Array, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Array:
    batch, channels, *sizes = k.shape(x)
    windows = Windows(kernel, stride, padding, dilation)
    counts = windows.counts("unfold", tuple(sizes))
    taps = columns_in(k, x, windows, counts)
    if windows.taps == 1:  # the result may share memory with x
        taps = k.copy(taps)
    return k.reshape(taps, (batch, channels * windows.taps, math.prod(counts)))


unfold.budget(EXACT)


#: The shapes of the planes, and the geometry of the windows.
_CALLS: tuple[tuple[Shape, tuple[Ints, Ints, Ints, Ints]], ...] = (
    ((2, 3, 5, 6), ((2, 3), (1, 1), (0, 0), (1, 1))),
    ((1, 2, 7, 7), ((3, 3), (2, 1), (1, 1), (1, 2))),
    ((2, 2, 4, 33), ((1, 1), (1, 1), (0, 0), (1, 1))),
    ((1, 2, 6, 5), ((1, 1), (2, 3), (1, 0), (1, 1))),
    ((0, 3, 4, 4), ((2, 2), (2, 2), (0, 0), (1, 1))),
    ((2, 3, 17), ((4,), (3,), (2,), (1,))),
    ((9, 10, 12, 12), ((3, 3), (1, 1), (1, 1), (1, 1))),
)


def _label(shape: Shape, windows: tuple[Ints, ...]) -> str:
    return f"{'large, ' if shape[0] > 8 else ''}{shape}, {windows}"


@unfold.samples
def _(make: Make) -> Iterator[Sample]:
    for shape, windows in _CALLS:
        yield Sample(_label(shape, windows), (make.normal(*shape),), windows)


unfold.work(flops_per_element=0)
unfold.benchmarks(
    Case("8x64x56x56, 3x3", floats(8, 64, 56, 56), ((3, 3), (1, 1), (1, 1), (1, 1)))
)


fold = composite(
    "fold",
    f"out ; x ; sizes:ints {_WINDOWS}",
    "The adjoint of unfold: the columns x [N, C * taps, windows] are added into zeros "
    "[N, C, *sizes] at the positions that unfold reads.",
    key="shapes",
    complex=True,
)


@fold.rule
def _(
    x: Meta, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Meta:
    name = "fold"
    dtype = float_dtype(name, x)
    expect_planes(name, "x", x, 1)
    windows = Windows(kernel, stride, padding, dilation)
    windows.check(name, len(sizes))
    if x.shape[1] % windows.taps:
        raise ShapeError(
            f"{name}: `x` has shape {x.shape}; the number of its rows, {x.shape[1]}, "
            f"must be a multiple of {windows.taps}, the number of elements in a window "
            f"of {kernel}."
        )
    count = math.prod(windows.counts(name, sizes))
    if x.shape[2] != count:
        raise ShapeError(
            f"{name}: `x` has shape {x.shape}; its last size must match the calculated "
            f"number of sliding blocks, {count}."
        )
    return Meta((x.shape[0], x.shape[1] // windows.taps, *sizes), dtype)


@fold.reference
def fold_reference(
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


@fold.decomposition(lead="add")
def _(
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


@fold.budget("(n - 1) * eps * sum(|x|), n terms at one place")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    size = fold_reference(numpy_xp, magnitude(inputs[0]), *attributes)
    steps = math.prod(attributes[1]) - 1
    return [steps * eps * size + (ulp(expected[0], eps) if steps else 0)]


@fold.samples
def _(make: Make) -> Iterator[Sample]:
    for (batch, channels, *rest), given in _CALLS:
        windows, sizes = Windows(*given), tuple(rest)
        count = 1
        for n in windows.counts("sample", sizes):
            count *= n
        x = make.normal(batch, channels * windows.taps, count)
        label = _label((batch, channels, *sizes), given)
        yield Sample(label, (x,), (sizes, *given))


fold.work(flops_per_element=1)
fold.benchmarks(
    Case(
        "8x64x56x56, 3x3",
        floats(8, 64 * 9, 56 * 56),
        ((56, 56), (3, 3), (1, 1), (1, 1), (1, 1)),
    )
)
