# SPDX-License-Identifier: MIT
"""Running sums, products and maxima; differences and the trapezoidal rule."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.engine.eager import along
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.arguments import NeededDim, as_int, axis_of, check_tensor
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import cast, check_and_cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import Operator, nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.numpy_names import dim_or_axis
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.out import apply_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.arranging import joining
from autocalc._ops.elementwise import arithmetic, bitwise
from autocalc._ops.reductions import reduction
from autocalc._ops.reductions._values_and_indices import picked
from autocalc._ops.sequences import sorting
from autocalc._ops.views import splitting, view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number, require
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError, ShapeError

cumsum_op = nary("cumsum")


@cumsum_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axis, reverse = n.attributes
    return k.cumsum(g, axis, not reverse)


@method("cumsum", inplace="cumsum_")
@along(cumsum_op, most=2, in_tuple=False, needs_dim=True, after=(False,))
def cumsum(
    input: Tensor,
    dim: int | None = None,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the cumulative sums y_i = x_1 + ... + x_i along `dim`.

    For integers and booleans, the result is of int64.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    dtype
        The dtype of the result; `input` is converted to it first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cumsum(ac.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    if axis is not None or dim is None:
        dim = dim_or_axis("cumsum", dim, axis)
    return apply_out(
        "cumsum", _scan("cumsum", cumsum_op, input, dim, dtype, (False,)), out
    )


cumprod_op = nary("cumprod", saves="a")


@cumprod_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dx_i = the sum over j >= i of g_j y_j / x_i.

    At the first zero this is 0 / 0, so there y is computed with 1 in place of the zero.
    After it every product is 0, and so is the derivative with respect to later zeros.
    """
    (a,) = n.saved
    (axis,) = n.attributes
    if k.records:
        return _cumprod_slope(k, a, g, axis)
    zero, one = k.constant(0, a), k.constant(1, a)
    is_zero = k.compare(a, zero, "eq")
    so_far = k.cumsum(k.where(is_zero, one, zero), axis, False)
    later = k.where(k.compare(so_far, one, "eq"), zero, one)
    first = k.where(is_zero, later, one)  # 0 at the first zero, else 1
    is_first = k.compare(first, zero, "eq")
    without = k.cumprod(k.where(is_first, one, a), axis)
    at_first = k.cumsum(k.mul(g, without), axis, True)
    elsewhere = k.cumsum(k.mul(g, k.cumprod(a, axis)), axis, True)
    elsewhere = k.div(elsewhere, k.where(is_zero, one, a))
    return k.where(is_first, at_first, k.where(is_zero, zero, elsewhere))


def _cumprod_slope(k: Any, a: Any, g: Any, axis: int) -> Any:
    """Return the same from all n^2 products, which have derivatives also at 0.

    Row i of the products has 1 in place of x_i.
    """
    order = [i for i in range(len(k.shape(a))) if i != axis] + [axis]
    x, back = (
        k.permute(a, tuple(order)),
        sorted(range(len(order)), key=order.__getitem__),
    )
    *lead, size = k.shape(x)
    count = k.arange(size, a)
    row, column = k.reshape(count, (size, 1)), k.reshape(count, (1, size))
    zero, one = k.constant(0, a), k.constant(1, a)
    rows = k.expand(k.reshape(x, (*lead, 1, size)), (*lead, size, size))
    rows = k.where(k.compare(row, column, "eq"), one, rows)
    products = k.where(
        k.compare(row, column, "le"), k.cumprod(rows, len(lead) + 1), zero
    )
    above = k.reshape(k.permute(g, tuple(order)), (*lead, 1, size))
    slope = k.sum(k.mul(products, above), (len(lead) + 1,), False)
    return k.permute(slope, tuple(back))


