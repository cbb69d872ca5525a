# SPDX-License-Identifier: MIT
"""Error budgets of batch normalisation: those of `layer_norm`, by channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy._budgets import Inputs, budget, log2, magnitude, ulp
from autocalc._kernels.spec import Array, Attributes


def _rows(a: Array) -> Array:
    """Return (N, C, ...) as [C, n], a row for each channel."""
    wide = np.asarray(a, np.float64)
    n = a.shape[0] * math.prod(a.shape[2:])
    return np.moveaxis(wide, 1, 0).reshape(a.shape[1], n)


def _back(rows: Array, shape: tuple[int, ...]) -> Array:
    turned = rows.reshape(shape[1], shape[0], *shape[2:])
    return np.moveaxis(turned, 0, 1)


@budget(
    "eps * (log2(n) + 6) * |weight| * rstd * (|x - mean| + mean(|x|)), 2 eps * |bias|; "
    "mean and var as their kernels"
)
def batch_norm(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias = inputs
    out, mean, var = (np.asarray(e, np.float64) for e in expected)
    rows = _rows(x)
    steps = eps * (log2(rows.shape[1]) + 6)
    shift = steps * np.mean(magnitude(rows), axis=1)
    rstd = magnitude(1 / np.sqrt(var + attributes[0]))
    # What the mean is off by moves the whole channel, and its square adds to var.
    relative = steps + np.square(shift * rstd)
    off = rstd[:, None] * (
        relative[:, None] * magnitude(rows - mean[:, None]) + shift[:, None]
    )
    off = off if weight is None else off * magnitude(weight)[:, None]
    off = off if bias is None else off + 2 * eps * magnitude(bias)[:, None]
    return [
        _back(off, x.shape) + ulp(out, eps),
        shift + ulp(mean, eps),
        2 * steps * magnitude(var) + shift**2 + ulp(var, eps),
    ]


@budget("eps * (log2(n) + 8) * the sum of the terms' sizes, in each output")
def batch_norm_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, mean, var, weight = inputs
    mean, var = (np.asarray(a, np.float64)[:, None] for a in (mean, var))
    rstd = 1 / np.sqrt(var + attributes[0])
    rows, h = magnitude(_rows(g)), magnitude((_rows(x) - mean) * rstd)
    n = rows.shape[1]
    steps = eps * (log2(n) + 8)
    taken = rows.mean(axis=1, keepdims=True)
    taken = taken + h * (rows * h).mean(axis=1, keepdims=True)
    off = magnitude(rstd) * (8 * eps * rows + steps * taken)
    off = off if weight is None else off * magnitude(weight)[:, None]
    dx = None if expected[0] is None else _back(off, x.shape) + ulp(expected[0], eps)
    sums = ((rows * h).sum(axis=1), rows.sum(axis=1))
    return [dx, *(2 * steps * a for a in sums)]


@budget("that of batch_norm, and 2 eps * |other|; mean and var as there")
def batch_norm_relu(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias, other = inputs
    off, *statistics = batch_norm.tolerance(
        (x, weight, bias), attributes, expected, eps
    )
    off = off if other is None else off + 2 * eps * magnitude(other)
    return [off, *statistics]


@budget("that of batch_norm_backward from g where out > 0; dother is exact")
def batch_norm_relu_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, out, *statistics = inputs
    passed = np.where(out <= 0, np.zeros((), g.dtype), g)
    operands = (passed, x, *statistics)
    grads = batch_norm_backward.tolerance(operands, attributes, expected[:3], eps)
    return [*grads, None if expected[3] is None else np.zeros(g.shape)]
