# SPDX-License-Identifier: MIT
"""Random numbers: those of AutoCalc's generator, or of a node's own seed."""

from __future__ import annotations

from typing import Any

from autocalc._ops.elementwise import exponential
from autocalc._ops.random import distributions, random_draws
from autocalc._tensor import Tensor, dtypes
from autocalc.onnx._node import Node
from autocalc.onnx._reading.arithmetic import drawn
from autocalc.onnx._table import reads


def _normal(node: Node, shape: Any, dtype: Any) -> Tensor:
    mean, scale = node.get("mean", 0.0), node.get("scale", 1.0)
    x = drawn(node, lambda words: random_draws.randn(tuple(shape), **words))
    result: Tensor = (x * scale + mean).to(dtype)
    return result


def _uniform(node: Node, shape: Any, dtype: Any) -> Tensor:
    low, high = node.get("low", 0.0), node.get("high", 1.0)
    x = drawn(node, lambda words: random_draws.rand(tuple(shape), **words))
    result: Tensor = (x * (high - low) + low).to(dtype)
    return result


@reads("RandomNormal", unused=("dtype",))
def _(node: Node) -> Tensor:
    return _normal(node, node.get("shape"), node.dtype("dtype", dtypes.float32))


@reads("RandomNormalLike", unused=("dtype",))
def _(node: Node, x: Tensor) -> Tensor:
    return _normal(node, x.shape, node.dtype("dtype", x.dtype))


@reads("RandomUniform", unused=("dtype",))
def _(node: Node) -> Tensor:
    return _uniform(node, node.get("shape"), node.dtype("dtype", dtypes.float32))


@reads("RandomUniformLike", unused=("dtype",))
def _(node: Node, x: Tensor) -> Tensor:
    return _uniform(node, x.shape, node.dtype("dtype", x.dtype))


@reads("Bernoulli", unused=("dtype",))
def _(node: Node, x: Tensor) -> Tensor:
    draw = drawn(node, lambda words: random_draws.rand(tuple(x.shape), **words))
    return (draw < x).to(node.dtype("dtype", x.dtype))


@reads("Multinomial", unused=("dtype",))
def _(node: Node, x: Tensor) -> Tensor:
    """Draw classes; the numbers are logarithms of their weights."""
    count = node.get("sample_size", 1)
    weights = exponential.exp(x.to(dtypes.float32))
    found = drawn(
        node, lambda words: distributions.multinomial(weights, count, True, **words)
    )
    return found.to(node.dtype("dtype", dtypes.int32))
