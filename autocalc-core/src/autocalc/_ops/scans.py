# SPDX-License-Identifier: MIT
"""Products, running sums and products, and the order of elements."""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import nary
from autocalc._ops.reduce import spread

prod = nary("prod", saves="a")


@prod.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Dx_i = the product of the others, without a division by zero.

    P is the product of what is not 0, S the sum of what is 0: of value 0, but it
    carries the second derivative.  By how many zeros there are:
    none: P / x_i; one: P at the zero, S P / x_i elsewhere; two: (S - x_i) P at the
    zeros; and 0 in all other places.
    """
    (a,) = n.saved
    axes, keepdim = n.attributes
    zero, one, two = (k.constant(value, a) for value in (0, 1, 2))
    is_zero = k.compare(a, zero, "eq")
    count = k.sum(k.where(is_zero, one, zero), axes, True)
    none, single = k.compare(count, zero, "eq"), k.compare(count, one, "eq")
    pair = k.compare(count, two, "eq")
    safe = k.where(is_zero, one, a)
    rest = k.prod(safe, axes, True)
    zeros = k.sum(k.where(is_zero, a, zero), axes, True)
    at_zero = k.where(single, rest, k.where(pair, k.mul(k.sub(zeros, a), rest), zero))
    factor = k.where(none, rest, k.where(single, k.mul(zeros, rest), zero))
    slope = k.where(is_zero, at_zero, k.div(factor, safe))
    return k.mul(spread(k, g, n.shapes[0], axes, keepdim), slope)


cumsum = nary("cumsum")


@cumsum.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axis, reverse = n.attributes
    return k.cumsum(g, axis, not reverse)


cumprod = nary("cumprod", saves="a")


@cumprod.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Dx_i = sum over j >= i of g_j y_j / x_i.

    At the first zero, where that is 0 / 0, y is taken with a 1 in its place; behind it
    every product is 0 and so is the derivative with respect to later zeros.
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
    """Return the same from all n^2 products, which have derivatives at 0, too.

    Row i of the products has 1 in the place of x_i.
    """
    order = [i for i in range(len(k.shape(a))) if i != axis] + [axis]
    x, back = (
        k.permute(a, tuple(order)),
        sorted(range(len(order)), key=order.__getitem__),
    )
    *lead, size = k.shape(x)
    count = k.cumsum(k.full((size,), 1, k.dtype(a)), 0, False)
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


argsort = nary("argsort", differentiable=False)
