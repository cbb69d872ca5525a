# SPDX-License-Identifier: MIT
"""Random numbers as functions of (seed, offset), equal in all kernel sets.

If an element needs one word, element `i` uses word ``offset + i`` of the Philox stream.
If an element needs several words, they are adjacent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, counter
from autocalc._kernels.declare import primitive
from autocalc._kernels.precision import wide
from autocalc._kernels.random._streams import (
    BITS,
    DROPOUT_BITS,
    integers,
    seeded,
    streams,
)
from autocalc._kernels.rules import INT32, INT64
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make, int64
from autocalc._kernels.spec import Array, DType, Meta, Sample, Shape
from autocalc.errors import ArgumentError, DTypeError

random_bits = primitive(
    "random_bits",
    "out ; seed offset ; bits:int",
    "The upper bits of word offset + i of Philox4x32-10 (of two words above 32 bits).",
    free=True,
    dtypes=(INT32, INT64),
)


@random_bits.rule
def _(seed: Meta, offset: Meta, bits: int, *, shape: Shape, dtype: DType) -> Meta:
    seeded("random_bits", seed, offset)
    if not 1 <= bits <= 62:
        raise ArgumentError(f"random_bits: `bits` is {bits}; it must be from 1 to 62.")
    needed = integers(bits)
    if dtype != needed:
        raise DTypeError(
            f"random_bits: numbers of {bits} bits need the dtype {needed}, not {dtype}."
        )
    return Meta(shape, dtype)


@random_bits.reference
def _(
    xp: Any, seed: Array, offset: Array, bits: int, *, shape: Shape, dtype: DType
) -> Array:
    n, start = math.prod(shape), int(offset)
    if bits <= 32:
        words = xp.random_words(int(seed), start, n) >> xp.uint64(32 - bits)
    else:
        pairs = xp.random_words(int(seed), start, 2 * n).reshape(n, 2)
        words = pairs[:, 0] << xp.uint64(32) | pairs[:, 1]
        words = words >> xp.uint64(64 - bits)
    return words.astype(dtype).reshape(shape)


random_bits.budget(EXACT)


@random_bits.samples
def _(make: Make) -> Iterator[Sample]:
    counts = (1, 8, 24, 31) if make.dtype == INT32 else (32, 33, 53, 62)
    for bits in counts:
        for label, stream in streams():
            yield Sample(f"{bits} bits, {label}", stream, (bits,), shape=(37,))
    for n in TAILS:
        yield Sample(f"n={n}", (int64(5), int64(2)), (counts[1],), shape=(n,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (int64(5), int64(2)), (counts[1],), shape=shape)
    yield Sample("large", (int64(5), int64(2)), (counts[1],), shape=(LARGE,))


def unit(xp: Any, seed: Array, offset: Array, shape: Shape, dtype: DType) -> Array:
    """Return uniform numbers in [0, 1) in float64, as multiples of 2**-24 or 2**-53."""
    bits = BITS[min(dtype.itemsize, 8)]
    words = random_bits(xp, seed, offset, bits, shape=shape, dtype=integers(bits))
    return wide(xp, words.astype(dtype)) * 2.0**-bits  # exact in this dtype


def dropout_mask(xp: Any, seed: Array, offset: Array, shape: Shape, p: float) -> Array:
    """Return which elements are kept."""
    bits = random_bits(xp, seed, offset, DROPOUT_BITS, shape=shape, dtype=INT32)
    return bits >= math.ceil(p * 2.0**DROPOUT_BITS)


random_bits.work(flops_per_element=10)
random_bits.benchmarks(Case("1 Mi", counter, (16,), shape=(1 << 20,)))
