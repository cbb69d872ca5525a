# SPDX-License-Identifier: MIT
"""Sample images at positions between their pixels, forward and backward.

M. Jaderberg and others: Spatial transformer networks, 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.indexing.gather import scatter_add
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.resize._places import Tap, columns, limit_of, scaled, taps
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Shape
from autocalc.errors import ArgumentError, ShapeError

_ATTRIBUTES = (
    "mode:bilinear,nearest,bicubic padding:zeros,border,reflection align_corners:bool"
)


def _sampled(where: str, x: Meta, grid: Meta, mode: str) -> tuple[Meta, Meta, Meta]:
    """Return the metas of the result, of `x` and of `grid`."""
    dtype = float_dtype(where, x, grid)
    dims = len(x.shape) - 2
    fits = dims in (2, 3) and len(grid.shape) == dims + 2
    if not fits or grid.shape[0] != x.shape[0] or grid.shape[-1] != dims:
        raise ShapeError(
            f"{where}: `x` has shape {x.shape} and `grid` has shape {grid.shape}; they "
            "must be [N, C, H, W] and [N, H_out, W_out, 2], or [N, C, D, H, W] and "
            "[N, D_out, H_out, W_out, 3]."
        )
    if min(x.shape[2:]) < 1:
        raise ShapeError(f"{where}: `x` has shape {x.shape}; its images are empty.")
    if mode == "bicubic" and dims == 3:
        raise ArgumentError(f"{where}: mode 'bicubic' supports images, not volumes.")
    return Meta((*x.shape[:2], *grid.shape[1:-1]), dtype), x, grid


def _pixels(xp: Any, x: Array, tap: Tap) -> Array:
    """Return the pixels [N, C, P] of flat images that a tap reads."""
    return _read(xp, x, _spread(xp, tap.index, x), tap)


def _read(xp: Any, x: Array, index: Array, tap: Tap) -> Array:
    """Return pixels of flat images by index, with 0 outside of the images."""
    return xp.where(_line(tap.inside), xp.take_along_axis(x, index, 2), 0.0)


def _spread(xp: Any, index: Array, x: Array) -> Array:
    """Return [N, P] repeated for the channels of `x`."""
    return xp.broadcast_to(_line(index), (*x.shape[:2], index.shape[1]))


def _line(a: Array) -> Array:
    """Return [N, P] as [N, 1, P]."""
    return a.reshape(a.shape[0], 1, a.shape[1])


def _flat(a: Array) -> Array:
    """Return images, or values at positions, with all positions in one dimension."""
    return a.reshape(*a.shape[:2], math.prod(a.shape[2:]))


grid_sample = composite(
    "grid_sample",
    f"out ; x grid ; {_ATTRIBUTES}",
    "The values of x [N, C, ...] at the positions of a grid with coordinates from -1 "
    "to 1, x first. A value is a mean of the pixels around its position, the nearest "
    "pixel, or a cubic convolution of 4 x 4 pixels.",
    key="shapes",
)


@grid_sample.rule
def _(x: Meta, grid: Meta, mode: str, padding: str, align_corners: bool) -> Meta:
    return _sampled("grid_sample", x, grid, mode)[0]


@grid_sample.formula(lead="gather")
def _(
    xp: Any, x: Array, grid: Array, mode: str, padding: str, align_corners: bool
) -> Array:
    flat = _flat(wide(xp, x))
    total: Any = 0
    for tap in taps(xp, grid, x.shape[2:], mode, padding, align_corners):
        total = total + _pixels(xp, flat, tap) * _line(tap.weight)
    return narrow(total.reshape(*x.shape[:2], *grid.shape[1:-1]), x)


class _Doubt(NamedTuple):
    """The possible errors of rounded positions, [N, P]."""

    off: Array  # the sum over the axes
    jumps: Array  # whether another pixel may be read


def _doubt(
    grid: Array, planes: Shape, mode: str, padding: str, align: bool, eps: float
) -> _Doubt:
    """Return the errors of positions; `nearest` jumps in the middle between pixels."""
    middle = 0.5 if mode == "nearest" else 0.0
    total: Any = 0.0
    jumps: Any = False
    for c, n in zip(columns(np.asarray(grid, np.float64)), planes, strict=True):
        place = np.nan_to_num(scaled(c, n, align))
        off = 8 * eps * (np.minimum(np.abs(place), limit_of(n, padding)) + n)
        total = total + off
        jumps = jumps | (np.abs((place - middle) - np.rint(place - middle)) <= off)
    return _Doubt(total, jumps)


@grid_sample.budget(
    "16 eps * sum(|x w|), and the slope of the result times the places' rounding, "
    "8 eps (|place| + n); nearest: exact but where that changes the pixel"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, grid = magnitude(inputs[0]), np.asarray(inputs[1], np.float64)
    mode, padding, align = attributes
    planes = x.shape[2:]
    flat = _flat(x)
    doubt = _doubt(grid, planes, mode, padding, align, eps)
    far = np.max(flat, axis=2, keepdims=True, initial=0)
    if mode == "nearest":
        bound = 2 * far * doubt.jumps[:, None]
        return [bound.reshape(expected[0].shape)]
    bound = (8 if mode == "bicubic" else 2) * far * doubt.off[:, None]
    for tap in taps(numpy_xp, grid, planes, mode, padding, align):
        read = _pixels(numpy_xp, flat, tap)
        bound = bound + 16 * eps * read * np.abs(tap.weight)[:, None]
    return [bound.reshape(expected[0].shape) + ulp(expected[0], eps)]


#: The shapes of the images and of the grid.
_CALLS: tuple[tuple[Shape, Shape], ...] = (
    ((2, 3, 5, 4), (3, 6)),
    ((1, 1, 1, 7), (1, 1)),
    ((2, 2, 9, 1), (5, 13)),
    ((3, 17, 6, 6), (9, 15)),
    ((0, 2, 3, 3), (2, 2)),
    ((1, 2, 3, 3), (0, 2)),
    ((2, 2, 3, 4, 5), (2, 3, 5)),
    ((1, 1, 1, 2, 1), (1, 4, 17)),
)
_LARGE: tuple[Shape, Shape] = ((4, 3, 61, 45), (70, 67))


def _samples(make: Make) -> Iterator[tuple[str, Array, Array, tuple[Any, ...]]]:
    for shape, sizes in (*_CALLS, _LARGE):
        large = "large, " if shape[0] == 4 else ""
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                if mode == "bicubic" and len(shape) == 5:
                    continue
                if large and padding == "border":
                    continue
                corners = make.rng.random() < 0.5
                label = f"{large}{mode}, {padding}, {shape} at {sizes}, {corners}"
                grid = make.normal(shape[0], *sizes, len(shape) - 2, scale=0.9)
                yield label, make.normal(*shape), grid, (mode, padding, corners)
    yield from _unusual(make)


def _unusual(make: Make) -> Iterator[tuple[str, Array, Array, tuple[Any, ...]]]:
    """Yield positions at the borders, and infinite or NaN positions."""
    row = [-1.0, 1.0, 0.0, math.nan, math.inf, -math.inf, 1e30, -3.0, 1.5, -1.25]
    places = np.array([(x, y) for x in row for y in row], make.dtype)
    grid = places.reshape(1, 10, 10, 2)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border"):
            label = f"{mode}, {padding}, places at the ends and nowhere"
            yield label, make.normal(1, 2, 4, 4), grid, (mode, padding, True)


@grid_sample.samples
def _(make: Make) -> Iterator[Sample]:
    for label, x, grid, attributes in _samples(make):
        yield Sample(label, (x, grid), attributes)


grid_sample.work(flops_per_element=8)
_CASE = "8x64x56x56, bilinear"
_PLAIN = ("bilinear", "zeros", False)
grid_sample.benchmarks(
    Case(_CASE, join(floats(8, 64, 56, 56), floats(8, 56, 56, 2)), _PLAIN)
)


grid_sample_backward = composite(
    "grid_sample_backward",
    f"dx? dgrid? ; g x grid ; {_ATTRIBUTES}",
    "The gradients of grid_sample. For dx, g is added into zeros at the pixels that "
    "were read. For dgrid, g is multiplied by the derivative of the result with "
    "respect to the position; at an end, it is the derivative of the padding.",
    key="shapes",
)


@grid_sample_backward.rule
def _(
    g: Meta, x: Meta, grid: Meta, mode: str, padding: str, align_corners: bool
) -> tuple[Meta, Meta]:
    where = "grid_sample_backward"
    out, *both = _sampled(where, x, grid, mode)
    float_dtype(where, g, x)
    expect_shape(where, "g", g, out.shape)
    return both[0], both[1]


@grid_sample_backward.formula(lead="scatter_add")
def _(
    xp: Any,
    g: Array,
    x: Array,
    grid: Array,
    mode: str,
    padding: str,
    align_corners: bool,
    *,
    want: int = -1,
) -> tuple[Array | None, Array | None]:
    flat, rows = (_flat(wide(xp, a)) for a in (x, g))
    dx = xp.zeros(flat.shape, flat.dtype) if want & 1 else None
    found: list[Any] = [0] * (x.ndim - 2)
    planes = x.shape[2:]
    for tap in taps(xp, grid, planes, mode, padding, align_corners, slopes=True):
        index = _spread(xp, tap.index, x)
        if want & 1:
            share = xp.where(tap.inside, tap.weight, 0.0)
            dx = scatter_add(xp, dx, index, rows * _line(share), 2)
        if want & 2:
            along = xp.sum(rows * _read(xp, flat, index, tap), axis=1)
            found = [a + along * s for a, s in zip(found, tap.slopes, strict=True)]
    dgrid = xp.stack(found, -1).reshape(grid.shape) if want & 2 else None
    return (
        None if dx is None else narrow(dx.reshape(x.shape), x),
        None if dgrid is None else narrow(dgrid, x),
    )


@grid_sample_backward.budget(
    "dx: (m + 16) eps * sum(|g w|) of m terms, and sum(|g|) times the places' "
    "rounding; dgrid: (c + 16) eps * sum(|g x slope|) over c channels, and where that "
    "rounding changes the pixels, these"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, x = (_flat(magnitude(a)) for a in inputs[:2])
    grid, planes = np.asarray(inputs[2], np.float64), inputs[1].shape[2:]
    mode, padding, align = attributes
    doubt = _doubt(grid, planes, mode, padding, align, eps)
    steep = {"bilinear": 2, "nearest": 0, "bicubic": 8}[mode]
    changed = steep * doubt.off + (doubt.jumps if mode == "nearest" else 0.0)
    dx: Any = np.zeros(x.shape)
    count = np.zeros(x.shape)
    lead = np.arange(len(x))[:, None, None], np.arange(x.shape[1])[None, :, None]
    slopes: list[Any] = [0.0] * len(planes)
    for tap in taps(numpy_xp, grid, planes, mode, padding, align, slopes=True):
        share = (tap.inside * np.abs(tap.weight))[:, None]
        where = (*lead, tap.index[:, None])
        dx = numpy_xp.index_add(dx, where, g * share)
        count = numpy_xp.index_add(count, where, np.ones(g.shape))
        along = np.sum(g * _pixels(numpy_xp, x, tap), axis=1)
        slopes = [a + along * abs(s) for a, s in zip(slopes, tap.slopes, strict=True)]
    dx = (np.max(count, initial=0) + 16) * eps * dx
    dx = dx + np.sum(g * changed[:, None], axis=2, keepdims=True)
    dx = dx.reshape(inputs[1].shape)
    far = np.sum(g * np.max(x, axis=2, keepdims=True, initial=0), axis=1)
    bend = {"bilinear": 4 * (doubt.off + doubt.jumps), "nearest": 0.0}
    rest = far * bend.get(mode, 64 * doubt.off)
    columns = [
        (x.shape[1] + 16) * eps * slope + rest * n
        for slope, n in zip(slopes, reversed(planes), strict=True)
    ]
    dgrid = np.stack(columns, -1).reshape(grid.shape)
    return [
        None if e is None else bound + ulp(e, eps)
        for e, bound in zip(expected, (dx, dgrid), strict=True)
    ]


@grid_sample_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for label, x, grid, attributes in _samples(make):
        g = make.normal(*x.shape[:2], *grid.shape[1:-1])
        yield Sample(label, (g, x, grid), attributes, want=0b11)


grid_sample_backward.work(flops_per_element=16)
grid_sample_backward.benchmarks(
    Case(
        _CASE,
        join(floats(8, 64, 56, 56), floats(8, 64, 56, 56), floats(8, 56, 56, 2)),
        _PLAIN,
        0b11,
    )
)
