# SPDX-License-Identifier: MIT
"""Convolutions, forward and transposed, and the padding of windows."""

from __future__ import annotations

from typing import Any

from autocalc._ops.arranging import joining
from autocalc._ops.creation import ranges
from autocalc._ops.matrices import einsum
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads

_CONV = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TURNED = {
    1: functional.conv_transpose1d,
    2: functional.conv_transpose2d,
    3: functional.conv_transpose3d,
}


#: The values of the attribute that computes the padding.
PADS = {"auto_pad": ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")}


def window(node: Node, x: Tensor, kernel: Any) -> tuple[Any, Any, Any, list[int]]:
    """Return strides, dilations, and the padding before and after each dimension."""
    dims = len(kernel)
    stride = node.get("strides", [1] * dims)
    dilation = node.get("dilations", [1] * dims)
    how = node.get("auto_pad", "NOTSET")
    pads = node.get("pads", [0] * 2 * dims) if how == "NOTSET" else [0] * 2 * dims
    before, behind = list(pads[:dims]), list(pads[dims:])
    if how.startswith("SAME"):
        for i, (n, m) in enumerate(zip(x.shape[2:], kernel, strict=True)):
            count = -(-n // stride[i])
            need = max((count - 1) * stride[i] + (m - 1) * dilation[i] + 1 - n, 0)
            before[i], behind[i] = halves(need, how)
    return stride, dilation, before, behind


def halves(need: int, how: str) -> tuple[int, int]:
    """Return padding as a pair: the larger half at the end, or at the beginning."""
    small, large = need // 2, need - need // 2
    return (large, small) if how == "SAME_LOWER" else (small, large)


def widths(before: list[int], behind: list[int]) -> list[int]:
    """Return padding in the form of `functional.pad`, the last dimension first."""
    pairs = list(zip(before, behind, strict=True))
    return [n for pair in reversed(pairs) for n in pair]


def convolved(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None, value: Any = 0
) -> Tensor:
    """Return a convolution with the attributes of a node; `value` is the padding's."""
    stride, dilation, before, behind = window(node, x, weight.shape[2:])
    if before != behind or value:
        x = functional.pad(x, widths(before, behind), value=value)
        before = [0] * len(before)
    groups = node.get("group", 1)
    return _CONV[x.ndim - 2](x, weight, bias, stride, before, dilation, groups)


_UNUSED = ("kernel_shape", "pads", "auto_pad")


@reads("Conv", unused=_UNUSED, only=PADS)
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return convolved(node, x, weight, bias)


@reads("ConvTranspose", unused=(*_UNUSED, "output_shape"), only=PADS)
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Run it without padding at the end, then remove the padding."""
    dims = x.ndim - 2
    stride, dilation, before, behind = window(node, x, weight.shape[2:])
    more = node.get("output_padding", [0] * dims)
    words = {"groups": node.get("group", 1), "dilation": dilation}
    how = node.get("auto_pad", "NOTSET")
    wanted = node.get("output_shape")
    if wanted is None and how.startswith("SAME"):
        wanted = [n * s for n, s in zip(x.shape[2:], stride, strict=True)]
    if wanted is None and before == behind:
        return _TURNED[dims](x, weight, bias, stride, before, more, **words)
    out = _TURNED[dims](x, weight, None, stride, 0, 0, **words)
    if wanted is not None:
        turned = "SAME_UPPER" if how == "SAME_UPPER" else "SAME_LOWER"
        sizes = zip(out.shape[2:], more, wanted[-dims:], strict=True)
        cuts = [_cut(n + m - k, turned) for n, m, k in sizes]
        before, behind = [a for a, _ in cuts], [b for _, b in cuts]
    behind = [b - m for b, m in zip(behind, more, strict=True)]
    out = functional.pad(out, widths([-n for n in before], [-n for n in behind]))
    return out if bias is None else out + bias.reshape(-1, *[1] * dims)


def _cut(count: int, how: str) -> tuple[int, int]:
    """Return how much to remove at both ends; what is missing is added at the end."""
    return halves(count, how) if count > 0 else (0, count)


@reads("DeformConv")
def _(
    node: Node,
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Sample the input where the offsets say, then multiply by the weights."""
    kernel = node.get("kernel_shape", list(weight.shape[2:]))
    stride, dilation, before, _ = window(node, x, kernel)
    groups, parts = node.get("group", 1), node.get("offset_group", 1)
    n, channels, *sizes = x.shape
    rows, columns = offset.shape[2:]
    count = kernel[0] * kernel[1]
    shifts = offset.reshape(n * parts, count, 2, rows, columns)
    starts = [
        _places(kernel[i], out, stride[i], dilation[i], before[i], x.dtype)
        for i, out in enumerate((rows, columns))
    ]
    taps = [
        starts[0].reshape(kernel[0], 1, rows, 1),
        starts[1].reshape(1, kernel[1], 1, columns),
    ]
    shape = (*kernel, rows, columns)
    grid = [
        shifts[:, :, i] + tap.expand(*shape).reshape(count, rows, columns)
        for i, tap in enumerate(taps)
    ]
    y, x_ = ((2 * g + 1) / size - 1 for g, size in zip(grid, sizes, strict=True))
    places = joining.stack([x_, y], -1).reshape(n * parts, count * rows, columns, 2)
    planes = x.reshape(n * parts, channels // parts, *sizes)
    found = functional.grid_sample(planes, places, "bilinear", "zeros", False)
    found = found.reshape(n * parts, channels // parts, count, rows, columns)
    if mask is not None:
        found = found * mask.reshape(n * parts, 1, count, rows, columns)
    found = found.reshape(n, groups, channels // groups, count, rows * columns)
    weights = weight.reshape(groups, -1, channels // groups, count)
    out = einsum.einsum("ngckp,gock->ngop", found, weights)
    out = out.reshape(n, -1, rows, columns)
    return out if bias is None else out + bias.reshape(-1, 1, 1)


def _places(
    kernel: int, out: int, stride: int, dilation: int, before: int, dtype: Any
) -> Tensor:
    """Return the positions ``[kernel, out]`` from which a convolution reads."""
    taps, windows = ranges.arange(kernel) * dilation, ranges.arange(out) * stride
    places: Tensor = taps.unsqueeze(1) + windows - before
    return places.to(dtype)
