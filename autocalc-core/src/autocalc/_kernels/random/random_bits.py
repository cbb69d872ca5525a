# SPDX-License-Identifier: MIT
"""Random numbers: functions of (seed, offset), the same in every kernel set.

Word ``offset + i`` of the Philox stream belongs to element `i` where one word is
enough; where an element needs more, they are adjacent.
"""

from __future__ import annotations

from collections.abc import Iterator

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, counter
from autocalc._kernels.declare import primitive
from autocalc._kernels.random._streams import (
    integers,
    random_bits_reference,
    seeded,
    streams,
)
from autocalc._kernels.rules import INT32, INT64
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make, int64
from autocalc._kernels.spec import DType, Meta, Sample, Shape
from autocalc.errors import ArgumentError, DTypeError

random_bits = primitive(
    "random_bits",
    "out ; seed offset ; bits:int",
    "The upper bits of Philox4x32-10 word offset + i (of two if above 32).",
    free=True,
    dtypes=(INT32, INT64),
)


@random_bits.rule
def _(seed: Meta, offset: Meta, bits: int, *, shape: Shape, dtype: DType) -> Meta:
    seeded("random_bits", seed, offset)
    if not 1 <= bits <= 62:
        message = f"random_bits: `bits` is {bits}; it must be from 1 to 62."
        raise ArgumentError(message)
    needed = integers(bits)
    if dtype != needed:
        message = f"random_bits: {bits} bits go into {needed}, not {dtype}."
        raise DTypeError(message)
    return Meta(shape, dtype)


random_bits.reference(random_bits_reference)


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


random_bits.work(flops_per_element=10)
random_bits.benchmarks(Case("1 Mi", counter, (16,), shape=(1 << 20,)))
