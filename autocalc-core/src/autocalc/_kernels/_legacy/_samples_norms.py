# SPDX-License-Identifier: MIT
"""Sample calls of normalisations over the last axis, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autocalc._kernels.samples import TAILS, Make
from autocalc._kernels.spec import Array, Sample


def rms_norm(make: Make) -> Iterator[Sample]:
    eps = 1e-6
    for n in TAILS[1:]:
        x, weight = make.normal(3, n), make.normal(n)
        yield Sample(f"rows of {n}", (x, weight), (eps,), want=0b10)
        yield Sample(f"rows of {n}, no weight", (x, None), (eps,), want=0b10)
    for shape in ((7,), (0, 3), (2, 3, 17), (2, 1, 2, 5)):
        yield Sample(f"{shape}", (make.normal(*shape), None), (eps,), want=0b10)
    yield Sample("zeros", (np.zeros((2, 9), make.dtype), None), (eps,), want=0b10)
    x, weight = make.normal(700, 401), make.normal(401)
    yield Sample("large", (x, weight), (eps,), want=0b10)
    for value in (np.inf, np.nan):
        x = make.normal(3, 21)
        x[1, 4] = value
        yield Sample(f"one {value}", (x, make.normal(21)), (eps,), want=0b10)


def layer_norm(make: Make) -> Iterator[Sample]:
    eps = 1e-5
    for n in TAILS[1:]:
        x, weight, bias = make.normal(3, n), make.normal(n), make.normal(n)
        yield Sample(f"rows of {n}", (x, weight, bias), (eps,), want=0b110)
    for given in ((True, False), (False, True), (False, False)):
        weight, bias = (make.normal(21) if one else None for one in given)
        label = f"weight {given[0]}, bias {given[1]}"
        yield Sample(label, (make.normal(5, 21), weight, bias), (eps,), want=0b110)
    for shape in ((7,), (0, 3), (2, 3, 17), (2, 1, 2, 5)):
        yield Sample(f"{shape}", (make.normal(*shape), None, None), (eps,), want=0b110)
    for label, x in _rows(make):
        triple = (x, make.normal(x.shape[-1]), make.normal(x.shape[-1]))
        yield Sample(label, triple, (eps,), want=0b110)


def _rows(make: Make) -> Iterator[tuple[str, Array]]:
    """Yield rows on which a normalisation may go wrong, and many of them."""
    yield "equal values", np.full((2, 9), 3, make.dtype)
    # The mean of squares less the square of the mean would leave nothing in float32.
    yield "far from 0", make.normal(4, 65) + make.scalar(1e4)
    yield "small", make.normal(4, 33, scale=1e-3)
    yield "long", make.normal(2, 5003)
    yield "large", make.normal(700, 401)
    yield "large, short rows", make.normal(20_003, 7)
    for value in (np.inf, np.nan):
        x = make.normal(3, 21)
        x[1, 4] = value
        yield f"one {value}", x


def layer_norm_backward(make: Make) -> Iterator[Sample]:
    for label, x, weight in _backward_rows(make):
        with np.errstate(all="ignore"):
            w = x.astype(np.float64)
            mean, var = w.mean(axis=-1), w.var(axis=-1)
            rstd = 1 / np.sqrt(var + 1e-5)
        rows = (np.asarray(a, make.dtype) for a in (mean, rstd))
        yield Sample(label, (make.normal(*x.shape), x, *rows, weight), want=0b111)


def rms_norm_backward(make: Make) -> Iterator[Sample]:
    for label, x, weight in _backward_rows(make):
        with np.errstate(all="ignore"):
            square = np.square(x.astype(np.float64)).mean(axis=-1, keepdims=True)
            rstd = np.asarray(1 / np.sqrt(square + 1e-6), make.dtype)
        yield Sample(label, (make.normal(*x.shape), x, rstd, weight), want=0b11)


def _backward_rows(make: Make) -> Iterator[tuple[str, Array, Array | None]]:
    for n in TAILS[1:]:
        yield f"rows of {n}", make.normal(3, n), make.normal(n)
    for rows in TAILS:
        yield f"{rows} rows", make.normal(rows, 5), make.normal(5)
    for shape in ((7,), (2, 3, 17), (2, 1, 2, 5), (2, 0, 3)):
        yield f"{shape}, no weight", make.normal(*shape), None
    for label, x in _rows(make):
        yield label, x, make.normal(x.shape[-1])
