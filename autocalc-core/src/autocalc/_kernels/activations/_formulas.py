# SPDX-License-Identifier: MIT
"""Formulas of activations: references and decompositions that several kernels share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import ulp
from autocalc._kernels.elementwise.arithmetic import absolute_in_primitives
from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.samples import Make, binary
from autocalc._kernels.samples import binary as _binary
from autocalc._kernels.spec import Array, Sample


def gelu_formula(xp: Any, x: Array) -> Array:
    w = wide(xp, x)
    return narrow(0.5 * w * (1 + xp.erf(w / math.sqrt(2))), x)


def gelu_tanh_formula(xp: Any, x: Array) -> Array:
    w = wide(xp, x)
    inner = math.sqrt(2 / math.pi) * (w + 0.044715 * w * w * w)
    return narrow(0.5 * w * (1 + xp.tanh(inner)), x)


def half_of(k: Any, x: Array, erf_term: Array) -> Array:
    """Return x / 2 * (1 + erf_term)."""
    half, one = k.constant(0.5, x), k.constant(1, x)
    return k.mul(k.mul(x, half), k.add(erf_term, one))


def gelu_in_primitives(k: Any, x: Array) -> Array:
    erf_term = k.erf(k.mul(x, k.constant(math.sqrt(0.5), x)))
    return half_of(k, x, erf_term)


def gelu_tanh_in_primitives(k: Any, x: Array) -> Array:
    cube = k.mul(k.mul(x, x), x)
    inner = k.add(x, k.mul(cube, k.constant(0.044715, x)))
    return half_of(k, x, k.tanh(k.mul(inner, k.constant(math.sqrt(2 / math.pi), x))))


def smallest(eps: float) -> float:
    """Return the smallest subnormal of the kernel's dtype."""
    return float(ulp(np.zeros(()), eps))


def sigmoid(x: Array) -> Array:
    return sigmoid_of(np, np.asarray(x, np.float64))


def activation_backward(make: Make, low: float, high: float) -> Iterator[Sample]:
    """Take as `y` what the forward kernel can answer: `low` to `high`, or NaN."""
    special = np.array([low, high, 0.0, -0.0, 0.5, np.nan], make.dtype)
    for sample in _binary(make):
        g, y = sample.inputs
        if sample.label == "special":
            g, y = np.meshgrid(make.special(), special)
        else:
            y = np.asarray(low + (high - low) * make.rng.random(y.shape), make.dtype)
        yield Sample(sample.label, (g, y))


def backward(make: Make) -> Iterator[Sample]:
    """Sample a backward kernel of `g` and the forward's input, without attributes.

    An infinite `g` meets only values at which the derivative is no smaller than the
    smallest subnormal: below that, infinity times it is a matter of the precision.
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


def both_sigmoids(k: Any, a: Array) -> tuple[Array, Array]:
    """Return sigmoid(a) and sigmoid(-a), of one exponential."""
    zero, one = k.constant(0, a), k.constant(1, a)
    decay = k.exp(k.neg(absolute_in_primitives(k, a)))
    large = k.div(one, k.add(one, decay))
    small = k.mul(decay, large)
    negative = k.compare(a, zero, "lt")
    return k.where(negative, small, large), k.where(negative, large, small)
