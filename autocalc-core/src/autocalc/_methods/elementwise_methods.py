# SPDX-License-Identifier: MIT
"""Methods that work element by element."""

from __future__ import annotations

from typing import Any

from autocalc._ops import elementwise as ops
from autocalc._ops import functional
from autocalc._tensor import Tensor


class Elementwise:
    """One value out for each value in."""

    __slots__ = ()

    def exp(self: Tensor) -> Tensor:
        """Return e^x, element by element."""
        return ops.exp(self)

    def log(self: Tensor) -> Tensor:
        """Return the natural logarithm, element by element."""
        return ops.log(self)

    def sqrt(self: Tensor) -> Tensor:
        """Return the square root, element by element."""
        return ops.sqrt(self)

    def rsqrt(self: Tensor) -> Tensor:
        """Return 1 / sqrt(x), element by element."""
        return ops.rsqrt(self)

    def sin(self: Tensor) -> Tensor:
        """Return the sine, element by element."""
        return ops.sin(self)

    def cos(self: Tensor) -> Tensor:
        """Return the cosine, element by element."""
        return ops.cos(self)

    def tanh(self: Tensor) -> Tensor:
        """Return the hyperbolic tangent, element by element."""
        return ops.tanh(self)

    def sigmoid(self: Tensor) -> Tensor:
        """Return 1 / (1 + e^-x), element by element."""
        return ops.sigmoid(self)

    def relu(self: Tensor) -> Tensor:
        """Return max(x, 0), element by element."""
        return ops.relu(self)

    def erf(self: Tensor) -> Tensor:
        """Return the error function, element by element."""
        return ops.erf(self)

    def abs(self: Tensor) -> Tensor:
        """Return the absolute value, element by element."""
        return ops.abs(self)

    def neg(self: Tensor) -> Tensor:
        """Return -x, element by element."""
        return ops.neg(self)

    def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Return x + other, element by element."""
        return functional.add(self, other, alpha=alpha)

    def sub(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Return x - other, element by element."""
        return functional.sub(self, other, alpha=alpha)

    def mul(self: Tensor, other: Any) -> Tensor:
        """Return x * other, element by element."""
        return ops.mul(self, other)

    def div(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Return x / other, element by element."""
        return functional.div(self, other, rounding_mode=rounding_mode)

    def pow(self: Tensor, exponent: Any) -> Tensor:
        """Return x to the power `exponent`, element by element."""
        return ops.pow(self, exponent)

    def maximum(self: Tensor, other: Any) -> Tensor:
        """Return the larger of x and other, element by element."""
        return ops.maximum(self, other)

    def minimum(self: Tensor, other: Any) -> Tensor:
        """Return the smaller of x and other, element by element."""
        return ops.minimum(self, other)

    def eq(self: Tensor, other: Any) -> Tensor:
        """Return x == other, element by element."""
        return ops.eq(self, other)

    def ne(self: Tensor, other: Any) -> Tensor:
        """Return x != other, element by element."""
        return ops.ne(self, other)

    def lt(self: Tensor, other: Any) -> Tensor:
        """Return x < other, element by element."""
        return ops.lt(self, other)

    def le(self: Tensor, other: Any) -> Tensor:
        """Return x <= other, element by element."""
        return ops.le(self, other)

    def gt(self: Tensor, other: Any) -> Tensor:
        """Return x > other, element by element."""
        return ops.gt(self, other)

    def ge(self: Tensor, other: Any) -> Tensor:
        """Return x >= other, element by element."""
        return ops.ge(self, other)

    def floor(self: Tensor) -> Tensor:
        """Return x rounded down."""
        return functional.floor(self)

    def ceil(self: Tensor) -> Tensor:
        """Return x rounded up."""
        return functional.ceil(self)

    def round(self: Tensor, *, decimals: int = 0) -> Tensor:
        """Return x rounded to the nearest, ties to even."""
        return functional.round(self, decimals=decimals)

    def trunc(self: Tensor) -> Tensor:
        """Return x rounded to zero."""
        return functional.trunc(self)

    def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
        """Return x limited to min and max."""
        return functional.clamp(self, min, max)

    def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
        """Return x where `condition` holds, else `other`."""
        return functional.where(condition, self, other)
