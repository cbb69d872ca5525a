# SPDX-License-Identifier: MIT
"""Trigonometric and hyperbolic functions, and angles."""

from __future__ import annotations

import math
from typing import Any, cast

from autocalc._ops import (
    arithmetic,
    bitwise,
    clamping,
    comparison,
    exponential,
)
from autocalc._ops._arguments import Operand
from autocalc._ops._method import method
from autocalc._ops._op import binary, unary
from autocalc._ops._out import apply_out
from autocalc._tensor import Tensor

sin = unary(
    "sin",
    "the sine",
    saves="a",
    methods="sin",
    inplace="sin_",
    example=("[0.0, 1.0]", "[0.0000, 0.8415]"),
)


@sin.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.cos(n.saved[0]))


cos = unary(
    "cos",
    "the cosine",
    saves="a",
    methods="cos",
    inplace="cos_",
    example=("[0.0, 1.0]", "[1.0000, 0.5403]"),
)


@cos.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.neg(k.mul(g, k.sin(n.saved[0])))


tan = unary(
    "tan",
    "the tangent",
    saves="out",
    methods="tan",
    inplace="tan_",
    example=("[0.0, 1.0]", "[0.0000, 1.5574]"),
)


@tan.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (y,) = n.saved
    return k.mul(g, k.add(k.mul(y, y), k.constant(1, g)))


asin = unary(
    "asin",
    "the angle whose sine is x",
    saves="a",
    methods="asin arcsin",
    inplace="asin_ arcsin_",
    example=("[0.0, 1.0]", "[0.0000, 1.5708]"),
)


@asin.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, _rsqrt_of_one_minus_square(k, n.saved[0]))


acos = unary(
    "acos",
    "the angle whose cosine is x",
    saves="a",
    methods="acos arccos",
    inplace="acos_ arccos_",
    example=("[0.0, 1.0]", "[1.5708, 0.0000]"),
)


@acos.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.neg(k.mul(g, _rsqrt_of_one_minus_square(k, n.saved[0])))


def _rsqrt_of_one_minus_square(k: Any, a: Any) -> Any:
    """Return 1 / sqrt(1 - a^2)."""
    return k.rsqrt(k.sub(k.constant(1, a), k.mul(a, a)))


atan = unary(
    "atan",
    "the angle whose tangent is x",
    saves="a",
    methods="atan arctan",
    inplace="atan_ arctan_",
    example=("[0.0, 1.0]", "[0.0000, 0.7854]"),
)


@atan.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    return k.div(g, k.add(k.mul(a, a), k.constant(1, g)))


atan2 = binary(
    "atan2",
    "the angle of the point (y, x) = (`other`, `input`)",
    saves="a b",
    floats=True,
    numbers=False,
    methods="atan2 arctan2",
    inplace="atan2_ arctan2_",
    example=("[0.0, 1.0]", "[1.0, 0.0]", "[0.0000, 1.5708]"),
)


@atan2.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Of the point (b, a): da = g b / r^2, db = -g a / r^2, and 0 at the origin.

    Further derivatives there are NaN: the angle has none.
    """
    a, b = n.saved
    square = k.add(k.mul(a, a), k.mul(b, b))
    zero = k.constant(0, g)
    part = k.where(k.compare(square, zero, "eq"), zero, k.div(g, square))
    return (
        k.sum_to(k.mul(part, b), n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.neg(k.mul(part, a)), n.shapes[1]) if n.needs(1) else None,
    )


sinh = unary(
    "sinh",
    "the hyperbolic sine",
    saves="a",
    methods="sinh",
    inplace="sinh_",
    example=("[0.0, 1.0]", "[0.0000, 1.1752]"),
)


@sinh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.cosh(n.saved[0]))


cosh = unary(
    "cosh",
    "the hyperbolic cosine",
    saves="a",
    methods="cosh",
    inplace="cosh_",
    example=("[0.0, 1.0]", "[1.0000, 1.5431]"),
)


@cosh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.sinh(n.saved[0]))


tanh = unary(
    "tanh",
    "the hyperbolic tangent",
    saves="out",
    methods="tanh",
    inplace="tanh_",
    example=("[0.0, 1.0]", "[0.0000, 0.7616]"),
)


@tanh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.tanh_backward(g, n.saved[0])


#: From here on sqrt(1 + x^2) is x, and x^2 is far from overflow below.
_LARGE = 1e9


@method("asinh arcsinh", inplace="asinh_ arcsinh_")
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the number whose hyperbolic sine is x, element by element.

    It is log(x + sqrt(1 + x^2)) of the size of x, with what cancels left out.

    Parameters
    ----------
    input
        The tensor.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.asinh(ac.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8814])
    """
    x = comparison.float_input("asinh", input)
    below = comparison.lt(x.detach(), 0)
    size = comparison.choose(below, arithmetic.neg(x), x)
    small = clamping.clamp_max(size, _LARGE)
    root = exponential.sqrt(arithmetic.add_op(arithmetic.mul(small, small), 1))
    ratio = arithmetic.div_op(small, arithmetic.add_op(root, 1))
    inverse = arithmetic.div_op(1, clamping.clamp_min(size, _LARGE))
    large = comparison.gt(size.detach(), _LARGE)
    ratio = comparison.choose(
        large, arithmetic.div_op(1, arithmetic.add_op(inverse, 1)), ratio
    )
    more = arithmetic.add_op(size, arithmetic.mul(size, ratio))
    result = exponential.log1p(more)
    return apply_out(
        "asinh", comparison.choose(below, arithmetic.neg(result), result), out
    )


