# SPDX-License-Identifier: MIT
"""The logarithm of the Gamma function and its derivative, in float64."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc._kernels.special._series import BERNOULLI, fraction, is_whole, polynomial
from autocalc._kernels.special._zeta import hurwitz

EULER = 0.57721566490153286
#: From this number on, the asymptotic series are exact.
LARGE = 10.0

#: The coefficients of 1 / x^(2k - 1) in log Gamma, and of 1 / x^2k in its derivative.
_OF_LGAMMA = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1)]
_OF_DIGAMMA = [b / (2 * k) for k, b in enumerate(BERNOULLI, 1)]

#: The root of digamma: the nearest float64, and the remainder.
_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17


def stirling(x: Array) -> Array:
    """Return log Gamma(x) - ((x - 1/2) log(x) - x + log(2 pi) / 2), for x >= 10."""
    return polynomial(_OF_LGAMMA[:9], 1 / (x * x)) / x


def lgamma_of(xp: Any, x: Array) -> Array:
    """Return log abs(Gamma(x)); infinite at 0, -1, -2, ..."""
    positive = _of_positive(xp, xp.where(x <= -0.5, 1 - x, xp.absolute(x)))
    small = xp.where(xp.absolute(x) < 0.5, x, 0.25)
    near_0 = lgamma1p(xp, small) - xp.log(xp.absolute(small))
    sine = xp.absolute(xp.sin(math.pi * fraction(xp, x)))
    reflected = math.log(math.pi) - xp.log(sine) - positive
    result = xp.where(x <= -0.5, reflected, positive)
    result = xp.where(xp.absolute(x) < 0.5, near_0, result)
    return xp.where(xp.isinf(x) | ((x <= 0) & is_whole(xp, x)), xp.inf, result)


def _of_positive(xp: Any, x: Array) -> Array:
    """Return log Gamma(x) for x >= 1/2, also precisely near its roots 1 and 2."""
    large = xp.where(x < LARGE, LARGE, x)
    series = (large - 0.5) * (xp.log(large) - 1) + (math.log(2 * math.pi) - 1) / 2
    y = xp.where(x < LARGE, x, 2)
    steps = xp.floor(y - 1.5)  # from -1 (a division) to 8
    product = xp.where(steps < 0, y, 1)
    for i in range(1, int(LARGE) - 1):
        product = product * xp.where(steps >= i, y - i, 1)
    log = xp.where(steps < 0, -xp.log1p(y - 1), xp.log(product))
    near = lgamma2p(y - (steps + 2)) + log
    return xp.where(x < LARGE, near, series + stirling(large))


@functools.cache
def _zeta_less_1() -> tuple[float, ...]:
    """Return zeta(k) - 1 for k = 2, 3, ..., which decrease as 2^-k."""
    return tuple(hurwitz(np, np.arange(2.0, 30.0), np.full(28, 2.0)).tolist())


def lgamma2p(e: Array) -> Array:
    """Return log Gamma(2 + e) for abs(e) <= 1/2 by a Taylor series."""
    terms = enumerate(_zeta_less_1(), 2)
    return e * polynomial([1 - EULER, *((-1) ** k * z / k for k, z in terms)], e)


def lgamma1p(xp: Any, e: Array) -> Array:
    """Return log Gamma(1 + e) for abs(e) <= 1/2."""
    return lgamma2p(e) - xp.log1p(e)


def digamma_of(xp: Any, x: Array) -> Array:
    """Return the derivative of log Gamma; NaN at -1, -2, ..., infinite at 0."""
    positive = _digamma_of_positive(xp, xp.where(x <= 0, 1 - x, x))
    reflected = positive - math.pi / xp.tan(math.pi * fraction(xp, x))
    result = xp.where(x < 0, reflected, positive)
    result = xp.where((x < 0) & is_whole(xp, x), xp.nan, result)
    return xp.where(x == 0, xp.copysign(xp.inf, -x), result)


def _digamma_of_positive(xp: Any, x: Array) -> Array:
    y, steps = x, x * 0
    for _ in range(int(LARGE)):
        below = y < LARGE
        steps = steps + xp.where(below, 1 / y, 0)
        y = y + below
    square = 1 / (y * y)
    rest = 0.5 / y + polynomial(_OF_DIGAMMA[:9], square) * square
    result = xp.log(y) - rest - steps
    distance = (x - _ROOT) - _ROOT_REST
    near = xp.absolute(distance) < 0.25
    at_root = distance * polynomial(_slopes_at_root(), xp.where(near, distance, 0))
    return xp.where(near, at_root, xp.where(xp.isinf(x), x, result))


@functools.cache
def _slopes_at_root() -> tuple[float, ...]:
    """Return the Taylor coefficients of digamma at its root, without the zeroth."""
    n = np.arange(2.0, 26.0)
    slopes = hurwitz(np, n, np.full_like(n, _ROOT))
    return tuple(((-1) ** n * slopes).tolist())
