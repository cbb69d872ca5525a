# SPDX-License-Identifier: MIT
"""Values written at index tensors, as brackets do, and at places of a flat tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._ops import _index, broadcasting, comparison, indexing, view
from autocalc._ops._arguments import check_tensor
from autocalc._ops._coerce import as_operand, same_dtype
from autocalc._ops._method import method
from autocalc._ops.scattering import add_at, index_add, index_copy, index_copy_op
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import FLAG, check_flag
from autocalc.errors import ArgumentError, DTypeError


def _values_for(where: str, x: Tensor, picks: _index.Picks, values: Any) -> Tensor:
    """Return values in the dtype of `x`: numbers, or a tensor that has it.

    Where one mask holds, one element of any dtype counts as a number.
    """
    alone = len(picks) == 1 and picks[0][1].dtype is dtypes.bool_
    if isinstance(values, Tensor) and not (alone and values.numel() == 1):
        return same_dtype(where, x, values)[1]
    return as_operand(values, x.dtype)


def put_picked(
    where: str, x: Tensor, picks: _index.Picks, values: Any, accumulate: bool
) -> Tensor:
    """Return `x` with `values` at the elements that index tensors name."""
    values = _values_for(where, x, picks, values)
    axis, mask = picks[0]
    if len(picks) == 1 and mask.dtype is dtypes.bool_ and not accumulate:
        _index._check_mask(x, axis, mask)
        if mask.ndim and values.numel() == 1:
            ones = (1,) * (x.ndim - axis - mask.ndim)
            holds = view.reshape_op(mask, (*mask.shape, *ones))
            return comparison.where_op(holds, view.reshape_op(values, ()), x)
    axes, positions, shape = _index.picked(x, picks)
    rows, lead, order = _index.merged(x, axes)
    before, after = rows.shape[:lead], rows.shape[lead + 1 :]
    picked = (*before, *shape, *after)
    values = broadcasting.expand(_index.fitting(where, values, picked), picked)
    source = view.reshape_op(values, (*before, math.prod(shape), *after))
    write = add_at if accumulate else index_copy_op
    out = write(rows, positions, source, lead)
    sizes = [x.shape[axis] for axis in order]
    out = view.detach_from_base(view.reshape_op(out, tuple(sizes)))
    if order == tuple(range(x.ndim)):
        return out
    back = tuple(sorted(range(x.ndim), key=order.__getitem__))
    return view.detach_from_base(view.permute_op(out, back))


def write_picked(where: str, x: Tensor, picks: _index.Picks, values: Any) -> bool:
    """Write `values` into `x` itself at the elements that index tensors name.

    Returns False, with nothing written, where `x` does not lie as a kernel needs it:
    then `put_picked` makes what it is to become.
    """
    a, values = x._array, _values_for(where, x, picks, values)
    axis, mask = picks[0]
    if len(picks) == 1 and mask.dtype is dtypes.bool_ and mask.ndim:
        _index._check_mask(x, axis, mask)
        if values.numel() == 1:
            ones = (1,) * (x.ndim - axis - mask.ndim)
            holds = mask._array.reshape((*mask.shape, *ones))
            number = values._array.reshape(())
            if arrays.may_overlap(a, holds) or arrays.may_overlap(a, number):
                return False
            arrays.where(holds, number, a, into=a)
            return True
    if not a.flags.c_contiguous:
        return False
    axes, positions, shape = _index.picked(x, picks)
    if axes != tuple(range(axes[0], axes[0] + len(axes))):
        return False
    before, after = x.shape[: axes[0]], x.shape[axes[-1] + 1 :]
    wanted = (*before, *shape, *after)
    source = arrays.expand(
        _index.fitting(where, values.detach(), wanted)._array, wanted
    )
    if arrays.may_overlap(source, a):
        source = arrays.copy(source)
    source = view.reshape_op(make(source, None), (*before, math.prod(shape), *after))
    rows = a.reshape((*before, math.prod(x.shape[axes[0] : axes[-1] + 1]), *after))
    arrays.index_copy(rows, positions._array, source._array, axes[0], into=rows)
    return True


@method("index_put", inplace="index_put_")
def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    """Return `input` with ``input[indices] = values``, or added with `accumulate`.

    Parameters
    ----------
    input
        Of any shape.
    indices
        One integer or boolean tensor for each leading dimension; None takes all of it.
    values
        What to write; it broadcasts to the shape of ``input[indices]``.
    accumulate
        Add, in order, in place of writing.

    Raises
    ------
    DTypeError
        If `indices` is no tuple of tensors and None.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_put(ac.zeros(3, dtype=ac.int64), (ac.tensor([2, 0]),), ac.tensor(5))
    tensor([5, 0, 5])
    """
    if accumulate.__class__ is not FLAG:
        accumulate = check_flag("index_put", "accumulate", accumulate)
    x = check_tensor("index_put", input)
    if not isinstance(indices, (list, tuple)) or not all(
        one is None or isinstance(one, Tensor) for one in indices
    ):
        message = (
            f"index_put: `indices` is {indices!r}; it must be a tuple of tensors and "
            f"None."
        )
        raise DTypeError(message)

    parts = tuple(slice(None) if one is None else one for one in indices)
    check_tensor("index_put", values)
    _, picks = _index.split_index(x, parts)
    if not picks or any(isinstance(part, int) for part in parts):
        return _put_parts(x, indices, values, accumulate)
    return put_picked("index_put", x, picks, values, accumulate)


def _put_parts(
    x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool
) -> Tensor:
    """Write at 0-d index tensors, which brackets would take for integers."""
    parts = tuple(
        slice(None) if i is None else view.reshape_op(i, (1,)) if i.ndim == 0 else i
        for i in indices
    )
    picks: _index.Picks = _index.split_index(x, parts)[1]
    if not picks:
        message = "index_put: `indices` holds no tensor; give one at least."
        raise ArgumentError(message)
    return put_picked("index_put", x, picks, values, accumulate)


@method("put", inplace="put_")
def put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
) -> Tensor:
    """Return `input` with `source` at, or added to, places of it flattened.

    Parameters
    ----------
    input
        The tensor.
    index
        Positions in the flattened tensor, int64.
    source
        The values.
    accumulate
        Add instead of overwrite.

    Raises
    ------
    ArgumentError
        If `source` has not as many elements as `index`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.put(ac.zeros(3), ac.tensor([2]), ac.tensor([5.0]))
    tensor([0., 0., 5.])
    """
    if accumulate.__class__ is not FLAG:
        accumulate = check_flag("put", "accumulate", accumulate)
    x, places = check_tensor("put", input), indexing.long_positions("put", index)
    _, values = same_dtype("put", x, source)
    if values.numel() != places.numel():
        message = (
            f"put: `source` has {values.numel()} elements for {places.numel()} places; "
            f"there must be one for each."
        )
        raise ArgumentError(message)
    flat = _index.wrapped(view.reshape(places, (-1,)), x.numel())
    write = index_add if accumulate else index_copy
    found = write(view.reshape(x, (-1,)), 0, flat, view.reshape(values, (-1,)))
    return view.reshape(found, x.shape)
