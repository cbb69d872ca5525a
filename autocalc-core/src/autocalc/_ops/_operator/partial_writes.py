# SPDX-License-Identifier: MIT
"""The operators that in-place writes into a part of a tensor record."""

from __future__ import annotations

from functools import partial
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node, Partial
from autocalc._ops._operator import view_tracker
from autocalc._ops._operator.factories import OPERATORS
from autocalc._ops._operator.rules import Op
from autocalc._tensor import Tensor, make
from autocalc._tensor.hooks import keep_retaining

_overwrite = Op("overwrite")


def _overwrite_rule(k: Any, n: Any, g: Any) -> Any:
    return k.zeros(n.shapes[0], n.dtype)


_overwrite.rule = _overwrite_rule


_write = Op("write")


def _write_rule(k: Any, n: Any, g: Any) -> Any:
    strides, view_chain = n.attributes
    before: Any = None
    value: Any = None
    if k.records:
        before = without(g, strides, view_chain) if n.needs(0) else None
        return before, viewed(g, view_chain) if n.needs(1) else None
    if n.needs(1):  # a copy, so zeros may overwrite it
        value = arrays.copy(_viewed(g, view_chain))
    if n.needs(0):
        before = Partial(None, partial(_cleared, strides, view_chain))
    return before, value


def _cleared(
    strides: Any, view_chain: view_tracker.ViewChain, a: Any, own: bool
) -> Any:
    """Return `a` with zeros in one part, in the memory of `a` if that is allowed.

    So the cost of a loop that writes all rows of a tensor grows with the size of the
    tensor, not with the square of the size.
    """
    if not (own and strides is None and a.flags.c_contiguous):
        return _without(a, strides, view_chain)
    arrays.copy(arrays.constant(0, a), into=_viewed(a, view_chain))
    return a


_write.rule = _write_rule


def record_write(x: Tensor, edge: Any) -> None:
    """Record that `x` now holds the values that `edge` leads to; None means constants.

    If `x` is a view, the write is recorded for that part of its base, and all views of
    the base follow.
    """
    base, view_chain = view_tracker.base_of(x), view_tracker.view_chain_of(x)
    a = base._array
    before = base._edge
    if edge is None and before is None:
        return
    if view_chain is not None:
        strides = None if a.flags.c_contiguous else a.strides
        edges, shapes = (before, edge), (a.shape, x._array.shape)
        base._edge = Node(_write, edges, (), (), shapes, a.dtype, (strides, view_chain))
    elif edge is None:
        base._edge = Node(_overwrite, (x._edge,), (), (), (a.shape,), a.dtype, ())
    else:
        base._edge = edge
    keep_retaining(base, before)
    view_tracker.rebase_history(base)


def _viewed(a: Any, view_chain: view_tracker.ViewChain) -> Any:
    for op, attributes, _ in view_tracker.steps(view_chain):
        a = op.function(a, *attributes)
    return a


def viewed(x: Tensor, view_chain: view_tracker.ViewChain) -> Tensor:
    """Return the view of `x` that a view chain makes."""
    for op, attributes, _ in view_tracker.steps(view_chain):
        x = OPERATORS[op.name](x, *attributes)
    return x


def in_strides(a: Any, strides: Any) -> Any:
    """Return a copy of `a` with these strides, so that the same views of it exist."""
    if strides is None:
        return arrays.copy(a)
    ends = ((n - 1) * step for n, step in zip(a.shape, strides, strict=True))
    memory = arrays.empty((sum(ends) // a.itemsize + 1,), a.dtype)
    out = arrays.strided(memory, a.shape, strides)
    arrays.copy(a, into=out)
    return out


def _without(a: Any, strides: Any, view_chain: view_tracker.ViewChain) -> Any:
    out = in_strides(a, strides) if a.size else arrays.copy(a)
    arrays.copy(arrays.constant(0, out), into=_viewed(out, view_chain))
    return out


_zeroed = Op("zeroed")


def without(x: Tensor, strides: Any, view_chain: view_tracker.ViewChain) -> Tensor:
    """Return a copy of `x` with zeros in the part that a view chain selects."""
    a = x._array
    out = _without(a, strides, view_chain)
    edge = x._edge if current().grad else None
    if edge is not None:
        attributes = (strides, view_chain)
        edge = Node(_zeroed, (edge,), (), (), (a.shape,), a.dtype, attributes)
    return make(out, edge)


def _zeroed_rule(k: Any, n: Any, g: Any) -> Any:
    return (without if k.records else _without)(g, *n.attributes)


_zeroed.rule = _zeroed_rule
