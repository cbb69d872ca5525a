# SPDX-License-Identifier: MIT
"""Error budgets of normalisations over the last axis, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy._budgets import Inputs, budget, log2, magnitude, ulp
from autocalc._kernels.spec import Array, Attributes


@budget("eps * (log2(n) + 6) * |out|")
def rms_norm(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    steps = log2(inputs[0].shape[-1]) + 6
    return [
        None if e is None else eps * (steps * magnitude(e)) + ulp(e, eps)
        for e in expected
    ]


@budget(
    "eps * (log2(n) + 6) * |weight| * rstd * (|x - mean| + mean(|x|)), 2 eps * |bias|"
)
def layer_norm(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias = inputs
    out, mean, rstd = expected
    steps = eps * (log2(x.shape[-1]) + 6)
    # What the mean is off by moves the whole row, and its square adds to the variance.
    shift = steps * np.mean(magnitude(x), axis=-1)
    relative = steps + np.square(shift * magnitude(rstd))
    rows = magnitude(rstd)[..., None]
    off = rows * (relative[..., None] * magnitude(x - mean[..., None])
                  + shift[..., None])  # fmt: skip
    off = off if weight is None else off * magnitude(weight)
    off = off if bias is None else off + 2 * eps * magnitude(bias)
    rstd_off = relative * magnitude(rstd) + ulp(rstd, eps)
    return [off + ulp(out, eps), shift + ulp(mean, eps), rstd_off]


def _in_float64(inputs: Inputs) -> list[Any]:
    return [None if a is None else np.asarray(a, np.float64) for a in inputs]


def _columns(g: Array, eps: float, extra: float) -> Array:
    """Return 2 * eps * (log2(rows) + extra) * sum(|g|) over the rows."""
    rows = magnitude(g).reshape(-1, g.shape[-1])
    return 2 * eps * (log2(rows.shape[0]) + extra) * rows.sum(axis=0)


def _dx(
    gw: Array, h: Array, scale: Array, expected: Array, centered: bool, eps: float
) -> Array:
    """Return eps * rstd * (4 |gw| + (log2(n) + 6) * the means taken out of it)."""
    steps = log2(gw.shape[-1]) + 6
    taken = magnitude(h) * np.mean(magnitude(gw * h), axis=-1, keepdims=True)
    if centered:
        taken = taken + np.mean(magnitude(gw), axis=-1, keepdims=True)
    size = 4 * magnitude(gw) + steps * taken
    return eps * magnitude(scale) * size + ulp(expected, eps)


@budget("eps * (log2(n) + 6) * the sum of the terms' sizes, in each output")
def layer_norm_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, mean, rstd, weight = _in_float64(inputs)
    scale = rstd[..., None]
    h = (x - mean[..., None]) * scale
    gw = g if weight is None else g * weight
    dx = _dx(gw, h, scale, expected[0], True, eps)
    return [dx, _columns(g * h, eps, 2), _columns(g, eps, 0)]


@budget("eps * (log2(n) + 6) * the sum of the terms' sizes, in each output")
def rms_norm_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, scale, weight = _in_float64(inputs)
    h = x * scale
    gw = g if weight is None else g * weight
    dx = _dx(gw, h, scale, expected[0], False, eps)
    return [dx, _columns(g * h, eps, 2)]
