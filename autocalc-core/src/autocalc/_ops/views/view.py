# SPDX-License-Identifier: MIT
"""Other shapes and orders of the same elements; copies; other dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from types import EllipsisType
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.layout import PIXELS, is_channels_last, memory_order
from autocalc._dispatch.selection.reshaping import reshaped_view
from autocalc._kernels.rules import check_ndim
from autocalc._ops._operator.arguments import (
    Dims,
    as_int,
    axes_of,
    axis_of,
    check_tensor,
    full_shape,
    integers,
    sizes_given,
)
from autocalc._ops._operator.factories import nary, view_operator
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.method import method
from autocalc._ops._operator.numpy_names import dim_or_axis
from autocalc._ops._operator.traced import traced
from autocalc._ops._operator.view_tracker import is_alone, leave_base, view_of
from autocalc._ops.views.dtype_views import view_as_dtype
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc._tensor.memory_format import MemoryFormat, order_asked, preserve_format
from autocalc._tensor.size import Size
from autocalc.errors import ArgumentError, DimensionError, ShapeError


@view_operator("reshape")
def reshape_view(a: Any, shape: Any) -> Any:
    """Return the same elements in another shape."""
    return a.reshape(shape)


@reshape_view.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.reshape(g, n.shapes[0])


_RESHAPE = reshape_view.op


def reshape_op(x: Tensor, shape: Any) -> Tensor:
    """Return `x` in another shape: a view, or a copy if strides permit no view."""
    seen = reshaped_view(x._array, shape)
    if seen is None:
        return _reshaped_copy(x, shape)
    return view_of(x, seen, _RESHAPE, (shape,))


def _reshaped_copy(x: Tensor, shape: Any) -> Tensor:
    x = clone_op(x)
    seen = x._array.reshape(shape)
    return detach_from_base(view_of(x, seen, _RESHAPE, (shape,)))


_LISTS: frozenset[Any] = frozenset({tuple, list, Size})


def _plain_view(where: str, x: Tensor, shape: Any) -> Tensor | None:
    """Return contiguous `x` in a shape of plain integers, if that shape fits.

    None means that the general path must run, which also raises the errors.
    """
    a = (x if x.__class__ is Tensor else check_tensor(where, x))._array
    if shape.__class__ not in _LISTS:
        return None
    for n in shape:
        if n.__class__ is not int or n < -1:
            return None
    if not a.flags.c_contiguous:
        return None
    try:
        seen = a.reshape(shape)
    except (ValueError, OverflowError):
        return None
    return view_of(x, seen, _RESHAPE, (seen.shape,))


@traced(views=True)
def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the elements of `input` in another shape; one size may be -1.

    Parameters
    ----------
    input
        The input tensor.
    shape
        The new sizes; one may be -1 and is computed from the others.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.reshape(ac.arange(6), (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    plain = _plain_view("reshape", input, shape)
    return _reshaped(input, shape) if plain is None else plain


def _reshaped(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the view or the copy that gives a strided tensor another shape."""
    return reshape_op(input, full_shape("reshape", input, shape))


