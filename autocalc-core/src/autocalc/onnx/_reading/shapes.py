# SPDX-License-Identifier: MIT
"""Shapes: reshaping, transposing, slicing, joining, padding, resizing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc._ops.arranging import diagonal, joining, rearranging
from autocalc._ops.creation import constants, ranges
from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.indexing import indexing
from autocalc._ops.views import splitting
from autocalc._tensor import Tensor, dtypes
from autocalc.nn import functional
from autocalc.onnx._node import Known, Node
from autocalc.onnx._package import package
from autocalc.onnx._table import reads


@reads("Shape")
def _(node: Node, x: Tensor) -> Known:
    shape = x.shape[node.get("start", 0) : node.get("end")]
    return Known(np.array(shape, np.int64))


@reads("Size")
def _(node: Node, x: Tensor) -> Known:
    return Known(np.array(x.numel(), np.int64))


@reads("Reshape", numbers=(1,))
def _(node: Node, x: Tensor, sizes: list[int]) -> Tensor:
    if not node.get("allowzero", 0):
        sizes = [x.shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    return x.reshape(tuple(sizes))


@reads("Flatten")
def _(node: Node, x: Tensor) -> Tensor:
    axis = node.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))


@reads("Transpose")
def _(node: Node, x: Tensor) -> Tensor:
    return x.permute(*node.get("perm", range(x.ndim)[::-1]))


@reads("Expand", numbers=(1,))
def _(node: Node, x: Tensor, sizes: list[int]) -> Tensor:
    return x.expand(np.broadcast_shapes(x.shape, tuple(sizes)))


@reads("Squeeze", numbers=(1,))
def _(node: Node, x: Tensor, axes: list[int] | None = None) -> Tensor:
    return x.squeeze() if axes is None else x.squeeze(tuple(axes))


@reads("Unsqueeze", numbers=(1,))
def _(node: Node, x: Tensor, axes: list[int]) -> Tensor:
    ndim = x.ndim + len(axes)
    for axis in sorted(axis % ndim for axis in axes):
        x = x.unsqueeze(axis)
    return x


@reads("Concat")
def _(node: Node, *x: Tensor) -> Tensor:
    return joining.cat(x, node.get("axis"))


@reads("Slice", numbers=(1, 2, 3, 4))
def _(
    node: Node,
    x: Tensor,
    starts: list[int],
    ends: list[int],
    axes: list[int] | None = None,
    steps: list[int] | None = None,
) -> Tensor:
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * x.ndim
    turned = []
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        rows = range(*slice(start, end, step).indices(x.shape[axis]))
        if step < 0:
            turned.append(axis)
            rows = rows[::-1]
        index[axis] = slice(rows.start, rows.stop, rows.step)
    x = x[tuple(index)]
    return x.flip(tuple(turned)) if turned else x


@reads("Split", numbers=(1,), unused=("num_outputs",))
def _(node: Node, x: Tensor, sizes: list[int] | None = None) -> tuple[Tensor, ...]:
    axis = node.get("axis", 0)
    if sizes is None:
        each = -(-x.shape[axis] // node.get("num_outputs", len(node.outputs)))
        return tuple(splitting.split(x, each, axis))
    return tuple(splitting.split(x, sizes, axis))


@reads("Tile", numbers=(1,))
def _(node: Node, x: Tensor, repeats: list[int]) -> Tensor:
    return rearranging.tile(x, repeats)


_MODES = ("constant", "reflect", "edge", "wrap")


@reads("Pad", numbers=(1, 2, 3), only={"mode": _MODES})
def _(
    node: Node,
    x: Tensor,
    pads: list[int],
    value: list[Any] | None = None,
    axes: list[int] | None = None,
) -> Tensor:
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    pairs = zip(pads[: len(axes)], pads[len(axes) :], strict=True)
    each = dict(zip(axes, pairs, strict=True))
    mode = node.get("mode", "constant")
    if mode == "constant":
        widths = [n for axis in reversed(range(x.ndim)) for n in each.get(axis, (0, 0))]
        return functional.pad(x, widths, value=value[0] if value else 0)
    for axis, (before, behind) in each.items():
        if before or behind:
            rows = _sources(x.shape[axis], before, behind, mode)
            x = indexing.index_select(x, axis, from_numpy(rows))
    return x


def _sources(size: int, before: int, behind: int, mode: str) -> Any:
    """Return the rows of which a padded dimension consists."""
    places = np.arange(-before, size + behind)
    if mode == "edge":
        return np.clip(places, 0, size - 1)
    if mode == "wrap":
        return places % size
    period = max(2 * (size - 1), 1)
    places = places % period
    return np.minimum(places, period - places) if size > 1 else places * 0


@reads("ConstantOfShape", numbers=(0,))
def _(node: Node, sizes: list[int]) -> Tensor:
    given, helper = node.get("value"), package("onnx.load", "onnx.numpy_helper")
    value = np.zeros(1, np.float32) if given is None else helper.to_array(given)
    return constants.full(sizes, value.item(), dtype=dtypes.of(value.dtype))


@reads("Range", unused=("stash_type",))
def _(node: Node, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    ends = [one.item() for one in (start, limit, delta)]
    return ranges.arange(*ends, dtype=start.dtype)


@reads("Trilu", numbers=(1,))
def _(node: Node, x: Tensor, k: list[int] | None = None) -> Tensor:
    number = k[0] if k else 0
    return (
        diagonal.triu(x, number) if node.get("upper", 1) else diagonal.tril(x, number)
    )


@reads("DepthToSpace", only={"mode": ("DCR", "CRD")})
def _(node: Node, x: Tensor) -> Tensor:
    size = node.get("blocksize")
    if node.get("mode", "DCR") == "CRD":
        return functional.pixel_shuffle(x, size)
    n, c, h, w = x.shape
    parts = x.reshape(n, size, size, c // size**2, h, w).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // size**2, h * size, w * size)


@reads("SpaceToDepth", only={"mode": ("DCR", "CRD")})
def _(node: Node, x: Tensor) -> Tensor:
    size = node.get("blocksize")
    n, c, h, w = x.shape
    crd = node.get("mode", "DCR") == "CRD"
    order = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
    parts = x.reshape(n, c, h // size, size, w // size, size).permute(order)
    return parts.reshape(n, c * size**2, h // size, w // size)


@reads("Col2Im", numbers=(1, 2))
def _(node: Node, x: Tensor, image: list[int], block: list[int]) -> Tensor:
    """Add up the windows of an image of any number of dimensions."""
    dims = len(image)
    stride = node.get("strides", [1] * dims)
    dilation = node.get("dilations", [1] * dims)
    pads = node.get("pads", [0] * 2 * dims)
    n, channels = x.shape[0], x.shape[1] // math.prod(block)
    sizes = [s + pads[i] + pads[i + dims] for i, s in enumerate(image)]
    place = np.zeros((1,) * 2 * dims, np.int64)
    for i in range(dims):
        count = (sizes[i] - dilation[i] * (block[i] - 1) - 1) // stride[i] + 1
        taps, starts = np.arange(block[i]) * dilation[i], np.arange(count) * stride[i]
        shape = [1] * 2 * dims
        shape[i], shape[i + dims] = block[i], count
        places = (taps[:, None] + starts).reshape(shape)
        place = place * sizes[i] + places
    flat = x.reshape(n * channels, -1)
    index = from_numpy(np.array(place.reshape(1, -1))).expand(*flat.shape)
    none = constants.zeros(n * channels, math.prod(sizes), dtype=x.dtype)
    out = none.scatter_add(1, index, flat).reshape(n, channels, *sizes)
    cut = [slice(pads[i], pads[i] + size) for i, size in enumerate(image)]
    chosen: Any = (slice(None), slice(None), *cut)
    return out[chosen]


@reads("BitCast", unused=("to",))
def _(node: Node, x: Tensor) -> Tensor:
    return x.view(node.dtype("to"))
