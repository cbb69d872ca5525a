# SPDX-License-Identifier: MIT
"""Sums, means, products and extrema of the values written to one place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, TypeAlias

from autocalc._ops._operator.arguments import NeededDim, check_tensor
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import as_operand, cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.arranging import rearranging
from autocalc._ops.creation.constants import ones, zeros
from autocalc._ops.elementwise import arithmetic, bitwise, clamping, comparison
from autocalc._ops.indexing import indexing, scattering
from autocalc._ops.reductions import extrema
from autocalc._ops.sequences import sorting
from autocalc._ops.sequences.mode import places_in_runs
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import one_of
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.limits import iinfo
from autocalc.errors import DTypeError

Operator: TypeAlias = Callable[[Tensor, Tensor, Tensor, int], Tensor]

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")

scatter_amax_op = nary("scatter_amax", saves="a index src out")
scatter_amin_op = nary("scatter_amin", saves="a index src out")


def _shares(k: Any, n: Any, g: Any) -> Any:
    """Share the gradient of a place equally among all values equal to its result."""
    (a, index, src, out), (axis,) = n.saved, n.attributes
    dtype = k.dtype(g)
    own = k.cast(k.compare(a, out, "eq"), dtype)
    written = k.cast(k.compare(src, k.gather(out, index, axis), "eq"), dtype)
    share = k.div(g, k.scatter_add(own, index, written, axis))
    return (
        k.mul(own, share) if n.needs(0) else None,
        None,
        k.mul(written, k.gather(share, index, axis)) if n.needs(2) else None,
    )


scatter_amax_op.vjp(_shares)
scatter_amin_op.vjp(_shares)


@method("scatter_reduce")
@traced
@rounded_once
def scatter_reduce(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    src: Tensor | None = None,
    reduce: str | None = None,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Combine `input`, at the positions `index`, with elements of `src`.

    For ``dim=0``, ``out[p][j]`` is the sum, product, mean, maximum or minimum of
    ``input[p][j]`` and all ``src[i][j]`` with ``index[i][j] == p``.  The gradient of a
    maximum or minimum is shared equally by all elements that equal it.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension; a negative one counts from the end.
    index
        The positions along `dim`, a tensor of int64; in every other dimension, its size
        is at most that of `input`.
    src
        The values, a tensor of the dtype of `input`; in each dimension, at least as
        many as `index` has.
    reduce
        ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``.  A mean of integers
        is rounded down.
    include_self
        False to leave out those elements of `input` whose positions occur in `index`.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If `reduce` is none of the words above.

    Examples
    --------
    >>> import autocalc as ac
    >>> index = ac.tensor([0, 0, 2])
    >>> ac.scatter_reduce(ac.ones(3), 0, index, ac.tensor([4.0, 2.0, 5.0]), "amax")
    tensor([4., 1., 5.])
    """
    operator = _operator("scatter_reduce", reduce, REDUCTIONS, include_self)
    x, what = check_tensor("scatter_reduce", input), check_tensor("scatter_reduce", src)
    return scattering.along("scatter_reduce", operator, x, dim, index, what)


