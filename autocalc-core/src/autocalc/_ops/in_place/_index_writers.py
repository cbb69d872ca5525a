# SPDX-License-Identifier: MIT
"""Operators of indices that write into the memory of their first operand.

So the cost of a write depends on what it writes, not on the size of the tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.partial_writes import record_write
from autocalc._ops.views._writing import check_writable, give_tangent
from autocalc._tensor import Tensor, dtypes, make

#: A function of a tensor, indices, values and an axis.
Writer: TypeAlias = Callable[[Tensor, Tensor, Tensor, int], Tensor]


def writer(operator: Any) -> Writer:
    """Return a function that runs an index kernel in the memory of its first operand.

    Its backward rule must need neither the old values nor the result.
    """
    op = operator.op
    kernel = getattr(arrays, op.name)

    def run(x: Tensor, index: Tensor, src: Tensor, axis: int) -> Tensor:
        a = x._array
        kernel(a, index._array, src._array, axis, into=a)
        out = make(a, None)
        edges = (x._edge, None, src._edge)
        if current().grad and (edges[0] is not None or edges[2] is not None):
            saved, versions = op.saves(edges, (out, x, index, src))
            shapes = (a.shape, index.shape, src.shape)
            out._edge = Node(op, edges, saved, versions, shapes, a.dtype, (axis,))
        return out

    return run


def write_at(
    where: str,
    operator: Any,
    x: Tensor,
    others: tuple[Any, ...],
    run: Callable[[Writer, Tensor], Tensor],
) -> bool:
    """Let ``run(writer, x)`` write into `x`; return whether that was possible.

    `others` are the operands that are read; none of them may share memory with `x`.
    """
    history = (t for t in others if isinstance(t, Tensor) and t._edge is not None)
    recorded = check_writable(where, x, next(history, None))
    adds = operator.op.name in ("index_add", "scatter_add", "scatter_mul")
    if x.ndim == 0 or (adds and x.dtype is dtypes.bool_):
        return False
    a = x._array
    for other in others:
        if not isinstance(other, Tensor) or arrays.may_overlap(a, other._array):
            return False
        if other._array.__class__ is DeviceArray:
            give_tangent(x, other)
    a = x._array
    out = run(writer(operator), make(a, x._edge if recorded else None))
    x._bump()
    if recorded:
        record_write(x, out._edge)
    return True
