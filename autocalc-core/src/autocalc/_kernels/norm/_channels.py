# SPDX-License-Identifier: MIT
"""Checks, statistics and samples that normalisations of channels share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.precision import wide
from autocalc._kernels.reduction._scaling import deviations, limits, scaled_eps
from autocalc._kernels.rules import expect_shape
from autocalc._kernels.samples import Make, ends
from autocalc._kernels.spec import Array, Meta, Shape
from autocalc.errors import ShapeError


def channel_rows(a: Array) -> Array:
    """Return (N, C, ...) as [C, n], with a row for each channel."""
    w = np.asarray(a, np.float64)
    n = a.shape[0] * math.prod(a.shape[2:])
    return np.moveaxis(w, 1, 0).reshape(a.shape[1], n)


def back(rows: Array, shape: tuple[int, ...]) -> Array:
    turned = rows.reshape(shape[1], shape[0], *shape[2:])
    return np.moveaxis(turned, 0, 1)


EPS = 1e-5


def batches(make: Make) -> Iterator[tuple[str, Array]]:
    some = (4, 3), (7, 33), (2, 3, 5), (1, 1, 1), (2, 2, 2, 3, 2)
    for shape in (*some, (2, 0, 3), (0, 3), (2, 5, 0)):
        yield f"{shape}", make.normal(*shape)
    for n in (3, 5, 8, 9, 17, 33):
        yield f"{n} channels", make.normal(3, n, 2, 2)
        yield f"rows of {n}", make.normal(2, 3, 2, n)
    yield "equal values", np.full((2, 3, 4), 3, make.dtype)
    # In float32, the mean of squares minus the square of the mean would lose all
    # digits.
    yield "far from 0", make.normal(4, 3, 5, 5) + make.scalar(1e4)
    yield "small", make.normal(4, 3, 5, 5, scale=1e-3)
    yield "large", make.normal(9, 12, 14, 14)
    yield "large batch of numbers", make.normal(600, 33)
    yield "large planes", make.normal(2, 3, 65, 64)
    x = make.normal(3, 4, 5)
    x[1, 2, 3] = np.nan
    yield "one nan", x


def far_batches(make: Make) -> Iterator[tuple[str, Array]]:
    """Yield channels far from zero, with equal numbers, and with extreme magnitudes."""
    for shape in ((67, 5), (3, 5, 33)):
        for value in (1e3, 1500.0, 1e5, 1e7):
            yield (
                f"far {shape}, equal values {value:g}",
                np.full(shape, value, make.dtype),
            )
        yield f"far {shape}, mean 1e6", make.normal(*shape) + make.scalar(1e6)
        for scale in ends(make.dtype):
            x = (make.unit(*shape) + make.scalar(0.5)) * make.scalar(scale)
            x[::2] *= -1
            x[..., 1::3] *= -1
            yield f"far {shape}, scale={scale:g}", x


def statistics(make: Make, x: Array) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):  # for no values, and for NaN
        _, mean, var = normalised(np, x, None, None, EPS)
    return np.asarray(mean, make.dtype), np.asarray(var, make.dtype)


def channels(where: str, x: Meta, **operands: Meta | None) -> Shape:
    """Return (C,) if x is (N, C, ...) and each operand has one number per channel."""
    if len(x.shape) < 2:
        raise ShapeError(f"{where}: `x` has shape {x.shape}; it must be (N, C, ...).")
    for name, meta in operands.items():
        expect_shape(where, name, meta, x.shape[1:2])
    return x.shape[1:2]


def over(shape: Shape) -> tuple[int, ...]:
    """Return the axes of (N, C, ...) except that of the channels."""
    return (0, *range(2, len(shape)))


def channel_column(shape: Shape) -> Shape:
    """Return the shape in which one number per channel broadcasts with (N, C, ...)."""
    return (shape[1], *(1,) * (len(shape) - 2))


def count(shape: Shape) -> int:
    return shape[0] * math.prod(shape[2:])


def normalised(
    xp: Any, x: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Return the result, mean and variance in float64, before rounding.

    A channel without values has the mean 0 and the variance 1.  Its gradients, which
    are empty sums, are then 0.
    """
    column, each = channel_column(x.shape), x.shape[1:2]
    out, mean, var, _ = standardised(xp, x, eps)
    out = out if weight is None else out * weight.reshape(column)
    out = out if bias is None else out + bias.reshape(column)
    return out, mean.reshape(each), var.reshape(each)


def standardised(xp: Any, x: Array, eps: float) -> tuple[Array, Array, Array, Array]:
    """Return (x - mean) * rstd, mean, variance and rstd; all keep the axes of x."""
    n = count(x.shape)
    centered, mean, unit = deviations(xp, x, over(x.shape), eps)
    squares = xp.sum(xp.square(centered), axis=over(x.shape), keepdims=True)
    var = squares / n if n else squares + 1
    mean = mean if n else xp.zeros_like(mean)
    rstd = 1 / xp.sqrt(var + scaled_eps(xp, eps, unit))
    return centered * rstd, mean / unit, var / unit / unit, rstd * unit


def by_statistics(
    xp: Any, x: Array, mean: Array, var: Array, eps: float
) -> tuple[Array, Array]:
    """Return (x - mean) * rstd and rstd; use `x` if `var` is out of range."""
    column = channel_column(x.shape)
    square = wide(xp, var) + eps
    rstd = 1 / xp.sqrt(square)
    h = (wide(xp, x) - mean.reshape(column)) * rstd.reshape(column)
    far = limits(var.dtype)[0] ** 2
    lost = ~((square >= 1 / far) & (square <= far))
    if not xp.any(lost):
        return h, rstd
    out, _, _, again = standardised(xp, x, eps)
    again = again.reshape(rstd.shape)
    return xp.where(lost.reshape(column), out, h), xp.where(lost, again, rstd)
