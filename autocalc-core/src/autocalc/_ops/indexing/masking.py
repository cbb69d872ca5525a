# SPDX-License-Identifier: MIT
"""Elements selected or written where a mask is true."""

from __future__ import annotations

from typing import Any, NoReturn, overload

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import recordings, refuse_reading
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.arguments import Operand, check_tensor
from autocalc._ops._operator.cast import move
from autocalc._ops._operator.coerce import (
    as_operand,
    checked_number,
    coerce_two,
    not_a_tensor,
    same_dtype,
)
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops._operator.out import apply_out, copy_to_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import comparison
from autocalc._ops.indexing import _index, indexing, scattering
from autocalc._ops.indexing._mask_indices import true_places
from autocalc._ops.views import broadcasting, slicing, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import FLAG, check_flag
from autocalc._tensor.device import dtype_at, place_of_tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError


@method("nonzero")
def nonzero(
    input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Return the positions of the non-zero elements, in row-major order.

    The result is a matrix of shape [n, ndim] with one row for each position.

    Parameters
    ----------
    input
        The input tensor.
    as_tuple
        True to return a tuple with one index tensor for each dimension instead.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nonzero(ac.tensor([0, 5, 7]))
    tensor([[1],
            [2]])
    """
    if as_tuple.__class__ is not FLAG:
        as_tuple = check_flag("nonzero", "as_tuple", as_tuple)
    if as_tuple and out is not None:
        _refuse_out("nonzero", "with as_tuple=True")
    a = check_tensor("nonzero", input)._array
    if out is None and 0 < a.size <= _SMALL and a.ndim and not as_tuple:
        if recordings:
            refuse_reading("a shape that depends on values")
        rows, count = _all_rows(input)
        return make(rows._array[: int(count._array)], None)
    if a.dtype.kind != "b":
        a = arrays.compare(a, constant(0, a.dtype), "ne")
    if as_tuple or not a.ndim:
        places = true_places(a)
    if as_tuple:
        return tuple([make(one, None) for one in _columns(places, a.shape)])
    if a.ndim:
        if recordings:
            refuse_reading("a shape that depends on values")
        held = int(arrays.sum(a, tuple(range(a.ndim)), False))
        result = make(arrays.nonzero(a, held)[0], None)
    else:
        result = make(arrays.empty((len(places), 0), places.dtype), None)
    return result if out is None else apply_out("nonzero", result, out)


def _refuse_out(where: str, form: str) -> NoReturn:
    raise ArgumentError(
        f"{where}: {form} the result consists of several tensors, which `out` does not "
        "support. Do not give `out`, or get one matrix with nonzero(..., out=...)."
    )


#: For up to this many elements, all positions are found at once and the result is cut.
_SMALL = 256


@traced
def _all_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices of the non-zero elements as rows, and their number."""
    a = x._array
    if a.dtype.kind != "b":
        a = arrays.compare(a, constant(0, a.dtype), "ne")
    rows, count = arrays.nonzero(a, a.size)
    return make(rows, None), make(count, None)


def _columns(places: Any, shape: tuple[int, ...]) -> list[Any]:
    """Return row-major positions as an index for each dimension, at least one."""
    columns = []
    for size in shape[:0:-1]:
        count = constant(max(size, 1), places.dtype)
        columns.append(arrays.remainder(places, count))
        places = arrays.floor_divide(places, count)
    return [places, *reversed(columns)]


@method("argwhere")
def argwhere(input: Tensor) -> Tensor:
    """Return the positions of the non-zero elements, one in each row; see `nonzero`.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.argwhere(ac.tensor([0, 5, 7]))
    tensor([[1],
            [2]])
    """
    return nonzero(input)  # type: ignore[return-value]  # one tensor by default


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...


@overload
def where(
    condition: Tensor, input: Operand, other: Operand, *, out: Tensor | None = None
) -> Tensor: ...


def where(
    condition: Tensor,
    input: Operand | None = None,
    other: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return `input` where `condition` is True, and `other` elsewhere.

    The shapes are broadcast, and the dtypes of `input` and `other` are promoted.  With
    `condition` alone, the result is that of ``nonzero(condition, as_tuple=True)``.

    Parameters
    ----------
    condition
        A boolean tensor.  A tensor of uint8 is taken as booleans, with a warning.
    input
        The values where `condition` is True, a tensor or a number.
    other
        The values elsewhere, a tensor or a number.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If `condition` is neither boolean nor of uint8.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.where(ac.tensor([True, False]), ac.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    if input is None and other is None:
        if out is not None:
            _refuse_out("where", "of a condition alone")
        return nonzero(condition, as_tuple=True)
    if not _is_boolean("where", condition):
        if condition.dtype is not dtypes.uint8:
            _refuse_mask("where", "condition", condition)
        condition = _index.mask_of_bytes("where", condition)
    first, second = coerce_two("where", input, other)
    place = place_of_tensor(condition)
    if not (place is None or isinstance(input, Tensor) or isinstance(other, Tensor)):
        first = move(first, dtype_at(place, first._array.dtype))
    result = comparison.where_op(condition, first, second)
    return result if out is None else copy_to_out("where", result, out)


@method("masked_select")
@declared
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the elements at which `mask` is True, as a 1-d tensor.

    The shapes of `input` and `mask` are broadcast.

    Parameters
    ----------
    input
        The input tensor.
    mask
        A boolean tensor.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If `mask` is not boolean.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.masked_select(ac.tensor([1, 2, 3]), ac.tensor([True, False, True]))
    tensor([1, 3])
    """
    x = input if input.__class__ is Tensor else check_tensor("masked_select", input)
    holds = checked_mask("masked_select", mask)
    sizes, shape = x._array.shape, holds._array.shape
    if sizes != shape:
        shape = broadcast_shapes("masked_select", sizes, shape)
        x = broadcasting.expand(x, shape)
        holds = broadcasting.expand(holds, shape)
    return indexing.where_true(x, holds)


def checked_mask(where: str, mask: Any) -> Tensor:
    """Return a tensor of booleans."""
    if not _is_boolean(where, mask):
        _refuse_mask(where, "mask", mask)
    return mask  # type: ignore[no-any-return]  # checked


def _is_boolean(where: str, x: Any) -> bool:
    """Return whether a tensor is boolean."""
    try:
        return x._array.dtype.kind == "b"  # type: ignore[no-any-return]  # of strings
    except AttributeError:
        raise not_a_tensor(where, x) from None


def _refuse_mask(where: str, name: str, x: Tensor) -> NoReturn:
    raise DTypeError(
        f"{where}: only supports boolean masks: expected BoolTensor for {name}, not "
        f"{x.dtype.name}. Comparisons return such masks."
    )


@method("masked_fill")
@traced(light=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return `input` with the number `value` at the elements where `mask` is True.

    Parameters
    ----------
    input
        The input tensor.
    mask
        A boolean tensor that broadcasts to the shape of `input`.
    value
        A number, or a tensor of one element.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1, -2, 3])
    >>> x.masked_fill(x < 0, 0)
    tensor([1, 0, 3])
    """
    x, holds = check_tensor("masked_fill", input), checked_mask("masked_fill", mask)
    return comparison.where_op(holds, checked_number("masked_fill", x, value), x)


@method("masked_scatter", inplace="masked_scatter_")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return `input` with the elements of `source`, in order, where `mask` is True.

    Parameters
    ----------
    input
        The input tensor.
    mask
        A boolean tensor that broadcasts to the shape of `input`.
    source
        The values that are written at the True elements of `mask`, in order.

    Raises
    ------
    ShapeError
        If `source` has fewer elements than `mask` has True elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> mask = ac.tensor([True, False, True])
    >>> ac.masked_scatter(ac.zeros(3), mask, ac.tensor([5.0, 6.0]))
    tensor([5., 0., 6.])
    """
    x, holds = (
        check_tensor("masked_scatter", input),
        checked_mask("masked_scatter", mask),
    )
    shape = broadcast_shapes("masked_scatter", x.shape, holds.shape)
    x, holds = broadcasting.expand(x, shape), broadcasting.expand(holds, shape)

    flat = _index.true_positions(view.reshape_op(holds, (-1,)))
    x, source = same_dtype("masked_scatter", x, source)
    values = view.reshape_op(source, (-1,))
    if values.numel() < flat.numel():
        raise ShapeError(
            f"masked_scatter: `source` has {values.numel()} elements for "
            f"{flat.numel()} True elements of the mask; it must have at least as many."
        )
    values = as_operand(slicing.slice_op(values, (slice(0, flat.numel()),)), x.dtype)
    out = scattering.index_copy_op(view.reshape_op(x, (-1,)), flat, values, 0)
    return view.detach_from_base(view.reshape_op(out, shape))


@method("where")
@traced(light=True)
def _where_method(self: Tensor, condition: Tensor, other: Operand) -> Tensor:
    """Return this tensor where `condition` is True, and `other` elsewhere.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, -2.0])
    >>> x.where(x > 0, ac.zeros(2))
    tensor([1., 0.])
    """
    return where(condition, self, other)
