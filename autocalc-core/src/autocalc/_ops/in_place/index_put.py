# SPDX-License-Identifier: MIT
"""Writes at index tensors, as brackets do them, and at positions of a flat tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.coerce import as_operand, same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import comparison
from autocalc._ops.in_place._index_writers import Writer, write_at
from autocalc._ops.in_place._inplace import apply_
from autocalc._ops.indexing import _index, indexing
from autocalc._ops.indexing.scattering import (
    add_at,
    by_index,
    index_add,
    index_add_op,
    index_copy,
    index_copy_op,
)
from autocalc._ops.views import broadcasting, view
from autocalc._ops.views._writing import check_writable, give_tangent
from autocalc._ops.views._writing import write as write_result
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, DTypeError


def _values_for(where: str, x: Tensor, picks: _index.Picks, values: Any) -> Tensor:
    """Return values in the dtype of `x`: a number, or a tensor that has that dtype.

    If the only index is a mask, one element of any dtype counts as a number.
    """
    alone = len(picks) == 1 and picks[0][1].dtype is dtypes.bool_
    if isinstance(values, Tensor) and not (alone and values.numel() == 1):
        return same_dtype(where, x, values)[1]
    return as_operand(values, x.dtype)


def put_picked(
    where: str, x: Tensor, picks: _index.Picks, values: Any, accumulate: bool
) -> Tensor:
    """Return a copy of `x` with `values` at the elements that index tensors select."""
    values = _values_for(where, x, picks, values)
    axis, mask = picks[0]
    if len(picks) == 1 and mask.dtype is dtypes.bool_ and not accumulate:
        _index._check_mask(x, axis, mask)
        if mask.ndim and values.numel() == 1:
            ones = (1,) * (x.ndim - axis - mask.ndim)
            holds = view.reshape_op(mask, (*mask.shape, *ones))
            return comparison.where_op(holds, view.reshape_op(values, ()), x)
    return _put_rows(where, x, picks, values, add_at if accumulate else index_copy_op)


def _put_rows(
    where: str, x: Tensor, picks: _index.Picks, values: Tensor, write: Writer
) -> Tensor:
    axes, positions, shape = _index.picked(x, picks)
    rows, lead, order = _index.merged(x, axes)
    before, after = rows.shape[:lead], rows.shape[lead + 1 :]
    picked = (*before, *shape, *after)
    values = broadcasting.expand(_index.fitting(where, values, picked), picked)
    source = view.reshape_op(values, (*before, math.prod(shape), *after))
    out = write(rows, positions, source, lead)
    sizes = [x.shape[axis] for axis in order]
    out = view.detach_from_base(view.reshape_op(out, tuple(sizes)))
    if order == tuple(range(x.ndim)):
        return out
    back = tuple(sorted(range(x.ndim), key=order.__getitem__))
    return view.detach_from_base(view.permute_op(out, back))


def put_into(
    where: str, x: Tensor, picks: _index.Picks, values: Any, accumulate: bool
) -> None:
    """Write `values` into the elements of `x` that index tensors select."""
    values = _values_for(where, x, picks, values)
    recorded = check_writable(where, x, values)
    if not (recorded or accumulate) and _put_where(x, picks, values):
        x._bump()
        return
    if arrays.may_overlap(values._array, x._array):
        values = view.clone(values)

    def run(write: Writer, x: Tensor) -> Tensor:
        return _put_rows(where, x, picks, values, write)

    operator = index_add_op if accumulate else index_copy_op
    others = (values, *[pick for _, pick in picks])
    if _are_rows(x, picks) and write_at(where, operator, x, others, run):
        return
    result = put_picked(where, x, picks, values, accumulate)
    write_result(where, x, result, recorded)


def _put_where(x: Tensor, picks: _index.Picks, values: Tensor) -> bool:
    """Write one number where one mask is true; return whether this was the case."""
    axis, mask = picks[0]
    if len(picks) > 1 or mask.dtype is not dtypes.bool_ or not mask.ndim:
        return False
    _index._check_mask(x, axis, mask)
    a, number = x._array, values._array
    ones = (1,) * (x.ndim - axis - mask.ndim)
    holds = mask._array.reshape((*mask.shape, *ones))
    shared = arrays.may_overlap(a, holds) or arrays.may_overlap(a, number)
    if values.numel() != 1 or shared:
        return False
    if number.__class__ is DeviceArray:
        give_tangent(x, values)
        a = x._array
    arrays.where(holds, number.reshape(()), a, into=a)
    return True


def _are_rows(x: Tensor, picks: _index.Picks) -> bool:
    """Return whether the indexed dimensions can be merged to one without a copy."""
    axes: list[int] = []
    for axis, pick in picks:
        if pick.dtype is not dtypes.bool_:
            axes.append(axis)
        elif pick.ndim:
            axes.extend(range(axis, axis + pick.ndim))
        else:
            return False
    neighbours = axes == list(range(axes[0], axes[0] + len(axes)))
    return neighbours and (len(axes) == 1 or x._array.flags.c_contiguous)


@method("index_put")
@declared
def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    """Return a copy of `input` with `values` at ``input[indices]``.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    indices
        A tuple with one integer or boolean tensor for each leading dimension; None
        takes a whole dimension.
    values
        The values to write; they are broadcast to the shape of ``input[indices]``.
    accumulate
        True to add the values, in their order, to the present elements; False to
        replace these elements.

    Raises
    ------
    DTypeError
        If `indices` is not a tuple, or one of its elements is neither a tensor nor
        None.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_put(ac.zeros(3, dtype=ac.int64), (ac.tensor([2, 0]),), ac.tensor(5))
    tensor([5, 0, 5])
    """
    x = check_tensor("index_put", input)
    picks = _index_put_operands(x, indices, values)
    return put_picked("index_put", x, picks, values, accumulate)


@method("index_put_")
@traced
def index_put_(
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    """Write `values` at ``self[indices]`` or, with `accumulate`, add them, in place.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(3, dtype=ac.int64).index_put_((ac.tensor([2, 0]),), ac.tensor(5))
    tensor([5, 0, 5])
    """
    check_tensor("index_put_", x)
    picks = _index_put_operands(x, indices, values)
    put_into("index_put_", x, picks, values, accumulate)
    return x


def _index_put_operands(x: Tensor, indices: Any, values: Any) -> _index.Picks:
    if not isinstance(indices, (list, tuple)) or not all(
        one is None or isinstance(one, Tensor) for one in indices
    ):
        raise DTypeError(
            f"index_put: `indices` is {indices!r}; it must be a tuple of tensors and "
            f"None."
        )
    parts = tuple(slice(None) if one is None else one for one in indices)
    check_tensor("index_put", values)
    _, picks = _index.split_index(x, parts)
    if not picks or any(isinstance(part, int) for part in parts):
        picks = _picks_of_numbers(x, indices)
    return picks


def _picks_of_numbers(x: Tensor, indices: Sequence[Any]) -> _index.Picks:
    """Return picks of 0-d index tensors, which brackets would treat as integers."""
    parts = tuple(
        slice(None) if i is None else view.reshape_op(i, (1,)) if i.ndim == 0 else i
        for i in indices
    )
    picks: _index.Picks = _index.split_index(x, parts)[1]
    if not picks:
        raise ArgumentError(
            "index_put: `indices` contains no tensor; give at least one."
        )
    return picks


@method("put")
@declared
def put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy of `input` with `source` at positions of the flattened tensor.

    Parameters
    ----------
    input
        The input tensor.
    index
        The positions in the flattened tensor, a tensor of int64.
    source
        The values to write.
    accumulate
        True to add the values to the present elements; False to replace these elements.

    Raises
    ------
    ArgumentError
        If `source` and `index` differ in their number of elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.put(ac.zeros(3), ac.tensor([2]), ac.tensor([5.0]))
    tensor([0., 0., 5.])
    """
    x = check_tensor("put", input)
    flat, values = _put_operands(x, index, source)
    write = index_add if accumulate else index_copy
    found = write(view.reshape(x, (-1,)), 0, flat, values)
    return view.reshape(found, x.shape)


@method("put_")
@traced
def put_(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write or add `source` at positions of the flattened tensor, in place; return it.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(3).put_(ac.tensor([2]), ac.tensor([5.0]))
    tensor([0., 0., 5.])
    """
    check_tensor("put_", x)
    flat, values = _put_operands(x, index, source)
    name = "index_add" if accumulate else "index_copy"
    operator = index_add_op if accumulate else index_copy_op

    def run(write: Writer, x: Tensor) -> Tensor:
        line = view.reshape_op(x, (-1,))
        return view.reshape_op(by_index(name, write, line, 0, flat, values), x.shape)

    others = (flat, values)
    if x._array.flags.c_contiguous and write_at("put_", operator, x, others, run):
        return x
    return apply_(put, "put_", x, index, source, accumulate)


def _put_operands(x: Tensor, index: Any, source: Any) -> tuple[Tensor, Tensor]:
    places = indexing.long_positions("put", index)
    _, values = same_dtype("put", x, source)
    if values.numel() != places.numel():
        raise ArgumentError(
            f"put: `source` has {values.numel()} elements for {places.numel()} "
            "positions; it must have one for each position."
        )
    flat = _index.wrapped(view.reshape(places, (-1,)), x.numel())
    return flat, view.reshape(values, (-1,))
