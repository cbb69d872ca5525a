# SPDX-License-Identifier: MIT
"""Values along a dimension with their indices, as max, sort and topk return them."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.rules import Op
from autocalc._ops.reductions.reduction import spread
from autocalc._tensor import Tensor, make

_picked = Op("picked")
_picked.saves = Op("gather", "index").saves


def picked(
    x: Tensor, places: Any, axis: int, keepdim: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the elements of `x` at `places`, an array of indices along `axis`.

    Also return the indices as a tensor.  Without `keepdim` there is one for each line,
    and the dimension is removed.
    """
    a, edge = x._array, x._edge
    values = arrays.gather(a, places, axis)
    if not keepdim:
        line = (*(slice(None),) * axis, 0, ...)
        values, places = values[line], places[line]
    result, indices = make(values, None), make(places, None)
    if edge is not None and current().grad:
        cell = indices._new_version()
        shapes, attributes = (a.shape, places.shape), (axis, keepdim)
        result._edge = Node(
            _picked, (edge, None), (places,), (cell, 0), shapes, a.dtype, attributes
        )
    return result, indices


def _rule(k: Any, n: Any, g: Any) -> Any:
    (index,), (axis, keepdim), shape = n.saved, n.attributes, n.shapes[0]
    g, index = (spread(k, x, shape, (axis,), keepdim) for x in (g, index))
    return k.scatter_add(k.zeros(shape, k.dtype(g)), index, g, axis), None


_picked.rule = _rule
