# SPDX-License-Identifier: MIT
"""Diagonals and triangles of matrices."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.arguments import as_int, axis_of, check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_shape
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.factories import view_operator
from autocalc._ops._operator.method import method
from autocalc._ops._operator.rules import Op
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import placed
from autocalc._ops.elementwise import comparison
from autocalc._ops.indexing import masking
from autocalc._ops.reductions import logical, reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.device import Device, present
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError


@view_operator("diagonal")
def diagonal_op(a: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    """Return the diagonal of two dimensions as the last dimension of a view."""
    result = a.diagonal(offset, axis1, axis2)
    if a.flags.writeable and not result.flags.writeable:
        result.flags.writeable = True  # NumPy's types promise less than NumPy gives
    return result


@diagonal_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return (diag_embed_op if k.records else _on_diagonal)(g, n.shapes[0], *n.attributes)


def _on_diagonal(a: Any, shape: Any, offset: int, axis1: int, axis2: int) -> Any:
    out = arrays.zeros(shape, a.dtype)
    assert diagonal_op.op.function is not None
    arrays.copy(a, into=diagonal_op.op.function(out, offset, axis1, axis2))
    return out


_embed = Op("on_diagonal")


def diag_embed_op(
    x: Tensor, shape: tuple[int, ...], offset: int, axis1: int, axis2: int
) -> Tensor:
    """Return zeros of `shape` with `x` on a diagonal: the adjoint of `diagonal`."""
    a = x._array
    out = _on_diagonal(a, shape, offset, axis1, axis2)
    edge = x._edge if current().grad else None
    if edge is not None:
        place = (offset, axis1, axis2)
        edge = Node(_embed, (edge,), (), (), (a.shape,), a.dtype, place)
    return make(out, edge)


def _embed_rule(k: Any, n: Any, g: Any) -> Any:
    if k.records:
        return diagonal_op(g, *n.attributes)
    assert diagonal_op.op.function is not None
    return diagonal_op.op.function(g, *n.attributes)


_embed.rule = _embed_rule


def _two_axes(where: str, dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    axes = axis_of(where, dim1, ndim), axis_of(where, dim2, ndim)
    if axes[0] == axes[1] or ndim < 2:
        raise DimensionError(
            f"{where}: the dimensions are {dim1} and {dim2} of {ndim}; a diagonal "
            "needs two different dimensions."
        )
    return axes


@method("diagonal")
@traced(light=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a view of the diagonals of matrices; they form the last dimension.

    Parameters
    ----------
    input
        A tensor with at least two dimensions.
    offset
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    dim1, dim2
        The two dimensions that form the matrices: the rows and the columns.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.diagonal(ac.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    x = check_tensor("diagonal", input)
    axes = _two_axes("diagonal", dim1, dim2, x.ndim)
    return diagonal_op(x, as_int("diagonal", "offset", offset), *axes)


@method("diag_embed")
@traced
def diag_embed(
    input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> Tensor:
    """Return a tensor with the last dimension of `input` on a diagonal and 0 elsewhere.

    Parameters
    ----------
    input
        The input tensor.
    offset
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    dim1
        The dimension of the rows in the result.
    dim2
        The dimension of the columns in the result.

    Raises
    ------
    DimensionError
        If `dim1` and `dim2` are the same dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.diag_embed(ac.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    x = check_tensor("diag_embed", input)
    if x.ndim == 0:
        message = "diag_embed: a tensor without dimensions has no diagonal to set."
        raise DimensionError(message)
    rows, columns = _two_axes("diag_embed", dim1, dim2, x.ndim + 1)
    n = x.shape[-1] + abs(as_int("diag_embed", "offset", offset))
    rest = iter(x.shape[:-1])
    shape = tuple(n if d in (rows, columns) else next(rest) for d in range(x.ndim + 1))
    return diag_embed_op(x, shape, offset, rows, columns)


@method("diag")
@traced
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Return a matrix with a vector on its diagonal, or the diagonal of a matrix.

    Parameters
    ----------
    input
        The input tensor.
    diagonal
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If `input` is neither a vector nor a matrix.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.diag(ac.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    x = check_tensor("diag", input)
    if x.ndim == 1:
        return diag_embed(x, diagonal)
    if x.ndim != 2:
        message = f"diag: `input` has shape {x.shape}; it must be a vector or a matrix."
        raise ShapeError(message)
    return view.clone(diagonal_op(x, as_int("diag", "diagonal", diagonal), 0, 1))


@method("trace")
@autocasts("float32")
@traced
def trace(input: Tensor) -> Tensor:
    """Return the sum of the diagonal of a matrix.

    Parameters
    ----------
    input
        The input tensor.

    Raises
    ------
    ShapeError
        If `input` is not a matrix.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.trace(ac.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    x = check_tensor("trace", input)
    check_shape("trace", "input", x, "a matrix")
    if x.dtype is dtypes.bool_:
        message = "trace: cannot add the elements of a bool tensor; use .long() first."
        raise DTypeError(message)
    return reduction.sum(diagonal_op(x, 0, 0, 1))


def _below(rows: int, columns: int, offset: int) -> Any:
    """Return an array, the mask of the elements on and below a diagonal of a matrix."""
    like = arrays.empty((), dtypes.int64.numpy)
    down, right = arrays.arange(rows, like), arrays.arange(columns, like)
    limit = arrays.add(down.reshape(rows, 1), constant(offset, like.dtype))
    return arrays.frozen(arrays.compare(right, limit, "le"))


#: The masks of matrices with up to this many elements are cached.
_KEPT = 4096
_kept_below = lru_cache(64)(_below)


@method("tril", inplace="tril_")
@traced
def tril(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Return `input` with zeros above a diagonal of its last two dimensions.

    Parameters
    ----------
    input
        The input tensor.
    diagonal
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tril(ac.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return _triangle("tril", input, diagonal)


@method("triu", inplace="triu_")
@traced
def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Return `input` with zeros below a diagonal of its last two dimensions.

    Parameters
    ----------
    input
        The input tensor.
    diagonal
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.triu(ac.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _triangle("triu", input, diagonal)


def _triangle(where: str, input: Tensor, diagonal: int) -> Tensor:
    x = check_tensor(where, input)
    a = x._array
    if a.ndim < 2:
        message = f"{where}: `input` has shape {x.shape}; it must hold matrices."
        raise ShapeError(message)
    offset = as_int(where, "diagonal", diagonal)
    zero = make(constant(0, a.dtype), None)
    rows, columns = a.shape[-2:]
    below = _kept_below if rows * columns <= _KEPT else _below
    if where == "tril":
        part = make(arrays.near(a, below(rows, columns, offset)), None)
        return comparison.where_op(part, x, zero)
    part = make(arrays.near(a, below(rows, columns, offset - 1)), None)
    return comparison.where_op(part, zero, x)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = dtypes.int64,
    device: str | Device = "cpu",
) -> Tensor:
    """Return the indices of the elements of a matrix on and below a diagonal.

    Parameters
    ----------
    row
        The number of rows.
    col
        The number of columns.
    offset
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    if device != "cpu":
        present(device)
    found = _triangle_indices("tril_indices", row, col, offset, dtype, lower=True)
    return found if device == "cpu" else make(placed(found._array, device), None)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = dtypes.int64,
    device: str | Device = "cpu",
) -> Tensor:
    """Return the indices of the elements of a matrix on and above a diagonal.

    Parameters
    ----------
    row
        The number of rows.
    col
        The number of columns.
    offset
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    if device != "cpu":
        present(device)
    found = _triangle_indices("triu_indices", row, col, offset, dtype, lower=False)
    return found if device == "cpu" else make(placed(found._array, device), None)


def _triangle_indices(
    where: str, row: Any, col: Any, offset: Any, dtype: DType, *, lower: bool
) -> Tensor:
    found = _indices_of(where, row, col, offset, lower)
    return found if dtype is dtypes.int64 else cast(found, dtypes.as_dtype(dtype))


@traced(light=True)
def _indices_of(where: str, row: Any, col: Any, offset: Any, lower: bool) -> Tensor:
    rows, columns = as_int(where, "row", row), as_int(where, "col", col)
    if min(rows, columns) < 0:
        message = f"{where}: row={rows}, col={columns}; sizes must not be negative."
        raise ArgumentError(message)
    first = as_int(where, "offset", offset) - (not lower)
    size = rows * columns
    kept = _kept_places if size <= _KEPT else _few_places if size <= _MOST else _places
    return make(arrays.copy(kept(rows, columns, first, lower)), None)


def _places(rows: int, columns: int, offset: int, lower: bool) -> Any:
    """Return indices, [2, n], of the elements on and below a diagonal, or above it."""
    mask = make(_below(rows, columns, offset), None)
    found: Any = masking.nonzero(mask if lower else logical.logical_not(mask))
    return arrays.copy(found._array.T)


@lru_cache(64)
def _kept_places(rows: int, columns: int, offset: int, lower: bool) -> Any:
    return arrays.frozen(_places(rows, columns, offset, lower))


#: A few results for larger matrices, with up to this many elements, are cached: at most
#: 2 MiB each.  They are not frozen, so that no short program keeps them alive longer.
_MOST = 1 << 17
_few_places = lru_cache(4)(_places)


@method("diagflat")
@traced
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with the elements of `input` on a diagonal, and 0 elsewhere.

    Parameters
    ----------
    input
        The input tensor.
    offset
        The number of the diagonal: 0 is the main diagonal, positive numbers are above
        it, negative numbers below it.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.diagflat(ac.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag(view.reshape(check_tensor("diagflat", input), (-1,)), offset)
