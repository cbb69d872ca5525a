# SPDX-License-Identifier: MIT
"""Pooling over windows."""

from __future__ import annotations

import math

from autocalc._ops.creation import like
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._reading.convolution import widths, window
from autocalc.onnx._table import reads

_MAX = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_MEAN = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


@reads("MaxPool", unused=("pads",))
def _(node: Node, x: Tensor) -> Tensor:
    node.only("storage_order", 0)
    node.expect("outputs", len(node.outputs), 1)
    kernel = node.get("kernel_shape")
    stride, dilation, before, behind = window(node, x, kernel)
    if before != behind:
        x = functional.pad(x, widths(before, behind), value=-math.inf)
        before = [0] * len(before)
    ceil = bool(node.get("ceil_mode", 0))
    result: Tensor = _MAX[len(kernel)](x, kernel, stride, before, dilation, ceil)
    return result


@reads("AveragePool", unused=("pads",))
def _(node: Node, x: Tensor) -> Tensor:
    kernel = node.get("kernel_shape")
    stride, dilation, before, behind = window(node, x, kernel)
    node.expect("dilations", set(dilation), {1})
    padded, ceil = (
        bool(node.get("count_include_pad", 0)),
        bool(node.get("ceil_mode", 0)),
    )
    mean = _MEAN[len(kernel)]
    if before == behind:
        return mean(x, kernel, stride, before, ceil, padded)

    def windows(x: Tensor) -> Tensor:
        return mean(functional.pad(x, widths(before, behind)), kernel, stride, 0, ceil)

    if padded:
        return windows(x)
    return windows(x) / windows(like.ones_like(x))  # means without the padding
