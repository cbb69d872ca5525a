# SPDX-License-Identifier: MIT
"""Slices, and tensors placed into zeros: each is the gradient of the other."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node, Partial
from autocalc._ops._operator.coerce import check_tensor
from autocalc._ops._operator.factories import view_operator
from autocalc._ops._operator.rules import Op
from autocalc._ops._operator.view_tracker import view_of
from autocalc._tensor import Tensor, make


@view_operator("slice")
def slice_op(a: Any, index: Any) -> Any:
    """Return ``a[index]`` for integers, slices, None and Ellipsis."""
    return arrays.slice(a, index)


@slice_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Place `g` into zeros; if the index selected all elements, only reshape `g`."""
    index, shape = n.attributes[0], n.shapes[0]
    parts = index if isinstance(index, tuple) else (index,)
    if prod(k.shape(g)) == prod(shape) and all(map(_keeps_order, parts)):
        return k.reshape(g, shape)
    return Partial(index, g)


def _keeps_order(part: Any) -> bool:
    return part.__class__ is not slice or part.step is None or part.step > 0


_SLICE = slice_op.op


def plain_slice(where: str, x: Tensor, index: tuple[Any, ...]) -> Tensor | None:
    """Return ``x[index]`` for an index with Ellipsis; None if NumPy raises."""
    a = (x if x.__class__ is Tensor else check_tensor(where, x))._array
    try:
        seen = a[index]
    except IndexError:
        return None
    return view_of(x, seen, _SLICE, (index,))


def slices(x: Tensor, axis: int, parts: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return a view for each of the integers or slices `parts` of dimension `axis`."""
    a, lead = x._array, (slice(None),) * axis
    found = []
    for part in parts:
        index = (*lead, part, ...)
        found.append(view_of(x, a[index], _SLICE, (index,)))
    return tuple(found)


_placed = Op("placed")


def placed(x: Tensor, shape: Any, index: Any) -> Tensor:
    """Return zeros of `shape` with `x` at ``[index]``: the adjoint of `slice`."""
    a = x._array
    out = arrays.zeros(shape, a.dtype)
    arrays.copy(a, into=arrays.slice(out, index))
    edge = x._edge if current().grad else None
    if edge is not None:
        edge = Node(_placed, (edge,), (), (), (a.shape,), a.dtype, (index,))
    return make(out, edge)


def _placed_rule(k: Any, n: Any, g: Any) -> Any:
    return k.slice(g, n.attributes[0])


_placed.rule = _placed_rule
