# SPDX-License-Identifier: MIT
"""Methods with an underscore that are their function, written in place."""

from __future__ import annotations

from typing import Any

from autocalc._ops import _inplace as inplace
from autocalc._tensor import Tensor


class PointwiseWrites:
    """``x.name_(...)``: x takes over the values of ``x.name(...)``."""

    __slots__ = ()

    def abs_(self: Tensor) -> Tensor:
        """Take `abs` of every element, in place; return x."""
        return inplace.apply_("abs", self)

    def neg_(self: Tensor) -> Tensor:
        """Take `neg` of every element, in place; return x."""
        return inplace.apply_("neg", self)

    def exp_(self: Tensor) -> Tensor:
        """Take `exp` of every element, in place; return x."""
        return inplace.apply_("exp", self)

    def exp2_(self: Tensor) -> Tensor:
        """Take `exp2` of every element, in place; return x."""
        return inplace.apply_("exp2", self)

    def expm1_(self: Tensor) -> Tensor:
        """Take `expm1` of every element, in place; return x."""
        return inplace.apply_("expm1", self)

    def log_(self: Tensor) -> Tensor:
        """Take `log` of every element, in place; return x."""
        return inplace.apply_("log", self)

    def log2_(self: Tensor) -> Tensor:
        """Take `log2` of every element, in place; return x."""
        return inplace.apply_("log2", self)

    def log10_(self: Tensor) -> Tensor:
        """Take `log10` of every element, in place; return x."""
        return inplace.apply_("log10", self)

    def log1p_(self: Tensor) -> Tensor:
        """Take `log1p` of every element, in place; return x."""
        return inplace.apply_("log1p", self)

    def sqrt_(self: Tensor) -> Tensor:
        """Take `sqrt` of every element, in place; return x."""
        return inplace.apply_("sqrt", self)

    def rsqrt_(self: Tensor) -> Tensor:
        """Take `rsqrt` of every element, in place; return x."""
        return inplace.apply_("rsqrt", self)

    def sin_(self: Tensor) -> Tensor:
        """Take `sin` of every element, in place; return x."""
        return inplace.apply_("sin", self)

    def cos_(self: Tensor) -> Tensor:
        """Take `cos` of every element, in place; return x."""
        return inplace.apply_("cos", self)

    def tan_(self: Tensor) -> Tensor:
        """Take `tan` of every element, in place; return x."""
        return inplace.apply_("tan", self)

    def asin_(self: Tensor) -> Tensor:
        """Take `asin` of every element, in place; return x."""
        return inplace.apply_("asin", self)

    def acos_(self: Tensor) -> Tensor:
        """Take `acos` of every element, in place; return x."""
        return inplace.apply_("acos", self)

    def atan_(self: Tensor) -> Tensor:
        """Take `atan` of every element, in place; return x."""
        return inplace.apply_("atan", self)

    def sinh_(self: Tensor) -> Tensor:
        """Take `sinh` of every element, in place; return x."""
        return inplace.apply_("sinh", self)

    def cosh_(self: Tensor) -> Tensor:
        """Take `cosh` of every element, in place; return x."""
        return inplace.apply_("cosh", self)

    def tanh_(self: Tensor) -> Tensor:
        """Take `tanh` of every element, in place; return x."""
        return inplace.apply_("tanh", self)

    def sigmoid_(self: Tensor) -> Tensor:
        """Take `sigmoid` of every element, in place; return x."""
        return inplace.apply_("sigmoid", self)

    def relu_(self: Tensor) -> Tensor:
        """Take `relu` of every element, in place; return x."""
        return inplace.apply_("relu", self)

    def erf_(self: Tensor) -> Tensor:
        """Take `erf` of every element, in place; return x."""
        return inplace.apply_("erf", self)

    def erfc_(self: Tensor) -> Tensor:
        """Take `erfc` of every element, in place; return x."""
        return inplace.apply_("erfc", self)

    def sign_(self: Tensor) -> Tensor:
        """Take `sign` of every element, in place; return x."""
        return inplace.apply_("sign", self)

    def square_(self: Tensor) -> Tensor:
        """Take `square` of every element, in place; return x."""
        return inplace.apply_("square", self)

    def reciprocal_(self: Tensor) -> Tensor:
        """Take `reciprocal` of every element, in place; return x."""
        return inplace.apply_("reciprocal", self)

    def frac_(self: Tensor) -> Tensor:
        """Take `frac` of every element, in place; return x."""
        return inplace.apply_("frac", self)

    def floor_(self: Tensor) -> Tensor:
        """Take `floor` of every element, in place; return x."""
        return inplace.apply_("floor", self)

    def ceil_(self: Tensor) -> Tensor:
        """Take `ceil` of every element, in place; return x."""
        return inplace.apply_("ceil", self)

    def round_(self: Tensor, *, decimals: int = 0) -> Tensor:
        """Take `round` of every element, in place; return x."""
        return inplace.apply_("round", self, decimals=decimals)

    def trunc_(self: Tensor) -> Tensor:
        """Take `trunc` of every element, in place; return x."""
        return inplace.apply_("trunc", self)

    def logical_not_(self: Tensor) -> Tensor:
        """Take `logical_not` of every element, in place; return x."""
        return inplace.apply_("logical_not", self)

    def bitwise_not_(self: Tensor) -> Tensor:
        """Take `bitwise_not` of every element, in place; return x."""
        return inplace.apply_("bitwise_not", self)

    def pow_(self: Tensor, exponent: Any) -> Tensor:
        """Raise x to the power `exponent`, in place; return x."""
        return inplace.apply_("pow", self, exponent)

    def floor_divide_(self: Tensor, other: Any) -> Tensor:
        """Take `floor_divide` of x and `other`, in place; return x."""
        return inplace.apply_("floor_divide", self, other)

    def remainder_(self: Tensor, other: Any) -> Tensor:
        """Take `remainder` of x and `other`, in place; return x."""
        return inplace.apply_("remainder", self, other)

    def fmod_(self: Tensor, other: Any) -> Tensor:
        """Take `fmod` of x and `other`, in place; return x."""
        return inplace.apply_("fmod", self, other)

    def atan2_(self: Tensor, other: Any) -> Tensor:
        """Take `atan2` of x and `other`, in place; return x."""
        return inplace.apply_("atan2", self, other)

    def eq_(self: Tensor, other: Any) -> Tensor:
        """Take `eq` of x and `other`, in place; return x."""
        return inplace.apply_("eq", self, other)

    def ne_(self: Tensor, other: Any) -> Tensor:
        """Take `ne` of x and `other`, in place; return x."""
        return inplace.apply_("ne", self, other)

    def lt_(self: Tensor, other: Any) -> Tensor:
        """Take `lt` of x and `other`, in place; return x."""
        return inplace.apply_("lt", self, other)

    def le_(self: Tensor, other: Any) -> Tensor:
        """Take `le` of x and `other`, in place; return x."""
        return inplace.apply_("le", self, other)

    def gt_(self: Tensor, other: Any) -> Tensor:
        """Take `gt` of x and `other`, in place; return x."""
        return inplace.apply_("gt", self, other)

    def ge_(self: Tensor, other: Any) -> Tensor:
        """Take `ge` of x and `other`, in place; return x."""
        return inplace.apply_("ge", self, other)

    def logical_and_(self: Tensor, other: Any) -> Tensor:
        """Take `logical_and` of x and `other`, in place; return x."""
        return inplace.apply_("logical_and", self, other)

    def logical_or_(self: Tensor, other: Any) -> Tensor:
        """Take `logical_or` of x and `other`, in place; return x."""
        return inplace.apply_("logical_or", self, other)

    def logical_xor_(self: Tensor, other: Any) -> Tensor:
        """Take `logical_xor` of x and `other`, in place; return x."""
        return inplace.apply_("logical_xor", self, other)

    def bitwise_and_(self: Tensor, other: Any) -> Tensor:
        """Take `bitwise_and` of x and `other`, in place; return x."""
        return inplace.apply_("bitwise_and", self, other)

    def bitwise_or_(self: Tensor, other: Any) -> Tensor:
        """Take `bitwise_or` of x and `other`, in place; return x."""
        return inplace.apply_("bitwise_or", self, other)

    def bitwise_xor_(self: Tensor, other: Any) -> Tensor:
        """Take `bitwise_xor` of x and `other`, in place; return x."""
        return inplace.apply_("bitwise_xor", self, other)

    def lerp_(self: Tensor, end: Tensor, weight: Any) -> Tensor:
        """Go part of the way to `end`, in place; return x."""
        return inplace.apply_("lerp", self, end, weight)

    def addcmul_(
        self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1
    ) -> Tensor:
        """Add value * tensor1 * tensor2, in place; return x."""
        return inplace.apply_("addcmul", self, tensor1, tensor2, value=value)

    def addcdiv_(
        self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1
    ) -> Tensor:
        """Add value * tensor1 / tensor2, in place; return x."""
        return inplace.apply_("addcdiv", self, tensor1, tensor2, value=value)

    def clamp_min_(self: Tensor, min: Any) -> Tensor:
        """Raise every element to `min` at least, in place; return x."""
        return inplace.apply_("clamp_min", self, min)

    def clamp_max_(self: Tensor, max: Any) -> Tensor:
        """Lower every element to `max` at most, in place; return x."""
        return inplace.apply_("clamp_max", self, max)

    def nan_to_num_(
        self: Tensor,
        nan: float | None = 0.0,
        posinf: float | None = None,
        neginf: float | None = None,
    ) -> Tensor:
        """Replace NaN and infinities, in place; return x."""
        return inplace.apply_("nan_to_num", self, nan, posinf, neginf)
