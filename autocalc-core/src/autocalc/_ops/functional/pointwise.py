# SPDX-License-Identifier: MIT
"""Elementwise functions that are one operator, with PyTorch's argument names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from autocalc._ops import division, elementwise, transcendental
from autocalc._ops._arguments import Operand
from autocalc._ops._op import Operator
from autocalc._ops._out import copy_to_out
from autocalc._tensor import Tensor

__all__ = [
    "abs",
    "absolute",
    "acos",
    "arccos",
    "arcsin",
    "arctan",
    "arctan2",
    "asin",
    "atan",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cos",
    "cosh",
    "eq",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor_divide",
    "fmod",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "le",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "ne",
    "neg",
    "negative",
    "not_equal",
    "pow",
    "relu",
    "remainder",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "true_divide",
]


class OfOne(Protocol):
    """A function of one tensor."""

    def __call__(self, input: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Return a new tensor, or `out` with the result in it."""


class OfTwo(Protocol):
    """A function of two tensors, one of which may be a number."""

    def __call__(
        self, input: Operand, other: Operand, *, out: Tensor | None = None
    ) -> Tensor:
        """Return a new tensor, or `out` with the result in it."""


def _of_one(name: str, operator: Operator, doc: str) -> OfOne:
    def call(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        result = operator(input)
        return result if out is None else copy_to_out(name, result, out)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return {doc}, element by element."
    return call


def _of_two(name: str, operator: Callable[[Any, Any], Tensor], doc: str) -> OfTwo:
    def call(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
        result = operator(input, other)
        return result if out is None else copy_to_out(name, result, out)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return {doc}, element by element; shapes broadcast."
    return call


abs = absolute = _of_one("abs", elementwise.abs, "the absolute value")
neg = negative = _of_one("neg", elementwise.neg, "-x")
exp = _of_one("exp", elementwise.exp, "e^x")
exp2 = _of_one("exp2", transcendental.exp2, "2^x")
expm1 = _of_one("expm1", transcendental.expm1, "e^x - 1, precise near 0")
log = _of_one("log", elementwise.log, "the natural logarithm")
log2 = _of_one("log2", transcendental.log2, "the logarithm to base 2")
log10 = _of_one("log10", transcendental.log10, "the logarithm to base 10")
log1p = _of_one("log1p", transcendental.log1p, "log(1 + x), precise near 0")
sqrt = _of_one("sqrt", elementwise.sqrt, "the square root")
rsqrt = _of_one("rsqrt", elementwise.rsqrt, "1 / sqrt(x)")
sin = _of_one("sin", elementwise.sin, "the sine")
cos = _of_one("cos", elementwise.cos, "the cosine")
tan = _of_one("tan", transcendental.tan, "the tangent")
asin = arcsin = _of_one("asin", transcendental.asin, "the angle whose sine is x")
acos = arccos = _of_one("acos", transcendental.acos, "the angle whose cosine is x")
atan = arctan = _of_one("atan", transcendental.atan, "the angle whose tangent is x")
sinh = _of_one("sinh", transcendental.sinh, "the hyperbolic sine")
cosh = _of_one("cosh", transcendental.cosh, "the hyperbolic cosine")
tanh = _of_one("tanh", elementwise.tanh, "the hyperbolic tangent")
sigmoid = _of_one("sigmoid", elementwise.sigmoid, "1 / (1 + e^-x)")
relu = _of_one("relu", elementwise.relu, "max(x, 0)")
erf = _of_one("erf", elementwise.erf, "the error function")
erfc = _of_one("erfc", transcendental.erfc, "1 - erf(x), precise in the tail")
sign = _of_one("sign", division.sign, "1, 0 or -1 as x is positive, 0 or negative")
bitwise_not = _of_one("bitwise_not", division.bitwise_not, "the other bits")


def pow(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return x to the power y, element by element; shapes broadcast."""
    result: Tensor = elementwise.pow(input, exponent)
    return result if out is None else copy_to_out("pow", result, out)


mul = multiply = _of_two("mul", elementwise.mul, "x * y")
true_divide = _of_two("true_divide", elementwise.div, "x / y")
maximum = _of_two("maximum", elementwise.maximum, "the larger of x and y")
minimum = _of_two("minimum", elementwise.minimum, "the smaller of x and y")
eq = _of_two("eq", elementwise.eq, "whether x == y")
ne = not_equal = _of_two("ne", elementwise.ne, "whether x != y")
lt = less = _of_two("lt", elementwise.lt, "whether x < y")
le = less_equal = _of_two("le", elementwise.le, "whether x <= y")
gt = greater = _of_two("gt", elementwise.gt, "whether x > y")
ge = greater_equal = _of_two("ge", elementwise.ge, "whether x >= y")
atan2 = arctan2 = _of_two(
    "atan2", transcendental.atan2, "the angle of the point (y, x) = (`other`, `input`)"
)
floor_divide = _of_two("floor_divide", division.floor_divide, "floor(x / y)")
remainder = _of_two(
    "remainder", division.remainder, "x - y floor(x / y), which has the sign of y"
)
fmod = _of_two("fmod", division.fmod, "x - y trunc(x / y), which has the sign of x")
bitwise_and = _of_two("bitwise_and", division.bitwise_and, "the bits set in both")
bitwise_or = _of_two("bitwise_or", division.bitwise_or, "the bits set in either")
bitwise_xor = _of_two("bitwise_xor", division.bitwise_xor, "the bits set in one")
bitwise_left_shift = _of_two(
    "bitwise_left_shift", division.bitwise_left_shift, "x * 2^y of integers"
)
bitwise_right_shift = _of_two(
    "bitwise_right_shift", division.bitwise_right_shift, "floor(x / 2^y) of integers"
)
