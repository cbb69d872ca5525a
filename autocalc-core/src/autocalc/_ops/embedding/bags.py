# SPDX-License-Identifier: MIT
"""Sums, means or maxima over bags of rows of a table."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

from autocalc._dispatch.selection.state import check_values, recorder
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.creation.constants import full, ones, zeros
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic, clamping
from autocalc._ops.embedding import rows as embedding
from autocalc._ops.indexing import indexing, masking, scattering
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.sequences import scans, searching
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import one_of
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, DTypeError, NoFormulaError, ShapeError

_NAME = "embedding_bag"


@declared
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return the sum, mean or maximum of the rows of `weight` for each bag of indices.

    Parameters
    ----------
    input
        Indices from 0 to V - 1.  In a matrix of shape (B, L), each row is a bag.  In a
        vector of shape (N,), the bags follow each other, and `offsets` marks where each
        one begins.
    weight
        The table, a tensor of shape (V, D).
    offsets
        For a vector `input`, the index at which each bag begins: a vector of shape
        (B,). The first element is 0, and none is smaller than the one before it. An
        empty bag gives zeros.
    max_norm, norm_type, scale_grad_by_freq, sparse
        The same as in `embedding`; `scale_grad_by_freq` has no effect in the mode
        "max".
    mode
        The reduction of the rows: "sum", "mean" or "max".
    per_sample_weights
        Factors of the rows, with the shape of `input`; only for the mode "sum".
    include_last_offset
        True if `offsets` has one more element: the end of the last bag.
    padding_idx
        An index to skip, as if it were not in its bag; a negative number counts from
        the end of the table.

    Returns
    -------
    Tensor
        A tensor of shape (B, D).

    Raises
    ------
    ArgumentError
        If `offsets` do not fit `input`, or an option is not available.
    KernelDataError
        If an index is not between 0 and V - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> table = ac.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    >>> words, starts = ac.tensor([1, 2, 2]), ac.tensor([0, 2])
    >>> ac.nn.functional.embedding_bag(words, table, starts)
    tensor([[2., 3.],
            [3., 4.]])
    """
    embedding.check_sparse(_NAME, sparse, scale_grad_by_freq)
    _check(input, weight, mode, per_sample_weights)
    padding = embedding.row_number(_NAME, padding_idx, weight.shape[0])
    numbers = cast(view.reshape(input, (-1,)), dtypes.int64)
    even = input.ndim == 2 and offsets is None and mode != "max"
    bags = None if even else _bags(input, offsets, include_last_offset)
    if scale_grad_by_freq and mode == "max":
        message = (
            f"{_NAME}: `scale_grad_by_freq` can only be used with the modes 'sum' and "
            "'mean'."
        )
        raise ArgumentError(message)
    if max_norm is not None:  # writes the table itself
        embedding._shorten(weight, numbers, max_norm, norm_type)
    table = weight, per_sample_weights
    return _of_bags(
        *table, numbers, input.shape, bags, mode, padding, scale_grad_by_freq, sparse
    )


