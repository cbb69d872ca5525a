# SPDX-License-Identifier: MIT
"""Operators made of several kernels, run on arrays at once and recorded as one node.

::

    @composed("binary_cross_entropy", "a b", like="mul")    # saves both inputs
    def _entropy(k, n, g): ...

    return recorded(_entropy, (input, target), loss)        # an array as a tensor

Each operator of a composition costs a tensor, a node and its checks; on small tensors
that is most of what it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.rules import Op, Saves
from autocalc._tensor import Tensor, make


def composed(name: str, saves: str = "", like: str = "") -> Callable[..., Op]:
    """Make an operator of the function it decorates, which is its backward rule.

    `saves` names inputs as the kernel `like` does, whose other names do not matter.
    """
    op = Op(name)
    op.saves = Saves(saves, TABLE[like]) if like else None

    def declare(rule: Any) -> Op:
        op.rule = rule
        return op

    return declare


def one_node(
    op: Op,
    function: Callable[..., Tensor],
    inputs: tuple[Tensor, ...],
    attributes: tuple[Any, ...] = (),
) -> Tensor:
    """Return ``function(*inputs, *attributes)`` with a history of one node, `op`.

    The function sees no history, so that its short program runs where a
    gradient is wanted, too.
    """
    bare = [make(x._array, None) for x in inputs]
    return recorded(op, inputs, function(*bare, *attributes)._array, attributes)


def recorded(
    op: Op, inputs: tuple[Tensor, ...], out: Any, attributes: tuple[Any, ...] = ()
) -> Tensor:
    """Return the array `out`, which `op` has made of `inputs`, with its history."""
    result: Any = make(out, None)
    edges = tuple([x._edge for x in inputs])
    if edges.count(None) == len(edges) or not current().grad:
        return result  # type: ignore[no-any-return]  # a Tensor
    saved: Any = ()
    versions: Any = ()
    if op.saves is not None:
        saved, versions = op.saves(edges, (result, *inputs))
    shapes = tuple([x._array.shape for x in inputs])
    dtype = inputs[0]._array.dtype
    result._edge = Node(op, edges, saved, versions, shapes, dtype, attributes)
    return result  # type: ignore[no-any-return]  # a Tensor
