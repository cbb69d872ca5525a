# SPDX-License-Identifier: MIT
"""What `_places` says of references, in primitives: for decompositions."""

from __future__ import annotations

import itertools
from typing import Any

from autocalc._kernels.resize._places import SHARPNESS, AxisTap, Tap, limit_of
from autocalc._kernels.rules import INT64
from autocalc._kernels.spec import Array, Shape


def taps_in(
    k: Any,
    grid: Array,
    planes: Shape,
    mode: str,
    padding: str,
    align_corners: bool,
    *,
    slopes: bool = False,
) -> list[Tap]:
    """Return the pixels that each place of a grid is a sum of."""
    batch, *sizes, dims = k.shape(grid)
    points = 1
    for size in sizes:
        points *= size
    axes = []
    for axis, n in enumerate(planes):
        column = (
            *(slice(None),) * (len(sizes) + 1),
            slice(dims - 1 - axis, dims - axis),
        )
        c = k.reshape(k.contiguous(k.slice(grid, column)), (batch, points))
        axes.append(_Axis(k, n, mode, padding, align_corners).lines(c))
    return [_tap(k, lines, planes, slopes) for lines in itertools.product(*axes)]


def _tap(k: Any, lines: tuple[AxisTap, ...], planes: Shape, slopes: bool) -> Tap:
    index = inside = None
    for line, n in zip(lines, planes, strict=True):
        clipped = _clipped(k, line.pixel, n)
        one, zero = k.constant(1, clipped), k.constant(0, clipped)
        here = k.where(k.compare(clipped, line.pixel, "eq"), one, zero)
        inside = here if inside is None else k.mul(inside, here)
        whole = k.cast(clipped, INT64)
        if index is not None:
            whole = k.add(k.mul(index, k.constant(n, index)), whole)
        index = whole
    weights = [line.weight for line in lines]
    parts = []
    for d, line in enumerate(lines) if slopes else ():
        parts.append(_product(k, [line.slope, *weights[:d], *weights[d + 1 :]]))
    inside = k.compare(inside, k.constant(0, inside), "ne")
    return Tap(index, inside, _product(k, weights), parts[::-1])


def _product(k: Any, factors: list[Array]) -> Array:
    total = factors[0]
    for factor in factors[1:]:
        total = k.mul(total, factor)
    return total


def _clipped(k: Any, pixel: Array, n: int) -> Array:
    pixel = k.maximum(pixel, k.constant(0, pixel))
    return k.minimum(pixel, k.constant(n - 1, pixel))


class _Axis:
    """Places along one axis of `n` pixels."""

    def __init__(
        self, k: Any, n: int, mode: str, padding: str, align_corners: bool
    ) -> None:
        self.k, self.n, self.mode, self.padding = k, n, mode, padding
        self.align_corners = align_corners

    def lines(self, c: Array) -> list[AxisTap]:
        """Return what the places of a grid's numbers read."""
        k = self.k
        place, slope = self._not_far(self._scaled(c))
        if self.mode == "bicubic":
            low = k.round(place, "floor")
            weighed = _cubic(k, k.sub(place, low))
            return [
                AxisTap(
                    self._brought_in(k.add(low, k.constant(i, low)), slope)[0],
                    weight,
                    k.mul(by_place, slope),
                )
                for i, (weight, by_place) in enumerate(weighed, -1)
            ]
        place, slope = self._brought_in(place, slope)
        one, zero = k.constant(1, place), k.constant(0, place)
        if self.mode == "nearest":
            whole = k.round(place, "even")
            return [AxisTap(whole, k.add(k.mul(whole, zero), one), k.mul(slope, zero))]
        low = k.round(place, "floor")
        share = k.sub(place, low)
        return [
            AxisTap(low, k.sub(one, share), k.neg(slope)),
            AxisTap(k.add(low, one), share, slope),
        ]

    def _scaled(self, c: Array) -> Array:
        k = self.k
        place = k.add(c, k.constant(1, c))
        if self.align_corners:
            return k.mul(place, k.constant((self.n - 1) / 2, c))
        place = k.sub(k.mul(place, k.constant(self.n, c)), k.constant(1, c))
        return k.mul(place, k.constant(0.5, c))

    def _within(
        self, place: Array, slope: Array, low: float, high: float
    ) -> tuple[Array, Array]:
        """Bring places between two ends; at these and beyond they have no slope."""
        k = self.k
        first, last = k.constant(low, place), k.constant(high, place)
        none = k.constant(0, slope)
        for end, word in ((first, "gt"), (last, "lt")):
            holds = k.compare(place, end, word)
            place, slope = k.where(holds, place, end), k.where(holds, slope, none)
        return place, slope

    def _not_far(self, place: Array) -> tuple[Array, Array]:
        """NaN is brought to the first end."""
        k, limit = self.k, limit_of(self.n, self.padding)
        slope = k.constant((self.n - self.align_corners) / 2, place)
        slope = k.expand(slope, k.shape(place))
        return self._within(place, slope, -limit, limit)

    def _brought_in(self, place: Array, slope: Array) -> tuple[Array, Array]:
        if self.padding == "zeros":
            return place, slope
        if self.padding == "reflection":
            place, slope = self._mirrored(place, slope)
        return self._within(place, slope, 0.0, self.n - 1.0)

    def _mirrored(self, place: Array, slope: Array) -> tuple[Array, Array]:
        k, n = self.k, self.n
        first, span = (0.0, n - 1) if self.align_corners else (-0.5, n)
        if not span:
            none = k.constant(0, place)
            return k.mul(place, none), k.mul(slope, none)
        start, width = k.constant(first, place), k.constant(span, place)
        distance = k.sub(place, start)
        before = k.compare(distance, k.constant(0, place), "lt")
        distance = k.where(before, k.neg(distance), distance)
        slope = k.where(before, k.neg(slope), slope)
        turns = k.round(k.div(distance, width), "floor")
        rest = k.sub(distance, k.mul(turns, width))
        half = k.mul(turns, k.constant(0.5, turns))
        back = k.compare(half, k.round(half, "floor"), "ne")
        rest = k.where(back, k.sub(width, rest), rest)
        return k.add(rest, start), k.where(back, k.neg(slope), slope)


def _cubic(k: Any, t: Array) -> list[tuple[Array, Array]]:
    one, two = k.constant(1, t), k.constant(2, t)
    (w0, s0), (w3, s3) = _outer(k, k.add(one, t)), _outer(k, k.sub(two, t))
    (w1, s1), (w2, s2) = _inner(k, t), _inner(k, k.sub(one, t))
    return [(w0, s0), (w1, s1), (w2, k.neg(s2)), (w3, k.neg(s3))]


def _inner(k: Any, d: Array) -> tuple[Array, Array]:
    """Return the weight at distances 0 to 1, and its slope."""
    a = SHARPNESS
    weight = _polynomial(k, d, (a + 2, -(a + 3), 0, 1))
    return weight, _polynomial(k, d, (3 * (a + 2), -2 * (a + 3), 0))


def _outer(k: Any, d: Array) -> tuple[Array, Array]:
    """Return the weight at distances 1 to 2, and its slope."""
    a = SHARPNESS
    weight = _polynomial(k, d, (a, -5 * a, 8 * a, -4 * a))
    return weight, _polynomial(k, d, (3 * a, -10 * a, 8 * a))


def _polynomial(k: Any, d: Array, factors: tuple[float, ...]) -> Array:
    """Return a polynomial, its highest power first."""
    total = k.constant(factors[0], d)
    for factor in factors[1:]:
        total = k.add(k.mul(total, d), k.constant(factor, d))
    return total
