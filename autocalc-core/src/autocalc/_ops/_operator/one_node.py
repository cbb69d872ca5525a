# SPDX-License-Identifier: MIT
"""Operators made of several kernels that are recorded as one node.

::

    @one_node("hardsigmoid", saves="a", like="abs")     # saves its input
    @traced
    def _hardsigmoid(x): ...

    @_hardsigmoid.vjp
    def _(k, n, g): ...

In a composition each operator costs a tensor, a node and its checks.  On small tensors
that is most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any

from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.complex_operators import op_for
from autocalc._ops._operator.factories import Operator, operator
from autocalc._ops._operator.rules import Op, Saves
from autocalc._tensor import Tensor, make


def one_node(
    name: str, saves: str = "", like: str = ""
) -> Callable[[Callable[..., Tensor]], Operator]:
    """Make an operator of a function of tensors and, after them, attributes.

    If a tensor leads to a gradient, the function gets tensors without a history.  So
    its short program runs in that case, too.  `saves` names inputs by the names that
    the kernel `like` uses; nothing else about `like` matters.
    """
    op = Op(name)
    op.saves = Saves(saves, TABLE[like]) if like else None

    def decorate(function: Callable[..., Tensor]) -> Operator:
        def call(*args: Any) -> Tensor:
            inputs = tuple(takewhile(_is_tensor, args))
            edges = tuple([x._edge for x in inputs])
            if edges.count(None) == len(edges) or not current().grad:
                return function(*args)
            attributes = args[len(inputs) :]
            bare = [make(x._array, None) for x in inputs]
            result: Any = make(function(*bare, *attributes)._array, None)
            saved: Any = ()
            versions: Any = ()
            if op.saves is not None:
                saved, versions = op.saves(edges, (result, *inputs))
            shapes = tuple([x._array.shape for x in inputs])
            dtype = inputs[0]._array.dtype
            own = op_for(op, result._array, *[x._array for x in inputs])
            result._edge = Node(own, edges, saved, versions, shapes, dtype, attributes)
            return result  # type: ignore[no-any-return]  # a Tensor

        return operator(call, op, function.__doc__ or "", main=False)

    return decorate


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)
