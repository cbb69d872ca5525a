# SPDX-License-Identifier: MIT
"""Operators that join tensors."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from autocalc._dispatch.device.device import joined_dtype
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.arguments import axis_of, check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.coerce import cast, coerce, result_dtype
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.rules import Op
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import zeros
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, DTypeError, ShapeError

_cat, _stack = Op("cat"), Op("stack")


Read: TypeAlias = tuple[list[Any], list[Any], list[Any]]


def _read(tensors: Any) -> Read | None:
    """Return arrays, edges and shapes of a list of tensors of one dtype, else None."""
    kind = tensors.__class__
    if (kind is not list and kind is not tuple) or not tensors:
        return None
    given: list[Any] = []
    edges: list[Any] = []
    shapes: list[Any] = []
    dtype = None
    for tensor in tensors:
        try:
            a, edge = tensor._array, tensor._edge
        except AttributeError:
            return None
        if a.dtype is not dtype:
            if dtype is not None:
                return None
            dtype = a.dtype
        given.append(a)
        edges.append(edge)
        shapes.append(a.shape)
    return given, edges, shapes


def _joined(op: Op, join: Callable[..., Any], read: Read, axis: int) -> Tensor:
    """Run `join` on the result of `_read`, and record it as `op`."""
    given, edges, shapes = read
    out = join(given, axis)
    if edges.count(None) == len(edges) or not current().grad:
        return make(out, None)
    node = Node(op, tuple(edges), (), (), tuple(shapes), out.dtype, (axis,))
    return make(out, node)


def cat_op(tensors: tuple[Tensor, ...], axis: int) -> Tensor:
    """Join tensors of one dtype along `axis`."""
    return _joined(_cat, arrays.cat, _sure(tensors), axis)


def _sure(tensors: tuple[Tensor, ...]) -> Read:
    """Return the result of `_read` for tensors that are known to have one dtype."""
    read = _read(tensors)
    assert read is not None
    return read


def _cat_rule(k: Any, n: Any, g: Any) -> Any:
    """Return a view of `g` for each part."""
    (axis,) = n.attributes
    lead = (builtins.slice(None),) * axis
    result, start = [], 0
    for i, shape in enumerate(n.shapes):
        stop = start + shape[axis]
        place = (*lead, builtins.slice(start, stop))
        result.append(k.slice(g, place) if n.needs(i) else None)
        start = stop
    return tuple(result)


def _stack_rule(k: Any, n: Any, g: Any) -> Any:
    """Return a view of `g` for each part."""
    lead = (builtins.slice(None),) * n.attributes[0]
    return tuple([
        k.slice(g, (*lead, i, ...)) if n.needs(i) else None
        for i in range(len(n.shapes))
    ])  # fmt: skip


_cat.rule, _stack.rule = _cat_rule, _stack_rule


def listed(where: str, tensors: Any) -> Any:
    """Return the tensors of an argument, which must be a list or tuple of tensors."""
    if not isinstance(tensors, (list, tuple)):
        raise DTypeError(
            f"{where}: argument 'tensors' must be tuple of Tensors, not "
            f"{type(tensors).__name__}; a list is accepted, too. Write {where}([a, "
            "b]), with brackets."
        )
    return tensors


@autocasts("widest")
@traced(light=True)
def cat(
    tensors: Sequence[Tensor],
    dim: int = 0,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Join tensors along an existing dimension; their other sizes must be equal.

    Tensors of shape (0,) are skipped, as in PyTorch.

    Parameters
    ----------
    tensors
        A list or tuple of tensors.
    dim
        The dimension along which the tensors are joined.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If the list of tensors is empty.
    ShapeError
        If the sizes differ in another dimension than `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cat([ac.tensor([1, 2]), ac.tensor([3])])
    tensor([1, 2, 3])
    """
    read = _read(tensors)
    if read is None or (0,) in read[2]:
        if KINDS and (own := elsewhere("cat", *listed("cat", tensors))) is not None:
            return own(tensors, dim)  # type: ignore[no-any-return]  # a tensor
        parts = _converted("cat", tensors)
        read = _sure(tuple(x for x in parts if x.shape != (0,)) or parts[:1])
    shapes = read[2]
    first = shapes[0]
    axis = dim
    if axis.__class__ is not int or not 0 <= axis < len(first):
        axis = axis_of("cat", dim, len(first))
    if not first or shapes.count(first) < len(shapes):
        _check_sizes(shapes, axis)
    return _joined(_cat, arrays.cat, read, axis)


def _converted(where: str, tensors: Any) -> tuple[Tensor, ...]:
    """Return tensors in the dtype that they promote to."""
    given = listed(where, tensors)
    parts = coerce(where, *given) if given else ()
    if not parts:
        raise ArgumentError(f"{where}: needs at least one tensor.")
    return parts


