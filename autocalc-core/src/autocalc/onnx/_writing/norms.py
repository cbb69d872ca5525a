# SPDX-License-Identifier: MIT
"""Normalisation layers."""

from __future__ import annotations

from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes
from autocalc.onnx._writing.activations import activated


@writes("layer_norm")
def layer_norm(
    k: Kernels, x: Value, weight: Value | None, bias: Value | None, eps: float = 1e-5
) -> Value:
    """Write the node, which must have a weight."""
    if weight is None:
        weight = k.full(x.shape[-1:], 1, x.dtype)
    value: Value = k.node(
        "LayerNormalization", x, weight, bias, shape=x.shape, axis=-1, epsilon=eps
    )
    return value


@writes("add_layer_norm")
def _(
    k: Kernels, a: Value, b: Value, weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value]:
    x = k.node("Add", a, b)
    return x, layer_norm(k, x, weight, bias, eps)


@writes("rms_norm")
def rms_norm(k: Kernels, x: Value, weight: Value | None, eps: float) -> Value:
    """Write x / sqrt(mean(x * x) + eps) * weight.

    ONNX has a node for it only since version 23.
    """
    square = k.mean(k.node("Mul", x, x), (len(x.shape) - 1,), True)
    root = k.node("Sqrt", k.node("Add", square, k.constant(eps, x)))
    value: Value = k.node("Div", x, root)
    return value if weight is None else k.node("Mul", value, weight)


@writes("add_rms_norm")
def _(
    k: Kernels, a: Value, b: Value, weight: Value | None, eps: float
) -> tuple[Value, Value]:
    x = k.node("Add", a, b)
    return x, rms_norm(k, x, weight, eps)


@writes("batch_norm_running")
def _(
    k: Kernels,
    x: Value,
    mean: Value,
    var: Value,
    weight: Value | None,
    bias: Value | None,
    other: Value | None,
    eps: float,
    activation: str,
    alpha: float,
    beta: float,
) -> Value:
    weight = k.full(mean.shape, 1, x.dtype) if weight is None else weight
    bias = k.zeros(mean.shape, x.dtype) if bias is None else bias
    given = (x, weight, bias, mean, var)
    out = k.node("BatchNormalization", *given, shape=x.shape, epsilon=eps)
    out = out if other is None else k.node("Add", out, other)
    return activated(k, out, activation, alpha, beta)
