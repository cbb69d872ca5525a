# SPDX-License-Identifier: MIT
"""Rows of a table by number."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._state import current
from autocalc._graph._node import Node
from autocalc._ops._op import Op, operator
from autocalc._tensor import Tensor, make

_op = Op("embedding", "indices:weight")


def _embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1) -> Tensor:
    """Return ``weight[indices]``; row `padding_idx`, if not -1, gets no gradient.

    That row is the backward kernel's business alone: an attribute of the node which the
    forward kernel does not know.
    """
    a, index = weight._array, indices._array
    out = arrays.embedding(a, index)
    edges = (weight._edge, None)
    if edges[0] is None or not current().grad:
        return make(out, None)
    assert _op.saves is not None
    saved, versions = _op.saves(edges, (None, weight, indices))
    shapes = (a.shape, index.shape)
    node = Node(_op, edges, saved, versions, shapes, a.dtype, (padding_idx,))
    return make(out, node)


embedding = operator(_embedding, _op)


@embedding.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (indices,), shape = n.saved, n.shapes[0]
    dtype = k.dtype(g)
    dweight = k.embedding_backward(g, indices, *n.attributes, shape=shape, dtype=dtype)
    return dweight, None