@method("cumprod", inplace="cumprod_")
@along(cumprod_op, most=2, in_tuple=False, needs_dim=True)
def cumprod(
    input: Tensor,
    dim: int | None = None,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the cumulative products y_i = x_1 * ... * x_i along `dim`.

    For integers and booleans, the result is of int64.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    dtype
        The dtype of the result; `input` is converted to it first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cumprod(ac.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 2., 6.])
    """
    if axis is not None or dim is None:
        dim = dim_or_axis("cumprod", dim, axis)
    return apply_out(
        "cumprod", _scan("cumprod", cumprod_op, input, dim, dtype, ()), out
    )


def _scan(
    name: str,
    operator: Operator,
    input: Tensor,
    dim: int,
    dtype: DType | None,
    attributes: tuple[bool, ...],
) -> Tensor:
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    x = check_and_cast(name, input, dtype)
    axis = axis_of(name, dim, x.ndim)
    if x.ndim == 0:
        whole = x.dtype.is_differentiable
        return view.clone(x) if whole else cast(x, dtype or dtypes.int64)
    if dtype is dtypes.bool_:
        message = (
            f"{name}: `dtype` is bool, in which sums cannot be computed; leave it out, "
            "and the result has dtype int64."
        )
        raise DTypeError(message)
    result = operator(x, axis, *attributes)
    return result if dtype is None else cast(result, dtype)


Scanned = tuple[Tensor, Tensor]


@method("cummax")
@traced
def cummax(
    input: Tensor, dim: NeededDim = None, *, out: Any = None, axis: Any = None
) -> sorting.Ordered:
    """Return the cumulative maxima along `dim`, as (values, indices).

    Of equal elements, the index of the last one is returned.  NaN counts as the largest
    element.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    out
        Two tensors to write the values and the indices into.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> values, indices = ac.cummax(ac.tensor([1.0, 3.0, 2.0]), dim=0)
    >>> values, indices
    (tensor([1., 3., 3.]), tensor([0, 1, 1]))
    """
    return _running("cummax", input, dim, False)


@method("cummin")
@traced
def cummin(
    input: Tensor, dim: NeededDim = None, *, out: Any = None, axis: Any = None
) -> sorting.Ordered:
    """Return the cumulative minima along `dim`, as (values, indices).

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    out
        Two tensors to write the values and the indices into.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> values, indices = ac.cummin(ac.tensor([2.0, 1.0, 3.0]), dim=0)
    >>> values, indices
    (tensor([2., 1., 1.]), tensor([0, 1, 1]))
    """
    return _running("cummin", input, dim, True)


def _running(where: str, input: Tensor, dim: int, smallest: bool) -> sorting.Ordered:
    """Return the extreme values so far, and the index of each."""
    a = check_tensor(where, input)._array
    axis = axis_of(where, dim, a.ndim)
    if a.ndim == 0:
        return sorting.Ordered(view.clone(input), sorting.argsort(input))
    places = arrays.cumargmax(a, axis, smallest)
    return sorting.Ordered(*picked(input, places, axis))


logcumsumexp_op = nary("logcumsumexp", saves="a")


@logcumsumexp_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Reverse a scan in which each place sums 1, 2, 4, ... places.

    Each sum has two terms, whose derivatives are sigmoids.  So nothing overflows, and
    what is linear in g stays linear where g is 0.
    """
    (a,) = n.saved
    (axis,) = n.attributes
    lead = (slice(None),) * axis
    size = k.shape(a)[axis]
    shares = []
    step = 1
    while step < size:
        top, rest = (*lead, slice(0, step)), (*lead, slice(step, None))
        here, before = k.slice(a, rest), k.slice(a, (*lead, slice(0, size - step)))
        more, *both = _log_of_two(k, here, before)
        shares.append((top, rest, both))
        a = k.cat([k.slice(a, top), more], axis)
        step *= 2
    for top, rest, (of_here, of_before) in reversed(shares):
        below = k.slice(g, rest)
        back = k.mul(below, of_before)
        none = k.zeros(k.shape(k.slice(g, top)), k.dtype(g))
        here = k.cat([k.slice(g, top), k.mul(below, of_here)], axis)
        g = k.add(here, k.cat([back, none], axis))
    return g


