# SPDX-License-Identifier: MIT
"""Formulas and samples that several activation kernels share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.samples import Make, binary
from autocalc._kernels.samples import binary as _binary
from autocalc._kernels.spec import Array, Sample


def gelu_formula(xp: Any, x: Array) -> Array:
    w = wide(xp, x)
    return narrow(0.5 * w * (1 + xp.erf(w * math.sqrt(0.5))), x)


def gelu_tanh_formula(xp: Any, x: Array) -> Array:
    w = wide(xp, x)
    inner = math.sqrt(2 / math.pi) * (w + 0.044715 * w * w * w)
    return narrow(0.5 * w * (1 + xp.tanh(inner)), x)


def sigmoid(x: Array) -> Array:
    return sigmoid_of(np, np.asarray(x, np.float64))


def activation_backward(make: Make, low: float, high: float) -> Iterator[Sample]:
    """Sample a backward kernel whose `y` is from `low` to `high`, or NaN."""
    special = np.array([low, high, 0.0, -0.0, 0.5, np.nan], make.dtype)
    for sample in _binary(make):
        g, y = sample.inputs
        if sample.label == "special":
            g, y = np.meshgrid(make.special(), special)
        else:
            y = np.asarray(low + (high - low) * make.rng.random(y.shape), make.dtype)
        yield Sample(sample.label, (g, y))


def backward(make: Make) -> Iterator[Sample]:
    """Sample a backward kernel of `g` and the forward input, without attributes.

    An infinite `g` occurs only where the derivative is at least the smallest normal
    number.  For smaller derivatives, the product with infinity depends on the
    precision.
    """
    for sample in binary(make):
        if sample.label == "special":
            near = np.array([0, -0.0, 0.5, -1, 2, -3, 3, np.nan], make.dtype)
            g, a = np.meshgrid(make.special(), near)
            yield Sample("special g", (g, a))
            g, a = np.meshgrid(make.normal(5), make.special())
            yield Sample("special a", (g, a))
        else:
            yield sample
    for scale in (0.01, 10.0, 90.0):
        pair = (make.normal(1000), make.normal(1000, scale=scale))
        yield Sample(f"scale={scale}", pair)


def both_sigmoids(xp: Any, a: Array) -> tuple[Array, Array]:
    """Return sigmoid(a) and sigmoid(-a), computed from one exponential."""
    if a.dtype.kind == "c":
        return 1 / (1 + xp.exp(-a)), 1 / (1 + xp.exp(a))
    decay = xp.exp(-xp.absolute(a))
    large = 1 / (1 + decay)
    small = decay * large
    negative = a < 0
    return xp.where(negative, small, large), xp.where(negative, large, small)
