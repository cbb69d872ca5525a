# SPDX-License-Identifier: MIT
"""The less common elementwise functions: each is made of others."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops import division, elementwise, transcendental
from autocalc._ops._arguments import Operand, check_tensor
from autocalc._ops._coerce import cast, coerce, to_float
from autocalc._ops._out import apply_out
from autocalc._ops.functional.elementwise_composites import isnan, truth
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number

__all__ = [
    "acosh",
    "arccosh",
    "arcsinh",
    "arctanh",
    "asinh",
    "atanh",
    "copysign",
    "deg2rad",
    "float_power",
    "fmax",
    "fmin",
    "heaviside",
    "hypot",
    "isneginf",
    "isposinf",
    "logaddexp",
    "logaddexp2",
    "logit",
    "rad2deg",
    "signbit",
    "sinc",
    "xlogy",
]


def _float(where: str, x: Any) -> Tensor:
    """Return a tensor, its integers as floats."""
    tensor = check_tensor(where, x)
    return tensor if tensor.is_floating_point() else to_float(tensor)


def _floats(where: str, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    x, y = coerce(where, a, b)
    return (x, y) if x.is_floating_point() else (to_float(x), to_float(y))


def _where(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    return elementwise.choose(condition, *coerce("where", a, b))


# ---- inverse functions ---------------------------------------------------------------

#: From here on sqrt(1 + x^2) is x, and x^2 is far from overflow below.
_LARGE = 1e9


def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the number whose hyperbolic sine is x, element by element.

    It is log(x + sqrt(1 + x^2)) of the size of x, with what cancels left out.
    """
    x = _float("asinh", input)
    below = elementwise.lt(x.detach(), 0)
    size = _where(below, elementwise.neg(x), x)
    small = elementwise.minimum(size, _LARGE)
    root = elementwise.sqrt_zero_grad(elementwise.add(elementwise.mul(small, small), 1))
    ratio = elementwise.div(small, elementwise.add(root, 1))
    inverse = elementwise.div(1, elementwise.maximum(size, _LARGE))
    large = elementwise.gt(size.detach(), _LARGE)
    ratio = _where(large, elementwise.div(1, elementwise.add(inverse, 1)), ratio)
    more = elementwise.add(size, elementwise.mul(size, ratio))
    result = transcendental.log1p(more)
    return apply_out("asinh", _where(below, elementwise.neg(result), result), out)


def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1."""
    x = _float("acosh", input)
    less = elementwise.sub(x, 1)
    root = elementwise.mul(
        elementwise.sqrt_zero_grad(less),
        elementwise.sqrt_zero_grad(elementwise.add(x, 1)),
    )
    return apply_out("acosh", transcendental.log1p(elementwise.add(less, root)), out)


def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1."""
    x = _float("atanh", input)
    twice = elementwise.sub(
        transcendental.log1p(x), transcendental.log1p(elementwise.neg(x))
    )
    return apply_out("atanh", elementwise.mul(twice, 0.5), out)


arcsinh, arccosh, arctanh = asinh, acosh, atanh


