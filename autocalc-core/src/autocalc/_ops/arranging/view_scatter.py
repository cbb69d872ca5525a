# SPDX-License-Identifier: MIT
"""Copies of a tensor in which another tensor replaces a view."""

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
    """Write `src` into `seen`, a view of the fresh copy `whole`; return `whole`."""
    if check_tensor(where, src).shape != seen.shape:
        raise ShapeError(
            f"{where}: `src` has shape {src.shape}; it must have shape {seen.shape}, "
            "that of the part that it replaces."
        )
    copy_into(seen, src, where)
    return whole


@method("diagonal_scatter")
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return a copy of `input` in which `src` replaces a diagonal.

    Parameters
    ----------
    input
        The tensor, with at least two dimensions.
    src
        The new diagonal, with the shape of ``input.diagonal(offset, dim1, dim2)``.
    offset
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    dim1, dim2
        The two dimensions that form the matrices.

    Raises
    ------
    ShapeError
        If the shape of `src` is not that of the diagonal.

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
    """Return a copy of `input` in which `src` replaces slice `index` along `dim`.

    Parameters
    ----------
    input
        The input tensor.
    src
        The new slice, with the shape of ``input.select(dim, index)``.
    dim
        The dimension; a negative one counts from the end.
    index
        The index along `dim`; a negative number counts from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ShapeError
        If the shape of `src` is not that of the slice.

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
    """Return a copy of `input` where `src` replaces slices ``start:end:step``.

    Parameters
    ----------
    input
        The input tensor.
    src
        The new slices, with the shape of the slices that they replace.
    dim
        The dimension; a negative one counts from the end.
    start, end
        The first index and the index after the last one, as in Python's slices.
    step
        The distance between two slices, 1 or more.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ShapeError
        If the shape of `src` is not that of the slices.
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
        The distance between two slices, 1 or more.
    axis
        NumPy's name for `dim`; use only one of the two names.

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
    """Return the view that a Python slice selects along `dim`."""
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
    """Return a copy of `input` in which `src` replaces an `as_strided` view.

    Parameters
    ----------
    input
        The tensor; its elements are counted in row-major order.
    src
        The new elements, with the shape of
        ``input.as_strided(size, stride, storage_offset)``.
    size
        The shape of `src`.
    stride
        For each dimension, the distance in memory between two neighbouring indices,
        counted in elements.
    storage_offset
        The index of the first element in memory; 0 by default.

    Raises
    ------
    ShapeError
        If the shape of `src` is not `size`.

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
