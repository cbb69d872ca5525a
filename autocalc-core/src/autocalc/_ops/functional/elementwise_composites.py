# SPDX-License-Identifier: MIT
"""Elementwise functions made of a few operators."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops import division, elementwise
from autocalc._ops._arguments import Operand, check_tensor
from autocalc._ops._coerce import cast, coerce, to_float
from autocalc._ops._out import apply_out, copy_to_out
from autocalc._ops.functional.elementwise import trunc
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, DTypeError

__all__ = [
    "addcdiv",
    "addcmul",
    "clamp_max",
    "clamp_min",
    "div",
    "frac",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "lerp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "nan_to_num",
    "positive",
    "reciprocal",
    "rsub",
    "square",
]


def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return x * x, element by element."""
    x = check_tensor("square", input)
    result = elementwise.mul(x, x)
    return result if out is None else copy_to_out("square", result, out)


def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return 1 / x, element by element."""
    result = elementwise.div(1, check_tensor("reciprocal", input))
    return result if out is None else copy_to_out("reciprocal", result, out)


def positive(input: Tensor) -> Tensor:
    """Return `input` itself; of booleans, an error."""
    if check_tensor("positive", input).dtype is dtypes.bool_:
        message = "positive: a tensor of bool has no sign; convert it with .long()."
        raise DTypeError(message)
    return input


def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return x - trunc(x), element by element."""
    return apply_out("frac", elementwise.sub(input, trunc(input)), out)


def div(
    input: Operand,
    other: Operand,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return input / other; "floor" or "trunc" rounds down or towards zero.

    Raises
    ------
    ArgumentError
        If `rounding_mode` is none of these.
    KernelDataError
        If integers are divided by zero with rounding.
    """
    if rounding_mode is None:
        result = elementwise.div(input, other)
    elif rounding_mode == "floor":
        result = division.floor_divide(input, other)
    elif rounding_mode == "trunc":
        result = _trunc_divide(*coerce("div", input, other))
    else:
        message = (
            f'div: `rounding_mode` is {rounding_mode!r}; it must be None, "floor" or '
            f'"trunc".'
        )
        raise ArgumentError(message)
    return result if out is None else copy_to_out("div", result, out)


def _trunc_divide(a: Tensor, b: Tensor) -> Tensor:
    if a.is_floating_point():
        return elementwise.rounding(elementwise.div(a, b), "trunc")
    return division.floor_divide(elementwise.sub(a, division.fmod(a, b)), b)


def rsub(input: Tensor, other: Operand, *, alpha: float = 1) -> Tensor:
    """Return other - alpha * input."""
    scaled = input if alpha == 1 else elementwise.mul(input, alpha)
    return elementwise.sub(other, scaled)


def lerp(
    input: Tensor, end: Tensor, weight: Operand, *, out: Tensor | None = None
) -> Tensor:
    """Return input + weight * (end - input): on the way from `input` to `end`."""
    way = elementwise.sub(check_tensor("lerp", end), check_tensor("lerp", input))
    return apply_out("lerp", elementwise.add(input, elementwise.mul(way, weight)), out)


def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return input + value * tensor1 * tensor2."""
    product = elementwise.mul(tensor1, tensor2)
    if value != 1:
        product = elementwise.mul(product, value)
    return apply_out("addcmul", elementwise.add(input, product), out)


def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return input + value * tensor1 / tensor2."""
    quotient = elementwise.div(tensor1, tensor2)
    if value != 1:
        quotient = elementwise.mul(quotient, value)
    return apply_out("addcdiv", elementwise.add(input, quotient), out)


def clamp_min(input: Tensor, min: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return max(input, min), element by element."""
    return apply_out(
        "clamp_min", elementwise.clip(*coerce("clamp_min", input, min), None), out
    )


def clamp_max(input: Tensor, max: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return min(input, max), element by element."""
    x, high = coerce("clamp_max", input, max)
    return apply_out("clamp_max", elementwise.clip(x, None, high), out)


# ---- what a number is ----------------------------------------------------------------


def isnan(input: Tensor) -> Tensor:
    """Return whether x is NaN, element by element."""
    return elementwise.ne(check_tensor("isnan", input), input)


def isinf(input: Tensor) -> Tensor:
    """Return whether x is infinite, element by element."""
    if not check_tensor("isinf", input).is_floating_point():
        return elementwise.ne(input, input)
    return elementwise.eq(elementwise.abs(input.detach()), math.inf)


def isfinite(input: Tensor) -> Tensor:
    """Return whether x is neither infinite nor NaN, element by element."""
    if not check_tensor("isfinite", input).is_floating_point():
        return elementwise.eq(input, input)
    return elementwise.lt(elementwise.abs(input.detach()), math.inf)


def nan_to_num(
    input: Tensor,
    nan: float | None = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return x with NaN, infinity and -infinity replaced.

    By default by 0, the largest and the smallest finite number of the dtype.
    """
    x = check_tensor("nan_to_num", input)
    if not x.is_floating_point():
        return apply_out(
            "nan_to_num",
            elementwise.add(x, 0) if x.dtype is not dtypes.bool_ else x.clone(),
            out,
        )
    largest = _largest(x)
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    for found, value in (
        (isnan(x.detach()), 0.0 if nan is None else nan),
        (elementwise.eq(x.detach(), math.inf), high),
        (elementwise.eq(x.detach(), -math.inf), low),
    ):
        x = elementwise.choose(found, *coerce("nan_to_num", value, x))
    return apply_out("nan_to_num", x, out)


def _largest(x: Tensor) -> float:
    """Return the largest finite number of a float dtype."""
    mantissa, exponent = (24, 128) if x.dtype is dtypes.float32 else (53, 1024)
    return math.ldexp(2.0 - 2.0 ** (1 - mantissa), exponent - 1)


# ---- logic ---------------------------------------------------------------------------


def truth(x: Any) -> Tensor:
    """Return whether x is not zero."""
    return x if x.dtype is dtypes.bool_ else elementwise.ne(x.detach(), 0)


def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether both are non-zero, element by element."""
    a, b = check_tensor("logical_and", input), check_tensor("logical_and", other)
    return apply_out("logical_and", division.bitwise_and(truth(a), truth(b)), out)


def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether either is non-zero, element by element."""
    a, b = check_tensor("logical_or", input), check_tensor("logical_or", other)
    return apply_out("logical_or", division.bitwise_or(truth(a), truth(b)), out)


def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether exactly one is non-zero, element by element."""
    a, b = check_tensor("logical_xor", input), check_tensor("logical_xor", other)
    return apply_out("logical_xor", division.bitwise_xor(truth(a), truth(b)), out)


def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether x is zero, element by element."""
    return apply_out(
        "logical_not", elementwise.eq(check_tensor("logical_not", input), 0), out
    )


def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Return whether abs(input - other) <= atol + rtol abs(other), for each element."""
    a, b = check_tensor("isclose", input), check_tensor("isclose", other)
    close = elementwise.eq(a, b)
    if equal_nan:
        close = division.bitwise_or(close, division.bitwise_and(isnan(a), isnan(b)))
    x, y = (t.detach() if t.is_floating_point() else to_float(t) for t in (a, b))
    difference = elementwise.abs(elementwise.sub(x, y))
    bound = elementwise.add(elementwise.mul(elementwise.abs(y), rtol), atol)
    near = division.bitwise_and(
        isfinite(difference), elementwise.le(difference, cast(bound, difference.dtype))
    )
    return division.bitwise_or(close, near)
