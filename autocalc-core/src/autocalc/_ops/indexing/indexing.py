# SPDX-License-Identifier: MIT
"""Elements and rows selected by index: ``x[index]``, gather, index_select, take."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.engine.eager import accelerate
from autocalc._kernels.indexing.ranges import with_range
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.arguments import NeededDim, axis_of, check_tensor
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.indexing import _index
from autocalc._ops.views import broadcasting, slicing, view
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import DTypeError, KernelIndexError, ShapeError

_INT64 = dtypes.int64.numpy

gather_op = nary("gather", saves="index")


@gather_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    zeros = k.zeros(n.shapes[0], k.dtype(g))
    return k.scatter_add(zeros, index, g, *n.attributes), None


@method("gather")
@traced
def gather(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    *,
    sparse_grad: bool = False,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return elements of `input` selected by `index` along `dim`.

    For ``dim=0``, ``out[i][j] = input[index[i][j]][j]``.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    index
        The positions along `dim`, a tensor of int64 or int32; in every other dimension,
        its size is at most that of `input`.
    sparse_grad
        Accepted so that programs for PyTorch run; it has no effect.
    dim
        The dimension; a negative one counts from the end.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Returns
    -------
    Tensor
        A tensor with the shape of `index`.

    Raises
    ------
    KernelDataError
        If an index is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.gather(ac.tensor([[1, 2], [3, 4]]), 1, ac.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    axis = axis_of("gather", dim, check_tensor("gather", input).ndim)
    index = check_tensor("gather", index)
    empty = index._array.size == 0
    if empty:
        index = cast(index, dtypes.int64)  # an empty index of any dtype
    places = as_positions("gather", index)
    if input._array.ndim == 0 or places._array.ndim == 0:
        return _of_0d(gather, input, dim, places)
    if empty:
        nothing = view.reshape_op(places, (-1,))
        nothing = index_select_op(view.reshape_op(input, (-1,)), nothing, 0)
        return view.detach_from_base(view.reshape_op(nothing, places.shape))
    try:
        return gather_op(window("gather", input, places.shape, axis), places, axis)
    except KernelIndexError as error:
        raise with_range(error, input._array.shape[axis]) from None


def _of_0d(
    function: Callable[..., Tensor], input: Tensor, dim: int, index: Tensor
) -> Tensor:
    """Run a function on a 0-d tensor or index as if it had one dimension."""
    x = view.reshape_op(input, (1,)) if input.ndim == 0 else input
    where = view.reshape_op(index, (1,)) if index.ndim == 0 else index
    out = function(x, dim, where)
    return view.detach_from_base(view.reshape_op(out, index.shape))


index_select_op = nary("index_select", saves="index")


@index_select_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    zeros = k.zeros(n.shapes[0], k.dtype(g))
    return k.index_add(zeros, index, g, *n.attributes), None


@method("index_select")
@traced
def index_select(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the slices of `input` along `dim` that the vector `index` selects.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        The positions along `dim`, a vector of int64 or int32 of shape [n].
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    KernelDataError
        If a position is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_select(ac.tensor([[1, 2], [3, 4]]), 1, ac.tensor([1]))
    tensor([[2],
            [4]])
    """
    axis = axis_of("index_select", dim, check_tensor("index_select", input).ndim)
    places = as_positions("index_select", index)
    if places.ndim == 0:
        places = view.reshape_op(places, (1,))
    if input.ndim == 0:
        found = index_select_op(view.reshape_op(input, (1,)), places, 0)
        return view.detach_from_base(view.reshape_op(found, ()))
    try:
        return index_select_op(input, places, axis)
    except KernelIndexError as error:
        raise with_range(error, input.shape[axis]) from None


def as_positions(where: str, index: Any) -> Tensor:
    """Return an index tensor of int64 or int32 as int64."""
    dtype = host_dtype(check_tensor(where, index)._array.dtype)
    if dtype is _INT64:
        return index  # type: ignore[no-any-return]  # checked
    if dtype is dtypes.int32.numpy:
        return cast(index, dtypes.int64)
    return long_positions(where, index, "int64 or int32")


def long_positions(
    where: str, index: Any, needed: str = "int64", name: str = "the index"
) -> Tensor:
    """Return an index tensor, which must be of int64."""
    if check_tensor(where, index).dtype is not dtypes.int64:
        raise DTypeError(
            f"{where}: {name} has dtype {index.dtype.name}; it must be {needed}: the "
            "dtype of indices should be Long. Convert it with .long()."
        )
    return index  # type: ignore[no-any-return]  # checked


def window(where: str, x: Tensor, sizes: tuple[int, ...], axis: int) -> Tensor:
    """Return the part of `x` that an index of shape `sizes` along `axis` can address.

    Raises
    ------
    ShapeError
        If `x` has another number of dimensions, or is smaller in a dimension other than
        `axis`.
    """
    shape = x._array.shape
    wanted = (*sizes[:axis], *shape[axis : axis + 1], *sizes[axis + 1 :])
    if wanted == shape and len(sizes) == len(shape):
        return x
    if len(sizes) != len(shape) or any(map(operator.gt, wanted, shape)):
        raise ShapeError(
            f"{where}: `index` has shape {sizes} and the input has shape {shape}; they "
            "must have equally many dimensions, and `index` may be larger only in "
            f"dimension {axis}."
        )
    return slicing.slice_op(x, tuple([slice(0, n) for n in wanted]))


