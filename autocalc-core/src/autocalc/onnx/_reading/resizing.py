# SPDX-License-Identifier: MIT
"""Images resized to given sizes or by given factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.spec import Array
from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.images.resizing import resampled
from autocalc._ops.indexing import indexing
from autocalc._ops.matrices import matmul
from autocalc._tensor import Tensor
from autocalc.errors import OnnxError
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads

_ONLY = {
    "mode": ("nearest", "linear", "cubic"),
    "coordinate_transformation_mode": (
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
        "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn",
    ),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
}  # fmt: skip


class _Axis(NamedTuple):
    """How one dimension changes: its size, its new size, the factor, the region."""

    number: int
    old: int
    new: int
    factor: float
    first: float = 0.0
    last: float = 1.0


@reads(
    "Resize",
    numbers=(1, 2, 3),
    unused=("cubic_coeff_a", "exclude_outside", "extrapolation_value", "nearest_mode"),
    only=_ONLY,
)
def _(
    node: Node,
    x: Tensor,
    roi: list[float] | None = None,
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
) -> Tensor:
    axes = _axes(node, x, roi, scales, sizes)
    how = node.get("coordinate_transformation_mode", "half_pixel")
    antialias = bool(node.get("antialias", 0))
    mode = node.get("mode", "nearest")
    planar = x.ndim in {3, 4, 5} and all(
        one.number > 1 or one.old == one.new for one in axes
    )
    if planar and not antialias and x.is_floating_point():
        if mode == "linear" and how in {
            "half_pixel", "align_corners", "pytorch_half_pixel",
        }:  # fmt: skip
            return _linear(x, axes, how, bool(sizes))
        floor = node.get("nearest_mode", "round_prefer_floor") == "floor"
        if mode == "nearest" and how == "asymmetric" and floor:
            return resampled(x, *_planes(x, axes, bool(sizes)), "nearest", False, False)
    for axis in axes:
        if axis.old != axis.new or how == "tf_crop_and_resize":
            x = _resized(node, x, axis, how, mode, antialias)
    return x


def _planes(
    x: Tensor, axes: Sequence[_Axis], by_size: bool
) -> tuple[tuple[int, ...], tuple[float, ...] | None]:
    """Return the new sizes of a plane, and the factors if they were given."""
    new, factors = list(x.shape[2:]), [1.0] * (x.ndim - 2)
    for axis in axes:
        if axis.number > 1:
            new[axis.number - 2] = axis.new
            factors[axis.number - 2] = axis.factor
    return tuple(new), None if by_size else tuple(factors)


def _linear(x: Tensor, axes: Sequence[_Axis], how: str, by_size: bool) -> Tensor:
    planes, factors = _planes(x, axes, by_size)
    if how == "pytorch_half_pixel":  # a single pixel takes the first one
        x = x[tuple([slice(0, 1) if n == 1 else slice(None) for n in (0, 0, *planes)])]
    return resampled(x, planes, factors, "linear", how == "align_corners", False)


def _axes(
    node: Node,
    x: Tensor,
    roi: list[float] | None,
    scales: list[float] | None,
    sizes: list[int] | None,
) -> list[_Axis]:
    """Return what changes.

    ``size = floor(n * factor)`` is computed in float32, the dtype of the factors, so 10
    * 1.3 is 13.
    """
    numbers = [axis % x.ndim for axis in node.get("axes") or range(x.ndim)]
    given: Any = sizes or scales
    if not given or len(given) != len(numbers):
        raise OnnxError(
            f"onnx.load: Resize ({node.name}) has `scales` {scales} and `sizes` "
            f"{sizes} for an input of shape {x.shape}; one of them must have "
            f"{len(numbers)} numbers."
        )
    old = [x.shape[number] for number in numbers]
    if sizes:
        new, factors = _fitted(node, old, list(sizes))
    else:
        exact = np.array(old, np.float32) * np.array(scales, np.float32)
        new, factors = np.floor(exact).astype(int).tolist(), list(given)
    count = len(numbers)
    ends = roi or [0.0] * count + [1.0] * count
    every = zip(numbers, old, new, factors, ends[:count], ends[count:], strict=True)
    return [_Axis(*one) for one in every]


def _fitted(
    node: Node, old: list[int], sizes: list[int]
) -> tuple[list[int], list[float]]:
    """Return sizes and factors; a policy makes all factors the same."""
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    factors = [new / n for new, n in zip(sizes, old, strict=True)]
    if policy == "stretch":
        return sizes, factors
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [int(np.floor(factor * n + 0.5)) for n in old], [factor] * len(old)


def _resized(
    node: Node, x: Tensor, axis: _Axis, how: str, mode: str, antialias: bool
) -> Tensor:
    """Resize one dimension: by an index, or by a product with a matrix of weights."""
    places = _places(axis, how)
    if mode == "nearest":
        rounding = node.get("nearest_mode", "round_prefer_floor")
        index = np.clip(_rounded(places, rounding), 0, axis.old - 1)
        out = indexing.index_select(x, axis.number, from_numpy(index))
    else:
        weights = _weights(node, places, axis, mode, antialias)
        exact = from_numpy(weights).to(x.dtype if x.is_floating_point() else None)
        turned = x.movedim(axis.number, -1)
        out = matmul.matmul(turned.to(exact.dtype), exact.T)
        out = out.movedim(-1, axis.number).to(x.dtype)
    outside = (places < 0) | (places > axis.old - 1)
    if how == "tf_crop_and_resize" and outside.any():
        shape = [1] * x.ndim
        shape[axis.number] = axis.new
        mask = from_numpy(outside).reshape(shape)
        out = out.masked_fill(mask, node.get("extrapolation_value", 0.0))
    return out


def _places(axis: _Axis, how: str) -> Array:
    """Return the place of each new element among the old ones."""
    rows, exact = np.arange(axis.new, dtype=np.float64), axis.factor * axis.old
    half: Array = (rows + 0.5) / axis.factor - 0.5
    if how == "align_corners":
        return rows * (axis.old - 1) / (axis.new - 1) if axis.new > 1 else rows * 0
    if how == "asymmetric":
        return rows / axis.factor
    if how == "tf_crop_and_resize":
        span, reach = axis.last - axis.first, axis.old - 1
        steps = rows / (axis.new - 1) if axis.new > 1 else rows * 0 + 0.5
        return np.asarray(axis.first * reach + steps * span * reach)
    if how == "half_pixel_symmetric":
        return half + axis.old / 2 * (1 - axis.new / exact)
    if how == "tf_half_pixel_for_nn":
        return (rows + 0.5) / axis.factor
    if how == "pytorch_half_pixel" and axis.new == 1:
        return rows * 0
    return half


def _rounded(places: Array, how: str) -> Array:
    if how == "floor":
        found = np.floor(places)
    elif how == "ceil":
        found = np.ceil(places)
    elif how == "round_prefer_ceil":
        found = np.floor(places + 0.5)
    else:
        found = np.ceil(places - 0.5)
    return found.astype(np.int64)


def _weights(
    node: Node, places: Array, axis: _Axis, mode: str, antialias: bool
) -> Array:
    """Return a matrix ``[new, old]`` of weights; what is outside repeats the edge."""
    wide = min(axis.factor, 1.0) if antialias else 1.0
    reach = (1 if mode == "linear" else 2) / wide
    count = int(np.ceil(reach)) + 1
    first = np.floor(places).astype(np.int64)[:, None]
    columns = first + np.arange(-count, count + 1)
    distance = np.abs(columns - places[:, None]) * wide
    shape = np.maximum(1 - distance, 0) if mode == "linear" else _cubic(
        distance, node.get("cubic_coeff_a", -0.75)
    )  # fmt: skip
    if node.get("exclude_outside", 0):
        shape = shape * ((columns >= 0) & (columns < axis.old))
    if node.get("exclude_outside", 0) or antialias:
        shape = shape / shape.sum(1, keepdims=True)
    out = np.zeros((axis.new, axis.old), np.float32)
    rows = np.broadcast_to(np.arange(axis.new)[:, None], columns.shape)
    np.add.at(out, (rows, np.clip(columns, 0, axis.old - 1)), shape)
    return out


def _cubic(distance: Array, a: float) -> Array:
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
