# SPDX-License-Identifier: MIT
"""One dimension of an image, resampled by weighted sums of shifted pixels.

Each function takes the dimension, its new size, and `scale`: the distance between two
neighbouring output pixels, in input pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._ops._operator.coerce import cast
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.elementwise.rounding import floor
from autocalc._ops.images._cubic import cubic_weights, far, near
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import place_of_tensor


def nearest_exact(x: Tensor, axis: int, size: int, scale: float) -> Tensor:
    """Take the pixel whose centre is nearest to the centre of the output pixel."""
    middles = (
        arange(size, dtype=dtypes.float32, device=place_of_tensor(x)) + 0.5
    )  # in float32, like PyTorch
    return _pixels(x, axis, floor(middles * scale))


def cubic(x: Tensor, axis: int, size: int, scale: float, align_corners: bool) -> Tensor:
    """Sum four pixels, weighted by cubic convolution."""
    steps = arange(size, dtype=x.dtype, device=place_of_tensor(x))
    places = steps * scale if align_corners else (steps + 0.5) * scale - 0.5
    low = floor(places)
    taps = enumerate(cubic_weights(places - low), -1)
    return _sum(x, axis, [(low + tap, weight) for tap, weight in taps])


def smoothed(x: Tensor, axis: int, size: int, scale: float, kind: str) -> Tensor:
    """Sum all pixels that an output pixel covers, which prevents aliasing.

    The filter is a triangle, or a cubic with slope -0.5.  Its width is scaled with the
    distance of the output pixels.  At the border the remaining weights are scaled up.
    """
    reach, weigh = (1, _triangle) if kind == "linear" else (2, _sharp)
    stretch = max(scale, 1.0)
    support = reach * stretch
    middles = (
        arange(size, dtype=dtypes.float64, device=place_of_tensor(x)) + 0.5
    ) * scale
    first = clamping.clamp(floor(middles - support + 0.5), min=0)
    last = clamping.clamp(floor(middles + support + 0.5), max=x.shape[axis])
    places = [first + tap for tap in range(2 * math.ceil(support) + 1)]
    weights = [
        _until(last, place, weigh, (place + 0.5 - middles) / stretch)
        for place in places
    ]
    total: Any = sum(weights)
    parts = [cast(weight / total, x.dtype) for weight in weights]
    return _sum(x, axis, list(zip(places, parts, strict=True)))


def _until(
    last: Tensor, place: Tensor, weigh: Callable[[Tensor], Tensor], d: Tensor
) -> Tensor:
    return masking.masked_fill(weigh(arithmetic.abs(d)), place >= last, 0.0)


def _triangle(d: Tensor) -> Tensor:
    return clamping.clamp(1 - d, min=0)


def _sharp(d: Tensor) -> Tensor:
    inner, outer = near(d, -0.5), far(d, -0.5)
    outer = masking.masked_fill(outer, comparison.ge(d, 2.0), 0.0)
    return masking.where(comparison.lt(d, 1.0), inner, outer)


def _sum(x: Tensor, axis: int, taps: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Return the sum of the pixels at places, each times its weight."""
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    total: Any = 0
    for places, weights in taps:
        total = total + _pixels(x, axis, places) * view.reshape(weights, shape)
    return total  # type: ignore[no-any-return]  # a sum of tensors


def _pixels(x: Tensor, axis: int, places: Tensor) -> Tensor:
    """Return the pixels at places; beyond the border, the pixels of the border."""
    # Floats may not hold the last index, so that integers are clamped.
    index = clamping.clamp(cast(places, dtypes.int64), 0, x.shape[axis] - 1)
    return indexing.index_select(x, axis, index)
