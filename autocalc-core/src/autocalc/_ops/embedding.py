# SPDX-License-Identifier: MIT
"""Rows of a table by number."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._state import current
from autocalc._graph._node import Node
from autocalc._ops._op import operator
from autocalc._ops._rule import Op
from autocalc._tensor import Tensor, make

_op = Op("embedding", "indices:weight")


def _embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    by_frequency: bool = False,
) -> Tensor:
    """Return ``weight[indices]``; row `padding_idx`, if not -1, gets no gradient.

    That row, and whether gradients are divided by how often their row was named, is the
    backward rule's business alone: attributes of the node which the forward kernel does
    not know.
    """
    a, index = weight._array, indices._array
    out = arrays.embedding(a, index)
    edges = (weight._edge, None)
    if edges[0] is None or not current().grad:
        return make(out, None)
    assert _op.saves is not None
    saved, versions = _op.saves(edges, (None, weight, indices))
    shapes = (a.shape, index.shape)
    node = Node(
        _op, edges, saved, versions, shapes, a.dtype, (padding_idx, by_frequency)
    )
    return make(out, node)


embedding = operator(_embedding, _op)


@embedding.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (indices,), shape = n.saved, n.shapes[0]
    padding_idx, by_frequency = n.attributes
    dtype = k.dtype(g)
    if by_frequency:
        g = k.div(g, _frequencies(k, indices, shape[0], g))
    dweight = k.embedding_backward(g, indices, padding_idx, shape=shape, dtype=dtype)
    return dweight, None


def _frequencies(k: Any, indices: Any, rows: int, g: Any) -> Any:
    """Return how often each number stands among all, as factors of its row of g."""
    size = math.prod(k.shape(indices))
    flat = k.reshape(indices, (size,))
    one = k.full((size,), 1, k.dtype(g))
    times = k.index_add(k.zeros((rows,), k.dtype(g)), flat, one, 0)
    return k.reshape(k.index_select(times, flat, 0), (*k.shape(indices), 1))
