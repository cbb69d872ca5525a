# SPDX-License-Identifier: MIT
"""The scaled error function and inverses of error functions, in float64."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels.spec import Array
from autocalc._kernels.special._series import ERF_SLOPE, polynomial

#: The coefficients of erfcx(x) x sqrt(pi) in 1 / x^2, (-1)^k (2k - 1)!! / 2^k; exact
#: for x >= 10.
_TAIL = [(-0.5) ** k * math.prod(range(1, 2 * k, 2)) for k in range(14)]
_TAIL_FROM = 10.0
#: The Chebyshev coefficients of (1 + 2 x) erfcx(x) in (x - 4) / (x + 4), for x from 4/9
#: to 28, with an error of 5e-17.
_SCALED = [
    1.2329951186255526,
    -0.13962111684056147,
    0.015379652102608499,
    0.068097054254565,
    -0.1010390660356197,
    0.0937328350029626,
    -0.06633036582832941,
    0.03716751546056364,
    -0.016197733865533828,
    0.005031970687748025,
    -0.0007577746079614471,
    -0.00019926066002480848,
    0.00015062721585265185,
    -2.438521055060784e-05,
    -1.123659688757422e-05,
    5.678156134382131e-06,
    3.175368002847849e-07,
    -7.81013092214806e-07,
    5.196966166256683e-08,
    7.386874885595445e-08,
    -6.874648283427567e-09,
]
#: From this number on, 2 exp(x^2) is infinite.
_INFINITE_FROM = 26.63
#: Up to this number, inverting erf is more precise than inverting the logarithm of
#: erfc, whose rounding errors add up.
_BY_ERF = 0.75
#: Each step of Halley's method cubes the error: 2e-3, 1e-8, 1e-24.
_STEPS = 3


def erfcx_of(xp: Any, x: Array) -> Array:
    """Return exp(x^2) erfc(x), by an asymptotic series where erfc underflows.

    For negative numbers, the result is 2 exp(x^2) - erfcx(-x).  Near 0, erfc itself is
    precise.
    """
    size = xp.absolute(x)
    near = _scaled(xp, xp.clip(size, 0.5, _TAIL_FROM))
    z = xp.maximum(x, _TAIL_FROM)
    far = polynomial(_TAIL, 1 / (z * z)) / (z * math.sqrt(math.pi))
    power = _exp_of_square(xp, xp.minimum(x, 0.5))
    small = xp.clip(x, -0.5, 0.5)
    result = xp.where(x < _TAIL_FROM, near, far)
    result = xp.where(x < 0, 2 * power - near, result)
    result = xp.where(size < 0.5, power * xp.erfc(small), result)
    return xp.where(xp.isnan(x), x, result)


def _scaled(xp: Any, x: Array) -> Array:
    """Return erfcx(x) for 1/2 <= x <= 28."""
    return polynomial(_SCALED, (x - 4) / (x + 4)) / (1 + 2 * x)


def _exp_of_square(xp: Any, x: Array) -> Array:
    """Return exp(x^2) without the error from rounding x^2, which grows with x."""
    bounded = xp.clip(x, -_INFINITE_FROM, _INFINITE_FROM)
    high = xp.round(bounded * 1024) / 1024
    result = xp.exp(high * high)  # the square is exact
    result = result + result * xp.expm1((bounded - high) * (bounded + high))
    return xp.where(xp.absolute(x) > _INFINITE_FROM, xp.inf, result)


def erfinv_of(xp: Any, x: Array) -> Array:
    """Return the number whose erf is x: infinite for -1 and 1, NaN outside of them."""
    size = xp.absolute(x)
    inside = xp.where(size < 1, size, 0)
    low = _erfinv_by_erf(xp, xp.minimum(inside, _BY_ERF))
    high = erfcinv_of(xp, 1 - xp.maximum(inside, _BY_ERF))  # 1 - x is exact here
    result = xp.where(inside < _BY_ERF, low, high)
    result = xp.where(size < 1, result, xp.where(size == 1, xp.inf, xp.nan))
    return xp.copysign(result, x)


def _erfinv_by_erf(xp: Any, x: Array) -> Array:
    y = x * (1 + math.pi / 12 * x * x) / ERF_SLOPE
    for _ in range(_STEPS):
        step = (xp.erf(y) - x) * xp.exp(y * y) / ERF_SLOPE
        y = y - step / (1 + y * step)
    return y


def erfcinv_of(xp: Any, q: Array) -> Array:
    """Return the number whose erfc is q, from 0 (excluded) to 1/2.

    It uses Halley's method for log erfc(y) = log erfcx(y) - y^2, which does not
    underflow.
    """
    goal = xp.log(q)
    y = xp.sqrt(-goal)
    for _ in range(2):  # roughly erfc(y) = exp(-y^2) / (sqrt(pi) y)
        y = xp.sqrt(xp.maximum(-goal - xp.log(math.sqrt(math.pi) * (y + 0.35)), 0.2))
    for _ in range(_STEPS + 1):
        scaled = erfcx_of(xp, y)
        slope = -ERF_SLOPE / scaled
        error = xp.log(scaled) - y * y - goal
        curvature = slope * (-2 * y - slope)
        y = y - 2 * error * slope / (2 * slope * slope - error * curvature)
    return y


def ndtri_of(xp: Any, p: Array) -> Array:
    """Return the quantile of the standard normal distribution."""
    inside = (p > 0) & (p < 1)
    q = xp.where(inside, p, 0.5)
    tail, end = xp.minimum(q, 1 - q), (1 - _BY_ERF) / 2
    far = math.sqrt(2) * erfcinv_of(xp, 2 * xp.minimum(tail, end))
    near = math.sqrt(2) * erfinv_of(xp, 2 * xp.where(tail < end, 0.5, q) - 1)
    result = xp.where(tail < end, xp.where(q < 0.5, -far, far), near)
    ends = xp.where(p == 0, -xp.inf, xp.where(p == 1, xp.inf, xp.nan))
    return xp.where(inside, result, ends)
