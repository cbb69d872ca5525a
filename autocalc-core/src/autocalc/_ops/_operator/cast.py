# SPDX-License-Identifier: MIT
"""The operator that changes a dtype; every promotion needs it."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import is_batched, repeated
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.rules import Op
from autocalc._tensor import Tensor, make
from autocalc._tensor.dtypes import DType

_cast = Op("cast")
_move = Op("move")


def astype(x: Tensor, dtype: DType) -> Tensor:
    """Return `x` with another dtype, as a recorded operation."""
    a = x._array
    out = arrays.cast(a, dtype.numpy)
    edge = x._edge
    if edge is None or not (dtype.is_differentiable and current().grad):
        return make(out, None)
    return make(out, Node(_cast, (edge,), (), (), (a.shape,), a.dtype, ()))


def move(x: Tensor, dtype: Any) -> Tensor:
    """Return a copy of `x` on the device of `dtype`, as a recorded operation.

    `dtype` has the same kind of elements as `x`.  It is a NumPy dtype for the CPU, or
    the dtype of a device.  Under `vmap`, all examples share the memory of `x`.
    """
    a = x._array
    if is_batched(dtype):
        return _shared(x, repeated(a, dtype))
    out = arrays.move(a, dtype)
    edge = x._edge
    if edge is None or not current().grad:
        return make(out, None)
    return make(out, Node(_move, (edge,), (), (), (a.shape,), a.dtype, ()))


def _shared(x: Tensor, array: Any) -> Tensor:
    """Return the same elements in another form; the gradient is that of `x`."""
    result = make(array, x._edge)
    result._version = x._cell()
    return result


def _move_rule(k: Any, n: Any, g: Any) -> Any:
    return k.move(g, n.dtype)


_move.rule = _move_rule


def _cast_rule(k: Any, n: Any, g: Any) -> Any:
    return k.cast(g, n.dtype)


_cast.rule = _cast_rule
