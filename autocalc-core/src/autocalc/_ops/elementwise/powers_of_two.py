# SPDX-License-Identifier: MIT
"""Numbers split into a fraction and a power of two: ldexp, frexp."""

from __future__ import annotations

import math
from typing import NamedTuple

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import cast, to_float
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.elementwise import (
    arithmetic,
    clamping,
    comparison,
    exponential,
    rounding,
)
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.limits import finfo

__all__ = ["frexp", "ldexp"]


class Parts(NamedTuple):
    """The result of `frexp`."""

    mantissa: Tensor
    exponent: Tensor


@method("ldexp", inplace="ldexp_")
@declared
@rounded_once
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return input * 2^other.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    other
        The exponents; shapes are broadcast.  Integer exponents, however large, scale
        floats without rounding errors.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If `input` holds floats, and `other` holds booleans.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ldexp(ac.tensor([1.0, 3.0]), ac.tensor([2, -1]))
    tensor([4.0000, 1.5000])
    """
    check_tensor("ldexp", input), check_tensor("ldexp", other)
    if other.is_floating_point():
        found = arithmetic.mul(input, exponential.exp2(other))
    elif input.is_floating_point():
        refuse_booleans("ldexp", other)
        found = _scaled(input, cast(other, input.dtype))
    else:
        found = arithmetic.mul(input, exponential.exp2(to_float(other)))
    return found


def _scaled(x: Tensor, power: Tensor) -> Tensor:
    """Return x * 2^power in three steps; a float can hold each of the factors."""
    largest = math.frexp(finfo(x.dtype).max)[1] - 1
    power = clamping.clamp(power, -3 * largest, 3 * largest)
    third = rounding.trunc(arithmetic.div(power, 3))
    step = exponential.exp2(third)
    rest = exponential.exp2(arithmetic.sub(power, arithmetic.mul(third, 2)))
    return arithmetic.mul(arithmetic.mul(arithmetic.mul(x, step), step), rest)


@method("frexp")
@declared
@rounded_once
def frexp(input: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> Parts:
    """Return (mantissa, exponent) with input = mantissa * 2^exponent, exactly.

    The absolute value of a mantissa is at least 0.5 and below 1.  For 0, infinity and
    NaN, the mantissa is the number itself and the exponent is 0.

    Parameters
    ----------
    input
        A tensor of float32 or float64.
    out
        Two tensors to write the results into, converted to their dtypes.

    Raises
    ------
    DTypeError
        If `input` does not hold floats.

    Examples
    --------
    >>> import autocalc as ac
    >>> mantissa, exponent = ac.frexp(ac.tensor([4.0, -2.0]))
    >>> mantissa
    tensor([ 0.5000, -0.5000])
    >>> exponent
    tensor([3, 2], dtype=autocalc.int32)
    """
    check_float("frexp", input)
    fixed = input.detach()
    usual = comparison.isfinite(fixed) & comparison.ne(fixed, 0)
    size = comparison.where_op(usual, arithmetic.abs(fixed), _ones(fixed))
    exponent = arithmetic.add(rounding.floor(exponential.log2(size)), 1.0)
    # The logarithm is rounded, so it may be one too high or too low.
    part = _shifted(size, exponent)
    exponent = arithmetic.add(exponent, cast(comparison.ge(part, 1.0), size.dtype))
    exponent = arithmetic.sub(exponent, cast(comparison.lt(part, 0.5), size.dtype))
    exponent = comparison.where_op(usual, exponent, arithmetic.mul(_ones(fixed), 0.0))
    return Parts(_shifted(input, exponent), cast(exponent, dtypes.int32))


def _ones(x: Tensor) -> Tensor:
    return cast(comparison.eq(x, x) | comparison.ne(x, x), x.dtype)


def _shifted(x: Tensor, exponent: Tensor) -> Tensor:
    """Return x * 2^-exponent in two steps; a float can hold each of the factors."""
    half = rounding.floor(arithmetic.mul(exponent, 0.5))
    rest = arithmetic.sub_op(exponent, half)
    first = arithmetic.mul(x, exponential.exp2(arithmetic.neg(half)))
    return arithmetic.mul(first, exponential.exp2(arithmetic.neg(rest)))
