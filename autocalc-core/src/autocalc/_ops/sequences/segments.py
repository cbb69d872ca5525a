# SPDX-License-Identifier: MIT
"""Reductions of segments: of ranges of rows, one after the other."""

from __future__ import annotations

from math import inf, nan

from autocalc._ops._operator.arguments import axis_of, check_tensor
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.arranging import rearranging
from autocalc._ops.creation.constants import full
from autocalc._ops.elementwise import arithmetic, clamping
from autocalc._ops.indexing import masking, scattering
from autocalc._ops.sequences import scatter_reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number, one_of
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError

_NAME = "segment_reduce"

#: The value that an empty segment starts with.
_STARTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -inf, "min": inf}


@rounded_once
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Reduce consecutive segments of rows, such as the nodes of each graph in a batch.

    Parameters
    ----------
    data
        The rows, floats of shape ``[n, ...]``.
    reduce
        ``"sum"``, ``"mean"``, ``"max"``, ``"min"`` or ``"prod"``.
    lengths
        The number of rows of each segment, integers of shape ``[segments]``; their sum
        is n.
    indices
        It must be None.
    offsets
        In place of `lengths`: where each segment begins, and n; ``[segments + 1]``.
    axis
        It must be 0.
    unsafe
        It has no effect: the lengths are always checked.
    initial
        The value with which each segment begins.

    Returns
    -------
    Tensor
        One row for each segment.  An empty segment has the value `initial`; without it,
        0 for a sum, 1 for a product, NaN for a mean, and an infinite value otherwise.

    Raises
    ------
    ArgumentError
        If `reduce` is another word, or neither or both of `lengths` and `offsets` are
        given.
    ShapeError
        If the lengths do not fit the rows.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 5.0, 3.0, 2.0, 7.0])
    >>> ac.segment_reduce(x, "max", lengths=ac.tensor([2, 3]))
    tensor([5., 7.])
    """
    del unsafe
    one_of(_NAME, "reduce", reduce, tuple(_STARTS))
    x = check_tensor(_NAME, data)
    check_float(_NAME, x)
    if x.ndim == 0 or axis_of(_NAME, axis, x.ndim) or indices is not None:
        raise ArgumentError(
            f"{_NAME}: `axis`={axis} for shape {x.shape}; segments are ranges of rows: "
            "the tensor needs a dimension, `axis` must be 0 and `indices` None."
        )
    counts = _lengths(x, lengths, offsets)
    start = _STARTS[reduce] if initial is None else number(_NAME, "initial", initial)
    shape = (counts.shape[0], *x.shape[1:])
    first = full(shape, start, dtype=x.dtype, device=place_of_tensor(x))
    which = rearranging.repeat_interleave(counts, output_size=x.shape[0])
    if reduce in ("sum", "mean"):
        total = scattering.index_add_op(first, which, x, 0)
        return total if reduce == "sum" else _mean(total, counts, initial is None)
    word = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    return scatter_reduction.index_reduce(first, 0, which, x, word)


def _mean(total: Tensor, counts: Tensor, empty_is_nan: bool) -> Tensor:
    """Return a sum divided by the number of rows; an empty segment has no mean."""
    sizes = view.reshape(counts, (-1, *(1,) * (total.ndim - 1)))
    divided = arithmetic.div(total, clamping.clamp(sizes, min=1).to(total.dtype))
    return masking.where(sizes == 0, nan, divided) if empty_is_nan else divided


def _lengths(x: Tensor, lengths: Tensor | None, offsets: Tensor | None) -> Tensor:
    if (lengths is None) == (offsets is None):
        raise ArgumentError(
            f"{_NAME}: give either `lengths` or `offsets`, and not both: they say "
            "where the segments are."
        )
    given = check_tensor(_NAME, lengths if offsets is None else offsets)
    if given.ndim != 1 or given.is_floating_point():
        raise ShapeError(
            f"{_NAME}: the lengths or offsets have shape {given.shape} and dtype "
            f"{given.dtype.name}; they must be a vector of integers."
        )
    given = given.to(dtypes.int64)
    n = x.shape[0]
    if offsets is not None:
        if not given.shape[0] or int(given[0]) != 0 or int(given[-1]) != n:
            raise ShapeError(
                f"{_NAME}: `offsets` must begin with 0 and end with the number of "
                f"rows, {n}."
            )
        given = given[1:] - given[:-1]
    total = int(given.sum())
    if total != n or (given.shape[0] and int(given.min()) < 0):
        raise ShapeError(
            f"{_NAME}: Expected all rows of lengths along axis to sum to the number of "
            f"rows, {n}, and none to be negative; their sum is {total}."
        )
    return given
