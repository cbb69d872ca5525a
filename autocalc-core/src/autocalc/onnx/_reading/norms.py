# SPDX-License-Identifier: MIT
"""Normalisation layers, for inference."""

from __future__ import annotations

from autocalc._ops.elementwise import exponential
from autocalc._ops.reductions import reduction, variance
from autocalc._tensor import Tensor, dtypes
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


@reads("BatchNormalization", unused=("momentum",))
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
def _(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None
) -> tuple[Tensor, ...]:
    node.only("stash_type", 1)
    axis, eps = node.get("axis", -1), node.get("epsilon", 1e-5)
    shape = x.shape[axis:]
    weight = weight.expand(shape) if weight.shape != shape else weight
    bias = bias.expand(shape) if bias is not None and bias.shape != shape else bias
    out = functional.layer_norm(x, shape, weight, bias, eps)
    if len(node.outputs) == 1:
        return (out,)
    dims, precise = tuple(range(axis % x.ndim, x.ndim)), x.to(dtypes.float32)
    mean = reduction.mean(precise, dims, True)
    spread = variance.var(precise, dims, correction=0, keepdim=True)
    return out, mean, exponential.rsqrt(spread + eps)


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