@method("acosh arccosh", inplace="acosh_ arccosh_")
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1.

    Parameters
    ----------
    input
        The tensor.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.acosh(ac.tensor([1.0, 2.0]))
    tensor([0.0000, 1.3170])
    """
    x = comparison.float_input("acosh", input)
    less = arithmetic.sub_op(x, 1)
    root = arithmetic.mul(
        exponential.sqrt(less),
        exponential.sqrt(arithmetic.add_op(x, 1)),
    )
    return apply_out("acosh", exponential.log1p(arithmetic.add_op(less, root)), out)


@method("atanh arctanh", inplace="atanh_ arctanh_")
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1.

    Parameters
    ----------
    input
        The tensor.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.atanh(ac.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
    """
    x = comparison.float_input("atanh", input)
    twice = arithmetic.sub_op(
        exponential.log1p(x), exponential.log1p(arithmetic.neg(x))
    )
    return apply_out("atanh", arithmetic.mul(twice, 0.5), out)


@method("hypot", inplace="hypot_")
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return sqrt(x^2 + y^2), without overflow on the way.

    Parameters
    ----------
    input
        The tensor.
    other
        The second tensor; shapes broadcast.
    out
        A tensor that takes the result, converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is no tensor, or neither is of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hypot(ac.tensor([3.0]), ac.tensor([4.0]))
    tensor([5.])
    """
    x, y = comparison.float_tensors("hypot", input, other)
    sizes = arithmetic.abs(x.detach()), arithmetic.abs(y.detach())
    scale = clamping.maximum(*sizes)
    usual = bitwise.bitwise_and(comparison.gt(scale, 0), comparison.lt(scale, math.inf))
    scale = comparison.choose(usual, scale, 1.0)
    a, b = arithmetic.div_op(x, scale), arithmetic.div_op(y, scale)
    squares = arithmetic.add_op(arithmetic.mul(a, a), arithmetic.mul(b, b))
    return apply_out("hypot", arithmetic.mul(exponential.sqrt(squares), scale), out)


@method("deg2rad", inplace="deg2rad_")
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return angles given in degrees in radians.

    Parameters
    ----------
    input
        The tensor.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.deg2rad(ac.tensor([180.0]))
    tensor([3.1416])
    """
    x = comparison.float_input("deg2rad", input)
    return apply_out("deg2rad", arithmetic.mul(x, math.pi / 180), out)


@method("rad2deg", inplace="rad2deg_")
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return angles given in radians in degrees.

    Parameters
    ----------
    input
        The tensor.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.rad2deg(ac.tensor([ac.pi]))
    tensor([180.])
    """
    x = comparison.float_input("rad2deg", input)
    return apply_out("rad2deg", arithmetic.mul(x, 180 / math.pi), out)


@method("sinc", inplace="sinc_")
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return sin(pi x) / (pi x), which is 1 at 0.

    Parameters
    ----------
    input
        The tensor.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sinc(ac.tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """
    x = comparison.float_input("sinc", input)
    near = comparison.lt(arithmetic.abs(x.detach()), _NEAR)
    angle = arithmetic.mul(comparison.choose(near, 1.0, x), math.pi)
    result = arithmetic.div_op(sin(angle), angle)
    return apply_out(
        "sinc", comparison.choose(near, _sinc_near_0(x, near), result), out
    )


#: Up to here the series of sin(pi x) / (pi x) needs seven terms: the next is 3e-17.
_NEAR = 0.15


def _sinc_near_0(x: Tensor, near: Tensor) -> Tensor:
    """Return the series where x is `near` 0; derivatives of the quotient cancel there.

    At 0 itself they would be 0 / 0, at 1e-5 the third has no correct digit.
    """
    angle = arithmetic.mul(comparison.choose(near, x, 0.0), math.pi)
    square = arithmetic.mul(angle, angle)
    result: Operand = 0.0
    for i in range(6, -1, -1):
        term = (-1) ** i / math.factorial(2 * i + 1)
        result = arithmetic.add_op(arithmetic.mul(square, result), term)
    return cast("Tensor", result)
