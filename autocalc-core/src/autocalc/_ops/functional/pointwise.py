# SPDX-License-Identifier: MIT
"""Elementwise functions that are one operator, with PyTorch's argument names."""

from __future__ import annotations

from autocalc._ops import division, elementwise, transcendental
from autocalc._ops._arguments import Operand
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


abs = absolute = elementwise.abs
neg = negative = elementwise.neg
exp = elementwise.exp
exp2 = transcendental.exp2
expm1 = transcendental.expm1
log = elementwise.log
log2 = transcendental.log2
log10 = transcendental.log10
log1p = transcendental.log1p
sqrt = elementwise.sqrt
rsqrt = elementwise.rsqrt
sin = elementwise.sin
cos = elementwise.cos
tan = transcendental.tan
asin = arcsin = transcendental.asin
acos = arccos = transcendental.acos
atan = arctan = transcendental.atan
sinh = transcendental.sinh
cosh = transcendental.cosh
tanh = elementwise.tanh
sigmoid = elementwise.sigmoid
relu = elementwise.relu
erf = elementwise.erf
erfc = transcendental.erfc
sign = division.sign
bitwise_not = division.bitwise_not


def pow(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return x to the power y, element by element; shapes broadcast."""
    result: Tensor = elementwise.pow(input, exponent)
    return result if out is None else copy_to_out("pow", result, out)


mul = multiply = elementwise.mul
true_divide = elementwise.div
maximum = elementwise.maximum
minimum = elementwise.minimum
eq = elementwise.eq
ne = not_equal = elementwise.ne
lt = less = elementwise.lt
le = less_equal = elementwise.le
gt = greater = elementwise.gt
ge = greater_equal = elementwise.ge
atan2 = arctan2 = transcendental.atan2
floor_divide = division.floor_divide
remainder = division.remainder
fmod = division.fmod
bitwise_and = division.bitwise_and
bitwise_or = division.bitwise_or
bitwise_xor = division.bitwise_xor
bitwise_left_shift = division.bitwise_left_shift
bitwise_right_shift = division.bitwise_right_shift