@method("index_reduce")
@declared
@rounded_once
def index_reduce(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    source: Tensor | None = None,
    reduce: str | None = None,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Combine `input`, at the positions `index`, with slices of `source`.

    It works as `scatter_reduce` does, with one position for each slice along `dim`.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension; a negative one counts from the end.
    index
        The positions along `dim`, a vector of int64.
    source
        The slices, in the order of `index`.
    reduce
        ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``; `index_add` computes sums.
    include_self
        False to leave out the elements of `input` at the positions `index`.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If `reduce` is none of the words above.

    Examples
    --------
    >>> import autocalc as ac
    >>> index, source = ac.tensor([0, 0]), ac.tensor([2.0, 3.0])
    >>> ac.index_reduce(ac.ones(2), 0, index, source, "prod")
    tensor([6., 1.])
    """
    refuse_booleans("index_reduce", input)
    along = _operator("index_reduce", reduce, REDUCTIONS[1:], include_self)

    def operator(x: Tensor, index: Tensor, source: Tensor, axis: int) -> Tensor:
        line = tuple(-1 if d == axis else 1 for d in range(x.ndim))
        places = broadcasting.expand(view.reshape(index, line), source.shape)
        return along(x, places, source, axis)

    return scattering.by_index("index_reduce", operator, input, dim, index, source)


def _operator(where: str, reduce: Any, known: Any, include_self: bool) -> Operator:
    """Return the reduction as an operator of (x, index, src, axis)."""
    one_of(where, "reduce", reduce, known)
    return partial(_reduced, reduce, include_self)


def _reduced(
    reduce: str, own: bool, x: Tensor, index: Tensor, src: Tensor, axis: int
) -> Tensor:
    if x.dtype is dtypes.bool_:
        return _reduced_booleans(reduce, own, x, index, src, axis)
    start = x if own else _without_own(reduce, x, index, axis)
    if reduce == "amax":
        return scatter_amax_op(start, index, src, axis)
    if reduce == "amin":
        return scatter_amin_op(start, index, src, axis)
    if reduce == "prod":
        return arithmetic.mul(start, _products(x, index, src, axis))
    total = scattering.scatter_add_op(start, index, src, axis)
    return total if reduce == "sum" else _mean(total, own, index, axis)


def _reduced_booleans(
    reduce: str, own: bool, x: Tensor, index: Tensor, src: Tensor, axis: int
) -> Tensor:
    """Reduce True and False as 1 and 0; a sum is true if any of them is true."""
    if reduce == "mean":
        raise DTypeError(
            "scatter_reduce: booleans have no mean; convert them with .float() first."
        )
    numbers = (cast(one, dtypes.int64) for one in (x, src))
    found = _reduced(reduce, own, next(numbers), index, next(numbers), axis)
    return comparison.ne(found, 0)


def _without_own(reduce: str, x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Return `x` with the neutral value at the places that `index` names."""
    named = _named(x, index, axis)
    return comparison.where_op(named, as_operand(_neutral(reduce, x), x.dtype), x)


def _neutral(reduce: str, x: Tensor) -> float:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if x.is_floating_point():
        return -inf if reduce == "amax" else inf
    limits = iinfo(x.dtype)
    return limits.min if reduce == "amax" else limits.max


def _mean(total: Tensor, own: bool, index: Tensor, axis: int) -> Tensor:
    """Divide sums by their number of terms; integers are rounded down."""
    own_terms = (ones if own else zeros)(total.shape, dtype=dtypes.int64)
    terms = ones(index.shape, dtype=dtypes.int64, device=place_of_tensor(index))
    count = scattering.scatter_add_op(own_terms, index, terms, axis)
    count = cast(clamping.clamp_min(count, 1), total.dtype)
    if total.is_floating_point():
        return arithmetic.div(total, count)
    return arithmetic.floor_divide(total, count)


def _products(x: Tensor, index: Tensor, src: Tensor, axis: int) -> Tensor:
    """Return the product of all values written to each place, 1 if there are none.

    The values are sorted by place.  Then neighbours are multiplied, then pairs, then
    groups of four.  So every derivative is that of a product, also where factors are 0.
    """
    order = sorting.argsort_op(index, axis, False)
    places = indexing.gather_op(index, order, axis)
    factors = indexing.gather_op(src, order, axis)
    rank = make(places_in_runs(places._array, axis), None)
    step, most = 1, int(extrema.ends(rank)[1]) + 1 if rank.numel() else 0
    while step < most:
        later = comparison.eq(rearranging.roll(rank, -step, axis), rank + step)
        pairs = bitwise.bitwise_and(later, comparison.eq(rank % (2 * step), 0))
        other = comparison.choose(pairs, rearranging.roll(factors, -step, axis), 1)
        factors = arithmetic.mul(factors, other)
        step *= 2
    backward = (rearranging.flip(one, (axis,)) for one in (places, factors))
    none = ones(x.shape, dtype=x.dtype, device=place_of_tensor(x))
    return scattering.scatter_op(none, *backward, axis)  # the first write wins


def _named(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Return which elements of `x` are named by `index`."""
    none = zeros(x.shape, dtype=dtypes.bool_, device=place_of_tensor(x))
    written = ones(index.shape, dtype=dtypes.bool_, device=place_of_tensor(index))
    return scattering.scatter_op(none, index, written, axis)
