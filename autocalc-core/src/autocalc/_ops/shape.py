# SPDX-License-Identifier: MIT
"""Views, copies and joins: operators that move elements and compute nothing."""

from __future__ import annotations

import builtins
from typing import Any

from autocalc._dispatch._arrays import arrays, reshaped_view
from autocalc._dispatch._layout import PIXELS, PLANES, is_channels_last
from autocalc._dispatch._state import current
from autocalc._graph._node import Node, Partial
from autocalc._ops._op import nary, view
from autocalc._ops._rule import Op
from autocalc._ops._view_tracker import is_alone, leave_base
from autocalc._tensor import Tensor, make


@view("reshape")
def reshape_view(a: Any, shape: Any) -> Any:
    """Return the same elements in another shape."""
    return a.reshape(shape)


@reshape_view.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.reshape(g, n.shapes[0])


@view("permute")
def permute(a: Any, axes: Any) -> Any:
    """Return the dimensions in another order."""
    return arrays.permute(a, axes)


@permute.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (axes,) = n.attributes
    inverse = sorted(range(len(axes)), key=axes.__getitem__)
    return k.permute(g, tuple(inverse))


@view("expand")
def expand(a: Any, shape: Any) -> Any:
    """Return the elements repeated to a larger shape, without a copy."""
    return arrays.expand(a, shape)


@expand.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.sum_to(g, n.shapes[0])


@view("slice")
def slice(a: Any, index: Any) -> Any:
    """Return ``a[index]`` for integers, slices, None and Ellipsis."""
    return arrays.slice(a, index)


@slice.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return Partial(n.attributes[0], g)


clone = nary("copy")


@clone.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return g


_cat = Op("cat")


def cat(tensors: tuple[Tensor, ...], axis: int) -> Tensor:
    """Join tensors of one dtype along `axis`."""
    out = arrays.cat([t._array for t in tensors], axis)
    edges = tuple([t._edge for t in tensors])
    if not (any(edges) and current().grad):
        return make(out, None)
    shapes = tuple([t._array.shape for t in tensors])
    return make(out, Node(_cat, edges, (), (), shapes, out.dtype, (axis,)))


def _cat_rule(k: Any, n: Any, g: Any) -> Any:
    (axis,) = n.attributes
    result, start = [], 0
    for i, shape in enumerate(n.shapes):
        stop = start + shape[axis]
        place = (builtins.slice(None),) * axis + (builtins.slice(start, stop),)
        result.append(k.slice(g, place) if n.needs(i) else None)
        start = stop
    return tuple(result)


_cat.rule = _cat_rule


# ---- by index ------------------------------------------------------------------------

gather = nary("gather", saves="index")


@gather.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    zeros = k.zeros(n.shapes[0], k.dtype(g))
    return k.scatter_add(zeros, index, g, *n.attributes), None


scatter_add = nary("scatter_add", saves="index:src")


@scatter_add.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    return (
        g if n.needs(0) else None,
        None,
        k.gather(g, index, *n.attributes) if n.needs(2) else None,
    )


index_select = nary("index_select", saves="index")


@index_select.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    zeros = k.zeros(n.shapes[0], k.dtype(g))
    return k.index_add(zeros, index, g, *n.attributes), None


index_add = nary("index_add", saves="index:src")


@index_add.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    return (
        g if n.needs(0) else None,
        None,
        k.index_select(g, index, *n.attributes) if n.needs(2) else None,
    )


def _winners(k: Any, index: Any, like: Any, axis: int) -> Any:
    """Return where `index`, of the shape of `like`, is the last one for its place."""
    shape = k.shape(index)
    line = tuple(shape[axis] if d == axis else 1 for d in range(len(shape)))
    numbers = k.reshape(k.arange(shape[axis], index), line)
    numbers = k.contiguous(k.expand(numbers, shape))
    none = k.zeros(k.shape(like), k.dtype(index))
    last = k.gather(k.scatter(none, index, numbers, axis), index, axis)
    return k.compare(last, numbers, "eq")


scatter = nary("scatter", saves="index")


@scatter.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,), (axis,) = n.saved, n.attributes
    da = dsrc = None
    if n.needs(0):
        da = k.scatter(g, index, k.zeros(n.shapes[2], k.dtype(g)), axis)
    if n.needs(2):
        taken = k.gather(g, index, axis)
        dsrc = k.where(_winners(k, index, g, axis), taken, k.constant(0, g))
    return da, None, dsrc


index_copy = nary("index_copy", saves="index")


@index_copy.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,), (axis,) = n.saved, n.attributes
    da = dsrc = None
    if n.needs(0):
        da = k.index_copy(g, index, k.zeros(n.shapes[2], k.dtype(g)), axis)
    if n.needs(2):
        taken = k.index_select(g, index, axis)
        places = k.zeros((n.shapes[0][axis],), k.dtype(index))
        wins = _winners(k, index, places, 0)
        line = tuple(m if d == axis else 1 for d, m in enumerate(n.shapes[2]))
        dsrc = k.where(k.reshape(wins, line), taken, k.constant(0, g))
    return da, None, dsrc


# ---- views where strides allow them, else copies -------------------------------------


def reshape(x: Tensor, shape: Any) -> Tensor:
    """Return `x` in another shape: a view, or of a copy where strides forbid one."""
    a = x._array
    if not a.flags.c_contiguous and reshaped_view(a, shape) is None:
        return detach_from_base(reshape_view(clone(x), shape))
    return reshape_view(x, shape)


def channels_last(x: Tensor) -> Tensor:
    """Return a copy of `x` [N, C, H, W] that lies channels-last."""
    return detach_from_base(permute(clone(permute(x, PIXELS)), PLANES))


def store_in_rows(x: Tensor) -> bool:
    """Move what lies channels-last to memory in row-major order, if only `x` sees it.

    Whoever saved the array for a gradient keeps the old one, of the same values.
    """
    if not is_channels_last(x._array) or not is_alone(x):
        return False
    x._array = arrays.copy(x._array)
    return True


def detach_from_base(x: Tensor) -> Tensor:
    """Return `x`, a view of a tensor that nobody else has: it may be written."""
    leave_base(x)
    return x


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
