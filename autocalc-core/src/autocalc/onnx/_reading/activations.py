# SPDX-License-Identifier: MIT
"""Activations."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.creation import like
from autocalc._ops.indexing import masking, scattering
from autocalc._ops.reductions import extrema
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


@reads("Relu")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.relu(x)


@reads("Sigmoid")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.sigmoid(x)


@reads("LeakyRelu")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.leaky_relu(x, node.get("alpha", 0.01))


@reads("PRelu")
def _(node: Node, x: Tensor, slope: Tensor) -> Tensor:
    if node.opset < 7 and slope.ndim == 1:  # one number for each channel
        slope = slope.reshape(-1, *[1] * (x.ndim - 2))
    return functional.relu(x) - slope * functional.relu(-x)


@reads("Elu")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.elu(x, node.get("alpha", 1.0))


@reads("Selu")
def _(node: Node, x: Tensor) -> Tensor:
    alpha = node.get("alpha", 1.6732632423543772)
    result: Tensor = functional.elu(x, alpha) * node.get("gamma", 1.0507009873554805)
    return result


@reads("Celu")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.celu(x, node.get("alpha", 1.0))


@reads("Gelu")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.gelu(x, approximate=node.get("approximate", "none"))


@reads("HardSigmoid")
def _(node: Node, x: Tensor) -> Tensor:
    line: Tensor = x * node.get("alpha", 0.2) + node.get("beta", 0.5)
    return line.clamp(0, 1)


@reads("HardSwish")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.hardswish(x)


@reads("Mish")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.mish(x)


@reads("Softplus")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.softplus(x)


@reads("Softsign")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.softsign(x)


@reads("Swish")
def _(node: Node, x: Tensor) -> Tensor:
    alpha = node.get("alpha", 1.0)
    return functional.silu(x) if alpha == 1 else x * functional.sigmoid(x * alpha)


@reads("Shrink")
def _(node: Node, x: Tensor) -> Tensor:
    """Move numbers outside of [-lambd, lambd] towards 0, and make the others 0."""
    bias, limit = node.get("bias", 0.0), node.get("lambd", 0.5)
    zero = x * 0
    lower = masking.where(x < -limit, x + bias, zero)
    return masking.where(x > limit, x - bias, lower).to(x.dtype)


@reads("ThresholdedRelu")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.threshold(x, node.get("alpha", 1.0), 0.0)


def _along(node: Node, x: Tensor, function: Any) -> Tensor:
    """Apply a function of a tensor and an axis.

    Before version 13, it was applied to all dimensions from the axis on as to one.
    """
    if node.opset >= 13:
        result: Tensor = function(x, node.get("axis", -1))
        return result
    axis = node.get("axis", 1)
    outer = math.prod(x.shape[: axis + x.ndim if axis < 0 else axis])
    return function(x.reshape(outer, -1), 1).reshape(x.shape)  # type: ignore[no-any-return]


@reads("Softmax")
def _(node: Node, x: Tensor) -> Tensor:
    return _along(node, x, functional.softmax)


@reads("LogSoftmax")
def _(node: Node, x: Tensor) -> Tensor:
    return _along(node, x, functional.log_softmax)


def _hardmax(x: Tensor, axis: int) -> Tensor:
    first = extrema.argmax(x, axis, True)
    return scattering.scatter(like.zeros_like(x), axis, first, 1.0)


@reads("Hardmax")
def _(node: Node, x: Tensor) -> Tensor:
    return _along(node, x, _hardmax)