@traced(views=True)
def view(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a view of `input` with another shape, on the same memory.

    If an operator has stored `input` channels-last, `input` is first stored in
    row-major order.  The arrays that `detach` and `numpy` returned before keep the old
    memory.

    Raises
    ------
    ShapeError
        If no strides give this shape without a copy.  This includes a channels-last
        tensor of which other views exist.
    """
    plain = _plain_view("view", input, shape)
    if plain is not None:
        return plain
    sizes = full_shape("view", input, shape)
    seen = reshaped_view(input._array, sizes) is not None
    if not (seen or store_in_rows(input)):
        raise ShapeError(
            f"view: a tensor of shape {input.shape} with strides {input.stride()} "
            f"cannot be viewed as {sizes} without a copy; use reshape()."
        )
    return reshape_view(input, sizes)


@method("flatten")
@traced(views=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return `input` with the dimensions `start_dim` to `end_dim` merged into one.

    Parameters
    ----------
    input
        The input tensor.
    start_dim
        The first dimension that is merged.
    end_dim
        The last dimension that is merged.

    Raises
    ------
    DimensionError
        If `start_dim` is after `end_dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.flatten(ac.ones(2, 3, 4), 1).shape
    autocalc.Size([2, 12])
    """
    sizes = (
        input if input.__class__ is Tensor else check_tensor("flatten", input)
    )._array.shape
    ndim = len(sizes)
    start, end = start_dim, ndim - 1
    if start.__class__ is not int or not 0 <= start < ndim:
        start = axis_of("flatten", start_dim, ndim)
    if end_dim.__class__ is not int or end_dim != -1 or not ndim:
        end = axis_of("flatten", end_dim, ndim)
    if start > end:
        raise DimensionError(
            f"flatten: start_dim={start_dim} is after end_dim={end_dim} in a tensor "
            f"of {input.ndim} dimensions."
        )
    shape = (*sizes[:start], prod(sizes[start : end + 1]), *sizes[end + 1 :])
    return reshape_op(input, shape)


@method("squeeze")
@traced(views=True)
def squeeze(
    input: Tensor, dim: Dims | EllipsisType = ..., *, axis: Any = None
) -> Tensor:
    """Return `input` without its dimensions of size 1, or only without those in `dim`.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimensions that are removed where their size is 1; by default all.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If `dim` is None.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.squeeze(ac.ones(1, 3, 1)).shape
    autocalc.Size([3])
    """
    if axis is not None:
        dim = dim_or_axis("squeeze", dim, axis, ...)
    a = (input if input.__class__ is Tensor else check_tensor("squeeze", input))._array
    sizes = a.shape
    if isinstance(dim, EllipsisType):
        sizes = tuple([n for n in sizes if n != 1])
    elif dim.__class__ is int and -len(sizes) <= dim < len(sizes):
        if sizes[dim] == 1:
            sizes = (*sizes[:dim], *sizes[dim:][1:])
    elif dim is None:
        message = (
            "squeeze: `dim` is None; do not give it to remove all dimensions of size 1."
        )
        raise ArgumentError(message)
    elif not (isinstance(dim, (list, tuple)) and len(dim) == 0):
        axes = axes_of("squeeze", input, dim)
        sizes = tuple([n for i, n in enumerate(sizes) if n != 1 or i not in axes])
    return view_of(input, a.reshape(sizes), _RESHAPE, (sizes,))


@method("unsqueeze")
@traced(views=True)
def unsqueeze(input: Tensor, dim: int | None = None, *, axis: Any = None) -> Tensor:
    """Return `input` with a dimension of size 1 inserted before `dim`.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The position of the new dimension in the result.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unsqueeze(ac.ones(3), 0).shape
    autocalc.Size([1, 3])
    """
    if axis is not None or dim is None:
        dim = dim_or_axis("unsqueeze", dim, axis)
    a = (
        input if input.__class__ is Tensor else check_tensor("unsqueeze", input)
    )._array
    sizes = a.shape
    if dim.__class__ is not int or not 0 <= dim <= len(sizes):
        dim = axis_of("unsqueeze", dim, len(sizes) + 1)
    sizes = (*sizes[:dim], 1, *sizes[dim:])
    try:
        seen = a.reshape(sizes)
    except ValueError:
        check_ndim(len(sizes))
        raise
    return view_of(input, seen, _RESHAPE, (sizes,))


@view_operator("permute")
def permute_op(a: Any, axes: Any) -> Any:
    """Return the elements with the dimensions in another order."""
    return arrays.permute(a, axes)


@permute_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (axes,) = n.attributes
    inverse = sorted(range(len(axes)), key=axes.__getitem__)
    return k.permute(g, tuple(inverse))


_PERMUTE = permute_op.op


@traced(views=True)
def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return a view of `input` with its dimensions in the order `dims`.

    Parameters
    ----------
    input
        The input tensor.
    dims
        The order of the dimensions.

    Raises
    ------
    DimensionError
        If `dims` does not name each dimension once.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.permute(ac.ones(2, 3, 4), (2, 0, 1)).shape
    autocalc.Size([4, 2, 3])
    """
    a = (input if input.__class__ is Tensor else check_tensor("permute", input))._array
    order = integers("permute", "dims", dims)
    axes = _order(a.ndim, order)
    if axes is None:
        raise DimensionError(
            f"permute: `dims`={order} is not an order of the {input.ndim} dimensions "
            f"of shape {input.shape}; name each dimension once."
        )
    return view_of(input, a.transpose(axes), _PERMUTE, (axes,))


@lru_cache(1024)
def _order(ndim: int, dims: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return `dims` counted from the left; None unless each dimension occurs once."""
    axes = tuple([axis_of("permute", d, ndim) for d in dims])
    return axes if sorted(axes) == list(range(ndim)) else None


@method("transpose swapdims")
@traced(views=True)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view of `input` with two dimensions exchanged.

    Parameters
    ----------
    input
        The input tensor.
    dim0
        The first of the two dimensions.
    dim1
        The second of the two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.transpose(ac.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
    """
    if input.__class__ is not Tensor:
        if KINDS and (own := elsewhere("transpose", input)) is not None:
            return own(input, dim0, dim1)  # type: ignore[no-any-return]  # a tensor
        check_tensor("transpose", input)
    a = input._array
    if dim0.__class__ is not int or dim1.__class__ is not int:  # 1 == True as a key
        dim0 = as_int("transpose", "dim", dim0)
        dim1 = as_int("transpose", "dim", dim1)
    axes = _exchanged(a.ndim, dim0, dim1)
    return view_of(input, a.transpose(axes), _PERMUTE, (axes,)) if axes else input


@lru_cache(1024)
def _exchanged(ndim: int, dim0: int, dim1: int) -> tuple[int, ...]:
    """Return the order of the dimensions after two of them are exchanged."""
    i, j = axis_of("transpose", dim0, ndim), axis_of("transpose", dim1, ndim)
    axes = list(range(ndim))
    if axes:
        axes[i], axes[j] = axes[j], axes[i]
    return tuple(axes)


@method("t")
@traced(views=True)
def t(input: Tensor) -> Tensor:
    """Return the transpose of a matrix; vectors stay as they are.

    Parameters
    ----------
    input
        The input tensor.

    Raises
    ------
    ShapeError
        If the tensor has more than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.t(ac.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
    """
    plain = input.__class__ is Tensor
    if not plain and (own := elsewhere("t", check_tensor("t", input))) is not None:
        return own(input)  # type: ignore[no-any-return]  # a tensor
    a = input._array
    if a.ndim > 2:
        message = (
            f"t: is only supported on matrices, not on shape {input.shape}; use "
            f"transpose()."
        )
        raise ShapeError(message)
    return view_of(input, a.T, _PERMUTE, ((1, 0),)) if a.ndim == 2 else input


clone_op = nary("copy")


@clone_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return g


@method("clone")
@traced(light=True)
def clone(
    input: Tensor, *, memory_format: MemoryFormat | None = preserve_format
) -> Tensor:
    """Return a copy of `input`; gradients flow back from the copy to `input`.

    Parameters
    ----------
    input
        The input tensor.
    memory_format
        The order of the elements in memory; by default that of `input`.

    Raises
    ------
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions,
        or `channels_last_3d` for one that does not have five.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(2, 3, 4, 5).to(memory_format=ac.channels_last)
    >>> ac.clone(x).stride()
    (60, 1, 15, 3)
    >>> ac.clone(x, memory_format=ac.contiguous_format).stride()
    (60, 20, 5, 1)
    """
    a = check_tensor("clone", input)._array
    if memory_format is preserve_format and a.flags.c_contiguous:
        return clone_op(input)
    given = preserve_format if memory_format is None else memory_format
    order = order_asked("clone", given, a.shape)
    if given is preserve_format:
        order = memory_order(a)
    return clone_op(input) if order is None else _clone_in(input, order)


def _clone_in(x: Tensor, order: tuple[int, ...]) -> Tensor:
    """Return a copy of `x` whose dimensions have this order in memory."""
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return detach_from_base(permute_op(clone_op(permute_op(x, order)), back))


def channels_last(x: Tensor) -> Tensor:
    """Return a copy of `x` [N, C, H, W] that is channels-last."""
    return _clone_in(x, PIXELS)


def store_in_rows(x: Tensor) -> bool:
    """Store a channels-last tensor in row-major order, if only `x` sees its memory.

    A node that saved the array for a gradient keeps the old array with the same values.
    """
    if not is_channels_last(x._array) or not is_alone(x):
        return False
    x._array = arrays.copy(x._array)
    return True


def detach_from_base(x: Tensor) -> Tensor:
    """Return `x`, a view of a temporary tensor, as a tensor that may be written."""
    leave_base(x)
    return x


@method("reshape")
@traced(views=True)
def _reshape_method(self: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """Return the elements of the tensor in another shape; one size may be -1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1.0, 2.0, 3.0, 4.0]).reshape(2, -1)
    tensor([[1., 2.],
            [3., 4.]])
    """
    plain = sizes and sizes[0].__class__ is int and shape is None
    return reshape(self, sizes if plain else sizes_given("reshape", sizes, shape))


#: The classes of dtypes, including Python's `float` and NumPy's `np.float32`.
_KINDS = frozenset({DType, type})


@method("view")
@traced(views=True)
def _view_method(
    self: Tensor, *sizes: Any, size: Any = None, dtype: Any = None
) -> Tensor:
    """Return a view in another shape or dtype; raise an error if this needs a copy.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(4)
    >>> x.view(2, 2)[1] = 5.0
    >>> x
    tensor([0., 0., 5., 5.])
    """
    if dtype is not None or (len(sizes) == 1 and sizes[0].__class__ in _KINDS):
        kind = sizes[0] if dtype is None else dtype
        if size is not None or (sizes and dtype is not None):
            message = (
                f"view: `dtype`={kind} cannot be combined with a shape; change the "
                "shape in a second call."
            )
            raise ArgumentError(message)
        return view_as_dtype(self, kind)
    plain = sizes and sizes[0].__class__ is int and size is None
    return view(self, sizes if plain else sizes_given("view", sizes, size))


@method("permute")
@traced(views=True)
def _permute_method(self: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
    """Return a view with the dimensions in another order.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(2, 3, 4).permute(2, 0, 1).shape
    autocalc.Size([4, 2, 3])
    """
    plain = sizes and sizes[0].__class__ is int and dims is None
    return permute(self, sizes if plain else sizes_given("permute", sizes, dims))
