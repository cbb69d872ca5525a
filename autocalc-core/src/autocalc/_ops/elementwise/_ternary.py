# SPDX-License-Identifier: MIT
"""Elementwise operators of three inputs, such as a choice and a clamp."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch.device.device import DeviceDType, joined_dtype
from autocalc._dispatch.engine.eager import elementwise
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.layout import empty_as
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._kernels.rules import broadcast_shapes
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.coerce import not_a_tensor
from autocalc._ops._operator.factories import Operator, operator
from autocalc._ops._operator.rules import Op, Saves
from autocalc._tensor import Tensor, make


def ternary(name: str, saves: str, *, like: int) -> Operator:
    """Make the operator of an elementwise kernel of three inputs: ``call(x, y, z)``.

    The last two inputs may be None if the kernel allows it.  Shapes are broadcast.  The
    result has the dtype of input number `like`.  All of this is one function, as in
    `binary`.
    """
    spec = TABLE[name]
    general = KernelCall(spec)
    index = general.index
    op = Op(name, saves)
    saver = Saves(saves, spec)

    def call(x: Any, y: Any, z: Any) -> Tensor:
        try:
            a, edge_a = x._array, x._edge
            b = c = kind_b = kind_c = edge_b = edge_c = None
            a_shape, b_shape, c_shape = a.shape, None, None
            if y is not None:
                b, edge_b = y._array, y._edge
                kind_b, b_shape = b.dtype, b.shape
            if z is not None:
                c, edge_c = z._array, z._edge
                kind_c, c_shape = c.dtype, c.shape
        except AttributeError:
            raise _not_a_tensor(name, x, y, z) from None
        state = current()
        selection = state.selection
        kinds = a.dtype, kind_b, kind_c
        kernel = selection.tables[index].get(kinds)
        if kernel is None:
            kernel = general.first(selection, kinds, (a, b, c))
        shape = a_shape
        if (b_shape and b_shape != shape) or (c_shape and c_shape != shape):
            shapes = [one for one in (shape, b_shape, c_shape) if one is not None]
            shape = broadcast_shapes(name, *shapes)
        dtype: Any = kinds[like]
        if a.__class__ is not np.ndarray or DeviceDType in {*map(type, kinds)}:
            dtype = joined_dtype((a, b, c)[like], a, b, c)
        if len(shape) == 4:
            operands = [one for one in (a, b, c) if one is not None]
            out = empty_as(selection.empty, shape, dtype, *operands)
        else:
            out = selection.empty(shape, dtype)
        kernel(out, a, b, c)
        result = make(out, None)
        if state.grad and (edge_a or edge_b or edge_c):
            edges = edge_a, edge_b, edge_c
            saved, versions = saver(edges, (result, x, y, z))
            given = a_shape, b_shape or (), c_shape or ()
            result._edge = Node(op, edges, saved, versions, given, dtype, ())
        return result

    call = elementwise("tensors", 3, index, op=op, saves=saver, like=like)(call)
    return operator(call, op)


def _not_a_tensor(name: str, *given: Any) -> TypeError:
    """Return the error for the first operand that is neither a tensor nor left out."""
    wrong = (x for x in given if x is not None and not isinstance(x, Tensor))
    return not_a_tensor(name, next(wrong, None))
