# SPDX-License-Identifier: MIT
"""A copy of a tensor in which what a view sees is another tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops._operator.arguments import NeededDim, as_int, axis_of, check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops.arranging import diagonal
from autocalc._ops.views import splitting, striding, view
from autocalc._ops.views._writing import copy_into
from autocalc._ops.views.slicing import slice_op
from autocalc._tensor import Tensor
from autocalc._tensor.checks import require
from autocalc.errors import DimensionError, ShapeError

__all__ = [
    "as_strided_scatter",
    "diagonal_scatter",
    "select_scatter",
    "slice_copy",
    "slice_scatter",
]


def _written(where: str, whole: Tensor, seen: Tensor, src: Tensor) -> Tensor:
    """Return `whole`, a fresh copy, after `src` is written into its view `seen`."""
    if check_tensor(where, src).shape != seen.shape:
        raise ShapeError(
            f"{where}: `src` has shape {src.shape}; it must have {seen.shape}, the "
            f"shape of what it replaces."
        )
    copy_into(seen, src, where)
    return whole


@method("diagonal_scatter")
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return a copy of `input` whose diagonal is `src`.

    Parameters
    ----------
    input
        The tensor, with at least two dimensions.
    src
        The tensor that replaces ``input.diagonal(offset, dim1, dim2)``, of the same
        shape.
    offset
        The number of the diagonal: 0 is the main one, positive numbers are above it.
    dim1, dim2
        The dimensions of the matrices.

    Raises
    ------
    ShapeError
        If `src` has another shape than the diagonal.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.diagonal_scatter(ac.zeros(2, 2), ac.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    where = "diagonal_scatter"
    whole = view.clone(check_tensor(where, input))
    return _written(where, whole, diagonal.diagonal(whole, offset, dim1, dim2), src)


@method("select_scatter")
@declared
def select_scatter(
    input: Tensor,
    src: Tensor,
    dim: NeededDim = None,
    index: int | None = None,
    *,
    axis: Any = None,
) -> Tensor:
    """Return a copy of `input` whose slice number `index` along `dim` is `src`.

    Parameters
    ----------
    input
        The input tensor.
    src
        The tensor that replaces ``input.select(dim, index)``, of the same shape.
    dim
        The dimension; a negative one counts from the end.
    index
        The index along `dim`; negative ones count from the end.
    axis
        `dim` by NumPy's name.

    Raises
    ------
    ShapeError
        If `src` has another shape than the slice.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.select_scatter(ac.zeros(2, 2), ac.tensor([1.0, 2.0]), 0, 1)
    tensor([[0., 0.],
            [1., 2.]])
    """
    where = "select_scatter"
    whole = view.clone(check_tensor(where, input))
    return _written(where, whole, splitting.select(whole, dim, index), src)


@method("slice_scatter")
@declared
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    axis: Any = None,
) -> Tensor:
    """Return a copy of `input` whose slices ``start:end:step`` along `dim` are `src`.

    Parameters
    ----------
    input
        The input tensor.
    src
        The tensor that replaces the slices, of their shape.
    dim
        The dimension; a negative one counts from the end.
    start, end
        The first slice and the one after the last, as in Python's slices.
    step
        The distance of two slices, 1 or more.
    axis
        `dim` by NumPy's name.

    Raises
    ------
    ShapeError
        If `src` has another shape than the slices.
    ArgumentError
        If `step` is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.slice_scatter(ac.zeros(4), ac.tensor([1.0, 2.0]), 0, 0, 4, 2)
    tensor([1., 0., 2., 0.])
    """
    where = "slice_scatter"
    whole = view.clone(check_tensor(where, input))
    return _written(where, whole, _sliced(where, whole, dim, start, end, step), src)


@declared
def slice_copy(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    axis: Any = None,
) -> Tensor:
    """Return a copy of the slices ``start:end:step`` along `dim`.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    start, end
        The first slice and the one after the last, as in Python's slices.
    step
        The distance of two slices, 1 or more.
    axis
        `dim` by NumPy's name.

    Raises
    ------
    ArgumentError
        If `step` is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.slice_copy(ac.arange(5), 0, 1, 5, 2)
    tensor([1, 3])
    """
    where = "slice_copy"
    x = check_tensor(where, input)
    return view.clone(_sliced(where, x, dim, start, end, step))


def _sliced(
    where: str, x: Tensor, dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    """Return the view that Python's slice makes along `dim`."""
    if x.ndim == 0:
        raise DimensionError(f"{where}: a tensor without dimensions has no slices.")
    axis, every = axis_of(where, dim, x.ndim), as_int(where, "step", step)
    require(where, "step", step, every >= 1, "1 or more")
    first = None if start is None else as_int(where, "start", start)
    last = None if end is None else as_int(where, "end", end)
    before = [slice(None)] * axis
    return slice_op(x, (*before, slice(first, last, every), ...))


@method("as_strided_scatter")
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy of `input` in which `as_strided` sees `src`.

    Parameters
    ----------
    input
        The tensor; elements are counted row by row.
    src
        The tensor that replaces ``input.as_strided(size, stride, storage_offset)``, of
        the same shape.
    size
        The shape of `src`.
    stride
        The number of elements from one index to the next, in each dimension.
    storage_offset
        The number of the first element; 0 by default.

    Raises
    ------
    ShapeError
        If `src` has another shape than `size`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.as_strided_scatter(ac.zeros(2, 2), ac.tensor([1.0, 2.0]), (2,), (3,))
    tensor([[1., 0.],
            [0., 2.]])
    """
    where = "as_strided_scatter"
    whole = view.clone(check_tensor(where, input)).contiguous()
    offset = 0 if storage_offset is None else storage_offset
    return _written(where, whole, striding.as_strided(whole, size, stride, offset), src)
