# SPDX-License-Identifier: MIT
"""Seeds, offsets and numbers of bits, which random kernels share."""

from __future__ import annotations

from collections.abc import Iterator

from autocalc._kernels.rules import INT32, INT64, expect_shape, one_of
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, int64
from autocalc._kernels.spec import Array, DType, Meta, Sample

#: Seeds and offsets: within a block, across blocks, beyond 32 bits.
STREAMS = (
    (0, 0),
    (1, 1),
    (7, 3),
    (2**40 + 7, 5),
    (-1, 2**32 - 3),
    (3, 4 * (2**32) - 2),
    (12345, 2**40 + 1),
)


def streams() -> Iterator[tuple[str, tuple[Array, Array]]]:
    for seed, offset in STREAMS:
        yield f"seed {seed}, offset {offset}", (int64(seed), int64(offset))


def distribution(parameters: tuple[tuple[float, float], ...]) -> Iterator[Sample]:
    for pair in parameters:
        for label, stream in streams():
            yield Sample(f"{pair}, {label}", stream, pair, shape=(37,))
    for n in TAILS:
        yield Sample(f"n={n}", (int64(5), int64(2)), parameters[0], shape=(n,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (int64(5), int64(2)), parameters[0], shape=shape)
    yield Sample("large", (int64(5), int64(2)), parameters[0], shape=(LARGE,))


#: The bits of a uniform number, which fill the significand.
BITS = {4: 24, 8: 53}


#: Dropout draws 24 bits for each dtype, so the mask does not depend on the dtype.
DROPOUT_BITS = 24


def seeded(name: str, seed: Meta, offset: Meta) -> None:
    for word, meta in (("seed", seed), ("offset", offset)):
        expect_shape(name, word, meta, ())
        one_of(name, word, meta, (INT64,))


def integers(bits: int) -> DType:
    """Return the unsigned integer dtype that holds `bits`."""
    return INT32 if bits <= 31 else INT64


def keep_scale(p: float) -> float:
    """Return the factor of kept elements; for p = 1, no elements are kept."""
    return 1 / (1 - p) if p < 1 else 0.0
