# SPDX-License-Identifier: MIT
"""Parts of floating-point numbers: signs, special values and adjacent numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import floats, integers, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.rules import BOOL, DTYPES, INT32, INT64, float_dtype
from autocalc._kernels.samples import (
    BROADCAST,
    LARGE,
    SHAPES,
    TAILS,
    Make,
    pairs,
    unary,
)
from autocalc._kernels.spec import Array, DType, Meta, Sample


@elementwise(
    "The absolute value of a with the sign of b.", kind="standalone", budget=EXACT
)
def copysign(xp: Any, a: Array, b: Array) -> Array:
    return xp.copysign(a, b)


@elementwise(
    "0 where a is negative, 1 where it is positive, b where it is 0; NaN stays.",
    lead="where",
    dtypes=DTYPES,
    budget=EXACT,
)
def heaviside(xp: Any, a: Array, b: Array) -> Array:
    zero, one = xp.zeros((), a.dtype), xp.ones((), a.dtype)
    step = xp.where(a > 0, one, xp.where(a < 0, zero, a))
    return xp.where(a == 0, b, step)


def _signbit_rule(a: Meta) -> Meta:
    float_dtype("signbit", a)
    return Meta(a.shape, BOOL)


@elementwise(
    "Whether a is negative; -0 counts as negative.",
    kind="standalone",
    budget=EXACT,
    rule=_signbit_rule,
)
def signbit(xp: Any, a: Array) -> Array:
    # NumPy's own function does not write all elements of a strided output (2.4.6, with
    # AVX-512).
    return xp.copysign(1, a) < 0


def _replaced(make: Make) -> Iterator[Sample]:
    for sample in unary(make):
        yield Sample(sample.label, sample.inputs, (0.0, 100.0, -100.0))
    yield Sample("infinite", (make.special(),), (-np.inf, 0.5, np.inf))


@elementwise(
    "a with NaN, infinity and minus infinity replaced.",
    "a ; nan:float posinf:float neginf:float",
    kind="standalone",
    budget=EXACT,
    samples=_replaced,
    benchmarks=mebi(floats, attributes=(0.0, 1.0, -1.0)),
)
def nan_to_num(xp: Any, a: Array, nan: float, posinf: float, neginf: float) -> Array:
    result = xp.where(xp.isnan(a), nan, a)
    result = xp.where(a == xp.inf, posinf, result)
    return xp.where(a == -xp.inf, neginf, result).astype(a.dtype)


_FLOAT_OF: dict[DType, DType] = {
    INT32: np.dtype(np.float32),
    INT64: np.dtype(np.float64),
}


#: The sign bit, and the bits of infinity and of NaN, as integers of the same width.
_BITS = {
    dtype: [np.array(x, number).view(dtype)[()] for x in (-0.0, np.inf, np.nan)]
    for dtype, number in _FLOAT_OF.items()
}


def _neighbours(make: Make) -> Iterator[Sample]:
    """Sample the bits of numbers of all magnitudes."""
    numbers = Make(_FLOAT_OF[make.dtype])

    def bits(values: Array) -> Array:
        return np.asarray(values).view(make.dtype)

    for n in TAILS:
        yield Sample(f"n={n}", (bits(numbers.normal(n)), bits(numbers.normal(n))))
    for shape in SHAPES:
        a, b = numbers.normal(*shape), numbers.normal(*shape)
        yield Sample(f"shape={shape}", (bits(a), bits(b)))
    for left, right in BROADCAST:
        a, b = numbers.normal(*left), numbers.normal(*right)
        yield Sample(f"broadcast {left} with {right}", (bits(a), bits(b)))
    a, b = pairs(numbers.special())
    yield Sample("special", (bits(a), bits(b)))
    sizes = numbers.any_size(2000), numbers.any_size(2000)
    yield Sample("any size", (bits(sizes[0]), bits(sizes[1])))
    large = numbers.normal(LARGE), numbers.normal(LARGE)
    yield Sample("large", (bits(large[0]), bits(large[1])))


# The kernel works on integers, because a wider format is no oracle for the adjacent
# numbers of float64.
@elementwise(
    "The bits of the float next to the one with bits a, towards the one with bits b.",
    kind="standalone",
    dtypes=(INT32, INT64),
    budget=EXACT,
    flops=5,
    samples=_neighbours,
    benchmarks=mebi(integers, integers),
)
def next_float_bits(xp: Any, a: Array, b: Array) -> Array:
    # Without the sign bit, the bits of floats have the same order as their magnitudes.
    sign, infinite, nan = _BITS[a.dtype]
    size_a, size_b = a & ~sign, b & ~sign
    away = ((a ^ b) & sign == 0) & (size_b > size_a)
    moved = a + xp.where(away, 1, -1).astype(a.dtype)
    result = xp.where(size_a == 0, (b & sign) | 1, moved)
    result = xp.where((a == b) | ((size_a | size_b) == 0), b, result)
    return xp.where((size_a > infinite) | (size_b > infinite), nan, result)
