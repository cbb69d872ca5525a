# SPDX-License-Identifier: MIT
"""SiLU and its backward kernel.

The backward kernel takes the forward input `a`.  Each sigmoid here is computed from
``decay = exp(-|a|)``, which cannot overflow and keeps the relative precision of both
tails. sigmoid(a) is 1 / (1 + decay) for a >= 0 and decay / (1 + decay) for a < 0;
sigmoid(-a) is the other one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.activations._formulas import backward, both_sigmoids, sigmoid
from autocalc._kernels.budgets import Inputs, Limits, magnitude, smallest, ulp
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.spec import Array, Attributes


@elementwise("a * sigmoid(a)", lead="exp", budget=None, flops=16, complex=True)
def silu(xp: Any, a: Array) -> Array:
    w = wide(xp, a)
    return narrow(w * sigmoid_of(xp, w), a)


@silu.budget("4 ULP + |a| times the smallest normal number (sigmoid(a) may be 0 below)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [4 * ulp(expected[0], eps) + smallest(eps) * magnitude(inputs[0])]


@elementwise(
    "g * sigmoid(a) * (1 + a * sigmoid(-a)).",
    lead="exp",
    budget=None,
    flops=20,
    samples=backward,
    complex=True,
)
def silu_backward(xp: Any, g: Array, a: Array) -> Array:
    w = wide(xp, a)
    s, other = both_sigmoids(xp, w)
    return narrow(wide(xp, g) * (s * (1 + w * other)), g)


@silu_backward.budget(
    "4 eps * |g| * sigmoid(a) * (1 + |a| * sigmoid(-a)), down to normal numbers"
)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, a = map(magnitude, inputs)
    raw = np.asarray(inputs[1], np.float64)
    slope = 1 + a * sigmoid(-raw)
    relative = 4 * eps * sigmoid(raw) + smallest(eps)
    return [g * relative * slope + ulp(expected[0], eps)]
