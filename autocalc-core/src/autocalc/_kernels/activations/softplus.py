# SPDX-License-Identifier: MIT
"""Softplus and its backward kernel.

The backward kernel takes the forward input `a`.  Each sigmoid here is computed from
``decay = exp(-|a|)``, which cannot overflow and keeps the relative precision of both
tails. sigmoid(a) is 1 / (1 + decay) for a >= 0 and decay / (1 + decay) for a < 0;
sigmoid(-a) is the other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.activations._formulas import backward, sigmoid
from autocalc._kernels.budgets import Inputs, Limits, magnitude, smallest, ulp
from autocalc._kernels.cases import floats, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.samples import Make, unary
from autocalc._kernels.spec import Array, Attributes, Sample

#: (beta, threshold): the defaults of PyTorch, another slope, a low threshold, and a
#: threshold beyond the overflow of exp(beta * a).
_SOFTPLUS = ((1.0, 20.0), (0.5, 20.0), (2.0, 1.5), (1.0, 1e4))


def softplus_samples(make: Make) -> Iterator[Sample]:
    for i, options in enumerate(_SOFTPLUS):
        for sample in unary(make):
            if i == 0 or "scale" in sample.label or "special" in sample.label:
                yield Sample(f"{sample.label}, {options}", sample.inputs, options)


@elementwise(
    "log(1 + exp(beta * a)) / beta; a itself where beta * a > threshold.",
    "a ; beta:float threshold:float",
    lead="exp",
    budget=None,
    flops=25,
    samples=softplus_samples,
    defaults=(1.0, 20.0),
    benchmarks=mebi(floats, attributes=(1.0, 20.0)),
)
def softplus(xp: Any, a: Array, beta: float, threshold: float) -> Array:
    w = wide(xp, a)
    z = beta * w
    soft = (xp.maximum(z, 0) + xp.log1p(xp.exp(-xp.absolute(z)))) / beta
    return narrow(xp.where(z > threshold, w, soft), a)


@softplus.budget("4 ULP + eps * |a| * sigmoid(beta * a), down to normal numbers")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (a,), (beta, _) = inputs, attributes
    rounded = eps * magnitude(a) * sigmoid(beta * np.asarray(a, np.float64))
    lost = smallest(eps) / min(abs(beta), 1.0)
    return [4 * ulp(expected[0], eps) + rounded + lost]


def softplus_backward_samples(make: Make) -> Iterator[Sample]:
    for i, options in enumerate(_SOFTPLUS):
        for sample in backward(make):
            if i == 0 or "scale" in sample.label or "special" in sample.label:
                yield Sample(f"{sample.label}, {options}", sample.inputs, options)


@elementwise(
    "g * sigmoid(beta * a); g itself where beta * a > threshold.",
    "g a ; beta:float threshold:float",
    lead="exp",
    budget=None,
    flops=16,
    samples=softplus_backward_samples,
    defaults=(1.0, 20.0),
    benchmarks=mebi(floats, floats, attributes=(1.0, 20.0)),
)
def softplus_backward(
    xp: Any, g: Array, a: Array, beta: float, threshold: float
) -> Array:
    g_, z = wide(xp, g), beta * wide(xp, a)
    return narrow(xp.where(z > threshold, g_, g_ * sigmoid_of(xp, z)), g)


@softplus_backward.budget(
    "4 ULP + eps * |g * beta * a| * sigmoid'(beta * a), down to normal numbers"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    (g, a), (beta, _) = inputs, attributes
    z = beta * np.asarray(a, np.float64)
    slope = sigmoid(z) * sigmoid(-z)
    rounded = eps * magnitude(z) * slope + smallest(eps)
    return [4 * ulp(expected[0], eps) + magnitude(g) * rounded]
