# SPDX-License-Identifier: MIT
"""Products of matrices."""

from __future__ import annotations

from autocalc._ops.matrices import einsum, matmul
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


@reads("MatMul")
def _(node: Node, a: Tensor, b: Tensor) -> Tensor:
    return matmul.matmul(a, b)


@reads("Gemm", unused=("broadcast",))
def _(node: Node, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """Return alpha * a @ b + beta * c, as a linear layer if it is one."""
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    a = a.T if node.get("transA", 0) else a
    plain = alpha == 1 and (c is None or (beta == 1 and c.ndim == 1 and c.shape[0] > 1))
    if plain and node.get("transB", 0):
        return functional.linear(a, b, c)
    out = matmul.matmul(a, b.T if node.get("transB", 0) else b)
    out = out if alpha == 1 else out * alpha
    if c is None:
        return out
    return out + (c if beta == 1 else c * beta)


@reads("Einsum")
def _(node: Node, *x: Tensor) -> Tensor:
    return einsum.einsum(node.get("equation"), *x)
