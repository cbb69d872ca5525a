# SPDX-License-Identifier: MIT
"""Methods that work element by element."""

from __future__ import annotations

from typing import Any

from autocalc._ops import (
    activations,
    arithmetic,
    clamping,
    comparison,
    exponential,
    masking,
    rectifiers,
    rounding,
    trigonometric,
)
from autocalc._tensor import Tensor


class Elementwise:
    """One value out for each value in."""

    __slots__ = ()

    def exp(self: Tensor) -> Tensor:
        """Return e^x, element by element."""
        return exponential.exp(self)

    def log(self: Tensor) -> Tensor:
        """Return the natural logarithm, element by element."""
        return exponential.log(self)

    def sqrt(self: Tensor) -> Tensor:
        """Return the square root, element by element."""
        return exponential.sqrt(self)

    def rsqrt(self: Tensor) -> Tensor:
        """Return 1 / sqrt(x), element by element."""
        return exponential.rsqrt(self)

    def sin(self: Tensor) -> Tensor:
        """Return the sine, element by element."""
        return trigonometric.sin(self)

    def cos(self: Tensor) -> Tensor:
        """Return the cosine, element by element."""
        return trigonometric.cos(self)

    def tanh(self: Tensor) -> Tensor:
        """Return the hyperbolic tangent, element by element."""
        return trigonometric.tanh(self)

    def sigmoid(self: Tensor) -> Tensor:
        """Return 1 / (1 + e^-x), element by element."""
        return activations.sigmoid(self)

    def relu(self: Tensor) -> Tensor:
        """Return max(x, 0), element by element."""
        return rectifiers.relu_op(self)

    def erf(self: Tensor) -> Tensor:
        """Return the error function, element by element."""
        return exponential.erf(self)

    def abs(self: Tensor) -> Tensor:
        """Return the absolute value, element by element."""
        return arithmetic.abs(self)

    def neg(self: Tensor) -> Tensor:
        """Return -x, element by element."""
        return arithmetic.neg(self)

    def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Return x + other, element by element."""
        return arithmetic.add(self, other, alpha=alpha)

    def sub(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Return x - other, element by element."""
        return arithmetic.sub(self, other, alpha=alpha)

    def mul(self: Tensor, other: Any) -> Tensor:
        """Return x * other, element by element."""
        return arithmetic.mul(self, other)

    def div(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Return x / other, element by element."""
        return arithmetic.div(self, other, rounding_mode=rounding_mode)

    def pow(self: Tensor, exponent: Any) -> Tensor:
        """Return x to the power `exponent`, element by element."""
        return arithmetic.pow_op(self, exponent)

    def maximum(self: Tensor, other: Any) -> Tensor:
        """Return the larger of x and other, element by element."""
        return clamping.maximum(self, other)

    def minimum(self: Tensor, other: Any) -> Tensor:
        """Return the smaller of x and other, element by element."""
        return clamping.minimum(self, other)

    def eq(self: Tensor, other: Any) -> Tensor:
        """Return x == other, element by element."""
        return comparison.eq(self, other)

    def ne(self: Tensor, other: Any) -> Tensor:
        """Return x != other, element by element."""
        return comparison.ne(self, other)

    def lt(self: Tensor, other: Any) -> Tensor:
        """Return x < other, element by element."""
        return comparison.lt(self, other)

    def le(self: Tensor, other: Any) -> Tensor:
        """Return x <= other, element by element."""
        return comparison.le(self, other)

    def gt(self: Tensor, other: Any) -> Tensor:
        """Return x > other, element by element."""
        return comparison.gt(self, other)

    def ge(self: Tensor, other: Any) -> Tensor:
        """Return x >= other, element by element."""
        return comparison.ge(self, other)

    def floor(self: Tensor) -> Tensor:
        """Return x rounded down."""
        return rounding.floor(self)

    def ceil(self: Tensor) -> Tensor:
        """Return x rounded up."""
        return rounding.ceil(self)

    def round(self: Tensor, *, decimals: int = 0) -> Tensor:
        """Return x rounded to the nearest, ties to even."""
        return rounding.round(self, decimals=decimals)

    def trunc(self: Tensor) -> Tensor:
        """Return x rounded to zero."""
        return rounding.trunc(self)

    def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
        """Return x limited to min and max."""
        return clamping.clamp(self, min, max)

    def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
        """Return x where `condition` holds, else `other`."""
        return masking.where(condition, self, other)
