# SPDX-License-Identifier: MIT
"""Activations that ONNX has; others are written as decompositions."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.table import TABLE
from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes


@writes("relu")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Relu", a)


@writes("sigmoid")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Sigmoid", a)


@writes("silu")
def _(k: Kernels, a: Value) -> Value:
    return k.node("Mul", a, k.node("Sigmoid", a))


@writes("hardswish")
def _(k: Kernels, a: Value) -> Value:
    return k.node("HardSwish", a)


@writes("hardtanh")
def _(k: Kernels, a: Value, low: float, high: float) -> Value:
    return k.node("Clip", a, k.constant(low, a), k.constant(high, a), shape=a.shape)


@writes("leaky_relu")
def _(k: Kernels, a: Value, slope: float) -> Value:
    return k.node("LeakyRelu", a, alpha=slope)


@writes("elu")
def _(k: Kernels, a: Value, alpha: float, rate: float, scale: float) -> Any:
    """Write scale * (a or alpha * (exp(rate * a) - 1))."""
    if rate <= 0:
        decomposition: Any = TABLE["elu"].decomposition
        return decomposition(k, a, alpha, rate, scale)
    scaled = a if rate == 1 else k.node("Mul", a, k.constant(rate, a))
    below = k.node("Elu", scaled, alpha=alpha)
    if rate != 1:
        below = k.where(k.compare(a, k.constant(0, a), "gt"), a, below)
    return below if scale == 1 else k.node("Mul", below, k.constant(scale, a))


def activated(
    k: Kernels, a: Value, activation: str, alpha: float, beta: float
) -> Value:
    """Write the activation that is fused with another kernel."""
    if activation == "hardtanh":
        a = k.hardtanh(a, alpha, beta)
    elif activation == "leaky_relu":
        a = k.leaky_relu(a, alpha)
    elif activation in {"gelu", "gelu_tanh"}:
        a = k.gelu(a, "tanh" if activation == "gelu_tanh" else "none")
    elif activation != "none":
        a = getattr(k, activation)(a)
    return a
