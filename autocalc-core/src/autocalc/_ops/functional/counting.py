# SPDX-License-Identifier: MIT
"""How often values occur, and where they belong in an order."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops import division, elementwise
from autocalc._ops._arguments import as_int, check_tensor
from autocalc._ops._coerce import Number, as_operand, cast, coerce
from autocalc._ops._out import apply_out
from autocalc._ops.creation import ones, zeros
from autocalc._ops.functional.arranging import movedim
from autocalc._ops.functional.elementwise_composites import isfinite
from autocalc._ops.functional.extrema import amax, amin
from autocalc._ops.functional.indexing import index_select
from autocalc._ops.functional.joining import cat
from autocalc._ops.functional.ordering import nonzero, sort
from autocalc._ops.functional.reductions import all as all_of
from autocalc._ops.functional.scans import cumsum
from autocalc._ops.functional.scattering import index_add, scatter
from autocalc._ops.functional.shapes import clone, reshape
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = [
    "argwhere",
    "bincount",
    "bucketize",
    "histc",
    "isin",
    "searchsorted",
    "unique_consecutive",
]


def argwhere(input: Tensor) -> Tensor:
    """Return the positions of what is not zero, [n, ndim]: `nonzero`."""
    return nonzero(input)  # type: ignore[return-value]  # one tensor by default


def bincount(
    input: Tensor, weights: Tensor | None = None, minlength: int = 0
) -> Tensor:
    """Return how often each integer from 0 on occurs, or the sum of its weights.

    Parameters
    ----------
    input
        A vector of integers, none negative.
    weights
        Of the same shape.
    minlength
        How many counts there are at least.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.bincount(ac.tensor([1, 3, 1]))
    tensor([0, 2, 0, 1])
    """
    x = check_tensor("bincount", input)
    if x.ndim != 1 or x.is_floating_point() or x.dtype is dtypes.bool_:
        message = (
            f"bincount: `input` has shape {x.shape} and dtype {x.dtype.name}; it must "
            f"be a vector of integers."
        )
        raise ShapeError(message)
    if weights is not None and check_tensor("bincount", weights).shape != x.shape:
        message = (
            f"bincount: `weights` has shape {weights.shape}, `input` {x.shape}; they "
            f"must be equal."
        )
        raise ShapeError(message)
    least = as_int("bincount", "minlength", minlength)
    if least < 0 or (x.numel() and int(amin(x).item()) < 0):
        found = least if least < 0 else int(amin(x).item())
        message = f"bincount: {found} is negative; counts are of 0, 1, 2 and so on."
        raise ArgumentError(message)
    size = max(least, int(amax(x).item()) + 1 if x.numel() else 0)
    amounts = ones(x.shape, dtype=dtypes.int64) if weights is None else weights.detach()
    if weights is not None and amounts.dtype is not dtypes.float32:
        amounts = cast(amounts, dtypes.float64)
    return index_add(zeros(size, dtype=amounts.dtype), 0, x, amounts)


def histc(
    input: Tensor,
    bins: int = 100,
    min: float = 0,
    max: float = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return how many elements fall into each of `bins` equal parts of [min, max].

    Where both are 0, from the smallest element to the largest.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.histc(ac.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    x = check_tensor("histc", input).detach()
    if not x.is_floating_point():
        message = f"histc: takes float32 or float64, not {x.dtype.name}; use .float()."
        raise DTypeError(message)
    count = as_int("histc", "bins", bins)
    flat = reshape(x, (-1,))
    low, high = (
        float(number("histc", name, end)) for name, end in (("min", min), ("max", max))
    )
    if low == high == 0 and flat.numel():
        low, high = float(amin(flat).item()), float(amax(flat).item())
    if low == high:
        low, high = low - 1, high + 1
    if count < 1 or not (low < high and math.isfinite(high - low)):
        message = (
            f"histc: {count} bins from {low:g} to {high:g}; there must be 1 at least, "
            f"and the ends must be finite and rise."
        )
        raise ArgumentError(message)
    scaled = elementwise.mul(elementwise.sub(flat, low), count / (high - low))
    inside = division.bitwise_and(elementwise.ge(flat, low), elementwise.le(flat, high))
    place = elementwise.choose(inside, scaled, elementwise.mul(scaled, 0))
    place = elementwise.choose(
        isfinite(place), place, zeros(place.shape, dtype=x.dtype)
    )
    index = cast(place, dtypes.int64)
    index = elementwise.minimum(index, count - 1)
    found = index_add(zeros(count, dtype=x.dtype), 0, index, cast(inside, x.dtype))
    return apply_out("histc", found, out)


# ---- places in an order --------------------------------------------------------------


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
    """Return where each value would stand in a sorted sequence.

    Parameters
    ----------
    sorted_sequence
        Rising along the last dimension; a vector, or [..., n].
    input
        A number, or values [..., m] with the same leading dimensions; of any shape for
        a vector.
    right, side
        Behind equal elements (``side="right"``) in place of in front of them.
    out_int32
        int32 in place of int64.
    sorter
        What `argsort` gives for a sequence that is not sorted.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.searchsorted(ac.tensor([1, 3, 5]), ac.tensor([0, 3, 9]))
    tensor([0, 1, 3])
    """
    where = "searchsorted"
    line = check_tensor(where, sorted_sequence).detach()
    if sorter is not None:
        from autocalc._ops.functional.indexing import gather

        line = gather(line, -1, sorter)
    if side not in (None, "left", "right") or (side == "left" and right):
        message = f"{where}: `side`={side!r} with `right`={right}; say one of them."
        raise ArgumentError(message)
    number = isinstance(input, Number)
    values = as_operand(input, dtypes.of_scalar(input)) if number else input
    values = check_tensor(where, values).detach()
    if line.ndim == 0 or (line.ndim > 1 and line.shape[:-1] != values.shape[:-1]):
        message = (
            f"{where}: the sequence has shape {line.shape}, the values {values.shape}; "
            f"it must be a vector, or all dimensions but the last must be equal."
        )
        raise ShapeError(message)
    behind = right or side == "right"
    found = _places(line, values, behind)
    return apply_out(where, cast(found, dtypes.int32) if out_int32 else found, out)


def _places(line: Tensor, values: Tensor, behind: bool) -> Tensor:
    """Return the places by sorting the values in among the sequence.

    The sort is stable: what comes first stays in front of equal elements.
    """
    line, values = coerce("searchsorted", line, values)
    n = line.shape[-1]
    flat = values if line.ndim > 1 else reshape(values, (-1,))
    both = cat([line, flat] if behind else [flat, line], -1)
    order = sort(both, -1, stable=True).indices
    first = n if behind else 0
    of_line = (
        elementwise.lt(order, n) if behind else elementwise.ge(order, flat.shape[-1])
    )
    before = cumsum(of_line, -1)
    found = scatter(zeros(both.shape, dtype=dtypes.int64), -1, order, before)
    part = (..., slice(first, first + flat.shape[-1]))
    return reshape(clone(found[part]), values.shape)


def bucketize(
    input: Any,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return between which of the rising `boundaries` each value lies.

    ``boundaries[i - 1] < x <= boundaries[i]``, or, with `right`, ``<=`` and ``<``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.bucketize(ac.tensor([0, 2, 7]), ac.tensor([1, 2, 5]))
    tensor([0, 1, 3])
    """
    if check_tensor("bucketize", boundaries).ndim != 1:
        message = (
            f"bucketize: `boundaries` has shape {boundaries.shape}; give a vector."
        )
        raise ShapeError(message)
    return searchsorted(boundaries, input, right=right, out_int32=out_int32, out=out)


