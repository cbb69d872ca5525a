# SPDX-License-Identifier: MIT
"""Operations on the bits of integers and booleans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, indices, integers, join, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.rules import DTYPES, FLOATS, NUMBERS
from autocalc._kernels.samples import Make, binary
from autocalc._kernels.spec import Array, Sample

BITS = tuple(dtype for dtype in DTYPES if dtype not in FLOATS)
INTS = tuple(dtype for dtype in NUMBERS if dtype not in FLOATS)


@elementwise(
    "The bits that are set in both a and b.",
    kind="standalone",
    dtypes=BITS,
    budget=EXACT,
    benchmarks=mebi(integers, integers),
)
def bitwise_and(xp: Any, a: Array, b: Array) -> Array:
    return xp.bitwise_and(a, b)


@elementwise(
    "The bits that are set in a or in b.",
    kind="standalone",
    dtypes=BITS,
    budget=EXACT,
    benchmarks=mebi(integers, integers),
)
def bitwise_or(xp: Any, a: Array, b: Array) -> Array:
    return xp.bitwise_or(a, b)


@elementwise(
    "The bits that are set in exactly one of a and b.",
    kind="standalone",
    dtypes=BITS,
    budget=EXACT,
    benchmarks=mebi(integers, integers),
)
def bitwise_xor(xp: Any, a: Array, b: Array) -> Array:
    return xp.bitwise_xor(a, b)


@elementwise(
    "The greatest common divisor, which is not negative; for 0 and 0 it is 0.",
    kind="standalone",
    dtypes=INTS,
    budget=EXACT,
    benchmarks=mebi(integers, integers),
)
def gcd(xp: Any, a: Array, b: Array) -> Array:
    return xp.gcd(a, b)


@elementwise(
    "The least common multiple. It is negative only if it overflows, and 0 if a or b "
    "is 0.",
    kind="standalone",
    dtypes=INTS,
    budget=EXACT,
    benchmarks=mebi(integers, integers),
)
def lcm(xp: Any, a: Array, b: Array) -> Array:
    divisor = xp.gcd(a, b)
    divisor = xp.where(divisor == 0, xp.ones_like(divisor), divisor)
    return xp.absolute(a // divisor * b)


@elementwise(
    "All bits inverted; for booleans, the other value.",
    kind="standalone",
    dtypes=BITS,
    budget=EXACT,
    benchmarks=mebi(integers),
)
def bitwise_not(xp: Any, a: Array) -> Array:
    return xp.bitwise_not(a)


def _shifted(make: Make) -> Iterator[Sample]:
    """Sample shifts by less than the width; larger shifts differ between languages."""
    width = 8 * make.dtype.itemsize
    for sample in binary(make):
        a, b = sample.inputs
        counts = np.abs(b.astype(np.int64)) % width
        yield Sample(sample.label, (a, counts.astype(make.dtype)))


INTEGERS = tuple(dtype for dtype in NUMBERS if dtype not in FLOATS)


@elementwise(
    "a * 2 ** b without the bits that overflow; b is below the width.",
    kind="standalone",
    samples=_shifted,
    dtypes=INTEGERS,
    budget=EXACT,
    benchmarks=lambda: [
        Case("1 Mi", join(indices(1 << 30, 1 << 20), indices(31, 1 << 20)))
    ],
)
def bitwise_left_shift(xp: Any, a: Array, b: Array) -> Array:
    return xp.left_shift(a, b)


@elementwise(
    "floor(a / 2 ** b); b is below the width.",
    kind="standalone",
    samples=_shifted,
    dtypes=INTEGERS,
    budget=EXACT,
    benchmarks=lambda: [
        Case("1 Mi", join(indices(1 << 30, 1 << 20), indices(31, 1 << 20)))
    ],
)
def bitwise_right_shift(xp: Any, a: Array, b: Array) -> Array:
    return xp.right_shift(a, b)
