# SPDX-License-Identifier: MIT
"""Convolutions, forward and transposed, and the padding of windows."""

from __future__ import annotations

from typing import Any

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


def window(node: Node, x: Tensor, kernel: Any) -> tuple[Any, Any, Any, list[int]]:
    """Return strides, dilations, and the padding before and after each dimension."""
    dims = len(kernel)
    stride = node.get("strides", [1] * dims)
    dilation = node.get("dilations", [1] * dims)
    node.only("auto_pad", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    how = node.get("auto_pad", "NOTSET")
    pads = node.get("pads", [0] * 2 * dims) if how == "NOTSET" else [0] * 2 * dims
    before, behind = list(pads[:dims]), list(pads[dims:])
    if how.startswith("SAME"):
        for i, (n, m) in enumerate(zip(x.shape[2:], kernel, strict=True)):
            count = -(-n // stride[i])
            need = max((count - 1) * stride[i] + (m - 1) * dilation[i] + 1 - n, 0)
            small, large = need // 2, need - need // 2
            lower = how == "SAME_LOWER"
            before[i], behind[i] = (large, small) if lower else (small, large)
    return stride, dilation, before, behind


def widths(before: list[int], behind: list[int]) -> list[int]:
    """Return padding in the form of `functional.pad`, the last dimension first."""
    pairs = list(zip(before, behind, strict=True))
    return [n for pair in reversed(pairs) for n in pair]


@reads("Conv", unused=("kernel_shape", "pads"))
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    stride, dilation, before, behind = window(node, x, weight.shape[2:])
    if before != behind:
        x = functional.pad(x, widths(before, behind))
        before = [0] * len(before)
    groups = node.get("group", 1)
    return _CONV[x.ndim - 2](x, weight, bias, stride, before, dilation, groups)


@reads("ConvTranspose", unused=("kernel_shape", "pads"))
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Run it without padding at the end, then remove the padding."""
    node.only("auto_pad", "NOTSET")
    node.only("output_shape", None)
    dims = x.ndim - 2
    stride, dilation, before, behind = window(node, x, weight.shape[2:])
    more = node.get("output_padding", [0] * dims)
    words = {"groups": node.get("group", 1), "dilation": dilation}
    if before == behind:
        return _TURNED[dims](x, weight, bias, stride, before, more, **words)
    out = _TURNED[dims](x, weight, bias, stride, 0, more, **words)
    cut = [
        slice(a, n - b) for a, b, n in zip(before, behind, out.shape[2:], strict=True)
    ]
    index = (slice(None), slice(None), *cut)
    return out[index]
