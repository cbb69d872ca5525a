# SPDX-License-Identifier: MIT
"""Normalisation layers, for inference."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


@reads("BatchNormalization")
def _(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor, mean: Tensor, var: Tensor
) -> Tensor:
    node.only("training_mode", 0)
    eps = node.get("epsilon", 1e-5)
    return functional.batch_norm(x, mean, var, weight, bias, False, 0.0, eps)


@reads("InstanceNormalization")
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    eps = node.get("epsilon", 1e-5)
    return functional.instance_norm(x, None, None, weight, bias, True, 0.0, eps)


@reads("LayerNormalization")
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    shape = x.shape[node.get("axis", -1) :]
    weight = weight.expand(shape) if weight.shape != shape else weight
    bias = bias.expand(shape) if bias is not None and bias.shape != shape else bias
    return functional.layer_norm(x, shape, weight, bias, node.get("epsilon", 1e-5))


@reads("RMSNormalization")
def _(node: Node, x: Tensor, weight: Tensor) -> Tensor:
    shape = x.shape[node.get("axis", -1) :]
    return functional.rms_norm(
        x, shape, weight.expand(shape), node.get("epsilon", 1e-5)
    )


@reads("GroupNormalization")
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    groups, eps = node.get("num_groups"), node.get("epsilon", 1e-5)
    if node.opset < 21:  # one number for each group
        each = x.shape[1] // groups
        weight, bias = weight.repeat_interleave(each), bias.repeat_interleave(each)
    return functional.group_norm(x, groups, weight, bias, eps)
