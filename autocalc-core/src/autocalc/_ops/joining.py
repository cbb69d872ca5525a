# SPDX-License-Identifier: MIT
"""Tensors joined into one."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._state import current
from autocalc._graph._node import Node
from autocalc._ops import broadcasting, view
from autocalc._ops._arguments import axis_of, check_tensor
from autocalc._ops._coerce import cast, coerce, result_dtype
from autocalc._ops._numpy_names import dim_or_axis
from autocalc._ops._out import apply_out, copy_to_out
from autocalc._ops._rule import Op
from autocalc._ops.filled import zeros
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, DTypeError, ShapeError

_cat = Op("cat")


def cat_op(tensors: tuple[Tensor, ...], axis: int) -> Tensor:
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


def listed(where: str, tensors: Any) -> Any:
    """Return what must be a list or tuple of tensors."""
    if not isinstance(tensors, (list, tuple)):
        message = (
            f"{where}: got a {type(tensors).__name__}; it must be a list or tuple of "
            f"tensors."
        )
        raise DTypeError(message)
    return tensors


def cat(
    tensors: Sequence[Tensor],
    dim: int = 0,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Join tensors along an existing dimension; all other sizes must be equal.

    Tensors of shape (0,) are left out, as in PyTorch.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    dim
        The dimension along which they are joined.
    out
        A tensor that takes the result, converted to its dtype.
    axis
        `dim` by NumPy's name.

    Raises
    ------
    ArgumentError
        If there is no tensor.
    ShapeError
        If sizes differ in another dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cat([ac.tensor([1, 2]), ac.tensor([3])])
    tensor([1, 2, 3])
    """
    if axis is not None:
        dim = dim_or_axis("cat", dim, axis, 0)
    parts = coerce("cat", *listed("cat", tensors)) if tensors else ()
    if not parts:
        message = "cat: needs at least one tensor."
        raise ArgumentError(message)
    parts = tuple(part for part in parts if part._array.shape != (0,)) or parts[:1]
    axis = axis_of("cat", dim, parts[0].ndim)
    first = parts[0]._array.shape
    for i, part in enumerate(parts):
        same = part.ndim == len(first) and all(
            m == n or j == axis
            for j, (m, n) in enumerate(zip(part._array.shape, first, strict=True))
        )
        if not same or part.ndim == 0:
            message = (
                f"cat: `tensors[{i}]` has shape {part.shape}, `tensors[0]` "
                f"{parts[0].shape}; all sizes but that of dimension {axis} must agree."
            )
            raise ShapeError(message)
    result = cat_op(parts, axis)
    return result if out is None else copy_to_out("cat", result, out)


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
        Where the new dimension stands.
    out
        A tensor that takes the result, converted to its dtype.
    axis
        `dim` by NumPy's name.

    Raises
    ------
    ArgumentError
        If there is no tensor.
    ShapeError
        If shapes differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.stack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    if axis is not None:
        dim = dim_or_axis("stack", dim, axis, 0)
    if not listed("stack", tensors):
        message = "stack: needs at least one tensor."
        raise ArgumentError(message)
    for i, part in enumerate(tensors):
        if check_tensor("stack", part)._array.shape != tensors[0]._array.shape:
            message = (
                f"stack: `tensors[{i}]` has shape {part.shape}, `tensors[0]` "
                f"{tensors[0].shape}; all must be equal."
            )
            raise ShapeError(message)
    axis = axis_of("stack", dim, tensors[0].ndim + 1)
    return cat([view.unsqueeze(part, axis) for part in tensors], axis, out=out)


def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the second dimension; vectors along the only one.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hstack([ac.tensor([1, 2]), ac.tensor([3])])
    tensor([1, 2, 3])
    """
    many = [
        broadcasting.atleast_1d(x)
        for x in broadcasting.tensors_given("hstack", (tensors,))
    ]
    return apply_out("hstack", cat(many, 0 if many[0].ndim == 1 else 1), out)


def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the first dimension; vectors are rows.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.vstack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return apply_out(
        "vstack",
        cat(
            [
                broadcasting.atleast_2d(x)
                for x in broadcasting.tensors_given("vstack", (tensors,))
            ],
            0,
        ),
        out,
    )


def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the third dimension.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.dstack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
    """
    return apply_out(
        "dstack",
        cat(
            [
                broadcasting.atleast_3d(x)
                for x in broadcasting.tensors_given("dstack", (tensors,))
            ],
            2,
        ),
        out,
    )


def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the second dimension; vectors are columns.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.column_stack([ac.tensor([1, 2]), ac.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    many = broadcasting.tensors_given("column_stack", (tensors,))
    return apply_out(
        "column_stack",
        hstack([view.reshape_op(x, (x.numel(), 1)) if x.ndim < 2 else x for x in many]),
        out,
    )


def block_diag(*tensors: Tensor) -> Tensor:
    """Return matrices along the diagonal of a matrix, with 0 elsewhere.

    Parameters
    ----------
    *tensors
        The tensors, a list or a tuple.

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
        message = f"block_diag: shapes {found}; all must be matrices, vectors or less."
        raise ShapeError(message)
    parts = [view.reshape(x, (1, -1)) if x.ndim < 2 else x for x in many]
    if not parts:
        return zeros(1, 0)
    dtype = result_dtype("block_diag", *many)
    parts = [cast(x, dtype) for x in parts]
    width, rows, start = sum(x.shape[1] for x in parts), [], 0
    for x in parts:
        n, m = x.shape
        rest = width - start - m
        row = [x.new_zeros((n, start)), x, x.new_zeros((n, rest))]
        rows.append(cat(row, 1))
        start += m
    return cat(rows, 0)
