# SPDX-License-Identifier: MIT
"""Methods that work element by element: the less common ones."""

from __future__ import annotations

from typing import Any

from autocalc._ops import (
    arithmetic,
    bitwise,
    clamping,
    comparison,
    exponential,
    logical,
    rounding,
    trigonometric,
)
from autocalc._tensor import Tensor


class Pointwise:
    """One value out for each value in."""

    __slots__ = ()

    def exp2(self: Tensor) -> Tensor:
        """Return 2^x, element by element."""
        return exponential.exp2(self)

    def expm1(self: Tensor) -> Tensor:
        """Return e^x - 1, element by element."""
        return exponential.expm1(self)

    def log2(self: Tensor) -> Tensor:
        """Return the logarithm to base 2, element by element."""
        return exponential.log2(self)

    def log10(self: Tensor) -> Tensor:
        """Return the logarithm to base 10, element by element."""
        return exponential.log10(self)

    def log1p(self: Tensor) -> Tensor:
        """Return log(1 + x), element by element."""
        return exponential.log1p(self)

    def tan(self: Tensor) -> Tensor:
        """Return the tangent, element by element."""
        return trigonometric.tan(self)

    def asin(self: Tensor) -> Tensor:
        """Return the angle whose sine is x, element by element."""
        return trigonometric.asin(self)

    def acos(self: Tensor) -> Tensor:
        """Return the angle whose cosine is x, element by element."""
        return trigonometric.acos(self)

    def atan(self: Tensor) -> Tensor:
        """Return the angle whose tangent is x, element by element."""
        return trigonometric.atan(self)

    def sinh(self: Tensor) -> Tensor:
        """Return the hyperbolic sine, element by element."""
        return trigonometric.sinh(self)

    def cosh(self: Tensor) -> Tensor:
        """Return the hyperbolic cosine, element by element."""
        return trigonometric.cosh(self)

    def erfc(self: Tensor) -> Tensor:
        """Return 1 - erf(x), element by element."""
        return exponential.erfc(self)

    def sign(self: Tensor) -> Tensor:
        """Return 1, 0 or -1, element by element."""
        return arithmetic.sign(self)

    def square(self: Tensor) -> Tensor:
        """Return x * x, element by element."""
        return arithmetic.square(self)

    def reciprocal(self: Tensor) -> Tensor:
        """Return 1 / x, element by element."""
        return arithmetic.reciprocal(self)

    def frac(self: Tensor) -> Tensor:
        """Return x - trunc(x), element by element."""
        return rounding.frac(self)

    def isnan(self: Tensor) -> Tensor:
        """Return whether x is NaN, element by element."""
        return comparison.isnan(self)

    def isinf(self: Tensor) -> Tensor:
        """Return whether x is infinite, element by element."""
        return comparison.isinf(self)

    def isfinite(self: Tensor) -> Tensor:
        """Return whether x is finite, element by element."""
        return comparison.isfinite(self)

    def logical_not(self: Tensor) -> Tensor:
        """Return whether x is zero, element by element."""
        return logical.logical_not(self)

    def bitwise_not(self: Tensor) -> Tensor:
        """Return the other bits, element by element."""
        return bitwise.bitwise_not(self)

    def positive(self: Tensor) -> Tensor:
        """Return x itself, element by element."""
        return arithmetic.positive(self)

    def atan2(self: Tensor, other: Any) -> Tensor:
        """Return the angle of the point (other, x), element by element."""
        return trigonometric.atan2(self, other)

    def floor_divide(self: Tensor, other: Any) -> Tensor:
        """Return floor(x / other), element by element."""
        return arithmetic.floor_divide(self, other)

    def remainder(self: Tensor, other: Any) -> Tensor:
        """Return x less whole multiples of other; the sign is that of other."""
        return arithmetic.remainder(self, other)

    def fmod(self: Tensor, other: Any) -> Tensor:
        """Return x less whole multiples of other; the sign is that of x."""
        return arithmetic.fmod(self, other)

    def true_divide(self: Tensor, other: Any) -> Tensor:
        """Return x / other, element by element."""
        return arithmetic.div_op(self, other)

    def logical_and(self: Tensor, other: Any) -> Tensor:
        """Return whether both are non-zero, element by element."""
        return logical.logical_and(self, other)

    def logical_or(self: Tensor, other: Any) -> Tensor:
        """Return whether either is non-zero, element by element."""
        return logical.logical_or(self, other)

    def logical_xor(self: Tensor, other: Any) -> Tensor:
        """Return whether one is non-zero, element by element."""
        return logical.logical_xor(self, other)

    def bitwise_and(self: Tensor, other: Any) -> Tensor:
        """Return the bits set in both, element by element."""
        return bitwise.bitwise_and(self, other)

    def bitwise_or(self: Tensor, other: Any) -> Tensor:
        """Return the bits set in either, element by element."""
        return bitwise.bitwise_or(self, other)

    def bitwise_xor(self: Tensor, other: Any) -> Tensor:
        """Return the bits set in one, element by element."""
        return bitwise.bitwise_xor(self, other)

    def bitwise_left_shift(self: Tensor, other: Any) -> Tensor:
        """Return x * 2^other, element by element."""
        return bitwise.bitwise_left_shift(self, other)

    def bitwise_right_shift(self: Tensor, other: Any) -> Tensor:
        """Return floor(x / 2^other), element by element."""
        return bitwise.bitwise_right_shift(self, other)

    def lerp(self: Tensor, end: Tensor, weight: Any) -> Tensor:
        """Return x + weight * (end - x)."""
        return arithmetic.lerp(self, end, weight)

    def addcmul(
        self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1
    ) -> Tensor:
        """Return x + value * tensor1 * tensor2."""
        return arithmetic.addcmul(self, tensor1, tensor2, value=value)

    def addcdiv(
        self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1
    ) -> Tensor:
        """Return x + value * tensor1 / tensor2."""
        return arithmetic.addcdiv(self, tensor1, tensor2, value=value)

    def clamp_min(self: Tensor, min: Any) -> Tensor:
        """Return max(x, min)."""
        return clamping.clamp_min(self, min)

    def clamp_max(self: Tensor, max: Any) -> Tensor:
        """Return min(x, max)."""
        return clamping.clamp_max(self, max)

    def nan_to_num(
        self: Tensor,
        nan: float | None = 0.0,
        posinf: float | None = None,
        neginf: float | None = None,
    ) -> Tensor:
        """Return x with NaN and infinities replaced."""
        return clamping.nan_to_num(self, nan, posinf, neginf)

    def isclose(
        self: Tensor,
        other: Tensor,
        rtol: float = 1e-5,
        atol: float = 1e-8,
        equal_nan: bool = False,
    ) -> Tensor:
        """Return whether x and other agree, element by element."""
        return comparison.isclose(self, other, rtol, atol, equal_nan)

    def allclose(
        self: Tensor,
        other: Tensor,
        rtol: float = 1e-5,
        atol: float = 1e-8,
        equal_nan: bool = False,
    ) -> bool:
        """Return whether x and other agree everywhere."""
        return logical.allclose(self, other, rtol, atol, equal_nan)

    def equal(self: Tensor, other: Tensor) -> bool:
        """Return whether shapes and elements are the same."""
        return logical.equal(self, other)