@rounded_once
def _of_bags(
    weight: Tensor,
    per_sample_weights: Tensor | None,
    numbers: Tensor,
    shape: tuple[int, ...],
    bags: _Bags | None,
    mode: str,
    padding: int | None,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Tensor:
    flags = {"scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
    rows = embedding.embedding(numbers, weight, padding, **flags)
    if per_sample_weights is not None:
        rows = rows * view.reshape(per_sample_weights, (-1, 1))
    counted = None
    if padding is not None:
        counted = view.unsqueeze(numbers != padding, 1)
    if bags is None:
        return _summed(rows, counted, shape, mode)
    return _reduced(rows, counted, bags, mode)


def _summed(
    rows: Tensor, counted: Tensor | None, shape: tuple[int, ...], mode: str
) -> Tensor:
    """Return the sums or means of bags of one length, by plain reductions."""
    if counted is not None:
        rows = masking.where(counted, rows, 0.0)
    total = reduction.sum(view.reshape(rows, (*shape, rows.shape[1])), 1)
    if mode == "sum":
        return total
    if counted is None:
        return arithmetic.div(total, max(shape[1], 1))
    count = reduction.sum(view.reshape(counted, (*shape, 1)), 1)
    return arithmetic.div(total, clamping.clamp(cast(count, total.dtype), min=1.0))


class _Bags(NamedTuple):
    """The bag of each number, the number of bags, and the size of the largest bag.

    The size is None if it is not known yet.
    """

    of: Tensor
    number: int
    most: int | None = None


def _bags(input: Tensor, offsets: Tensor | None, include_last: bool) -> _Bags:
    if input.ndim == 2:
        if offsets is not None:
            raise ArgumentError(
                f"{_NAME}: each row of `input` of shape {input.shape} is a bag; "
                "`offsets` are only for an input of one dimension."
            )
        count, length = input.shape
        of = broadcasting.expand(
            view.unsqueeze(arange(count, device=place_of_tensor(input)), 1),
            (count, length),
        )
        return _Bags(view.reshape(of, (-1,)), count, length)
    if offsets is None:
        raise ArgumentError(
            f"{_NAME}: an `input` of one dimension needs `offsets`, the indices at "
            "which its bags start."
        )
    starts = _starts(input, offsets, 1 if include_last else min(input.shape[0], 1))
    if include_last:
        starts = starts[:-1]
    # Each start adds 1 to all that follow.  So the running sum, minus 1, is the index
    # of the bag.
    marks = zeros(input.shape[0] + 1, dtype=dtypes.int64, device=place_of_tensor(input))
    steps = scattering.index_add_op(
        marks,
        starts,
        ones(*starts.shape, dtype=dtypes.int64, device=place_of_tensor(starts)),
        0,
    )
    return _Bags(scans.cumsum(steps, 0)[:-1] - 1, starts.shape[0])


def _starts(input: Tensor, offsets: Tensor, least: int) -> Tensor:
    if check_tensor(_NAME, offsets).ndim != 1 or offsets.is_floating_point():
        raise ArgumentError(
            f"{_NAME}: `offsets` has shape {offsets.shape} and dtype "
            f"{offsets.dtype.name}; it must be a vector of integers."
        )
    starts = cast(offsets, dtypes.int64)
    count = input.shape[0]

    def check(starts: Any) -> None:
        _check_starts(make(starts, None).tolist(), count, least)

    check_values(check, starts._array)
    return starts


def _check_starts(values: list[int], count: int, least: int) -> None:
    rises = all(a <= b for a, b in pairwise([*values, count]))
    if len(values) < least or values[:1] not in ([], [0]) or not rises:
        raise ArgumentError(
            f"{_NAME}: `offsets` are {values[:8]}{' ...' if len(values) > 8 else ''}; "
            f"they must begin with 0, must not decrease, and must be at most {count}."
        )


def _reduced(rows: Tensor, counted: Tensor | None, bags: _Bags, mode: str) -> Tensor:
    """Reduce ``rows [N, D]`` over each bag; skip rows that are not counted.

    The result for an empty bag is 0 in every mode.
    """
    if mode == "max" and rows.shape[0]:
        return _largest(rows, counted, bags)
    if counted is not None:
        rows = masking.where(counted, rows, 0.0)
    zero = zeros(
        bags.number, rows.shape[1], dtype=rows.dtype, device=place_of_tensor(rows)
    )
    total = scattering.index_add_op(zero, bags.of, rows, 0)
    if mode != "mean":
        return total
    return total / clamping.clamp(_sizes(rows, counted, bags), min=1.0)


def _sizes(rows: Tensor, counted: Tensor | None, bags: _Bags) -> Tensor:
    """Return the number of counted rows of each bag, (B, 1)."""
    one = ones(rows.shape[0], 1, dtype=rows.dtype, device=place_of_tensor(rows))
    if counted is not None:
        one = masking.where(counted, one, 0.0)
    return scattering.index_add_op(
        zeros(bags.number, 1, dtype=rows.dtype, device=place_of_tensor(rows)),
        bags.of,
        one,
        0,
    )


def _largest(rows: Tensor, counted: Tensor | None, bags: _Bags) -> Tensor:
    """Return the largest elements of each bag; the first one if several are equal.

    Each bag becomes one row of the length of the largest bag; the places beyond the end
    of a bag hold -inf.
    """
    places, length = _places(bags)
    if counted is not None:
        rows = masking.where(counted, rows, -math.inf)
    place = bags.of * length + cast(places, dtypes.int64)
    never = full(
        (bags.number * length, rows.shape[1]),
        -math.inf,
        dtype=rows.dtype,
        device=place_of_tensor(rows),
    )
    # Adding a number to -inf would give -inf, so the places in use begin with 0.
    used = scattering.index_add_op(
        zeros(bags.number * length, 1, dtype=rows.dtype, device=place_of_tensor(rows)),
        place,
        ones(rows.shape[0], 1, dtype=rows.dtype, device=place_of_tensor(rows)),
        0,
    )
    laid = scattering.index_add_op(masking.where(used > 0, 0.0, never), place, rows, 0)
    shape = (bags.number, length, rows.shape[1])
    out = extrema.max(view.reshape(laid, shape), 1)[0]
    return masking.where(_sizes(rows, counted, bags) > 0, out, 0.0)


def _places(bags: _Bags) -> tuple[Tensor, int]:
    """Return the place of each number in its bag, and the size of the largest bag.

    In a recording the size is not known, so it is the number of all numbers.
    """
    count = bags.of.shape[0]
    starts = searching.searchsorted(bags.of, bags.of)
    places = arange(count, device=place_of_tensor(bags.of)) - starts
    if bags.most is not None:
        return places, bags.most
    if recorder() is not None:
        return places, count
    return places, int(extrema.amax(places).item()) + 1


def _check(
    input: Tensor, weight: Tensor, mode: str, per_sample_weights: Tensor | None
) -> None:
    one_of(_NAME, "mode", mode, ("sum", "mean", "max"))
    x = check_tensor(_NAME, input)
    indexing.as_positions(_NAME, x)
    check_float(_NAME, weight)
    if x.ndim not in (1, 2) or check_tensor(_NAME, weight).ndim != 2:
        raise ShapeError(
            f"{_NAME}: `input` has shape {x.shape} and `weight` has shape "
            f"{weight.shape}; `input` must be (B, L) or (N,), and `weight` (V, D)."
        )
    if per_sample_weights is None:
        return
    if mode != "sum":
        message = (
            f"{_NAME}: `per_sample_weights` are only supported for mode='sum', not "
            f"{mode!r}."
        )
        raise NoFormulaError(message)
    if check_tensor(_NAME, per_sample_weights).shape != x.shape:
        raise ShapeError(
            f"{_NAME}: `per_sample_weights` has shape {per_sample_weights.shape}; it "
            f"must have the same shape as the input, {x.shape}."
        )
    if per_sample_weights.dtype is not weight.dtype:
        raise DTypeError(
            f"{_NAME}: `per_sample_weights` must have the same type as `weight`, "
            f"{weight.dtype.name}, but they are {per_sample_weights.dtype.name}. "
            f"Convert them with .to(...)."
        )
