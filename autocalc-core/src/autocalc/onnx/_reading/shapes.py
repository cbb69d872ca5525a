# SPDX-License-Identifier: MIT
"""Shapes: reshaping, transposing, slicing, joining, padding, resizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._ops.arranging import diagonal, joining, rearranging
from autocalc._ops.creation import constants, ranges
from autocalc._ops.views import splitting
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import OnnxError
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
    return x.reshape(sizes)


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
        each = -(-x.shape[axis] // len(node.outputs))
        return tuple(splitting.split(x, each, axis))
    return tuple(splitting.split(x, sizes, axis))


@reads("Tile", numbers=(1,))
def _(node: Node, x: Tensor, repeats: list[int]) -> Tensor:
    return rearranging.tile(x, repeats)


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}


@reads("Pad", numbers=(1, 2, 3))
def _(
    node: Node,
    x: Tensor,
    pads: list[int],
    value: list[Any] | None = None,
    axes: list[int] | None = None,
) -> Tensor:
    node.only("mode", *_MODES)
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    each = dict(
        zip(axes, zip(pads[: len(axes)], pads[len(axes) :], strict=True), strict=True)
    )
    widths = [n for axis in reversed(range(x.ndim)) for n in each.get(axis, (0, 0))]
    mode = _MODES[node.get("mode", "constant")]
    if mode == "constant":
        return functional.pad(x, widths, value=value[0] if value else 0)
    spatial = 2 * (x.ndim - 2)
    if any(widths[spatial:]):
        message = f"onnx.load: Pad ({node.name}) repeats the batch or the channels."
        raise OnnxError(message)
    return functional.pad(x, widths[:spatial], mode=mode)


@reads("ConstantOfShape", numbers=(0,))
def _(node: Node, sizes: list[int]) -> Tensor:
    given, helper = node.get("value"), package("onnx.load", "onnx.numpy_helper")
    value = np.zeros(1, np.float32) if given is None else helper.to_array(given)
    return constants.full(sizes, value.item(), dtype=dtypes.of(value.dtype))


@reads("Range")
def _(node: Node, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    ends = [one.item() for one in (start, limit, delta)]
    return ranges.arange(*ends, dtype=start.dtype)


@reads("Trilu", numbers=(1,))
def _(node: Node, x: Tensor, k: list[int] | None = None) -> Tensor:
    number = k[0] if k else 0
    return (
        diagonal.triu(x, number) if node.get("upper", 1) else diagonal.tril(x, number)
    )


@reads("DepthToSpace")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("mode", "DCR", "CRD")
    size = node.get("blocksize")
    if node.get("mode", "DCR") == "CRD":
        return functional.pixel_shuffle(x, size)
    n, c, h, w = x.shape
    parts = x.reshape(n, size, size, c // size**2, h, w).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // size**2, h * size, w * size)


@reads("SpaceToDepth")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("mode", "DCR", "CRD")
    size = node.get("blocksize")
    n, c, h, w = x.shape
    crd = node.get("mode", "DCR") == "CRD"
    order = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
    parts = x.reshape(n, c, h // size, size, w // size, size).permute(order)
    return parts.reshape(n, c * size**2, h // size, w // size)