def _check_sizes(shapes: list[tuple[int, ...]], axis: int) -> None:
    """Raise unless all shapes have `axis` and agree in all other dimensions."""
    if () in shapes:
        raise ShapeError(
            f"cat: zero-dimensional tensor (at position {shapes.index(())}) cannot be "
            f"concatenated; use ac.stack, which makes a new dimension."
        )
    first = shapes[0]
    ndim, before, after = len(first), first[:axis], first[axis + 1 :]
    for i, shape in enumerate(shapes):
        same = len(shape) == ndim and shape[:axis] == before
        if not (same and shape[axis + 1 :] == after):
            raise ShapeError(
                f"cat: Sizes of tensors must match except in dimension {axis}: "
                f"`tensors[{i}]` has shape {shape}, `tensors[0]` {first}."
            )


@autocasts("widest")
@traced(light=True)
def stack(
    tensors: Sequence[Tensor],
    dim: int = 0,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Join tensors of one shape along a new dimension.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    dim
        The position of the new dimension in the result.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If there is no tensor.
    ShapeError
        If the tensors have different shapes.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.stack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    read = _read(tensors)
    if read is None:
        for part in listed("stack", tensors):
            check_tensor("stack", part)
        read = _sure(_converted("stack", tensors))
    shapes = read[2]
    first = shapes[0]
    if shapes.count(first) < len(shapes):
        i, shape = next((i, n) for i, n in enumerate(shapes) if n != first)
        raise ShapeError(
            f"stack: `tensors[{i}]` has shape {shape}, but `tensors[0]` has shape "
            f"{first}; all shapes must be equal."
        )
    axis = dim
    if axis.__class__ is not int or not 0 <= axis <= len(first):
        axis = axis_of("stack", dim, len(first) + 1)
    return _joined(_stack, arrays.stack, read, axis)


def _of_dims(
    where: str, tensors: Any, ndim: int, raised: Callable[[Tensor], Tensor]
) -> list[Tensor]:
    """Return tensors of at least `ndim` dimensions; those of fewer are `raised`."""
    many = broadcasting.tensors_given(where, (listed(where, tensors),))
    return [x if x._array.ndim >= ndim else raised(x) for x in many]


@traced(light=True)
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the second dimension; join vectors along their only one.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hstack([ac.tensor([1, 2]), ac.tensor([3])])
    tensor([1, 2, 3])
    """
    many = _of_dims("hstack", tensors, 1, broadcasting.atleast_1d)
    return cat(many, 0 if many[0].ndim == 1 else 1)


@traced
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the first dimension; each vector becomes a row.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.vstack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    many = _of_dims("vstack", tensors, 2, broadcasting.atleast_2d)
    return cat(many, 0)


@traced
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the third dimension, which is added where it is missing.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.dstack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
    """
    many = _of_dims("dstack", tensors, 3, broadcasting.atleast_3d)
    return cat(many, 2)


@traced
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the second dimension; each vector becomes a column.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.column_stack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    many = broadcasting.tensors_given(
        "column_stack", (listed("column_stack", tensors),)
    )
    return hstack(
        [view.reshape_op(x, (x.numel(), 1)) if x.ndim < 2 else x for x in many]
    )


@traced
def block_diag(*tensors: Tensor) -> Tensor:
    """Return a matrix with the given matrices along its diagonal, and 0 elsewhere.

    Parameters
    ----------
    *tensors
        The tensors, as separate arguments.

    Raises
    ------
    ShapeError
        If a tensor has more than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.block_diag(ac.tensor([[1, 2]]), ac.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    many = [check_tensor("block_diag", x) for x in tensors]
    if any(x.ndim > 2 for x in many):
        found = ", ".join(str(x._array.shape) for x in many)
        message = (
            f"block_diag: the shapes are {found}; each tensor must be a matrix, a "
            "vector or a 0-d tensor."
        )
        raise ShapeError(message)
    parts = [view.reshape(x, (1, -1)) if x.ndim < 2 else x for x in many]
    if not parts:
        return zeros(1, 0)
    dtype = result_dtype("block_diag", *many)
    parts = [cast(x, dtype) for x in parts]
    top = left = 0
    places: list[tuple[slice, slice]] = []
    for x in parts:
        rows, columns = x._array.shape
        bottom, right = top + rows, left + columns
        places.append((slice(top, bottom), slice(left, right)))
        top, left = bottom, right
    return _blocks(*parts, (top, left), places)


@one_node("block_diag")
def _blocks(*given: Any) -> Tensor:
    """Return zeros of a size, with each of the parts at its place."""
    *parts, size, places = given
    dtype = joined_dtype(parts[0]._array, *[x._array for x in parts[1:]])
    whole = arrays.zeros(size, dtype)
    for x, place in zip(parts, places, strict=True):
        if x._array.size:  # short programs have no empty views
            arrays.copy(x._array, into=arrays.slice(whole, place))
    return make(whole, None)


@_blocks.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    places = enumerate(n.attributes[1])
    return tuple([k.slice(g, at) if n.needs(i) else None for i, at in places])
