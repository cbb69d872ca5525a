# SPDX-License-Identifier: MIT
"""Trigonometric and hyperbolic functions, and angles."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.complex_operators import holomorphic_vjp
from autocalc._ops._operator.factories import binary, unary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._tensor import Tensor

sin = unary(
    "sin",
    "the sine of x, an angle in radians",
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
    "the cosine of x, an angle in radians",
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
    "the tangent of x, an angle in radians",
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
    "the angle in radians whose sine is x",
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
    "the angle in radians whose cosine is x",
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
    "the angle in radians whose tangent is x",
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
    "the angle of the point (`other`, `input`) in the plane, in radians",
    saves="a b",
    floats=True,
    numbers=False,
    methods="atan2 arctan2",
    inplace="atan2_ arctan2_",
    example=("[0.0, 1.0]", "[1.0, 0.0]", "[0.0000, 1.5708]"),
)


@atan2.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return da = g b / r^2 and db = -g a / r^2 for the point (b, a); 0 at the origin.

    Higher derivatives at the origin are NaN: the angle has none there.
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
    "the hyperbolic sine of x",
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
    "the hyperbolic cosine of x",
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
    "the hyperbolic tangent of x",
    saves="out",
    methods="tanh",
    inplace="tanh_",
    example=("[0.0, 1.0]", "[0.0000, 0.7616]"),
)


@tanh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.tanh_backward(g, n.saved[0])


asinh = unary(
    "asinh",
    "the number whose hyperbolic sine is x",
    saves="a",
    methods="asinh arcsinh",
    inplace="asinh_ arcsinh_",
    example=("[0.0, 1.0]", "[0.0000, 0.8814]"),
)


@asinh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, k.hypot(n.saved[0], k.constant(1, g)))


@holomorphic_vjp(asinh)
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    return k.div(g, k.sqrt(k.add(k.mul(a, a), k.constant(1, a))))


acosh = unary(
    "acosh",
    "the non-negative number whose hyperbolic cosine is x (NaN where x < 1)",
    saves="a",
    methods="acosh arccosh",
    inplace="acosh_ arccosh_",
    example=("[1.0, 2.0]", "[0.0000, 1.3170]"),
)


@acosh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return g / sqrt(a^2 - 1), as two factors, which keep the digits near 1."""
    a, one = n.saved[0], k.constant(1, g)
    square = k.mul(k.sub(a, one), k.add(a, one))
    return k.div(g, k.sqrt(k.add(square, k.constant(0, g))))


@holomorphic_vjp(acosh)
def _(k: Any, n: Any, g: Any) -> Any:
    """Return g / (sqrt(a - 1) sqrt(a + 1)), in the branch of the function."""
    a, one = n.saved[0], k.constant(1, g)
    return k.div(g, k.mul(k.sqrt(k.sub(a, one)), k.sqrt(k.add(a, one))))


atanh = unary(
    "atanh",
    "the number whose hyperbolic tangent is x (NaN where abs(x) > 1)",
    saves="a",
    methods="atanh arctanh",
    inplace="atanh_ arctanh_",
    example=("[0.0, 0.5]", "[0.0000, 0.5493]"),
)


@atanh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    a, one = n.saved[0], k.constant(1, g)
    return k.div(g, k.sub(one, k.mul(a, a)))


hypot_op = binary("hypot", "sqrt(x^2 + y^2)", saves="out a b", numbers=False)


@hypot_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, a, b = n.saved
    return (
        k.sum_to(k.mul(g, k.div(a, out)), n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.mul(g, k.div(b, out)), n.shapes[1]) if n.needs(1) else None,
    )


@method("hypot", inplace="hypot_")
@traced(light=True)
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return sqrt(x^2 + y^2), computed without overflow of the squares.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    other
        The tensor y; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is not a tensor, or neither operand has a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hypot(ac.tensor([3.0]), ac.tensor([4.0]))
    tensor([5.])
    """
    x, y = comparison.float_tensors("hypot", input, other)
    return hypot_op(x, y)


@method("deg2rad", inplace="deg2rad_")
@traced
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Convert angles from degrees to radians: input * pi / 180.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.deg2rad(ac.tensor([180.0]))
    tensor([3.1416])
    """
    x = comparison.float_input("deg2rad", input)
    return arithmetic.mul(x, math.pi / 180)


@method("rad2deg", inplace="rad2deg_")
@traced
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Convert angles from radians to degrees: input * 180 / pi.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.rad2deg(ac.tensor([ac.pi]))
    tensor([180.])
    """
    x = comparison.float_input("rad2deg", input)
    return arithmetic.mul(x, 180 / math.pi)


sinc = unary(
    "sinc",
    "sin(pi x) / (pi x), which is 1 where x is 0",
    saves="a",
    methods="sinc",
    inplace="sinc_",
    example=("[0.0, 0.5]", "[1.0000, 0.6366]"),
)

#: Up to this value the series of the slope of sinc needs eight terms; the next is
#: 1e-17.
_NEAR = 0.15


@sinc.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return (cos(pi a) - sinc(a)) / a; near 0, where that cancels, use a series.

    At 0 itself the formula is 0 / 0; at 1e-5 its third derivative has no correct digit.
    """
    a = n.saved[0]
    size = k.abs(a)
    near = k.compare(size, k.constant(_NEAR, size), "lt")
    far = k.where(near, k.constant(1, a), a)
    angle = k.mul(far, k.constant(math.pi, a))
    slope = k.div(k.sub(k.cos(angle), k.div(k.sin(angle), angle)), far)
    return k.mul(g, k.where(near, _sinc_slope_near_0(k, a, near), slope))


def _sinc_slope_near_0(k: Any, a: Any, near: Any) -> Any:
    small = k.where(near, a, k.constant(0, a))
    square, result = k.mul(small, small), k.constant(0, a)
    for i in range(8, 0, -1):
        factor = (-1) ** i * 2 * i * math.pi ** (2 * i) / math.factorial(2 * i + 1)
        result = k.add(k.mul(square, result), k.constant(factor, a))
    return k.mul(small, result)
