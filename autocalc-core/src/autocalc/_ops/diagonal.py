# SPDX-License-Identifier: MIT
"""Diagonals: a view of them, and a tensor of zeros with one."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._state import current
from autocalc._graph._node import Node
from autocalc._ops._op import view
from autocalc._ops._rule import Op
from autocalc._tensor import Tensor, make


@view("diagonal")
def diagonal(a: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    """Return the diagonal of two dimensions as the last one: a view."""
    result = a.diagonal(offset, axis1, axis2)
    if a.flags.writeable:
        result.flags.writeable = True  # NumPy promises less than it gives
    return result


@diagonal.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return (on_diagonal if k.records else _on_diagonal)(g, n.shapes[0], *n.attributes)


def _on_diagonal(a: Any, shape: Any, offset: int, axis1: int, axis2: int) -> Any:
    out = arrays.zeros(shape, a.dtype)
    assert diagonal.op.function is not None
    arrays.copy(a, into=diagonal.op.function(out, offset, axis1, axis2))
    return out


_embed = Op("on_diagonal")


def on_diagonal(
    x: Tensor, shape: tuple[int, ...], offset: int, axis1: int, axis2: int
) -> Tensor:
    """Return zeros of `shape` with `x` on a diagonal: the adjoint of `diagonal`."""
    a = x._array
    out = _on_diagonal(a, shape, offset, axis1, axis2)
    edge = x._edge if current().grad else None
    if edge is not None:
        place = (offset, axis1, axis2)
        edge = Node(_embed, (edge,), (), (), (a.shape,), a.dtype, place)
    return make(out, edge)


def _embed_rule(k: Any, n: Any, g: Any) -> Any:
    if k.records:
        return diagonal(g, *n.attributes)
    assert diagonal.op.function is not None
    return diagonal.op.function(g, *n.attributes)


_embed.rule = _embed_rule