def logit(
    input: Tensor, eps: float | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return log(x / (1 - x)), what sigmoid turns back; x is limited to [eps, 1 - eps].

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logit(ac.tensor([0.5, 1.0]))
    tensor([ 0., inf])
    """
    x = _float("logit", input)
    if eps is not None:
        eps = number("logit", "eps", eps)
        low, high = (elementwise.mul(x.detach(), 0) + end for end in (eps, 1 - eps))
        x = elementwise.clip(x, low, high)
    odds = elementwise.div(x, elementwise.sub(1, x))
    return apply_out("logit", elementwise.log(odds), out)


# ---- of two --------------------------------------------------------------------------


def xlogy(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return x log(y), which is 0 where x is 0 (and NaN where y is)."""
    x, y = _floats("xlogy", input, other)
    # Where log(y) is finite the product is 0 by itself, and has its slope log(y).
    y_only = y.detach()
    endless = division.bitwise_or(
        elementwise.le(y_only, 0), elementwise.eq(y_only, math.inf)
    )
    nothing = division.bitwise_and(elementwise.eq(x.detach(), 0), endless)
    safe = _where(nothing, 1.0, y)
    return apply_out("xlogy", elementwise.mul(x, elementwise.log(safe)), out)


def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return log(e^x + e^y), the larger one taken out."""
    x, y = _floats("logaddexp", input, other)
    return apply_out("logaddexp", _log_of_two(x, y), out)


def _log_of_two(x: Tensor, y: Tensor) -> Tensor:
    # Equal infinities have no difference; the larger one alone is the answer there.
    most, least = elementwise.maximum(x, y), elementwise.minimum(x, y)
    same = division.bitwise_and(
        elementwise.eq(x.detach(), y.detach()),
        elementwise.eq(elementwise.abs(x.detach()), math.inf),
    )
    gap = elementwise.sub(_where(same, 0.0, least), _where(same, 0.0, most))
    more = elementwise.add(most, transcendental.log1p(elementwise.exp(gap)))
    return _where(same, x, more)


def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return log2(2^x + 2^y), the larger one taken out."""
    x, y = (
        elementwise.mul(one, math.log(2.0))
        for one in _floats("logaddexp2", input, other)
    )
    result = elementwise.div(_log_of_two(x, y), math.log(2.0))
    return apply_out("logaddexp2", result, out)


def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return sqrt(x^2 + y^2), without overflow on the way."""
    x, y = _floats("hypot", input, other)
    sizes = elementwise.abs(x.detach()), elementwise.abs(y.detach())
    scale = elementwise.maximum(*sizes)
    usual = division.bitwise_and(
        elementwise.gt(scale, 0), elementwise.lt(scale, math.inf)
    )
    scale = _where(usual, scale, 1.0)
    a, b = elementwise.div(x, scale), elementwise.div(y, scale)
    squares = elementwise.add(elementwise.mul(a, a), elementwise.mul(b, b))
    return apply_out(
        "hypot", elementwise.mul(elementwise.sqrt_zero_grad(squares), scale), out
    )


def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the larger of x and y; of a number and NaN, the number."""
    x, y = coerce("fmax", input, other)
    return apply_out("fmax", _beside_nan(elementwise.maximum(x, y), x, y), out)


def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the smaller of x and y; of a number and NaN, the number."""
    x, y = coerce("fmin", input, other)
    return apply_out("fmin", _beside_nan(elementwise.minimum(x, y), x, y), out)


def _beside_nan(extreme: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if not x.is_floating_point():
        return extreme
    without_x = elementwise.choose(isnan(x.detach()), y, extreme)
    return elementwise.choose(isnan(y.detach()), x, without_x)


def float_power(
    input: Operand, exponent: Operand, *, out: Tensor | None = None
) -> Tensor:
    """Return x to the power y, in float64."""
    x, y = coerce("float_power", input, exponent)
    result = elementwise.pow(cast(x, dtypes.float64), cast(y, dtypes.float64))
    return apply_out("float_power", result, out)


# ---- signs and steps -----------------------------------------------------------------


def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether x is negative; -0.0 is, too."""
    x = check_tensor("signbit", input).detach()
    if not x.is_floating_point():
        result = truth(x) if x.dtype is dtypes.bool_ else elementwise.lt(x, 0)
        result = elementwise.lt(cast(result, dtypes.int8), 0) if x is result else result
        return apply_out("signbit", result, out)
    # 1 / -0.0 is -infinity, which is how -0.0 and 0.0 differ.
    over = elementwise.div(1.0, _where(elementwise.eq(x, 0), x, 1.0))
    negative = division.bitwise_or(elementwise.lt(x, 0), elementwise.lt(over, 0))
    return apply_out("signbit", negative, out)


def copysign(input: Tensor, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return the size of x with the sign of y."""
    x, y = _floats("copysign", input, other)
    turned = division.bitwise_xor(signbit(x), signbit(y))
    return apply_out("copysign", _where(turned, elementwise.neg(x), x), out)


def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return 0 where x is negative, 1 where it is positive, `values` where it is 0."""
    x, at_zero = coerce("heaviside", check_tensor("heaviside", input), values)
    step = cast(elementwise.gt(x.detach(), 0), x.dtype)
    step = elementwise.choose(isnan(x.detach()), x.detach(), step)
    return apply_out(
        "heaviside",
        elementwise.choose(elementwise.eq(x.detach(), 0), at_zero, step),
        out,
    )


def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether x is infinity, element by element."""
    x = _float("isposinf", input).detach()
    return apply_out("isposinf", elementwise.eq(x, math.inf), out)


def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether x is -infinity, element by element."""
    x = _float("isneginf", input).detach()
    return apply_out("isneginf", elementwise.eq(x, -math.inf), out)


# ---- angles --------------------------------------------------------------------------


def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return angles given in degrees in radians."""
    x = _float("deg2rad", input)
    return apply_out("deg2rad", elementwise.mul(x, math.pi / 180), out)


def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return angles given in radians in degrees."""
    x = _float("rad2deg", input)
    return apply_out("rad2deg", elementwise.mul(x, 180 / math.pi), out)


def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return sin(pi x) / (pi x), which is 1 at 0."""
    x = _float("sinc", input)
    zero = elementwise.eq(x.detach(), 0)
    angle = elementwise.mul(_where(zero, 1.0, x), math.pi)
    # At 0 the slope is 0: a constant there gives it.
    result = elementwise.div(elementwise.sin(angle), angle)
    return apply_out("sinc", _where(zero, 1.0, result), out)
