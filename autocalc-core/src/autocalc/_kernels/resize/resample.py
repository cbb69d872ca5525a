# SPDX-License-Identifier: MIT
"""Resampling along one axis: nearest neighbours and linear interpolation.

Output i reads the input axis of n elements at the position p(i)::

    nearest                   p = floor(i * scale), in float32 as PyTorch has it
    linear                    p = max((i + 0.5) * scale - 0.5, 0), in float64
    linear, align_corners     p = i * scale, in float64

With ``low = min(floor(p), n - 1)``, ``high = min(low + 1, n - 1)`` and ``t = p - low``
linear interpolation is ``(1 - t) * x[low] + t * x[high]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import FLOAT32, FLOAT64, INT64, check_axis, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Shape
from autocalc.errors import ArgumentError, ShapeError

_ATTRIBUTES = "axis:int size:int scale:float mode:nearest,linear align_corners:bool"


resample = composite(
    "resample",
    f"out ; x ; {_ATTRIBUTES}",
    "x at `size` positions along `axis`: position i is floor(i * scale), i * scale "
    "(align_corners) or max((i + 0.5) * scale - 0.5, 0). linear interpolates.",
)


def _resized(where: str, a: Meta, axis: int, size: int, scale: float) -> Meta:
    dtype = float_dtype(where, a)
    check_axis(where, axis, a)
    if size < 1 or a.shape[axis] < 1:
        raise ShapeError(
            f"{where}: axis {axis} of shape {a.shape} is resized to {size}; both sizes "
            "must be 1 or more."
        )
    if not 0 <= scale < 2.0**31:
        message = f"{where}: `scale` is {scale}; it must be 0 or more, and finite."
        raise ArgumentError(message)
    return Meta((*a.shape[:axis], size, *a.shape[axis + 1 :]), dtype)


@resample.rule
def _(
    x: Meta, axis: int, size: int, scale: float, mode: str, align_corners: bool
) -> Meta:
    return _resized("resample", x, axis, size, scale)


class _Places(NamedTuple):
    """The two elements around each position, and the distance from the first."""

    low: Array
    high: Array
    share: Array


def _places(
    xp: Any, n: int, size: int, scale: float, mode: str, align_corners: bool
) -> _Places:
    i = xp.arange(size)
    if mode == "nearest":
        place = xp.floor(i.astype(xp.float32) * xp.float32(scale))
        low = xp.minimum(place.astype(xp.int64), n - 1)
        return _Places(low, low, xp.zeros(size))
    place = i * scale if align_corners else (i + 0.5) * scale - 0.5
    place = xp.maximum(place, 0.0)
    low = xp.minimum(xp.floor(place).astype(xp.int64), n - 1)
    share = xp.minimum(place - low, 1.0)
    return _Places(low, xp.minimum(low + 1, n - 1), share)


def _along(line: Array, like: Array, axis: int) -> Array:
    return line.reshape(-1, *(1,) * (like.ndim - axis - 1))


@resample.reference
def _(
    xp: Any,
    x: Array,
    axis: int,
    size: int,
    scale: float,
    mode: str,
    align_corners: bool,
) -> Array:
    places = _places(xp, x.shape[axis], size, scale, mode, align_corners)
    low = xp.take(x, places.low, axis=axis)
    if mode == "nearest":
        return low
    high, t = xp.take(x, places.high, axis=axis), _along(places.share, x, axis)
    return narrow((1 - t) * wide(xp, low) + t * wide(xp, high), x)


def _places_in(
    k: Any, like: Array, n: int, size: int, scale: float, mode: str, align_corners: bool
) -> _Places:
    nearest = mode == "nearest"
    i = k.cast(k.arange(size, like), FLOAT32 if nearest else FLOAT64)
    if nearest or align_corners:
        place = k.mul(i, k.constant(scale, i))
    else:
        place = k.mul(k.add(i, k.constant(0.5, i)), k.constant(scale, i))
        place = k.add(place, k.constant(-0.5, i))
    place = k.maximum(place, k.constant(0, i))
    last = k.constant(n - 1, i)
    low = k.minimum(k.round(place, "floor"), last)
    share = k.minimum(k.add(place, k.neg(low)), k.constant(1, i))
    high = k.minimum(k.add(low, k.constant(1, i)), last)
    return _Places(k.cast(low, INT64), k.cast(high, INT64), share)


#: The cached results of `_places_in` for sizes up to this limit.
_SMALL = 4096
_found: dict[Any, tuple[Array, Array, Array, Array]] = {}


def _lines_in(
    k: Any,
    like: Array,
    behind: int,
    n: int,
    size: int,
    scale: float,
    mode: str,
    align_corners: bool,
) -> tuple[Array, Array, Array, Array]:
    """Return the indices low and high, and 1 - t and t in the dtype of `like`.

    1 - t and t are rounded once.  They broadcast with an array that has `behind` more
    dimensions after the axis.  Results for small sizes are cached, because computing
    them takes longer than resampling.
    """
    key = k.dtype(like), behind, n, size, scale, mode, align_corners
    kept = size <= _SMALL and not getattr(k, "records", True)
    found = _found.get(key) if kept else None
    if found is None:
        places = _places_in(k, like, n, size, scale, mode, align_corners)
        rest = k.add(k.constant(1, places.share), k.neg(places.share))
        line = (size, *(1,) * behind)
        first, second = (
            k.reshape(k.cast(a, k.dtype(like)), line) for a in (rest, places.share)
        )
        found = places.low, places.high, first, second
        if kept:
            if len(_found) >= 64:
                _found.clear()
            _found[key] = tuple([k.frozen(a) for a in found])
    return found


@resample.decomposition(lead="gather")
def _(
    k: Any, x: Array, axis: int, size: int, scale: float, mode: str, align_corners: bool
) -> Array:
    shape = k.shape(x)
    low, high, first, second = _lines_in(
        k, x, len(shape) - axis - 1, shape[axis], size, scale, mode, align_corners
    )
    out = k.index_select(x, low, axis)
    if mode == "nearest":
        return out
    other = k.index_select(x, high, axis)
    other = k.mul(other, second)
    return k.add(k.mul(out, first), other)


@resample.budget(
    "nearest exact; linear 4 eps * (|x[low]| + |x[high]|), and n eps(f64) * max(|x|)"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, (axis, size, scale, mode, align_corners) = magnitude(inputs[0]), attributes
    if mode == "nearest":
        return [0.0]
    n = x.shape[axis]
    places = _places(numpy_xp, n, size, scale, mode, align_corners)
    near = np.take(x, places.low, axis) + np.take(x, places.high, axis)
    # With a rounding error, a position may be between the next two elements.
    far = np.max(x, axis=axis, keepdims=True, initial=0)
    off = 4 * (n + 1) * 2.0**-52 * far
    return [4 * eps * near + off + ulp(expected[0], eps)]


#: (shape, axis, size).
_CALLS: tuple[tuple[Shape, int, int], ...] = (
    ((2, 3, 5), 2, 9),
    ((2, 3, 9), 2, 4),
    ((1, 2, 4, 17), 2, 7),
    ((1, 2, 17, 5), 3, 33),
    ((3, 1, 1), 2, 5),
    ((2, 2, 7), 2, 1),
    ((0, 2, 3), 2, 6),
    ((6, 10, 15, 23), 2, 31),
)


def _calls() -> Iterator[tuple[str, Shape, tuple[int, int, float, str, bool]]]:
    for shape, axis, size in _CALLS:
        n, large = shape[axis], "large, " if shape[0] > 5 else ""
        corners = (n - 1) / (size - 1) if size > 1 else 0.0
        for mode, align, scale in (
            ("nearest", False, n / size),
            ("linear", False, n / size),
            ("linear", True, corners),
        ):
            label = f"{large}{mode}, {shape}, {axis} to {size}, corners {align}"
            yield label, shape, (axis, size, scale, mode, align)
    for mode in ("nearest", "linear"):
        label = f"{mode}, a scale of its own"
        yield label, (2, 5, 3), (1, 12, 1 / 2.55, mode, False)


@resample.samples
def _(make: Make) -> Iterator[Sample]:
    for label, shape, attributes in _calls():
        yield Sample(label, (make.normal(*shape),), attributes)


resample.work(flops_per_element=3)
resample.benchmarks(
    Case(
        "8x64x56x56 to 112 rows", floats(8, 64, 56, 56), (2, 112, 0.5, "linear", False)
    )
)


resample_backward = composite(
    "resample_backward",
    f"dx ; g ; {_ATTRIBUTES}",
    "The adjoint of resample: g is added into zeros of `size` along `axis`.",
)


@resample_backward.rule
def _(
    g: Meta, axis: int, size: int, scale: float, mode: str, align_corners: bool
) -> Meta:
    return _resized("resample_backward", g, axis, size, scale)


@resample_backward.reference
def _(
    xp: Any,
    g: Array,
    axis: int,
    size: int,
    scale: float,
    mode: str,
    align_corners: bool,
) -> Array:
    places = _places(xp, size, g.shape[axis], scale, mode, align_corners)
    w, t = wide(xp, g), _along(places.share, g, axis)
    zeros = xp.zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]), w.dtype)
    lead = (slice(None),) * axis
    dx = xp.index_add(zeros, (*lead, places.low), (1 - t) * w)
    if mode == "linear":
        dx = xp.index_add(dx, (*lead, places.high), t * w)
    return narrow(dx, g)


@resample_backward.decomposition(lead="scatter_add")
def _(
    k: Any, g: Array, axis: int, size: int, scale: float, mode: str, align_corners: bool
) -> Array:
    shape = k.shape(g)
    low, high, first, second = _lines_in(
        k, g, len(shape) - axis - 1, size, shape[axis], scale, mode, align_corners
    )
    zeros = k.zeros((*shape[:axis], size, *shape[axis + 1 :]), k.dtype(g))
    if mode == "nearest":
        return k.index_add(zeros, low, g, axis)
    here = k.mul(g, first)
    dx = k.index_add(zeros, low, here, axis)
    return k.index_add(dx, high, k.mul(g, second), axis)


@resample_backward.budget(
    "(m + 4) * eps * sum(|g|) over the m outputs that take an element"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, (axis, size, scale, mode, align_corners) = magnitude(inputs[0]), attributes
    places = _places(numpy_xp, size, g.shape[axis], scale, mode, align_corners)
    count = np.bincount(places.low, minlength=size)
    whole = np.zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]))
    sides = (places.low,) if mode == "nearest" else (places.low, places.high)
    for side in sides:
        whole = numpy_xp.index_add(whole, (*(slice(None),) * axis, side), g)
    far = np.max(g, axis=axis, keepdims=True, initial=0) if mode == "linear" else 0.0
    off = 4 * (size + 1) * 2.0**-52 * (whole + far)
    steps = 2 * int(count.max()) + 4
    return [steps * eps * whole + off + ulp(expected[0], eps)]


@resample_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for label, shape, (axis, size, *rest) in _calls():
        g = make.normal(*shape[:axis], size, *shape[axis + 1 :])
        yield Sample(label, (g,), (axis, shape[axis], *rest))


resample_backward.work(flops_per_element=3)
resample_backward.benchmarks(
    Case(
        "8x64x56x56 to 112 rows", floats(8, 64, 112, 56), (2, 56, 0.5, "linear", False)
    )
)
