# SPDX-License-Identifier: MIT
"""The activations that run in the same pass as a batch norm or a convolution.

`alpha` and `beta` are the limits of hardtanh; `alpha` is the slope of leaky_relu, 0 or
more.  The gradient of an activation is computed from its result y; that of hardswish
and silu is computed from its input z.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels.activations._formulas import both_sigmoids, sigmoid
from autocalc._kernels.activations.hardswish import (
    hardswish_backward_formula,
    hardswish_of,
)
from autocalc._kernels.activations.hardtanh import hardtanh_backward_formula
from autocalc._kernels.activations.leaky_relu import leaky
from autocalc._kernels.activations.relu import relu_backward_formula
from autocalc._kernels.budgets import magnitude
from autocalc._kernels.precision import sigmoid_of
from autocalc._kernels.spec import Array

#: The part of a signature after `eps`.
ATTRIBUTES = (
    "activation:none,relu,hardtanh,leaky_relu,hardswish,silu alpha:float beta:float"
)

#: The last three attributes: an activation's name, and two numbers.
PostOp: TypeAlias = tuple[str, float, float]

NONE: PostOp = ("none", 0.0, 0.0)
RELU: PostOp = ("relu", 0.0, 0.0)

#: The activations, and how many of the two numbers their kernels take.
POST_OPS = {"relu": 0, "hardtanh": 2, "leaky_relu": 1, "hardswish": 0, "silu": 0}

#: The values for samples, in turn; the numbers are exact in both dtypes.
SAMPLED = (
    ("relu", 0.0, 0.0),
    ("hardtanh", 0.0, 0.5),
    ("leaky_relu", 0.25, 0.0),
    ("hardswish", 0.0, 0.0),
    ("silu", 0.0, 0.0),
    ("none", 0.0, 0.0),
)

#: The activations whose gradient is computed from their input.
BY_INPUT = ("hardswish", "silu")


def post_op(kernel: str, attributes: tuple[Any, ...]) -> PostOp | None:
    """Return the attributes for an activation's call, or None if it has no such form.

    ``hardtanh(x, 0, 6)`` is ``("hardtanh", 0.0, 6.0)``.  A leaky_relu with a negative
    slope has no such form, because its result does not show the sign of its input.
    """
    if kernel not in POST_OPS or (kernel == "leaky_relu" and attributes[0] < 0):
        return None
    alpha, beta, *_ = (*attributes, 0.0, 0.0)
    return kernel, float(alpha), float(beta)


def activated(xp: Any, z: Array, activation: str, alpha: float, beta: float) -> Array:
    """Return the activation of `z`, in the precision of `z`."""
    if activation == "relu":
        return xp.maximum(z, xp.zeros((), z.dtype))
    if activation == "hardtanh":
        return xp.minimum(xp.maximum(z, alpha), beta)
    if activation == "leaky_relu":
        return leaky(xp, z, z, alpha)
    if activation == "hardswish":
        return hardswish_of(xp, z)
    return z * sigmoid_of(xp, z) if activation == "silu" else z


def passed(
    xp: Any, g: Array, known: Array | None, activation: str, alpha: float, beta: float
) -> Array:
    """Return the gradient of the activation.

    `known` is the input for activations in `BY_INPUT`, otherwise the result.
    """
    if activation == "silu":
        s, other = both_sigmoids(xp, known)
        return g * (s * (1 + known * other))
    if activation == "hardswish":
        return hardswish_backward_formula(xp, g, known)
    if activation == "leaky_relu":
        return leaky(xp, g, known, alpha)
    if activation == "relu":
        return relu_backward_formula(xp, g, known)
    if activation == "hardtanh":
        return hardtanh_backward_formula(xp, g, known, alpha, beta)
    return g


def most_change(activation: str) -> float:
    """Return the largest change of the activation if its input changes by 1."""
    return {"hardswish": 1.5, "silu": 1.1}.get(activation, 1.0)


def change_of_slope(activation: str) -> float:
    """Return the largest change of the slope if the activation's input changes by 1."""
    return {"hardswish": 0.34, "silu": 0.5}.get(activation, 0.0)


def steps_of(activation: str, z: Array, alpha: float) -> Array:
    """Return the magnitude of the activation's rounding errors, in units of eps."""
    if activation in BY_INPUT:
        return 4 * magnitude(z) * np.maximum(sigmoid(z), 1e-30)
    return magnitude(z * alpha) if activation == "leaky_relu" else np.zeros(z.shape)
