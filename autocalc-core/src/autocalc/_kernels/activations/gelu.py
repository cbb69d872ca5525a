# SPDX-License-Identifier: MIT
"""GELU and its backward kernel.

The backward kernels take the forward input `a`.  Each sigmoid here is computed from
``decay = exp(-|a|)``, which cannot overflow and keeps the relative precision of both
tails. sigmoid(a) is 1 / (1 + decay) for a >= 0 and decay / (1 + decay) for a < 0;
sigmoid(-a) is the other one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autocalc._kernels.activations._formulas import (
    backward,
    both_sigmoids,
    gelu_formula,
    gelu_tanh_formula,
)
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import floats, mebi, sized
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.samples import Make, unary
from autocalc._kernels.spec import Array, Attributes, Sample

_APPROXIMATE = ("none", "tanh")


def gelu_samples(make: Make) -> Iterator[Sample]:
    for approximate in _APPROXIMATE:
        for sample in unary(make):
            label = f"{sample.label}, {approximate}"
            yield Sample(label, sample.inputs, (approximate,))


@elementwise(
    "a / 2 * (1 + erf(a / sqrt(2))); tanh: a / 2 * (1 + tanh(sqrt(2 / pi) * "
    "(a + 0.044715 a**3))).",
    "a ; approximate:none,tanh",
    lead="mul",
    budget=None,
    flops=25,
    samples=gelu_samples,
    defaults=("none",),
    benchmarks=lambda: [*sized(floats, "none"), *sized(floats, "tanh")],
)
def gelu(xp: Any, a: Array, approximate: str) -> Array:
    return gelu_formula(xp, a) if approximate == "none" else gelu_tanh_formula(xp, a)


@gelu.budget("2 eps * |a| + 1 ULP")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [2 * eps * magnitude(inputs[0]) + ulp(expected[0], eps)]


def gelu_backward_samples(make: Make) -> Iterator[Sample]:
    for approximate in _APPROXIMATE:
        for sample in backward(make):
            label = f"{sample.label}, {approximate}"
            yield Sample(label, sample.inputs, (approximate,))


#: 1 / sqrt(2 pi), the height of the normal density.
_PEAK = 1 / math.sqrt(2 * math.pi)


def _gelu_slope(xp: Any, a: Array) -> Array:
    """Return the derivative of a * Phi(a): Phi(a) + a * phi(a)."""
    below = 0.5 * (1 + xp.erf(a * math.sqrt(0.5)))
    return below + a * (_PEAK * xp.exp(-0.5 * a * a))


#: For |a| > 10, the tanh differs from 1 by less than exp(-87), so a**2 is limited to
#: 100.  Without the limit, a**2 is infinite for a = 1e20, and 0 * a**2 is NaN.
_LARGEST_SQUARE = 100.0


#: The argument of tanh in gelu is ROOT * (a + CUBIC * a**3).
_ROOT = math.sqrt(2 / math.pi)


_CUBIC = 0.044715


def _gelu_tanh_slope(xp: Any, a: Array) -> Array:
    """Return the derivative of a * sigmoid(z), z = 2 ROOT * (a + CUBIC * a**3)."""
    square = xp.minimum(a * a, _LARGEST_SQUARE)
    z = 2 * _ROOT * a * (1 + _CUBIC * square)
    slope = 2 * _ROOT * (1 + 3 * _CUBIC * square)
    s, other = both_sigmoids(xp, z)
    return s + a * (s * other) * slope


@elementwise(
    "g times the derivative of gelu at a.",
    "g a ; approximate:none,tanh",
    lead="exp",
    budget=None,
    flops=40,
    samples=gelu_backward_samples,
    defaults=("none",),
    benchmarks=mebi(floats, floats, attributes=("none",)),
)
def gelu_backward(xp: Any, g: Array, a: Array, approximate: str) -> Array:
    w = wide(xp, a)
    slope = _gelu_slope(xp, w) if approximate == "none" else _gelu_tanh_slope(xp, w)
    return narrow(wide(xp, g) * slope, g)


@gelu_backward.budget("4 eps * |g| + 1 ULP")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [4 * eps * magnitude(inputs[0]) + ulp(expected[0], eps)]
