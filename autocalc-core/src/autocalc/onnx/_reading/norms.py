# SPDX-License-Identifier: MIT
"""Normalisation layers, for inference."""

from __future__ import annotations

from typing import Any

from autocalc._ops.elementwise import exponential
from autocalc._ops.indexing import masking
from autocalc._ops.reductions import reduction, variance
from autocalc._tensor import Tensor, dtypes
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


@reads("BatchNormalization", unused=("momentum",), only={"spatial": (1,)})
def _(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor, mean: Tensor, var: Tensor
) -> Any:
    eps = node.get("epsilon", 1e-5)
    training = node.get("training_mode", 0) or (
        node.opset < 14 and len([name for name in node.outputs if name]) > 1
    )
    if not training:
        return functional.batch_norm(x, mean, var, weight, bias, False, 0.0, eps)
    kept, dims = node.get("momentum", 0.9), (0, *range(2, x.ndim))
    now = reduction.mean(x, dims)
    spread = variance.var(x, dims, correction=0)
    out = functional.batch_norm(x, now, spread, weight, bias, False, 0.0, eps)
    means = mean * kept + now * (1 - kept)
    return out, means, var * kept + spread * (1 - kept), now, spread


@reads("InstanceNormalization")
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    eps = node.get("epsilon", 1e-5)
    return functional.instance_norm(x, None, None, weight, bias, True, 0.0, eps)


@reads("LayerNormalization", unused=("stash_type",))
def _(
    node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None
) -> tuple[Tensor, ...]:
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


@reads("RMSNormalization", unused=("stash_type",))
def _(node: Node, x: Tensor, weight: Tensor) -> Tensor:
    shape = x.shape[node.get("axis", -1) :]
    return functional.rms_norm(
        x, shape, weight.expand(shape), node.get("epsilon", 1e-5)
    )


@reads("GroupNormalization", unused=("stash_type",))
def _(node: Node, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    groups, eps = node.get("num_groups"), node.get("epsilon", 1e-5)
    if node.opset < 21:  # one number for each group
        each = x.shape[1] // groups
        weight, bias = weight.repeat_interleave(each), bias.repeat_interleave(each)
    return functional.group_norm(x, groups, weight, bias, eps)


@reads("LRN")
def _(node: Node, x: Tensor) -> Tensor:
    size, alpha = node.get("size"), node.get("alpha", 1e-4)
    beta, bias = node.get("beta", 0.75), node.get("bias", 1.0)
    before = (size - 1) // 2
    squares = (x * x).reshape(x.shape[0], 1, x.shape[1], -1)
    squares = functional.pad(squares, [0, 0, before, size - 1 - before])
    sums = functional.avg_pool2d(squares, (size, 1), (1, 1)).reshape(x.shape)
    result: Tensor = x / (bias + alpha * sums) ** beta
    return result


@reads("LpNormalization", only={"p": (2, 1)})
def _(node: Node, x: Tensor) -> Tensor:
    """Return the quotient by the norm; it is 0 where the norm is 0."""
    axis = node.get("axis", -1)
    squares = node.get("p", 2) == 2
    norm = reduction.sum(x * x if squares else abs(x), axis, True)
    norm = exponential.sqrt(norm) if squares else norm
    return masking.where(norm == 0, x * 0, x / norm)


@reads("MeanVarianceNormalization")
def _(node: Node, x: Tensor) -> Tensor:
    axes = tuple(node.get("axes", [0, 2, 3]))
    centred = x - reduction.mean(x, axes, True)
    spread = exponential.sqrt(reduction.mean(centred * centred, axes, True))
    return centred / (spread + 1e-9)
