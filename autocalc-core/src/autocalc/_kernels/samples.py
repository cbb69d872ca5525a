# SPDX-License-Identifier: MIT
"""Sample calls for the conformance tests, and their values.

``samples(make)`` yields `Sample` objects, whose arrays come from a `Make`.  The
conformance kit adds layouts, alignments, aliases and patterns of absent operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

#: Types for all kernel code: arrays of the device (of NumPy on CPUs), shapes and
#: attributes.
Array: TypeAlias = Any
Shape: TypeAlias = tuple[int, ...]
DType: TypeAlias = "np.dtype[Any]"
Attributes: TypeAlias = tuple[Any, ...]

#: Lengths around all vector widths (4, 8, 16, 32, 64 lanes) and unrolled loops.
TAILS = (
    0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24,
    31, 32, 33, 47, 48, 49, 63, 64, 65, 70,
)  # fmt: skip
#: One length below, at and above each width, for kernels for which the full list would
#: take too long.
FEW_TAILS = (1, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 65)

#: A size that is large enough for several threads and not a multiple of vector widths.
#: Samples of this size have labels that begin with "large".
LARGE = 200_003

#: Shapes with no, one and many dimensions, some of which are empty.
SHAPES: tuple[Shape, ...] = (
    (),
    (0, 3),
    (3, 0),
    (1, 1),
    (3, 5),
    (2, 3, 17),
    (1, 2, 1, 3, 1, 2, 1, 5),
)
#: Pairs of shapes that broadcast.
BROADCAST: tuple[tuple[Shape, Shape], ...] = (
    ((), (7,)),
    ((5,), ()),
    ((3, 1), (1, 5)),
    ((4, 17), (17,)),
    ((4, 17), (4, 1)),
    ((2, 1, 5), (3, 1)),
    ((1,), (0, 3)),
    ((6, 1, 4), (6, 2, 1)),
)


class Sample(NamedTuple):
    """One call for the conformance tests.

    `inputs` begins with the in-out operands.  `attributes` does not include
    `accumulate`.  `want` is the mask of the optional outputs that the inputs allow.
    `shape` is the shape of the output if the spec is `free`.
    """

    label: str
    inputs: tuple[Any, ...]
    attributes: Attributes = ()
    want: int = 0
    shape: Shape | None = None


class Make:
    """Makes arrays of one dtype; they are the same in each run.

    Parameters
    ----------
    dtype
        The dtype of the arrays, unless a method names another.
    seed
        The seed of the generator.
    """

    def __init__(self, dtype: DType, seed: int = 0) -> None:
        self.dtype = np.dtype(dtype)
        self.rng = np.random.default_rng(seed)

    @property
    def is_float(self) -> bool:
        """Whether the dtype is a floating-point one."""
        return self.dtype.kind == "f"

    def normal(self, *shape: int, scale: float = 1.0) -> Array:
        """Return standard normal numbers; small integers for integer dtypes."""
        if self.is_float:
            return np.asarray(self.rng.normal(size=shape) * scale, self.dtype)
        low = 0 if self.dtype.kind in "ub" else -9
        high = 2 if self.dtype.kind == "b" else 10
        return np.asarray(self.rng.integers(low, high, shape), self.dtype)

    def positive(self, *shape: int) -> Array:
        """Return positive numbers around 1."""
        return np.asarray(np.exp(self.rng.normal(size=shape)), self.dtype)

    def unit(self, *shape: int) -> Array:
        """Return numbers between 0 and 1."""
        return np.asarray(self.rng.random(shape), self.dtype)

    def any_size(self, n: int) -> Array:
        """Return `n` numbers of all magnitudes, from subnormal to almost infinite."""
        if not self.is_float:
            info: Any = np.iinfo(self.dtype) if self.dtype.kind != "b" else None
            if info is None:
                return self.normal(n)
            return self.rng.integers(
                info.min, info.max, n, dtype=self.dtype, endpoint=True
            )
        limits = np.finfo(self.dtype)
        exponents = self.rng.uniform(
            float(np.log2(limits.smallest_subnormal)), float(limits.maxexp) - 0.1, n
        )
        signs = self.rng.choice([-1.0, 1.0], n)
        return (signs * np.exp2(exponents)).astype(self.dtype)

    def vanishing(self, *shape: int) -> Array:
        """Return numbers from the least subnormal to 2**20 times the least normal."""
        limits = np.finfo(self.dtype)
        ends = np.log2(limits.smallest_subnormal), np.log2(limits.tiny) + 20
        signs = self.rng.choice([-1.0, 1.0], shape)
        exponents = self.rng.uniform(float(ends[0]), float(ends[1]), shape)
        return np.asarray(signs * np.exp2(exponents), self.dtype)

    def falling(self, *shape: int) -> Array:
        """Return rows of numbers from 0 to values whose exp is 0, in random order."""
        end = float(np.log(np.finfo(self.dtype).smallest_subnormal)) - 2
        row = np.linspace(0.0, end, shape[-1], dtype=self.dtype)
        return self.rng.permuted(np.broadcast_to(row, shape), axis=-1)

    def special(self) -> Array:
        """Return zeros, ones, limits, subnormals, infinities and NaN."""
        if self.dtype.kind == "b":
            return np.array([False, True])
        if not self.is_float:
            info = np.iinfo(self.dtype)
            values = {0, 1, 2, 3, info.min, info.max, max(-1, int(info.min))}
            return np.array(sorted(values), self.dtype)
        limits = np.finfo(self.dtype)
        positive = np.array(
            [
                0.0,
                limits.smallest_subnormal,
                limits.tiny / 2,
                limits.tiny,
                limits.eps,
                0.5,
                1.0,
                1.5,
                2.0,
                3.0,
                np.pi,
                100.0,
                limits.max,
                np.inf,
            ],
            self.dtype,
        )
        return np.concatenate([positive, -positive, np.array([np.nan], self.dtype)])

    def scalar(self, value: float) -> Array:
        """Return a 0-d array."""
        return np.array(value, self.dtype)

    def indices(self, shape: Shape, below: int) -> Array:
        """Return int64 indices from 0 to ``below - 1``."""
        return np.asarray(self.rng.integers(0, max(below, 1), shape), np.int64)

    def mask(self, *shape: int) -> Array:
        """Return booleans."""
        return np.asarray(self.rng.random(shape) < 0.5)


def int64(value: int) -> Array:
    """Return a 0-d int64 array."""
    return np.array(value, np.int64)


#: The type of the samples in a declaration: a generator of sample calls.
Samples: TypeAlias = Callable[[Make], Iterable[Sample]]

# ---- elementwise kernels -------------------------------------------------------------


def unary(make: Make) -> Iterator[Sample]:
    """Sample an elementwise kernel of one operand."""
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n, scale=3.0),))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.normal(*shape),))
    yield Sample("special", (make.special(),))
    yield Sample("any size", (make.any_size(2000),))
    for scale in (0.01, 10.0, 90.0):
        yield Sample(f"scale={scale}", (make.normal(1000, scale=scale),))
    yield Sample("large", (make.normal(LARGE),))


def binary(make: Make) -> Iterator[Sample]:
    """Sample an elementwise kernel of two operands."""
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n), make.normal(n)))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.normal(*shape), make.normal(*shape)))
    for left, right in BROADCAST:
        label = f"broadcast {left} with {right}"
        yield Sample(label, (make.normal(*left), make.normal(*right)))
    yield Sample("special", pairs(make.special()))
    yield Sample("any size", (make.any_size(2000), make.any_size(2000)))
    yield Sample("large", (make.normal(LARGE), make.normal(LARGE)))


def pairs(values: Array) -> tuple[Array, Array]:
    """Return all pairs of values, as two arrays."""
    return np.repeat(values, len(values)), np.tile(values, len(values))


# ---- rows whose squares are difficult ------------------------------------------------


def far_rows(make: Make) -> Iterator[tuple[str, Array]]:
    """Yield rows far from zero, with equal numbers, and at the limits of float32."""
    for value in (1e3, 1500.0, 1e5, 1e7):
        yield f"far, equal values {value:g}", np.full((2, 257), value, make.dtype)
    yield "far, mean 1e6", make.normal(3, 129) + make.scalar(1e6)
    for scale in ends(make.dtype):
        x = make.unit(2, 37) + make.scalar(0.5)
        x[:, ::2] *= -1
        yield f"far, scale={scale:g}", (x * make.scalar(scale)).astype(make.dtype)


def ends(dtype: DType) -> tuple[float, ...]:
    """Return magnitudes at the limits of float32, and none for float64.

    A kernel that computes float32 in float64 handles these without scaling.  The limits
    of float64 would require scaling in each kernel package.
    """
    return (1e19, 1e25, 1e37, 2.2e38, 1e-25, 1e-40) if dtype == np.float32 else ()