def _log_of_two(k: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Return log(e^a + e^b) and its derivatives by a and b.

    Which one is larger counts as a constant, as in `logaddexp`.  Equal infinities have
    no difference; their result is `a`.
    """
    zero, one = k.constant(0, a), k.constant(1, a)
    equal = k.where(k.compare(a, b, "eq"), k.abs(a), zero)
    same = k.compare(equal, k.constant(math.inf, a), "eq")
    x, y = k.where(same, zero, a), k.where(same, zero, b)
    over, under = k.sub(x, y), k.sub(y, x)
    larger = k.compare(a, b, "ge")
    more = k.log1p(k.exp(k.where(larger, under, over)))
    total = k.where(same, a, k.add(k.where(larger, a, b), more))
    of_a = k.where(same, one, k.sigmoid(over))
    return total, of_a, k.where(same, zero, k.sigmoid(under))


@method("logcumsumexp")
@along(logcumsumexp_op, most=2, in_tuple=False, needs_dim=True)
@declared
@rounded_once
def logcumsumexp(
    input: Tensor, dim: NeededDim = None, *, out: Tensor | None = None, axis: Any = None
) -> Tensor:
    """Return log(exp(x_1) + ... + exp(x_i)) along `dim`, computed without overflow.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    DTypeError
        If `input` does not have a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logcumsumexp(ac.tensor([0.0, 0.0]), dim=0)
    tensor([0.0000, 0.6931])
    """
    x = check_tensor("logcumsumexp", input)
    check_float("logcumsumexp", x)
    axis = axis_of("logcumsumexp", dim, x.ndim)
    if x.ndim == 0:
        return view.clone(x)
    return logcumsumexp_op(x, axis)


@method("diff")
@traced
@rounded_once
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the differences x_{i+1} - x_i along `dim`, taken `n` times.

    Parameters
    ----------
    input
        The input tensor.
    n
        The number of times that differences are taken.
    dim
        The dimension; a negative one counts from the end.
    prepend
        Values to put before `input`, along `dim`.
    append
        Values to put after `input`, along `dim`.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ShapeError
        If `input` has no dimension.
    ArgumentError
        If `n` is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.diff(ac.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    x = check_tensor("diff", input)
    if x.ndim == 0:
        raise ShapeError("diff expects input to be at least one-dimensional.")
    axis = axis_of("diff", dim, x.ndim)
    require("diff", "n", n, as_int("diff", "n", n) >= 0, "0 or more")
    if n == 0:
        return view.clone(x)
    ends = [one for one in (prepend, x, append) if one is not None]
    if any(check_tensor("diff", one).ndim != x.ndim for one in ends):
        raise ShapeError(
            f"diff expects prepend or append to be the same dimension as input: "
            f"shapes {', '.join(str(one.shape) for one in ends)}."
        )
    others = {one.shape[:axis] + one.shape[axis + 1 :] for one in ends}
    if len(others) > 1:
        raise ShapeError(
            f"diff expects the shape of tensor to prepend or append to match that of "
            f"input but for dimension {axis}: {', '.join(str(x.shape) for x in ends)}."
        )
    x = joining.cat(ends, axis) if len(ends) > 1 else x
    for _ in range(min(n, x.shape[axis] + 1)):
        later, former = _but_first(x, axis), _but_last(x, axis)
        if later.shape != former.shape:
            return view.clone(former)
        unequal = x.dtype is dtypes.bool_
        x = (bitwise.bitwise_xor if unequal else arithmetic.sub_op)(later, former)
    return x


@traced
@rounded_once
def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: float | None = None,
    dim: int = -1,
    axis: Any = None,
) -> Tensor:
    """Return the integral of `y` along `dim`, by the trapezoidal rule.

    `y` holds the values at the points `x`, or at points that are `dx` (1 by default)
    apart.

    Parameters
    ----------
    y
        The values of the function, at points along `dim`.
    x
        The points at which `y` was evaluated; by default their distance is `dx`.
    dx
        The distance between two points.
    dim
        The dimension; a negative one counts from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If both `x` and `dx` are given.
    ShapeError
        If `y` has no dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.trapezoid(ac.tensor([0.0, 1.0, 2.0]))
    tensor(2.)
    """
    if x is None and check_tensor("trapezoid", y).is_floating_point() and y.ndim:
        place = axis_of("trapezoid", dim, y.ndim)
        if y._array.shape[place] > 1:
            width = number("trapezoid", "dx", 1.0 if dx is None else dx)
            return _evenly_spaced(y, width, place)
    areas = trapezoids("trapezoid", y, x, dx, dim)
    return arithmetic.mul(reduction.sum(areas, dim), 0.5)


@one_node("trapezoid")
@traced
def _evenly_spaced(y: Tensor, dx: float, axis: int) -> Tensor:
    """Return the integral of samples dx apart: a sum with half of both ends."""
    inner = reduction.sum(_but_first(_but_last(y, axis), axis), axis)
    first, last = (splitting.select(y, axis, place) for place in (0, -1))
    ends = arithmetic.mul(arithmetic.add_op(first, last), 0.5)
    total = arithmetic.add_op(inner, ends)
    return total if dx == 1 else arithmetic.mul(total, dx)


@_evenly_spaced.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (shape,), (dx, axis) = n.shapes, n.attributes
    dtype, behind = k.dtype(g), (1,) * (len(shape) - axis - 1)
    half, whole = k.full((1,), dx / 2, dtype), k.full((shape[axis] - 2,), dx, dtype)
    widths = k.reshape(k.cat([half, whole, half], 0), (shape[axis], *behind))
    return k.mul(k.reshape(g, (*shape[:axis], 1, *shape[axis + 1 :])), widths)


trapz = trapezoid


def trapezoids(
    where: str, y: Tensor, x: Tensor | None, dx: float | None, dim: int
) -> Tensor:
    """Return twice the area between each two neighbours along `dim`."""
    values = check_tensor(where, y)
    refuse_booleans(where, y, *(() if x is None else (x,)))
    if x is not None and dx is not None:
        raise ArgumentError(
            f"{where}: both `x` and `dx`={dx} are given; give only one of them."
        )
    if values.ndim == 0:
        raise ShapeError(
            f"{where}: a tensor without dimensions has no neighbours; give at least "
            "one dimension."
        )
    axis = axis_of(where, dim, values.ndim)
    later, former = _but_first(values, axis), _but_last(values, axis)
    width: Any = number(where, "dx", 1.0 if dx is None else dx)
    if x is not None:
        width = diff(check_tensor(where, x), dim=-1 if x.ndim == 1 else dim)
        if x.ndim == 1:
            width = view.reshape(width, (-1, *[1] * (values.ndim - axis - 1)))
    return arithmetic.mul(arithmetic.add_op(later, former), width)


def _but_first(x: Tensor, axis: int) -> Tensor:
    place = (*[slice(None)] * axis, slice(1, None))
    return x[place]


def _but_last(x: Tensor, axis: int) -> Tensor:
    place = (*[slice(None)] * axis, slice(None, -1))
    return x[place]
