# SPDX-License-Identifier: MIT
"""Distinct values, membership tests, and search in sorted values."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import dtype_near
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._kernels.rules import BOOL
from autocalc._ops._operator.arguments import axis_of, check_tensor
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import Number, as_operand, cast, coerce, coerce_two
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.arranging import joining
from autocalc._ops.creation.constants import ones, zeros
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.indexing._mask_indices import true_places
from autocalc._ops.reductions import reduction
from autocalc._ops.sequences import scans, sorting
from autocalc._ops.views import moving, slicing, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError


@method("unique")
@declared
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return the distinct elements, in ascending order.

    With `return_inverse`, it also returns the index of each element among the distinct
    ones, and with `return_counts`, how often each occurs.  With `dim`, it returns the
    distinct slices along `dim`, ordered by their first elements, then by their second
    elements, and so on.

    Parameters
    ----------
    input
        The input tensor.
    sorted
        Accepted so that programs for PyTorch run; it has no effect, because the result
        is always sorted.
    return_inverse
        True to also return the index of each element among the distinct ones.
    return_counts
        True to also return how often each distinct element occurs.
    dim
        The dimension whose slices are compared; None compares single elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unique(ac.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    x = check_tensor("unique", input).detach()
    a = x._array
    if dim is None:
        order, ordered, begins = [one._array for one in _in_order(x)]
    else:
        axis = axis_of("unique", dim, a.ndim)
        parts = moving.movedim(x, axis, 0) if a.ndim else view.reshape_op(x, (1,))
        n = parts.shape[0]
        rows = view.reshape_op(parts, (n, parts.numel() // max(n, 1)))
        order = _order_of_rows(rows)._array
        begins = _begins(arrays.index_select(rows._array, order, 0))
        ordered = arrays.index_select(parts._array, order, 0)
    firsts = true_places(begins)
    values = make(arrays.index_select(ordered, firsts, 0), None)
    if dim is not None and a.ndim:
        values = view.detach_from_base(view.clone_op(moving.movedim(values, 0, axis)))
    results = [values]
    if return_inverse:
        inverse = _groups(order, begins)
        inverse = arrays.reshape(inverse, a.shape if dim is None else inverse.shape)
        results.append(make(inverse, None))
    if return_counts:
        end = constant(order.shape[0], order.dtype).reshape(1)
        stops = arrays.cat((firsts[1:], end), 0)[: firsts.shape[0]]
        results.append(make(arrays.sub(stops, firsts), None))
    return results[0] if len(results) == 1 else tuple(results)


def _groups(order: Any, begins: Any) -> Any:
    """Return the group of each element, given the sort order and the group starts."""
    group = arrays.sub(arrays.cumsum(begins, 0, False), constant(1, order.dtype))
    return arrays.gather(group, arrays.argsort(order, 0, False), 0)


def ranks(x: Tensor) -> Tensor:
    """Return the rank of each element among the distinct values."""
    flat = arrays.reshape(x._array, (x._array.size,))
    order = arrays.argsort(flat, 0, False)
    found = _groups(order, _begins(arrays.gather(flat, order, 0)))
    return make(arrays.reshape(found, x._array.shape), None)


def _order_of_rows(rows: Tensor) -> Tensor:
    """Return the indices that sort rows: stable sorts from the last column back."""
    n, columns = rows.shape
    order = make(arrays.arange(n, rows._array), None)
    for column in reversed(range(columns)):
        values = slicing.slice_op(rows, (slice(None), column))
        again = sorting.argsort(indexing.index_select_op(values, order, 0))
        order = indexing.index_select_op(order, again, 0)
    return order


@traced
def _in_order(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return a sort order, the sorted elements, and where each new value begins."""
    line = arrays.reshape(x._array, (x._array.size,))
    order = arrays.argsort(line, 0, False)
    ordered = arrays.gather(line, order, 0)
    return make(order, None), make(ordered, None), make(_begins(ordered), None)


def _begins(ordered: Any) -> Any:
    """Return an array: where a new value, or row of values, begins in sorted ones."""
    first = arrays.full((min(len(ordered), 1),), True, dtype_near(ordered, BOOL))
    new = arrays.compare(ordered[1:], ordered[:-1], "ne")
    if new.ndim > 1:
        new = reduction.any(make(new, None), 1)._array
    return arrays.cat((first, new), 0)


