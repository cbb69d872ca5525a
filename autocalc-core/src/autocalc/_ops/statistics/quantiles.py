# SPDX-License-Identifier: MIT
"""Quantiles and histograms."""

from __future__ import annotations

import builtins
import math
from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import recordings, refuse_reading
from autocalc._ops._operator.arguments import as_int, axis_of, check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.short_calls import holds
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import (
    arithmetic,
    bitwise,
    clamping,
    comparison,
    rounding,
)
from autocalc._ops.indexing import indexing
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.sequences import sorting
from autocalc._ops.views import moving, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import number
from autocalc.errors import ArgumentError, DTypeError, ShapeError


@method("quantile")
@autocasts("float32")
@declared
@rounded_once
def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the `q`-quantiles of the elements along `dim`.

    A share `q` of the elements is below the q-quantile.

    Parameters
    ----------
    input
        A tensor of float32 or float64. A slice that contains NaN has the quantile NaN.
    q
        The shares q between 0 and 1: a number, or a vector.  The quantiles of a vector
        form the first dimension of the result.
    dim
        The dimension; by default the quantiles of all elements are returned.
    interpolation
        How a value between two elements is computed: ``"linear"``, ``"lower"``,
        ``"higher"``, ``"midpoint"`` or ``"nearest"``.
    keepdim
        True to keep the reduced dimension, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.quantile(ac.tensor([3.0, 1.0, 2.0]), 0.25).item()
    1.5
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@method("nanquantile")
@autocasts("float32")
@declared
@rounded_once
def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the `q`-quantiles of the elements that are not NaN; see `quantile`.

    Parameters
    ----------
    input
        The input tensor.
    q
        The shares q between 0 and 1: a number or a vector.
    dim
        The dimension; a negative one counts from the end.
    keepdim
        True to keep the reduced dimensions, with size 1.
    interpolation
        How a value between two elements is computed: "linear", "lower", "higher",
        "midpoint" or "nearest".
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nanquantile(ac.tensor([1.0, ac.nan, 3.0]), 0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _quantile(
    where: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, between: str
) -> Tensor:
    x = check_tensor(where, input)
    if isinstance(q, Tensor):
        shares = _shares(where, x, q)
    else:
        shares = _share(where, x, number(where, "q", q))
    return _of_shares(where, x, shares, dim, keepdim, between)


@traced
def _of_shares(
    where: str, x: Tensor, shares: Tensor, dim: Any, keepdim: bool, between: str
) -> Tensor:
    if between not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise ArgumentError(
            f"{where}() interpolation must be one of linear, lower, higher, midpoint "
            f"or nearest, but got {between}."
        )
    axis = 0 if dim is None else axis_of(where, dim, x.ndim)
    line = view.reshape(x, (-1,)) if dim is None or x.ndim == 0 else x
    if line.shape[axis] == 0:
        message = f"{where}() input tensor must be non-empty, not of shape {x.shape}."
        raise ShapeError(message)
    ordered = moving.movedim(sorting.sort(line, axis).values, axis, -1)
    missing = comparison.isnan(ordered.detach())
    count = reduction.sum(comparison.eq(missing, False), -1, True)
    last = arithmetic.sub_op(cast(count, x.dtype), 1.0)
    rank = arithmetic.mul(last, view.reshape(shares, (-1,)))
    if where == "quantile":  # NaN sorts last and gets the gradient
        some = reduction.any(missing, -1, True)
        rank = comparison.choose(some, float(ordered.shape[-1] - 1), rank)
    found = moving.movedim(_at_rank(ordered, rank, between), -1, 0)
    if keepdim and x.ndim:
        ones = (1,) * x.ndim
        found = (
            view.reshape(found, (-1, *ones))
            if dim is None
            else view.unsqueeze(found, axis + 1)
        )
    return found if shares.ndim else view.clone(view.squeeze(found, 0))


def _share(where: str, x: Tensor, q: float) -> Tensor:
    """Return a number as a tensor of the dtype of `x`."""
    if not x.is_floating_point():
        raise _unfit(where, x, x.dtype.name, ())
    share = constant(q, x._array.dtype)
    if not 0 <= share.item() <= 1:
        raise _outside(where, q)
    return make(share, None)


def _shares(where: str, x: Tensor, shares: Tensor) -> Tensor:
    if not x.is_floating_point() or shares.dtype is not x.dtype or shares.ndim > 1:
        raise _unfit(where, x, shares.dtype.name, shares.shape)
    least, most = extrema.ends(shares.detach()) if shares.numel() else (0, 1)
    if not (least >= 0 and most <= 1):  # also for NaN
        raise _outside(where, shares)
    return shares


def _unfit(where: str, x: Tensor, dtype: str, shape: tuple[int, ...]) -> DTypeError:
    if len(shape) > 1:
        return DTypeError(
            f"{where}() q must be a scalar or 1D tensor, not of shape {shape}."
        )
    if not x.is_floating_point():
        return DTypeError(
            f"{where}() input tensor must be either float or double dtype, not "
            f"{x.dtype.name}."
        )
    return DTypeError(
        f"{where}() q tensor must be same dtype as the input tensor: they are {dtype} "
        f"and {x.dtype.name}."
    )


def _outside(where: str, q: Any) -> ArgumentError:
    if isinstance(q, Tensor) and q.ndim:
        return ArgumentError(f"{where}() q values must be in the range [0, 1]: {q}.")
    given = q.item() if isinstance(q, Tensor) else q
    return ArgumentError(f"{where}() q must be in the range [0, 1] but got {given}.")


def _at_rank(ordered: Tensor, rank: Tensor, between: str) -> Tensor:
    """Return the value at a rank, which may be between two elements."""
    whole_rank = clamping.clamp_op(rank, rank.new_zeros(()), None)
    low = cast(rounding.floor(whole_rank), dtypes.int64)
    part = arithmetic.sub_op(whole_rank, rounding.floor(whole_rank))
    last = ordered.shape[-1] - 1
    high = clamping.clamp_max(
        arithmetic.add_op(low, cast(comparison.gt(part, 0), dtypes.int64)), last
    )
    if between == "nearest":
        low = high = cast(whole_rank.round(), dtypes.int64)
    under, over = indexing.gather(ordered, -1, low), indexing.gather(ordered, -1, high)
    if between == "lower":
        found = under
    elif between == "higher":
        found = over
    else:
        part = (
            part
            if between != "midpoint"
            else cast(comparison.gt(part, 0), part.dtype) * 0.5
        )
        way = arithmetic.sub_op(over, under)
        found = arithmetic.add_op(under, arithmetic.mul(way, part))
        same = comparison.eq(over.detach(), under.detach())
        endless = bitwise.bitwise_and(same, comparison.isinf(under))
        found = comparison.where_op(endless, under, found)
    return found


@method("bincount")
def bincount(
    input: Tensor, weights: Tensor | None = None, minlength: int = 0
) -> Tensor:
    """Return how often each integer from 0 on occurs, or the sum of its weights.

    Parameters
    ----------
    input
        A vector of non-negative integers.
    weights
        The weights of the elements, of the shape of `input`.
    minlength
        The smallest length of the result.

    Raises
    ------
    ShapeError
        If `input` is not a vector of integers, or `weights` has another shape.
    ArgumentError
        If an element is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.bincount(ac.tensor([1, 3, 1]))
    tensor([0, 2, 0, 1])
    """
    a = check_tensor("bincount", input)._array
    if a.ndim != 1 or a.dtype.kind not in "iu":
        raise ShapeError(
            f"bincount: `input` has shape {input.shape}; it only supports 1-d "
            "non-negative integral inputs, and is not implemented for "
            f"{input.dtype.name} unless that holds integers."
        )
    if (
        weights is not None
        and check_tensor("bincount", weights)._array.shape != a.shape
    ):
        raise ShapeError(
            "bincount: `weights` should be 1-d and have the same length as `input`: "
            f"they have the shapes {weights.shape} and {input.shape}."
        )
    if recordings:
        refuse_reading("bincount, whose shape depends on values")
    least = as_int("bincount", "minlength", minlength)
    room = max(least, _ROOM)
    counts, ends = _counts(input, room)
    lowest, highest = ends._array.tolist()
    if least < 0 or lowest < 0:
        message = (
            f"bincount: minlength should be >= 0, not {least}."
            if least < 0
            else "bincount: only supports 1-d non-negative integral inputs, not "
            f"{lowest}."
        )
        raise ArgumentError(message)
    size = max(least, highest + 1)
    if weights is not None:
        return _sums(input, weights, size)
    if size > room:
        counts, _ = _counts(input, size)
    return counts if size >= room else make(counts._array[:size], None)


#: This many counts are computed before it is known how many are needed.
_ROOM = 64


@traced(light=True)
def _counts(input: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return the counts of the numbers below `size`, and the smallest and largest."""
    counts, ends = arrays.bincount(cast(input, dtypes.int64)._array, size)
    return make(counts, None), make(ends, None)


@traced
def _sums(input: Tensor, weights: Tensor, size: int) -> Tensor:
    """Return the sum of the weights of each number below `size`."""
    kept = weights.dtype is dtypes.float32
    amounts = cast(weights.detach(), weights.dtype if kept else dtypes.float64)
    amounts = amounts._array
    places = cast(input, dtypes.int64)._array
    counts = arrays.zeros((size,), amounts.dtype)
    return make(arrays.index_add(counts, places, amounts, 0), None)


@method("histc")
@traced
def histc(
    input: Tensor,
    bins: int = 100,
    min: float = 0,
    max: float = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return how many elements fall into each of `bins` equal parts of [min, max].

    If `min` and `max` are equal, the smallest and the largest element are used as the
    ends.

    Parameters
    ----------
    input
        The input tensor.
    bins
        The number of bins.
    min
        The lower end.
    max
        The upper end.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If `input` holds integers.
    ArgumentError
        If `bins` is below 1, an end is not finite, or `max` is below `min`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.histc(ac.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    x = check_tensor("histc", input).detach()
    count = as_int("histc", "bins", bins)
    low, high = (
        float(number("histc", name, end)) for name, end in (("min", min), ("max", max))
    )
    if low > high:
        raise ArgumentError(
            f"histc: max must be larger than min; they are {high:g} and {low:g}."
        )
    if not x.is_floating_point():
        message = f"histc: not implemented for {x.dtype.name}; use .float()."
        raise DTypeError(message)
    flat = view.reshape(x, (-1,))._array
    own = low == high and flat.size > 0
    if own:
        low = high = 0.0
    if own and recordings:
        refuse_reading("histc, whose bins depend on values")
    counts, rising = arrays.histc(flat, builtins.max(count, 1), low, high)
    rise = holds(rising) if own else low <= high and math.isfinite(high - low)
    if count < 1 or not rise:
        if own:
            low, high = extrema.ends(x)
        raise ArgumentError(
            f"histc: {count} bins from {low:g} to {high:g}; bins must be > 0, the ends "
            f"finite, and max must be larger than min."
        )
    return make(counts, None)
