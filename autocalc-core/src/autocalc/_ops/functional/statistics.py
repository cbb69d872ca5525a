# SPDX-License-Identifier: MIT
"""Order statistics, running extremes, differences and distances."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops import division, elementwise
from autocalc._ops._arguments import as_int, axis_of, check_tensor
from autocalc._ops._coerce import cast, to_float
from autocalc._ops._out import apply_out
from autocalc._ops.creation import arange
from autocalc._ops.functional.arranging import movedim
from autocalc._ops.functional.elementwise import floor
from autocalc._ops.functional.elementwise_composites import isinf, isnan
from autocalc._ops.functional.indexing import gather
from autocalc._ops.functional.joining import cat
from autocalc._ops.functional.ordering import Ordered, argsort, sort
from autocalc._ops.functional.reductions import any as any_of
from autocalc._ops.functional.reductions import sum as sum_of
from autocalc._ops.functional.shapes import clone, expand, reshape, squeeze, unsqueeze
from autocalc._ops.functional.special import logaddexp
from autocalc._ops.functional.vector_norms import norm, vector_norm
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = [
    "cdist",
    "cummax",
    "cummin",
    "diff",
    "dist",
    "kthvalue",
    "logcumsumexp",
    "nanquantile",
    "quantile",
    "trapezoid",
    "trapz",
]

Pair = tuple[Tensor, Tensor]


# ---- order statistics ----------------------------------------------------------------


def kthvalue(
    input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None
) -> Ordered:
    """Return the (values, indices) of the `k`-th smallest along `dim`, from 1 on."""
    x = check_tensor("kthvalue", input)
    axis = axis_of("kthvalue", dim, x.ndim)
    size = x.shape[axis] if x.ndim else 1
    if not 1 <= as_int("kthvalue", "k", k) <= size:
        message = (
            f"kthvalue: `k`={k} for {size} elements along dimension {dim} of shape "
            f"{x.shape}; it must lie in 1 to {size}."
        )
        raise ArgumentError(message)
    if x.ndim == 0:
        return apply_out("kthvalue", Ordered(clone(x), argsort(x)), out)
    place = (*[slice(None)] * axis, slice(k - 1, k))
    indices = clone(argsort(x, axis)[place])
    found = [gather(x, axis, indices), indices]
    if not keepdim:
        found = [clone(squeeze(one, axis)) for one in found]
    return apply_out("kthvalue", Ordered(*found), out)


def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """Return what a share `q` of the elements along `dim` lies below.

    Parameters
    ----------
    input
        Of float32 or float64; a slice that holds NaN has the quantile NaN.
    q
        From 0 to 1: a number, or a vector, whose results stand in a first dimension.
    dim
        By default all dimensions.
    interpolation
        Between the two nearest elements: ``"linear"``, ``"lower"``, ``"higher"``,
        ``"midpoint"`` or ``"nearest"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.quantile(ac.tensor([3.0, 1.0, 2.0]), 0.25).item()
    1.5
    """
    found = _quantile("quantile", input, q, dim, keepdim, interpolation)
    return apply_out("quantile", found, out)


def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """Return the `quantile` of what is not NaN."""
    found = _quantile("nanquantile", input, q, dim, keepdim, interpolation)
    return apply_out("nanquantile", found, out)


def _quantile(
    where: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, between: str
) -> Tensor:
    x, shares = check_tensor(where, input), _shares(where, input, q)
    if between not in ("linear", "lower", "higher", "midpoint", "nearest"):
        message = (
            f"{where}: `interpolation`={between!r}; it must be linear, lower, higher, "
            f"midpoint or nearest."
        )
        raise ArgumentError(message)
    axis = 0 if dim is None else axis_of(where, dim, x.ndim)
    line = reshape(x, (-1,)) if dim is None or x.ndim == 0 else x
    if line.shape[axis] == 0:
        message = f"{where}: a tensor of shape {x.shape} has no elements to order."
        raise ShapeError(message)
    ordered = movedim(sort(line, axis).values, axis, -1)
    missing = isnan(ordered.detach())
    count = sum_of(elementwise.eq(missing, False), -1, True)
    last = elementwise.sub(cast(count, x.dtype), 1.0)
    if where == "quantile":
        last = elementwise.choose(any_of(missing, -1, True), last * math.nan, last)
    rank = elementwise.mul(last, reshape(shares, (-1,)))
    found = movedim(_at_rank(ordered, rank, between), -1, 0)
    if keepdim and x.ndim:
        ones = (1,) * x.ndim
        found = (
            reshape(found, (-1, *ones)) if dim is None else unsqueeze(found, axis + 1)
        )
    return found if shares.ndim else clone(squeeze(found, 0))


def _shares(where: str, x: Tensor, q: Any) -> Tensor:
    shares = q if isinstance(q, Tensor) else cast(_number(where, q), x.dtype)
    if not x.is_floating_point() or shares.dtype is not x.dtype or shares.ndim > 1:
        message = (
            f"{where}: `input` has dtype {x.dtype.name}, `q` {shares.dtype.name} and "
            f"shape {shares.shape}; both must have one floating-point dtype, and `q` "
            f"be a number or a vector."
        )
        raise DTypeError(message)
    known = shares.detach()
    if not bool(elementwise.eq(elementwise.clip(known, *_ends(known)), known).all()):
        message = f"{where}: `q` is {q}; every one must lie in 0 to 1."
        raise ArgumentError(message)
    return shares


def _number(where: str, q: Any) -> Tensor:
    from autocalc._ops.creation import tensor

    return tensor(float(number(where, "q", q)), dtype=dtypes.float64)


def _ends(x: Tensor) -> Pair:
    return x.new_zeros(()), x.new_ones(())


def _at_rank(ordered: Tensor, rank: Tensor, between: str) -> Tensor:
    """Return what stands at a rank, which may lie between two elements."""
    lost = isnan(rank.detach())
    whole_rank = elementwise.choose(lost, rank.new_zeros(rank.shape), rank)
    whole_rank = elementwise.clip(whole_rank, rank.new_zeros(()), None)
    low = cast(floor(whole_rank), dtypes.int64)
    part = elementwise.sub(whole_rank, floor(whole_rank))
    last = ordered.shape[-1] - 1
    high = elementwise.minimum(
        elementwise.add(low, cast(elementwise.gt(part, 0), dtypes.int64)), last
    )
    if between == "nearest":
        low = high = cast(whole_rank.round(), dtypes.int64)
    under, over = gather(ordered, -1, low), gather(ordered, -1, high)
    if between == "lower":
        found = under
    elif between == "higher":
        found = over
    else:
        part = (
            part
            if between != "midpoint"
            else cast(elementwise.gt(part, 0), part.dtype) * 0.5
        )
        way = elementwise.sub(over, under)
        found = elementwise.add(under, elementwise.mul(way, part))
        same = elementwise.eq(over.detach(), under.detach())
        endless = division.bitwise_and(same, isinf(under))
        found = elementwise.choose(endless, under, found)
    nothing = found.detach().new_full((), math.nan)
    return elementwise.choose(lost, expand(nothing, found.shape), found)


# ---- running -------------------------------------------------------------------------


def cummax(input: Tensor, dim: int, *, out: Any = None) -> Ordered:
    """Return the (values, indices) of the largest up to each place along `dim`.

    Of equal ones the last; NaN counts as largest.
    """
    return apply_out("cummax", _running("cummax", input, dim, elementwise.ge), out)


def cummin(input: Tensor, dim: int, *, out: Any = None) -> Ordered:
    """Return the (values, indices) of the smallest up to each place along `dim`."""
    return apply_out("cummin", _running("cummin", input, dim, elementwise.le), out)


def _running(where: str, input: Tensor, dim: int, keeps: Any) -> Ordered:
    """Let every place see 1, 2, 4 ... places back, until it has seen all."""
    x = check_tensor(where, input)
    axis = axis_of(where, dim, x.ndim)
    if x.ndim == 0:
        return Ordered(clone(x), argsort(x))
    n = x.shape[axis]
    line = (1,) * axis, (1,) * (x.ndim - axis - 1)
    index = clone(expand(reshape(arange(n), (*line[0], n, *line[1])), x.shape))
    values, step = movedim(x.detach(), axis, 0), 1
    index = movedim(index, axis, 0)
    while step < n:
        here, there = values[step:], values[:-step]
        stays = keeps(here, there)
        if x.is_floating_point():
            stays = division.bitwise_or(stays, isnan(here))
        best = elementwise.choose(stays, here, there)
        place = elementwise.choose(stays, index[step:], index[:-step])
        values, index = cat([values[:step], best]), cat([index[:step], place])
        step *= 2
    index = clone(movedim(index, 0, axis))
    return Ordered(gather(x, axis, index), index)


def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """Return log(exp(x_1) + ... + exp(x_i)) along `dim`, the larger one taken out."""
    x = check_tensor("logcumsumexp", input)
    x = x if x.is_floating_point() else to_float(x)
    axis = axis_of("logcumsumexp", dim, x.ndim)
    if x.ndim == 0:
        return apply_out("logcumsumexp", clone(x), out)
    values, step = movedim(x, axis, 0), 1
    while step < x.shape[axis]:
        more = logaddexp(values[step:], values[:-step])
        values, step = cat([values[:step], more]), 2 * step
    return apply_out("logcumsumexp", clone(movedim(values, 0, axis)), out)


# ---- between neighbours --------------------------------------------------------------


def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return x_{i+1} - x_i along `dim`, `n` times.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.diff(ac.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    x = check_tensor("diff", input)
    if x.ndim == 0:
        message = "diff: a tensor without dimensions has no neighbours."
        raise ShapeError(message)
    axis = axis_of("diff", dim, x.ndim)
    if as_int("diff", "n", n) < 0:
        message = f"diff: `n`={n}; it must be 0 or more."
        raise ArgumentError(message)
    if n == 0:
        return apply_out("diff", clone(x), out)
    ends = [one for one in (prepend, x, append) if one is not None]
    x = cat(ends, axis) if len(ends) > 1 else x
    for _ in range(min(n, x.shape[axis] + 1)):
        later, former = _but_first(x, axis), _but_last(x, axis)
        if later.shape != former.shape:
            return apply_out("diff", clone(former), out)
        unequal = x.dtype is dtypes.bool_
        x = (division.bitwise_xor if unequal else elementwise.sub)(later, former)
    return apply_out("diff", x, out)


def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Return the integral of `y` along `dim` by the trapezoidal rule.

    Over the places `x`, or over places `dx` (by default 1) apart.
    """
    values = check_tensor("trapezoid", y)
    if x is not None and dx is not None:
        message = f"trapezoid: both `x` and `dx`={dx} are given; give one."
        raise ArgumentError(message)
    if values.ndim == 0:
        message = "trapezoid: a tensor without dimensions has no neighbours."
        raise ShapeError(message)
    axis = axis_of("trapezoid", dim, values.ndim)
    later, former = _but_first(values, axis), _but_last(values, axis)
    width: Any = number("trapezoid", "dx", 1.0 if dx is None else dx)
    if x is not None:
        width = diff(check_tensor("trapezoid", x), dim=-1 if x.ndim == 1 else dim)
        if x.ndim == 1:
            width = reshape(width, (-1, *[1] * (values.ndim - axis - 1)))
    areas = elementwise.mul(elementwise.add(later, former), width)
    return elementwise.mul(sum_of(areas, axis), 0.5)


trapz = trapezoid


# ---- distances -----------------------------------------------------------------------


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the `p`-norm of the difference of two tensors."""
    difference = elementwise.sub(
        check_tensor("dist", input), check_tensor("dist", other)
    )
    return norm(difference, p)


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str | None = None,
) -> Tensor:
    """Return the `p`-norm distances [..., P, R] of rows [..., P, M] and [..., R, M].

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cdist(ac.tensor([[0.0, 0.0]]), ac.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    a, b = check_tensor("cdist", x1), check_tensor("cdist", x2)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        message = (
            f"cdist: shapes {a.shape} and {b.shape}; they must be [..., P, M] and "
            f"[..., R, M]."
        )
        raise ShapeError(message)
    if number("cdist", "p", p) < 0:
        message = f"cdist: `p`={p}; it must be 0 or more."
        raise ArgumentError(message)
    return vector_norm(elementwise.sub(unsqueeze(a, -2), unsqueeze(b, -3)), p, -1)


def _but_first(x: Tensor, axis: int) -> Tensor:
    place = (*[slice(None)] * axis, slice(1, None))
    return x[place]


def _but_last(x: Tensor, axis: int) -> Tensor:
    place = (*[slice(None)] * axis, slice(None, -1))
    return x[place]