@method("unique_consecutive")
@declared
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return `input` without the elements that equal the element before them.

    Parameters
    ----------
    input
        The input tensor.
    return_inverse
        True to also return the index of each element in the result.
    return_counts
        True to also return the number of repetitions of each element.
    dim
        The dimension whose slices are compared; None compares elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unique_consecutive(ac.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    x = check_tensor("unique_consecutive", input).detach()
    slices = view.reshape(x, (-1,)) if dim is None else moving.movedim(x, dim, 0)
    n = slices.shape[0]
    if n == 0:
        starts = zeros(0, dtype=dtypes.bool_, device=place_of_tensor(x))
    else:
        same = comparison.eq(slices[1:], slices[:-1])
        rows = (
            view.reshape(same, (n - 1, -1))
            if same.numel()
            else zeros(n - 1, 1, device=place_of_tensor(x))
        )
        starts = joining.cat(
            [
                ones(1, dtype=dtypes.bool_, device=place_of_tensor(x)),
                ~reduction.all(rows, 1),
            ]
        )
    places = view.reshape(masking.argwhere(starts), (-1,))
    values = indexing.index_select(slices, 0, places)
    results = [values if dim is None else view.clone(moving.movedim(values, 0, dim))]
    if return_inverse:
        group = arithmetic.sub_op(scans.cumsum(starts, 0), 1)
        results.append(view.reshape(group, x.shape if dim is None else group.shape))
    if return_counts:
        ends = joining.cat([places[1:], places.new_full((min(n, 1),), n)])
        results.append(arithmetic.sub_op(ends, places))
    return results[0] if len(results) == 1 else tuple(results)


@declared
def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Return whether each element is among `test_elements` (or is not, with `invert`).

    Parameters
    ----------
    elements
        The values to look up.
    test_elements
        The values among which `elements` are looked up.
    assume_unique
        Accepted so that programs for PyTorch run; it has no effect.
    invert
        True to return whether each element is missing.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isin(ac.tensor([1, 2, 3]), ac.tensor([2, 3, 4]))
    tensor([False,  True,  True])
    """
    refuse_booleans("isin", elements, test_elements)
    x, tests = coerce("isin", elements, test_elements)
    line = sorting.sort(view.reshape(tests.detach(), (-1,))).values
    x = x.detach()
    if line.numel() == 0:
        found = comparison.ne(x, x)
    else:
        place = clamping.clamp_max(searchsorted(line, x), line.numel() - 1)
        nearest = view.reshape(
            indexing.index_select(line, 0, view.reshape(place, (-1,))), x.shape
        )
        found = comparison.eq(nearest, x)
    return comparison.eq(found, False) if invert else found


@traced(light=True)
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    right: bool = False,
    side: str | None = None,
    out_int32: bool = False,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the position at which each value would be inserted in a sorted sequence.

    Parameters
    ----------
    sorted_sequence
        Values that rise along the last dimension: a vector, or a tensor of shape
        [..., n].
    input
        The values: for a vector, a number or a tensor of any shape; otherwise a tensor
        of shape [..., m] with the same leading dimensions.
    right, side
        ``right=True`` or ``side="right"`` for the position after equal elements instead
        of before them.
    out_int32
        True to return int32 instead of int64.
    sorter
        The indices that sort the sequence, as returned by `argsort`; None if the
        sequence is sorted.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `side` and `right` contradict each other.
    ShapeError
        If the sequence is not a vector and the leading dimensions differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.searchsorted(ac.tensor([1, 3, 5]), ac.tensor([0, 3, 9]))
    tensor([0, 1, 3])
    """
    where = "searchsorted"
    line = check_tensor(where, sorted_sequence)
    if sorter is not None:
        order = indexing.long_positions(where, sorter)
        line = indexing.gather(line.detach(), -1, order)
    if side not in (None, "left", "right") or (side == "left" and right):
        message = (
            f"{where}: `side`={side!r} contradicts `right`={right}; give only one of "
            "them."
        )
        raise ArgumentError(message)
    values = input
    if input.__class__ is not Tensor:
        number = isinstance(input, Number)
        values = as_operand(input, dtypes.of_scalar(input)) if number else input
    shape, sizes = line._array.shape, check_tensor(where, values)._array.shape
    if len(shape) != 1 and (not shape or shape[:-1] != sizes[:-1]):
        raise ShapeError(
            f"{where}: the sequence has shape {line.shape} and the values have shape "
            f"{values.shape}; the sequence must be a vector, or all sizes except the "
            "last must be equal."
        )
    line, values = coerce_two(where, line, values)
    if line._array.dtype.kind == "b":
        refuse_booleans(where, line)
    behind = right or side == "right"
    found = make(arrays.searchsorted(line._array, values._array, behind), None)
    return cast(found, dtypes.int32) if out_int32 else found


@declared
def bucketize(
    input: Any,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the index of the bucket between `boundaries` that contains each value.

    Bucket i contains x with ``boundaries[i - 1] < x <= boundaries[i]``; with `right`,
    ``boundaries[i - 1] <= x < boundaries[i]``.

    Parameters
    ----------
    input
        The values x, a tensor of any shape.
    boundaries
        The limits of the buckets in ascending order, a vector of shape [n].
    out_int32
        True to return int32 instead of int64.
    right
        True if a bucket includes its left limit instead of its right one.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If `boundaries` is not a vector.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.bucketize(ac.tensor([0, 2, 7]), ac.tensor([1, 2, 5]))
    tensor([0, 1, 3])
    """
    if check_tensor("bucketize", boundaries).ndim != 1:
        raise ShapeError(
            f"bucketize: `boundaries` has shape {boundaries.shape}; it must be a "
            "vector."
        )
    return searchsorted(boundaries, input, right=right, out_int32=out_int32)
