# SPDX-License-Identifier: MIT
"""Common parts of the formulas of special functions; they compute in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._kernels.spec import Array

#: The Bernoulli numbers B_2, B_4, ... B_24.
BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
    *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
)


def double(xp: Any, a: Array) -> Array:
    """Return `a` in float64, even for long double, because the series end there."""
    return a.astype(xp.float64)


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """Return c_0 + c_1 x + c_2 x^2 + ..., by Horner's scheme."""
    result = x * 0 + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def fraction(xp: Any, x: Array) -> Array:
    """Return x minus the nearest integer, for functions with the period 1."""
    return x - xp.round(x)


def is_whole(xp: Any, x: Array) -> Array:
    """Return where x is an integer."""
    return x == xp.floor(x)


def is_odd(xp: Any, x: Array) -> Array:
    """Return where the integer x is odd."""
    return xp.fmod(xp.absolute(x), 2) == 1


#: 2 / sqrt(pi), the slope of erf at 0.
ERF_SLOPE = 2 / math.sqrt(math.pi)