def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Return whether each element is among `test_elements`, or, inverted, is not.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isin(ac.tensor([1, 2, 3]), ac.tensor([2, 3, 4]))
    tensor([False,  True,  True])
    """
    x, tests = coerce("isin", elements, test_elements)
    line = sort(reshape(tests.detach(), (-1,))).values
    x = x.detach()
    if line.numel() == 0:
        found = elementwise.ne(x, x)
    else:
        place = elementwise.minimum(searchsorted(line, x), line.numel() - 1)
        nearest = reshape(index_select(line, 0, reshape(place, (-1,))), x.shape)
        found = elementwise.eq(nearest, x)
    return elementwise.eq(found, False) if invert else found


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return the elements without those that repeat the one before.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unique_consecutive(ac.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    x = check_tensor("unique_consecutive", input).detach()
    slices = reshape(x, (-1,)) if dim is None else movedim(x, dim, 0)
    n = slices.shape[0]
    if n == 0:
        starts = zeros(0, dtype=dtypes.bool_)
    else:
        same = elementwise.eq(slices[1:], slices[:-1])
        rows = reshape(same, (n - 1, -1)) if same.numel() else zeros(n - 1, 1)
        starts = cat([ones(1, dtype=dtypes.bool_), ~all_of(rows, 1)])
    places = reshape(argwhere(starts), (-1,))
    values = index_select(slices, 0, places)
    results = [values if dim is None else clone(movedim(values, 0, dim))]
    if return_inverse:
        group = elementwise.sub(cumsum(starts, 0), 1)
        results.append(reshape(group, x.shape if dim is None else group.shape))
    if return_counts:
        ends = cat([places[1:], places.new_full((min(n, 1),), n)])
        results.append(elementwise.sub(ends, places))
    return results[0] if len(results) == 1 else tuple(results)
