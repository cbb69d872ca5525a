# SPDX-License-Identifier: MIT
"""Activations."""

from __future__ import annotations

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


@reads("Softmax")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.softmax(x, node.get("axis", -1))


@reads("LogSoftmax")
def _(node: Node, x: Tensor) -> Tensor:
    return functional.log_softmax(x, node.get("axis", -1))
