# SPDX-License-Identifier: MIT
"""Positions at which a grid reads images, as weighted sums of pixels.

A position p along an axis of n pixels is counted in pixels.  For a coordinate c of the
grid, p is ((c + 1) n - 1) / 2, or (c + 1) (n - 1) / 2 if corners are aligned.
References compute positions in float64.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from autocalc._kernels.precision import wide
from autocalc._kernels.spec import Array, Shape

#: The slope of cubic convolution at distance 1 (Keys, 1981).
SHARPNESS = -0.75

#: The largest position for reflections; larger ones would not fit into an integer, and
#: give no new pixels.
FAR = 2.0**30


class Tap(NamedTuple):
    """One of the pixels in the sum for each position; all arrays are [N, P]."""

    index: Array  # in the image, row by row
    inside: Array  # False outside of the image, where 0 is read
    weight: Array
    slopes: list[Array]  # of the weight, by the grid's columns, x first


class AxisTap(NamedTuple):
    """One tap of a position along one axis: pixel, weight, and slope of the weight."""

    pixel: Array
    weight: Array
    slope: Array


def limit_of(n: int, padding: str) -> float:
    """Return the limit of positions; the values read beyond the limit are the same."""
    return FAR if padding == "reflection" else n + 4.0


def columns(grid: Array) -> list[Array]:
    """Return the grid's coordinates for each axis of the image, [N, P]."""
    batch, *sizes, dims = grid.shape
    flat = grid.reshape(batch, math.prod(sizes), dims)
    return [flat[:, :, i] for i in reversed(range(grid.shape[-1]))]


def scaled(c: Array, n: int, align_corners: bool) -> Array:
    """Return coordinates of a grid as positions."""
    return (c + 1) * ((n - 1) / 2) if align_corners else ((c + 1) * n - 1) / 2


def taps(
    xp: Any,
    grid: Array,
    planes: Shape,
    mode: str,
    padding: str,
    align_corners: bool,
    *,
    slopes: bool = False,
) -> list[Tap]:
    """Return the taps of each position of a grid."""
    axes = [
        _lines(xp, wide(xp, c), n, mode, padding, align_corners)
        for c, n in zip(columns(grid), planes, strict=True)
    ]
    return [_tap(xp, lines, planes, slopes) for lines in itertools.product(*axes)]


def _tap(xp: Any, lines: tuple[AxisTap, ...], planes: Shape, slopes: bool) -> Tap:
    index: Any = 0
    inside: Any = True
    for line, n in zip(lines, planes, strict=True):
        inside = inside & (line.pixel >= 0) & (line.pixel < n)
        index = index * n + xp.clip(line.pixel, 0, n - 1).astype(xp.int64)
    weights = [line.weight for line in lines]
    parts = [
        line.slope * math.prod(weights[:d] + weights[d + 1 :])
        for d, line in enumerate(lines if slopes else ())
    ]
    return Tap(index, inside, math.prod(weights), parts[::-1])


def _lines(
    xp: Any, c: Array, n: int, mode: str, padding: str, align_corners: bool
) -> list[AxisTap]:
    """Return the taps of a grid's coordinates along an axis of `n` pixels."""
    place, limit = scaled(c, n, align_corners), limit_of(n, padding)
    slope = xp.full(place.shape, (n - align_corners) / 2, place.dtype)
    place, slope = _within(xp, place, slope, -limit, limit)  # NaN: to the first end
    if mode == "bicubic":
        low = xp.floor(place)
        weighed = _cubic(place - low)
        return [
            AxisTap(_brought_in(xp, low + i, slope, n, padding, align_corners)[0],
                 w, s * slope)
            for i, (w, s) in enumerate(weighed, -1)
        ]  # fmt: skip
    place, slope = _brought_in(xp, place, slope, n, padding, align_corners)
    if mode == "nearest":
        whole = xp.round(place)
        return [AxisTap(whole, 0.0 * whole + 1, 0.0 * slope)]
    low = xp.floor(place)
    return [
        AxisTap(low, 1 - (place - low), -slope),
        AxisTap(low + 1, place - low, slope),
    ]


def _within(
    xp: Any, place: Array, slope: Array, low: float, high: float
) -> tuple[Array, Array]:
    """Clip positions to two ends; at the ends and beyond, the slope is 0."""
    for end, is_first in ((low, True), (high, False)):
        holds = place > end if is_first else place < end
        place, slope = xp.where(holds, place, end), xp.where(holds, slope, 0.0)
    return place, slope


def _brought_in(
    xp: Any, place: Array, slope: Array, n: int, padding: str, align_corners: bool
) -> tuple[Array, Array]:
    """Return positions inside of the image after padding, and their slopes."""
    if padding == "zeros":
        return place, slope
    if padding == "reflection":
        place, slope = _mirrored(xp, place, slope, n, align_corners)
    return _within(xp, place, slope, 0.0, n - 1.0)


def _mirrored(
    xp: Any, place: Array, slope: Array, n: int, align_corners: bool
) -> tuple[Array, Array]:
    """Reflect positions at the first and last pixels, or at their outer edges."""
    first, span = (0.0, n - 1) if align_corners else (-0.5, n)
    if not span:
        return 0.0 * place, 0.0 * slope
    distance = place - first
    before = distance < 0
    distance = xp.where(before, -distance, distance)
    slope = xp.where(before, -slope, slope)
    turns = xp.floor(distance / span)
    rest, half = distance - turns * span, 0.5 * turns
    back = half != xp.floor(half)
    return xp.where(back, span - rest, rest) + first, xp.where(back, -slope, slope)


def _cubic(t: Array) -> list[tuple[Array, Array]]:
    """Return weights and slopes of the pixels -1, 0, 1 and 2 for t from 0 to 1."""
    (w0, s0), (w3, s3) = _outer(1 + t), _outer(2 - t)
    (w1, s1), (w2, s2) = _inner(t), _inner(1 - t)
    return [(w0, s0), (w1, s1), (w2, -s2), (w3, -s3)]


def _inner(d: Array) -> tuple[Array, Array]:
    """Return the weight at distances 0 to 1, and its slope."""
    a = SHARPNESS
    return ((a + 2) * d - (a + 3)) * d * d + 1, (3 * (a + 2) * d - 2 * (a + 3)) * d


def _outer(d: Array) -> tuple[Array, Array]:
    """Return the weight at distances 1 to 2, and its slope."""
    a = SHARPNESS
    return (((d - 5) * d + 8) * d - 4) * a, ((3 * d - 10) * d + 8) * a
