# SPDX-License-Identifier: MIT
"""Writes into a part of a tensor: which gradient goes where.

After ``x[:, 0] = value``, the gradient of `x` is 0 in that column for what was there
before, and that column of it is the gradient of `value`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._state import current
from autocalc._graph._node import Node, Partial
from autocalc._ops import _family as families
from autocalc._ops._op import OPERATORS
from autocalc._ops._rule import Op
from autocalc._tensor import Tensor, make

_overwrite = Op("overwrite")


def _overwrite_rule(k: Any, n: Any, g: Any) -> Any:
    return k.zeros(n.shapes[0], n.dtype)


_overwrite.rule = _overwrite_rule

_write = Op("write")


def _write_rule(k: Any, n: Any, g: Any) -> Any:
    strides, recipe = n.attributes
    before: Any = None
    value: Any = None
    if k.records:
        before = without(g, strides, recipe) if n.needs(0) else None
        return before, viewed(g, recipe) if n.needs(1) else None
    if n.needs(1):  # a copy: zeros may take its place
        value = arrays.copy(_viewed(g, recipe))
    if n.needs(0):
        before = Partial(None, partial(_cleared, strides, recipe))
    return before, value


def _cleared(strides: Any, recipe: families.Recipe, a: Any, own: bool) -> Any:
    """Return `a` with zeros in a part, in its own memory where that is allowed.

    So a loop that writes all rows of a tensor costs its size, not its square.
    """
    if not (own and strides is None and a.flags.c_contiguous):
        return _without(a, strides, recipe)
    arrays.copy(arrays.constant(0, a), into=_viewed(a, recipe))
    return a


_write.rule = _write_rule


def written(x: Tensor, edge: Any) -> None:
    """Record that the memory of `x` now holds what `edge` leads to; None: constants.

    If `x` is a view, its base is recorded as written in that part; all views follow.
    """
    base, recipe = families.base_of(x), families.recipe_of(x)
    a = base._array
    if edge is None and base._edge is None:
        return
    if recipe is not None:
        strides = None if a.flags.c_contiguous else a.strides
        edges, shapes = (base._edge, edge), (a.shape, x._array.shape)
        base._edge = Node(_write, edges, (), (), shapes, a.dtype, (strides, recipe))
    elif edge is None:
        base._edge = Node(_overwrite, (x._edge,), (), (), (a.shape,), a.dtype, ())
    else:
        base._edge = edge
    families.lead_on(base)


# ---- a recipe, on arrays and on tensors ----------------------------------------------


def _viewed(a: Any, recipe: families.Recipe) -> Any:
    for op, attributes, _ in families.steps(recipe):
        a = op.function(a, *attributes)
    return a


def viewed(x: Tensor, recipe: families.Recipe) -> Tensor:
    """Return the view of `x` that a recipe makes."""
    for op, attributes, _ in families.steps(recipe):
        x = OPERATORS[op.name](x, *attributes)
    return x


def _like(a: Any, strides: Any) -> Any:
    """Return a copy of `a` with these strides, so that the same views of it exist."""
    if strides is None:
        return arrays.copy(a)
    ends = ((n - 1) * step for n, step in zip(a.shape, strides, strict=True))
    memory = arrays.empty((sum(ends) // a.itemsize + 1,), a.dtype)
    out: Any = np.ndarray(a.shape, a.dtype, memory, 0, strides)
    arrays.copy(a, into=out)
    return out


def _without(a: Any, strides: Any, recipe: families.Recipe) -> Any:
    out = _like(a, strides) if a.size else arrays.copy(a)
    arrays.copy(arrays.constant(0, out), into=_viewed(out, recipe))
    return out


_zeroed = Op("zeroed")


def without(x: Tensor, strides: Any, recipe: families.Recipe) -> Tensor:
    """Return a copy of `x` with zeros in the part that a recipe names."""
    a = x._array
    out = _without(a, strides, recipe)
    edge = x._edge if current().grad else None
    if edge is not None:
        attributes = (strides, recipe)
        edge = Node(_zeroed, (edge,), (), (), (a.shape,), a.dtype, attributes)
    return make(out, edge)


def _zeroed_rule(k: Any, n: Any, g: Any) -> Any:
    return (without if k.records else _without)(g, *n.attributes)


_zeroed.rule = _zeroed_rule
