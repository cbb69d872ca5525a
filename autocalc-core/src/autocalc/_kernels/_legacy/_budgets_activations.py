# SPDX-License-Identifier: MIT
"""Error budgets of activations with a tail: what they lose is in proportion to a term.

Where the derivative passes through zero two terms cancel, so a bound in ULP of the
result would say nothing: these count from the terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy._budgets import Inputs, budget, magnitude, ulp
from autocalc._kernels.precision import sigmoid_of
from autocalc._kernels.spec import Array, Attributes


def _smallest(eps: float) -> float:
    """Return the smallest subnormal of the kernel's dtype."""
    return float(ulp(np.zeros(()), eps))


def _sigmoid(x: Array) -> Array:
    return sigmoid_of(np, np.asarray(x, np.float64))


@budget("4 ULP + |a| times the smallest subnormal (sigmoid(a) may be one)")
def silu(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    return [4 * ulp(expected[0], eps) + _smallest(eps) * magnitude(inputs[0])]


@budget("4 eps * |g| * sigmoid(a) * (1 + |a| * sigmoid(-a)), down to subnormals")
def silu_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, a = map(magnitude, inputs)
    raw = np.asarray(inputs[1], np.float64)
    slope = 1 + a * _sigmoid(-raw)
    relative = 4 * eps * _sigmoid(raw) + _smallest(eps)
    return [g * relative * slope + ulp(expected[0], eps)]


@budget("2 eps * |a| + 1 ULP")
def gelu(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    return [2 * eps * magnitude(inputs[0]) + ulp(expected[0], eps)]


@budget("4 eps * |g| + 1 ULP")
def gelu_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    return [4 * eps * magnitude(inputs[0]) + ulp(expected[0], eps)]


@budget("4 ULP + eps * |a| * sigmoid(beta * a)")
def softplus(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (a,), (beta, _) = inputs, attributes
    rounded = eps * magnitude(a) * _sigmoid(beta * np.asarray(a, np.float64))
    return [4 * ulp(expected[0], eps) + rounded]


@budget("4 ULP + eps * |g * beta * a| * sigmoid'(beta * a), down to subnormals")
def softplus_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (g, a), (beta, _) = inputs, attributes
    z = beta * np.asarray(a, np.float64)
    slope = _sigmoid(z) * _sigmoid(-z)
    rounded = eps * magnitude(z) * slope + _smallest(eps)
    return [4 * ulp(expected[0], eps) + magnitude(g) * rounded]
