# SPDX-License-Identifier: MIT
"""Attention as products and a softmax, if no row can be empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.table import TABLE
from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes


@writes("attention")
def _(
    k: Kernels,
    q: Value,
    keys: Value,
    v: Value,
    mask: Value | None,
    seed: Value | None,
    offset: Value | None,
    scale: float,
    causal: str,
    p: float,
) -> Any:
    """Write softmax(scale * q k^T) v, or the decomposition if rows can be empty."""
    batch, queries, heads, _ = q.shape
    length = keys.shape[1]
    lower = causal == "lower_right" and queries > length
    if mask is not None or p or lower or heads != keys.shape[2] or not length:
        decomposition: Any = TABLE["attention"].decomposition
        operands = (q, keys, v, mask, seed, offset, scale, causal, p)
        return decomposition(k, *operands, want=1)[0]
    rows = k.node("Mul", k.permute(q, (0, 2, 1, 3)), k.constant(scale, q))
    columns = k.permute(keys, (0, 2, 3, 1))
    square = (batch, heads, queries, length)
    scores = k.node("MatMul", rows, columns, shape=square)
    if causal != "none":
        shift = length - queries if causal == "lower_right" else 0
        seen = np.tri(queries, length, shift, dtype=bool)
        never = np.where(seen, 0, -np.inf).astype(q.dtype)
        scores = k.node("Add", scores, k.graph.constant(never))
    weights = k.node("Softmax", scores, axis=-1)
    values = k.permute(v, (0, 2, 1, 3))
    shape = (batch, heads, queries, v.shape[3])
    out = k.node("MatMul", weights, values, shape=shape)
    return k.permute(out, (0, 2, 1, 3))
