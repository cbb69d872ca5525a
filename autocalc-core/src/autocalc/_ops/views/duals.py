# SPDX-License-Identifier: MIT
"""Make dual tensors of a primal and a tangent, and take them apart.

See `_dispatch/device/duals.py`: cotangents of dual tensors have exchanged parts, and
are marked as adjoint.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device import dual_parts as parts
from autocalc._dispatch.device.duals import DualLevel
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.rules import Op
from autocalc._tensor import Tensor, make

_PAIR = Op("make_dual")
_PRIMAL = Op("primal")
_TANGENT = Op("tangent")


def _recorded(array: Any, op: Op, inputs: tuple[Any, ...], level: DualLevel) -> Tensor:
    edges = tuple([None if x is None else x._edge for x in inputs])
    if edges.count(None) == len(edges) or not current().grad:
        return make(array, None)
    shapes = (array.shape,) * len(edges)
    return make(array, Node(op, edges, (), (), shapes, array.dtype, (level,)))


def paired(
    primal: Tensor, tangent: Tensor | None, level: DualLevel, *, adjoint: bool = False
) -> Tensor:
    """Return a dual tensor; a part that is None is zero."""
    other = None if tangent is None else tangent._array
    array = parts.pair(level, primal._array, other, adjoint=adjoint)
    return _recorded(array, _PAIR, (primal, tangent), level)


def primal_of(x: Tensor, level: DualLevel) -> Tensor:
    """Return the primal of a tensor: the tensor itself if it has no tangent."""
    array = parts.primal_at(x._array, level)
    if array is x._array:
        return x
    return _recorded(array, _PRIMAL, (x,), level)


def tangent_of(x: Tensor, level: DualLevel) -> Tensor | None:
    """Return the tangent of a tensor, or None for zero."""
    array = parts.tangent_at(x._array, level)
    return None if array is None else _recorded(array, _TANGENT, (x,), level)


def collapsed(g: Tensor, level: DualLevel) -> Tensor:
    """Return the gradient with respect to a primal from an adjoint cotangent."""
    found = tangent_of(g, level)
    if found is None:
        return make(parts.zeros_like(parts.primal_at(g._array, level)), None)
    return found


class _Arrays:
    """The functions above, on arrays."""

    paired = staticmethod(lambda p, t, level: parts.pair(level, p, t, adjoint=True))
    primal_of = staticmethod(parts.primal_at)
    collapsed = staticmethod(parts.collapsed)
    is_adjoint = staticmethod(parts.is_adjoint_at)
    zeros_like = staticmethod(parts.zeros_like)


class _Tensors:
    """The functions above, on tensors."""

    paired = staticmethod(lambda p, t, level: paired(p, t, level, adjoint=True))
    primal_of = staticmethod(primal_of)
    collapsed = staticmethod(collapsed)
    is_adjoint = staticmethod(lambda g, level: parts.is_adjoint_at(g._array, level))
    zeros_like = staticmethod(lambda g: make(parts.zeros_like(g._array), None))


def _on(k: Any) -> Any:
    return _Tensors if k.records else _Arrays


def _pair_rule(k: Any, n: Any, g: Any) -> Any:
    (level,) = n.attributes
    on = _on(k)
    if not on.is_adjoint(g, level):
        return g, None  # a gradient in dual numbers: that of the primal
    return on.collapsed(g, level), on.primal_of(g, level)


def _primal_rule(k: Any, n: Any, g: Any) -> Any:
    on = _on(k)
    return on.paired(on.zeros_like(g), g, *n.attributes)


def _tangent_rule(k: Any, n: Any, g: Any) -> Any:
    return _on(k).paired(g, None, *n.attributes)


_PAIR.rule, _PRIMAL.rule, _TANGENT.rule = _pair_rule, _primal_rule, _tangent_rule