def read_picked(x: Tensor, picks: _index.Picks) -> Tensor:
    """Return a copy of the elements that index tensors select."""
    axes, positions, shape = _index.picked(x, picks)
    rows, lead, _ = (x, 0, ()) if axes == (0,) else _index.merged(x, axes)
    out = index_select_op(rows, positions, lead)
    if len(shape) == 1:
        return out
    sizes = (*rows.shape[:lead], *shape, *rows.shape[lead + 1 :])
    return view.detach_from_base(view.reshape_op(out, sizes))


@traced
def _rows(x: Tensor, index: Tensor) -> Tensor:
    """Return the parts along the first dimension that positions select."""
    return read_picked(x, [(0, index)])


def where_true(x: Tensor, mask: Tensor) -> Tensor:
    """Return, as a vector, the elements at which a mask of the same shape is true."""
    line = x if x._array.ndim == 1 else view.reshape_op(x, (-1,))
    return index_select_op(line, _index.true_positions(mask), 0)


@method("__getitem__")
@accelerate("part", slicing.slice_op.op)
def getitem(input: Tensor, index: Any) -> Tensor:
    """Return ``input[index]``.

    If the index consists of integers, slices, None and Ellipsis, the result is a view.
    Integer and boolean tensors, and lists, select elements, which are copied.  As in
    PyTorch, the dimensions of the selection replace the indexed dimensions if these are
    next to each other; otherwise they come first.  A list that holds lists, tensors,
    slices, None or Ellipsis is read as a tuple with the same elements.

    Raises
    ------
    DimensionError
        If an integer is out of range, or there are more indices than dimensions.
    KernelDataError
        If an index in a tensor is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.arange(12).reshape(3, 4)
    >>> x[[0, -1], 1:3]
    tensor([[ 1,  2],
            [ 9, 10]])
    >>> x[x > 8]
    tensor([ 9, 10, 11])
    """
    basic = _index.plain_index(index)
    if basic is not None:
        seen = slicing.plain_slice("index", input, basic)
        if seen is not None:
            return seen
    sole = _index.sole_pick(check_tensor("index", input), index)
    if sole is not None:
        if host_dtype(index._array.dtype) is _INT64:
            return _rows(input, index)
        if index._array.shape == input._array.shape:
            return where_true(input, index)
        return read_picked(input, sole)
    basic, picks = _index.split_index(input, index)
    if not picks:
        return slicing.slice_op(input, basic)
    return read_picked(_index.part_of(input, basic), picks)


@method("take")
@traced
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return elements of the flattened `input`, in the shape of `index`.

    Parameters
    ----------
    input
        The input tensor.
    index
        The positions in the flattened tensor, a tensor of int64.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.take(ac.tensor([[1, 2], [3, 4]]), ac.tensor([0, 3]))
    tensor([1, 4])
    """
    x, places = check_tensor("take", input), long_positions("take", index)
    flat = _index.wrapped(view.reshape(places, (-1,)), x.numel())
    found = index_select(view.reshape(x, (-1,)), 0, flat)
    return view.detach_from_base(view.reshape(found, places.shape))


@method("take_along_dim")
@traced
def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: int | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the elements that `indices` selects along `dim`.

    The sizes of the other dimensions are broadcast.  Without `dim`, the elements of the
    flattened `input` are selected.  If `indices` is the result of `argsort`, the
    elements are returned in sorted order.

    Parameters
    ----------
    input
        The input tensor.
    indices
        The positions along `dim`, a tensor of int64.
    dim
        The dimension; by default `input` is flattened.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ShapeError
        If `input` and `indices` differ in their number of dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[3, 1, 2]])
    >>> ac.take_along_dim(x, x.argsort(1), 1)
    tensor([[1, 2, 3]])
    """
    x, places = (
        check_tensor("take_along_dim", input),
        long_positions("take_along_dim", indices),
    )
    if dim is None:
        flat = view.reshape_op(_index.wrapped(places, x.numel()), (-1,))
        return gather(view.reshape_op(x, (-1,)), 0, flat)
    if x.ndim != places.ndim:
        raise ShapeError(
            f"take_along_dim: `input` has shape {x.shape}, but `indices` has shape "
            f"{places.shape}; input and indices should have the same number of "
            "dimensions."
        )
    axis = axis_of("take_along_dim", dim, x.ndim)
    shape = x._array.shape
    if shape and places._array.shape == shape and x._array.size:  # nothing is broadcast
        wrapped = _index.wrapped(places, shape[axis])
        return gather_op(x, wrapped, axis)
    ones = [1 if i == axis else n for i, n in enumerate(x.shape)]
    shape = broadcast_shapes("take_along_dim", tuple(ones), places.shape)
    sizes = [x.shape[axis] if i == axis else n for i, n in enumerate(shape)]
    places = broadcasting.expand(_index.wrapped(places, x.shape[axis]), shape)
    return gather(broadcasting.expand(x, sizes), axis, places)
