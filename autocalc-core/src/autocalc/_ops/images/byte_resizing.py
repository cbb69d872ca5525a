# SPDX-License-Identifier: MIT
"""Resizing of byte images with 16-bit weights and integer sums, rounded to bytes.

The columns are resized first, then the rows.  The intermediate result holds bytes as
well.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

from autocalc._ops.creation.from_data import tensor
from autocalc._ops.elementwise import arithmetic, clamping, rounding
from autocalc._ops.matrices import matmul
from autocalc._ops.views import moving, view
from autocalc._tensor import Tensor
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.dtypes import float64, uint8

#: The scaled weights are smaller than this, so they have 16 bits with the sign.
_MOST = 1 << 15


def resized(
    x: Tensor, axis: int, size: int, scale: float, cubic: bool, form: str
) -> Tensor:
    """Resample a dimension of bytes; `form` is "smooth", "corners" or "edges"."""
    n = x.shape[axis]
    weights, bits = _integers(n, size, scale, cubic, form)
    wide = moving.movedim(x, axis, -1).to(float64)
    table = tensor(weights, dtype=float64, device=place_of_tensor(x))
    # The sums of products of 16 and 8 bits are exact in float64.
    sums = matmul.matmul(wide, view.transpose(table, 0, 1))
    half = arithmetic.add(sums, float(1 << (bits - 1)))
    rounded = rounding.floor(arithmetic.mul(half, 1.0 / (1 << bits)))
    found: Tensor = clamping.clamp(rounded, 0, 255).to(uint8)
    return moving.movedim(found, -1, axis).contiguous()


@functools.lru_cache(maxsize=64)
def _integers(n: int, size: int, scale: float, cubic: bool, form: str) -> Any:
    """Return the integer weights [size, n], and the number of bits that scaled them."""
    rows = [[0.0] * n for _ in range(size)]
    for i, row in enumerate(rows):
        for place, weight in _taps(i, n, scale, cubic, form):
            row[place] += weight
    largest, bits = max(map(max, rows)), 0
    while bits < 22 and int(0.5 + largest * (1 << (bits + 1))) < _MOST:
        bits += 1
    return [[_nearest(weight * (1 << bits)) for weight in row] for row in rows], bits


def _nearest(x: float) -> int:
    return int(x - 0.5) if x < 0 else int(x + 0.5)


def _taps(
    i: int, n: int, scale: float, cubic: bool, form: str
) -> Iterator[tuple[int, float]]:
    """Yield the input pixels and weights that make up output pixel `i`."""
    if form == "smooth":
        yield from _smooth_taps(i, n, scale, cubic)
        return
    place = scale * i if form == "corners" else scale * (i + 0.5) - 0.5
    if not cubic and form == "edges":
        place = max(place, 0.0)
    first = math.floor(place)
    for j in range(first - cubic, first + 2 + cubic):
        weight = _cubic(j - place, -0.75) if cubic else _linear(j - place)
        yield min(max(j, 0), n - 1), weight


def _smooth_taps(
    i: int, n: int, scale: float, cubic: bool
) -> Iterator[tuple[int, float]]:
    wide = max(scale, 1.0)
    reach, centre = (2 if cubic else 1) * wide, scale * (i + 0.5)
    first = max(int(centre - reach + 0.5), 0)
    last = min(int(centre + reach + 0.5), n)
    offsets = [(j - centre + 0.5) * (1 / wide) for j in range(first, last)]
    weights = [_cubic(x, -0.5) if cubic else _linear(x) for x in offsets]
    total = sum(weights) or 1.0
    for j, weight in enumerate(weights, first):
        yield j, weight / total


def _linear(x: float) -> float:
    return max(1 - abs(x), 0.0)


def _cubic(x: float, a: float) -> float:
    x = abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0
