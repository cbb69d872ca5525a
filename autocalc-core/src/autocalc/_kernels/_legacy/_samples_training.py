# SPDX-License-Identifier: MIT
"""Sample calls of matrix products, losses and random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autocalc._kernels.rules import INT32
from autocalc._kernels.samples import FEW_TAILS, LARGE, SHAPES, TAILS, Make, int64
from autocalc._kernels.spec import Array, Sample

_PLAIN = (1.0, 1.0, "none")
_ACTIVATIONS = ("none", "relu", "gelu", "gelu_tanh")

# ---- matrix products -----------------------------------------------------------------

#: (M, K, N): single, odd, around tiles, empty, and long enough to be cut in blocks.
_SIZES = (
    (1, 1, 1),
    (2, 3, 4),
    (5, 7, 3),
    (16, 16, 16),
    (17, 33, 65),
    (48, 1, 64),
    (1, 70, 9),
    (70, 9, 1),
    (1, 300, 1),
    (0, 3, 4),
    (3, 0, 4),
    (3, 4, 0),
    (13, 1100, 47),
)


def gemm(make: Make) -> Iterator[Sample]:
    for m, k, n in _SIZES:
        a, b = make.normal(m, k), make.normal(k, n)
        yield Sample(f"{m}x{k}x{n}", (a, b, None), _PLAIN, want=0b10)
        yield Sample(f"{m}x{k}x{n}, bias", (a, b, make.normal(n)), _PLAIN, want=0b10)
    for n in FEW_TAILS:
        a, b, bias = make.normal(n, 19), make.normal(19, n), make.normal(n)
        yield Sample(f"{n}x19x{n}, relu", (a, b, bias), (1.0, 1.0, "relu"))
        yield Sample(
            f"{n}x{n}x{n}", (make.normal(n, n), make.normal(n, n), None), _PLAIN
        )
    for activation in _ACTIVATIONS:
        for alpha in (1.0, -0.5):
            triple = (make.normal(9, 20), make.normal(20, 37), make.normal(37))
            label = f"alpha {alpha}, {activation}"
            yield Sample(label, triple, (alpha, 0.25, activation), want=0b10)
    yield from _batched(make)
    yield from _special_gemm(make)
    triple = (make.normal(301, 260), make.normal(260, 193), make.normal(193))
    yield Sample("large", triple, (1.0, 1.0, "relu"))


def _batched(make: Make) -> Iterator[Sample]:
    batches = (((3,), (3,)), ((), (4,)), ((4,), ()), ((2, 1), (1, 3)), ((0,), (1,)))
    for left, right in batches:
        a, b = make.normal(*left, 5, 7), make.normal(*right, 7, 18)
        yield Sample(f"batch {left} by {right}", (a, b, None), _PLAIN)
        yield Sample(f"batch {left} by {right}, bias", (a, b, make.normal(18)), _PLAIN)


def _special_gemm(make: Make) -> Iterator[Sample]:
    for value in (np.inf, np.nan):
        a, b = make.normal(6, 10), make.normal(10, 19)
        a[2, 3] = value
        yield Sample(f"one {value}", (a, b, None), _PLAIN)
        yield Sample(f"one {value}, relu", (a, b, make.normal(19)), (1.0, 1.0, "relu"))
    a, b = make.normal(6, 10), make.normal(10, 19)
    yield Sample("alpha 0", (a, b, make.normal(19)), (0.0, 1.0, "none"))


def linear(make: Make) -> Iterator[Sample]:
    for m, k, n in _SIZES:
        x, weight = make.normal(m, k), make.normal(n, k)
        yield Sample(f"{m}x{k}x{n}", (x, weight, None), ("none",), want=0b10)
        yield Sample(
            f"{m}x{k}x{n}, bias", (x, weight, make.normal(n)), ("none",), want=0b10
        )
    for activation in _ACTIVATIONS:
        triple = (make.normal(9, 20), make.normal(37, 20), make.normal(37))
        yield Sample(activation, triple, (activation,), want=0b10)
    for shape in ((), (2, 3), (2, 1, 3), (0, 2)):
        triple = (make.normal(*shape, 20), make.normal(33, 20), make.normal(33))
        yield Sample(f"leading {shape}", triple, ("relu",), want=0b10)
    triple = (make.normal(301, 260), make.normal(193, 260), make.normal(193))
    yield Sample("large", triple, ("relu",))


def linear_backward(make: Make) -> Iterator[Sample]:
    for m, k, n in _SIZES:
        g, x, weight = make.normal(m, n), make.normal(m, k), make.normal(n, k)
        yield Sample(f"{m}x{k}x{n}", (g, x, weight), want=0b111)
    g, x, weight = make.normal(9, 20), make.normal(9, 33), make.normal(20, 33)
    yield Sample("no x", (g, None, weight), want=0b101)
    yield Sample("no weight", (g, x, None), want=0b110)
    yield Sample("neither", (g, None, None), want=0b100)
    for shape in ((), (2, 3), (2, 1, 3), (0, 2)):
        g, x = make.normal(*shape, 20), make.normal(*shape, 33)
        yield Sample(f"leading {shape}", (g, x, make.normal(20, 33)), want=0b111)
    g, x, weight = make.normal(301, 193), make.normal(301, 260), make.normal(193, 260)
    yield Sample("large", (g, x, weight), want=0b111)


# ---- loss ----------------------------------------------------------------------------


def cross_entropy(make: Make) -> Iterator[Sample]:
    for classes in TAILS[1:]:
        yield _loss(make, f"{classes} classes", 5, classes)
    for rows in (0, 1, 17, 64):
        yield _loss(make, f"{rows} rows", rows, 10)
    for reduction in ("none", "mean", "sum"):
        for weighted in (False, True):
            for smoothing in (0.0, 0.1):
                label = f"{reduction}, weighted {weighted}, smoothing {smoothing}"
                yield _loss(
                    make, label, 9, 21, weighted, (reduction, 3, smoothing), ignored=2
                )
    yield _loss(make, "large", 1500, 201, True)
    yield _loss(make, "all ignored, mean", 3, 5, ignored=3)
    yield _loss(make, "all ignored, none", 3, 5, options=("none", -100, 0.0), ignored=3)
    yield _loss(make, "far apart", 7, 33, scale=300.0)
    for value in (-np.inf, np.inf, np.nan):
        sample = _loss(make, f"one {value}", 4, 9, options=("none", -100, 0.0))
        logits, target, weight = sample.inputs
        target[1] = 0
        logits[1, 4] = value
        yield sample._replace(inputs=(logits, target, weight))


def _loss(
    make: Make,
    label: str,
    rows: int,
    classes: int,
    weighted: bool = False,
    options: tuple[str, int, float] = ("mean", -100, 0.0),
    *,
    ignored: int = 0,
    scale: float = 3.0,
) -> Sample:
    target = make.indices((rows,), classes)
    target[rows - ignored :] = options[1]
    weight = make.positive(classes) if weighted else None
    inputs = (make.normal(rows, classes, scale=scale), target, weight)
    return Sample(label, inputs, options, want=0b10)


# ---- random numbers ------------------------------------------------------------------

#: Seeds and offsets: within a block, across blocks, beyond 32 bits.
_STREAMS = (
    (0, 0),
    (1, 1),
    (7, 3),
    (2**40 + 7, 5),
    (-1, 2**32 - 3),
    (3, 4 * (2**32) - 2),
    (12345, 2**40 + 1),
)


def _streams() -> Iterator[tuple[str, tuple[Array, Array]]]:
    for seed, offset in _STREAMS:
        yield f"seed {seed}, offset {offset}", (int64(seed), int64(offset))


def random_bits(make: Make) -> Iterator[Sample]:
    counts = (1, 8, 24, 31) if make.dtype == INT32 else (32, 33, 53, 62)
    for bits in counts:
        for label, stream in _streams():
            yield Sample(f"{bits} bits, {label}", stream, (bits,), shape=(37,))
    for n in TAILS:
        yield Sample(f"n={n}", (int64(5), int64(2)), (counts[1],), shape=(n,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (int64(5), int64(2)), (counts[1],), shape=shape)
    yield Sample("large", (int64(5), int64(2)), (counts[1],), shape=(LARGE,))


def uniform(make: Make) -> Iterator[Sample]:
    yield from _distribution(((0.0, 1.0), (-2.0, 3.0), (5.0, 5.0)))


def normal(make: Make) -> Iterator[Sample]:
    yield from _distribution(((0.0, 1.0), (-2.0, 3.0), (5.0, 0.0)))


def _distribution(parameters: tuple[tuple[float, float], ...]) -> Iterator[Sample]:
    for pair in parameters:
        for label, stream in _streams():
            yield Sample(f"{pair}, {label}", stream, pair, shape=(37,))
    for n in TAILS:
        yield Sample(f"n={n}", (int64(5), int64(2)), parameters[0], shape=(n,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (int64(5), int64(2)), parameters[0], shape=shape)
    yield Sample("large", (int64(5), int64(2)), parameters[0], shape=(LARGE,))


def dropout(make: Make) -> Iterator[Sample]:
    for p in (0.0, 0.1, 0.5, 1.0):
        for label, stream in _streams():
            yield Sample(f"p={p}, {label}", (make.normal(37), *stream), (p,))
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n), int64(5), int64(2)), (0.3,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (make.normal(*shape), int64(5), int64(2)), (0.3,))
    yield Sample("large", (make.normal(LARGE), int64(5), int64(2)), (0.3,))


def dropout_backward(make: Make) -> Iterator[Sample]:
    for p in (0.0, 0.1, 1.0):
        for n in TAILS:
            yield Sample(f"p={p}, n={n}", (make.normal(n), make.mask(n)), (p,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (make.normal(*shape), make.mask(*shape)), (0.5,))
    yield Sample("large", (make.normal(LARGE), make.mask(LARGE)), (0.5,))
