# SPDX-License-Identifier: MIT
"""Sample calls of batch normalisation, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample

_EPS = 1e-5


def _batches(make: Make) -> Iterator[tuple[str, Array]]:
    for shape in ((4, 3), (7, 33), (2, 3, 5), (1, 1, 1), (2, 0, 3), (2, 2, 2, 3, 2)):
        yield f"{shape}", make.normal(*shape)
    for n in (3, 5, 8, 9, 17, 33):
        yield f"{n} channels", make.normal(3, n, 2, 2)
        yield f"rows of {n}", make.normal(2, 3, 2, n)
    yield "equal values", np.full((2, 3, 4), 3, make.dtype)
    # The mean of squares less the square of the mean would leave nothing in float32.
    yield "far from 0", make.normal(4, 3, 5, 5) + make.scalar(1e4)
    yield "small", make.normal(4, 3, 5, 5, scale=1e-3)
    yield "large", make.normal(9, 12, 14, 14)
    yield "large batch of numbers", make.normal(600, 33)
    yield "large planes", make.normal(2, 3, 65, 64)
    x = make.normal(3, 4, 5)
    x[1, 2, 3] = np.nan
    yield "one nan", x


def batch_norm(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(_batches(make)):
        weight = make.normal(x.shape[1]) if i % 4 < 3 else None
        bias = make.normal(x.shape[1]) if i % 4 < 2 else None
        yield Sample(label, (x, weight, bias), (_EPS,))


def batch_norm_relu(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(_batches(make)):
        weight = make.normal(x.shape[1]) if i % 4 < 3 else None
        bias = make.normal(x.shape[1]) if i % 4 < 2 else None
        other = make.normal(*x.shape) if i % 2 else None
        yield Sample(label, (x, weight, bias, other), (_EPS,))


def _statistics(make: Make, x: Array) -> tuple[Array, Array]:
    axes, wide = (0, *range(2, x.ndim)), x.astype(np.float64)
    mean, var = (np.asarray(a, make.dtype) for a in (wide.mean(axes), wide.var(axes)))
    return mean, var


def batch_norm_backward(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(_batches(make)):
        weight = make.normal(x.shape[1]) if i % 3 else None
        inputs = (make.normal(*x.shape), x, *_statistics(make, x), weight)
        yield Sample(label, inputs, (_EPS,), want=0b111)


def batch_norm_relu_backward(make: Make) -> Iterator[Sample]:
    for i, (label, x) in enumerate(_batches(make)):
        weight = make.normal(x.shape[1]) if i % 3 else None
        out = np.maximum(make.normal(*x.shape), np.zeros((), make.dtype))
        inputs = (make.normal(*x.shape), x, out, *_statistics(make, x), weight)
        yield Sample(label, inputs, (_EPS,), want=0b1111)
