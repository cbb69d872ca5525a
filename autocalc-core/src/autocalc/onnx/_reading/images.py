# SPDX-License-Identifier: MIT
"""Samples, regions and boxes of images."""

from __future__ import annotations

import numpy as np

from autocalc._kernels.spec import Array
from autocalc._ops.arranging import joining
from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.indexing import indexing
from autocalc._ops.matrices import determinants
from autocalc._ops.reductions import extrema, reduction
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads

_MODES = {"bilinear": "bilinear", "linear": "bilinear", "nearest": "nearest",
          "bicubic": "bicubic", "cubic": "bicubic"}  # fmt: skip


@reads(
    "GridSample",
    only={
        "mode": ("linear", *_MODES),
        "padding_mode": ("zeros", "border", "reflection"),
    },
)
def _(node: Node, x: Tensor, grid: Tensor) -> Tensor:
    mode = _MODES[node.get("mode", "linear")]
    padding = node.get("padding_mode", "zeros")
    corners = bool(node.get("align_corners", 0))
    return functional.grid_sample(x, grid, mode, padding, corners)


@reads("Det")
def _(node: Node, x: Tensor) -> Tensor:
    return determinants.det(x)


def _region_points(
    node: Node, rois: Array, sizes: tuple[int, int], half: bool
) -> list[tuple[Array, Array]]:
    """Return for each region the rows and columns ``[bins, samples]`` to read."""
    scale, ratio = node.get("spatial_scale", 1.0), node.get("sampling_ratio", 0)
    found = []
    for roi in rois.astype(np.float64) * scale - (0.5 if half else 0.0):
        axes = []
        for first, last, bins in (
            (roi[1], roi[3], sizes[0]),
            (roi[0], roi[2], sizes[1]),
        ):
            extent = last - first if half else max(last - first, 1.0)
            each = extent / bins
            count = ratio if ratio > 0 else max(int(np.ceil(each)), 1)
            steps = (np.arange(count) + 0.5) * each / count
            axes.append(first + np.arange(bins)[:, None] * each + steps)
        found.append((axes[0], axes[1]))
    return found


def _two(places: Array, size: int) -> tuple[Array, Array]:
    """Return the two elements next to each place, and their weights."""
    outside = (places < -1) | (places > size)
    places = np.clip(places, 0, size - 1)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    part = places - low
    weights = np.stack([1 - part, part], -1) * ~outside[..., None]
    return np.stack([low, high], -1), weights


@reads(
    "RoiAlign",
    unused=("spatial_scale", "sampling_ratio", "coordinate_transformation_mode"),
    only={"mode": ("avg", "max")},
)
def _(node: Node, x: Tensor, rois: Tensor, images: Tensor) -> Tensor:
    """Read points of each region of an image, and take their mean or maximum."""
    sizes = node.get("output_height", 1), node.get("output_width", 1)
    usual = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    half = node.get("coordinate_transformation_mode", usual) == "half_pixel"
    average = node.get("mode", "avg") == "avg"
    parts = []
    points = _region_points(node, rois.numpy(), sizes, half)
    for image, (rows, columns) in zip(images.tolist(), points, strict=True):
        plane = x[image]
        for axis, places, size in (
            (1, rows, x.shape[2]),
            (2 + rows.ndim, columns, x.shape[3]),
        ):
            index, weights = _two(places, size)
            shape = (*plane.shape[:axis], *index.shape, *plane.shape[axis + 1 :])
            flat = from_numpy(index.reshape(-1))
            plane = indexing.index_select(plane, axis, flat).reshape(*shape)
            behind = [1] * (plane.ndim - axis - index.ndim)
            plane = plane * from_numpy(weights).to(x.dtype).reshape(
                *weights.shape, *behind
            )
        # The shape is that of C, rows, samples, two, columns, samples, two.
        if average:
            summed = reduction.sum(plane, (3, 6))
            parts.append(reduction.mean(summed, (2, 4)))
        else:
            parts.append(extrema.amax(plane, (2, 3, 5, 6)))
    if not parts:
        return x.new_zeros((0, x.shape[1], *sizes))
    return joining.stack(parts, 0)


@reads("MaxRoiPool")
def _(node: Node, x: Tensor, rois: Tensor) -> Tensor:
    """Return the maxima of the bins of regions; an empty bin is 0."""
    scale, (rows, columns) = node.get("spatial_scale", 1.0), node.get("pooled_shape")
    parts = []
    for image, *corners in rois.numpy().tolist():
        left, top, right, bottom = (int(np.floor(c * scale + 0.5)) for c in corners)
        plane = x[int(image)]
        tall, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i in range(rows):
            for j in range(columns):
                a, b = _bin(i, tall / rows, top, x.shape[2])
                c, d = _bin(j, wide / columns, left, x.shape[3])
                one = plane[:, a:b, c:d]
                empty = b <= a or d <= c
                parts.append(plane[:, 0, 0] * 0 if empty else extrema.amax(one, (1, 2)))
    out = joining.stack(parts, 0).reshape(-1, rows, columns, x.shape[1])
    return out.permute(0, 3, 1, 2)


def _bin(i: int, each: float, first: int, size: int) -> tuple[int, int]:
    start, end = int(np.floor(i * each)) + first, int(np.ceil((i + 1) * each)) + first
    return min(max(start, 0), size), min(max(end, 0), size)


def _areas(boxes: Array) -> Array:
    return np.asarray((boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]))


def _corners(boxes: Array, centres: bool) -> Array:
    """Return boxes as (low, low, high, high)."""
    if centres:
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        return np.concatenate([middle - half, middle + half], -1)
    a, b = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(a, b), np.maximum(a, b)], -1)


def _kept(boxes: Array, scores: Array, most: int, overlap: float) -> list[int]:
    """Return the best boxes, of which no two overlap by more than a share."""
    order = np.argsort(-scores, kind="stable")
    areas = _areas(boxes)
    kept: list[int] = []
    while order.size and len(kept) < most:
        best, order = int(order[0]), order[1:]
        kept.append(best)
        low = np.maximum(boxes[best, :2], boxes[order, :2])
        high = np.minimum(boxes[best, 2:], boxes[order, 2:])
        shared = np.prod(np.maximum(high - low, 0), -1)
        union = areas[best] + areas[order] - shared
        order = order[shared <= overlap * union]
    return kept


@reads("NonMaxSuppression", numbers=(2, 3, 4), only={"center_point_box": (0, 1)})
def _(
    node: Node,
    boxes: Tensor,
    scores: Tensor,
    most: list[int] | None = None,
    overlap: list[float] | None = None,
    least: list[float] | None = None,
) -> Tensor:
    """Return rows (image, class, box) of the boxes that are kept."""
    corners = _corners(
        boxes.numpy().astype(np.float64), node.get("center_point_box", 0) == 1
    )
    values, rows = scores.numpy(), []
    for image in range(values.shape[0]):
        for kind in range(values.shape[1]):
            one = values[image, kind]
            able = np.flatnonzero(one > least[0]) if least else np.arange(one.size)
            kept = _kept(
                corners[image][able],
                one[able],
                most[0] if most else 0,
                overlap[0] if overlap else 0.0,
            )
            rows += [(image, kind, int(able[i])) for i in kept]
    return from_numpy(np.array(rows, np.int64).reshape(-1, 3))
