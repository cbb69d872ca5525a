# SPDX-License-Identifier: MIT
"""Where a grid reads images, as sums of pixels: for references, in float64.

A place p along an axis of n pixels is a pixel's number.  Of a grid's number c it is
(c + 1) (n - 1) / 2 where corners are aligned, else ((c + 1) n - 1) / 2.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from autocalc._kernels.precision import wide
from autocalc._kernels.spec import Array, Shape

#: The slope of cubic convolution at distance 1 (Keys, 1981).
SHARPNESS = -0.75

#: No integer holds a place beyond; further mirrors show nothing new.
FAR = 2.0**30


class Tap(NamedTuple):
    """One of the pixels that a place is a sum of; all arrays are [N, P]."""

    index: Array  # in the image, row by row
    inside: Array  # where there is no such pixel, 0 is read
    weight: Array
    slopes: list[Array]  # of the weight by the grid's columns, x first


class AxisTap(NamedTuple):
    """One tap of a place along one axis: pixel, weight, and slope of the weight."""

    pixel: Array
    weight: Array
    slope: Array


def limit_of(n: int, padding: str) -> float:
    """Return how far outside a place may be: farther out, the same is read."""
    return FAR if padding == "reflection" else n + 4.0


def columns(grid: Array) -> list[Array]:
    """Return the grid's numbers for each axis of the image, [N, P]."""
    batch, *sizes, dims = grid.shape
    flat = grid.reshape(batch, math.prod(sizes), dims)
    return [flat[:, :, i] for i in reversed(range(grid.shape[-1]))]


def scaled(c: Array, n: int, align_corners: bool) -> Array:
    """Return numbers of a grid as places."""
    return (c + 1) * ((n - 1) / 2) if align_corners else ((c + 1) * n - 1) / 2


def taps(
    xp: Any, grid: Array, planes: Shape, mode: str, padding: str, align_corners: bool
) -> list[Tap]:
    """Return the pixels that each place of a grid is a sum of."""
    axes = [
        _lines(xp, wide(xp, c), n, mode, padding, align_corners)
        for c, n in zip(columns(grid), planes, strict=True)
    ]
    return [_tap(xp, lines, planes) for lines in itertools.product(*axes)]


def _tap(xp: Any, lines: tuple[AxisTap, ...], planes: Shape) -> Tap:
    index: Any = 0
    inside: Any = True
    for line, n in zip(lines, planes, strict=True):
        inside = inside & (line.pixel >= 0) & (line.pixel < n)
        index = index * n + xp.clip(line.pixel, 0, n - 1).astype(xp.int64)
    weights = [line.weight for line in lines]
    slopes = [
        line.slope * math.prod(weights[:d] + weights[d + 1 :])
        for d, line in enumerate(lines)
    ]
    return Tap(index, inside, math.prod(weights), slopes[::-1])


def _lines(
    xp: Any, c: Array, n: int, mode: str, padding: str, align_corners: bool
) -> list[AxisTap]:
    place, limit = scaled(c, n, align_corners), limit_of(n, padding)
    place = xp.where(xp.isnan(place), -limit, place)
    slope = xp.where(xp.absolute(place) < limit, (n - align_corners) / 2, 0.0)
    place = xp.clip(place, -limit, limit)
    if mode == "bicubic":
        low = xp.floor(place)
        weighed = _cubic(place - low)
        return [
            AxisTap(
                _brought_in(xp, low + i, n, padding, align_corners)[0], w, s * slope
            )
            for i, (w, s) in enumerate(weighed, -1)
        ]
    place, turn = _brought_in(xp, place, n, padding, align_corners)
    if mode == "nearest":
        return [
            AxisTap(xp.round(place), xp.full(place.shape, 1.0, place.dtype), 0 * slope)
        ]
    low, slope = xp.floor(place), slope * turn
    return [
        AxisTap(low, 1 - (place - low), -slope),
        AxisTap(low + 1, place - low, slope),
    ]


def _brought_in(
    xp: Any, place: Array, n: int, padding: str, align_corners: bool
) -> tuple[Array, Array]:
    """Return places inside of the image, and the slopes by those that were given."""
    turn = xp.full(place.shape, 1.0, place.dtype)
    if padding == "zeros":
        return place, turn
    if padding == "reflection":
        place, turn = _mirrored(xp, place, n, align_corners)
    turn = turn * ((place > 0) & (place < n - 1))
    return xp.clip(place, 0, n - 1), turn


def _mirrored(
    xp: Any, place: Array, n: int, align_corners: bool
) -> tuple[Array, Array]:
    """Mirror places at the first and last pixels, or at their outer edges."""
    first, span = (0.0, n - 1) if align_corners else (-0.5, n)
    if not span:
        return 0 * place, 0 * place
    distance = xp.absolute(place - first)
    turns = xp.floor(distance / span)
    rest = distance - turns * span
    back = turns % 2 == 1
    sign = xp.where(back == (place < first), 1.0, -1.0)
    return xp.where(back, span - rest, rest) + first, sign


def _cubic(t: Array) -> list[tuple[Array, Array]]:
    """Return weights and slopes of the pixels at -1, 0, 1 and 2 for t from 0 to 1."""
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
