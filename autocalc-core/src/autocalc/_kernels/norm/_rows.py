# SPDX-License-Identifier: MIT
"""Checks, means, budgets and samples that normalisations of rows share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.budgets import log2, magnitude, ulp
from autocalc._kernels.precision import wide
from autocalc._kernels.reduction._scaling import deviations, scaled
from autocalc._kernels.samples import TAILS, Make
from autocalc._kernels.spec import Array, Meta
from autocalc.errors import ShapeError

#: In half precision, statistics and parameters may have a wider dtype.
OF_HALVES = {
    **dict.fromkeys(("mean", "var", "rstd"), "float32"),
    **dict.fromkeys(("dweight", "dbias"), "weight"),
}


def expect_a_last_axis(where: str, x: Meta) -> None:
    """Raise unless there is a last axis to normalise over."""
    if not x.shape:
        message = (
            f"{where}: `x` has no dimensions, but it is normalised over the last one."
        )
        raise ShapeError(message)


# ---- formulas ------------------------------------------------------------------------


def row_mean(xp: Any, a: Array) -> Array:
    """Return the mean over the last axis, which is kept with size 1."""
    return xp.sum(a, axis=-1, keepdims=True) / a.shape[-1]


def sum_over_rows(xp: Any, a: Array) -> Array:
    """Return the sum over all axes except the last."""
    return xp.sum(a, axis=tuple(range(a.ndim - 1)))


def by_statistics(
    xp: Any, x: Array, mean: Array | None, rstd: Array
) -> tuple[Array, Array]:
    """Return (x - mean) * rstd and rstd; compute them from `x` if rstd is infinite."""
    scale = wide(xp, rstd)
    w = wide(xp, x)
    h = (w if mean is None else w - mean) * scale
    lost = scale == math.inf
    if not xp.any(lost):
        return h, scale
    if mean is None:
        rest, unit = scaled(xp, x, -1)
    else:
        rest, _, unit = deviations(xp, x, -1)
    again = 1 / xp.sqrt(row_mean(xp, xp.square(rest)))
    return xp.where(lost, rest * again, h), xp.where(lost, again * unit, scale)


# ---- budgets -------------------------------------------------------------------------


def in_float64(inputs: Sequence[Any]) -> list[Any]:
    """Return the operands in float64."""
    return [None if a is None else np.asarray(a, np.float64) for a in inputs]


def off_center(
    centered: Array, lost: Array, scale: Array, steps: float
) -> tuple[Array, Array]:
    """Return the error of the mean, and the relative error of the variance.

    The first mean has the error `lost`.  The mean of the deviations from it corrects
    this error, apart from the roundings of each step.
    """
    n = max(centered.shape[-1], 1)
    shift = steps * (np.sum(centered, axis=-1, keepdims=True) / n + lost)
    return shift, steps * np.fmin(1 + np.square(lost * scale), 1e100)


def sum_over_rows_tolerance(g: Array, eps: float, extra: float) -> Array:
    """Return 2 * eps * (log2(rows) + extra) * sum(|g|) over the rows."""
    rows = magnitude(g).reshape(-1, g.shape[-1])
    return 2 * eps * (log2(rows.shape[0]) + extra) * rows.sum(axis=0)


def dx_tolerance(
    gw: Array, h: Array, rstd: Array, expected: Array, centered: bool, eps: float
) -> Array:
    """Return eps * rstd * (4 |gw| + (log2(n) + 6) * the subtracted means)."""
    steps = log2(gw.shape[-1]) + 6
    taken = magnitude(h) * np.mean(magnitude(gw * h), axis=-1, keepdims=True)
    if centered:
        taken = taken + np.mean(magnitude(gw), axis=-1, keepdims=True)
    size = 4 * magnitude(gw) + steps * taken
    return eps * magnitude(rstd) * size + ulp(expected, eps)


# ---- samples -------------------------------------------------------------------------


def hard_rows(make: Make) -> Iterator[tuple[str, Array]]:
    """Yield difficult rows for a normalisation, and a large number of rows."""
    yield "equal values", np.full((2, 9), 3, make.dtype)
    # In float32, the mean of squares minus the square of the mean would lose all
    # digits.
    yield "far from 0", make.normal(4, 65) + make.scalar(1e4)
    yield "small", make.normal(4, 33, scale=1e-3)
    yield "long", make.normal(2, 5003)
    yield "large", make.normal(700, 401)
    yield "large, short rows", make.normal(20_003, 7)
    for value in (np.inf, np.nan):
        x = make.normal(3, 21)
        x[1, 4] = value
        yield f"one {value}", x


def backward_rows(make: Make) -> Iterator[tuple[str, Array, Array | None]]:
    """Yield (label, x, weight) for the backward kernels."""
    for n in TAILS[1:]:
        yield f"rows of {n}", make.normal(3, n), make.normal(n)
    for rows in TAILS:
        yield f"{rows} rows", make.normal(rows, 5), make.normal(5)
    for shape in ((7,), (2, 3, 17), (2, 1, 2, 5), (2, 0, 3)):
        yield f"{shape}, no weight", make.normal(*shape), None
    for label, x in hard_rows(make):
        yield label, x, make.normal(x.shape[-1])
