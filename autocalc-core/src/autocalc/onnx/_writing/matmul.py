# SPDX-License-Identifier: MIT
"""Products of matrices, and the linear layer."""

from __future__ import annotations

import numpy as np

from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes
from autocalc.onnx._writing.activations import activated


@writes("gemm")
def _(
    k: Kernels,
    a: Value,
    b: Value,
    bias: Value | None,
    alpha: float = 1.0,
    beta: float = 1.0,
    activation: str = "none",
) -> Value:
    """Write activation(alpha * a @ b + bias); `beta` only applies to in-place sums."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, a.shape[-2], b.shape[-1])
    out = k.node("MatMul", a, b, shape=shape, dtype=a.dtype)
    if alpha != 1:
        out = k.node("Mul", out, k.constant(alpha, out))
    if bias is not None:
        out = k.node("Add", out, bias)
    return activated(k, out, activation, 0.0, 0.0)


@writes("linear")
def _(
    k: Kernels, x: Value, weight: Value, bias: Value | None, activation: str = "none"
) -> Value:
    shape = (*x.shape[:-1], weight.shape[0])
    if len(x.shape) == 2:
        out = k.node("Gemm", x, weight, bias, shape=shape, dtype=x.dtype, transB=1)
    else:
        turned = k.permute(weight, (1, 0))
        out = k.node("MatMul", x, turned, shape=shape, dtype=x.dtype)
        out = out if bias is None else k.node("Add", out, bias)
    return activated(k, out, activation, 0.0, 0.0)
