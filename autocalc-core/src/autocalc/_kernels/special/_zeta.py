# SPDX-License-Identifier: MIT
"""Hurwitz's zeta function: the sum of (q + k)^-s over k = 0, 1, 2, ..."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels.spec import Array
from autocalc._kernels.special._series import BERNOULLI, fraction, is_odd, is_whole

#: The number of terms that are summed directly; the Euler-Maclaurin formula gives the
#: rest.
_TERMS = 10
#: The coefficients B_2j / (2j)!.
_OF_REST = [b / math.factorial(2 * j) for j, b in enumerate(BERNOULLI, 1)]


def hurwitz(xp: Any, s: Array, q: Array) -> Array:
    """Return zeta(s, q): infinite at s = 1 and at q = 0, -1, ...; NaN if s < 1.

    For other negative `q`, `s` must be an integer, because of the power; otherwise the
    result is NaN.
    """
    known = xp.where(s > 1, s, 2)
    result = _of_positive(xp, known, xp.where(q > 0, q, 1))
    if xp.any(q < 0):
        result = xp.where(
            q < 0, _of_negative(xp, known, xp.where(q < 0, q, -0.5)), result
        )
        result = xp.where((q < 0) & ~is_whole(xp, s), xp.nan, result)
    result = xp.where((q <= 0) & is_whole(xp, q), xp.inf, result)
    result = xp.where(s > 1, result, xp.where(s == 1, xp.inf, xp.nan))
    return xp.where(xp.isnan(s) | xp.isnan(q), xp.nan, result)


def _of_positive(xp: Any, s: Array, q: Array) -> Array:
    """Sum some terms, the smallest first, and add the Euler-Maclaurin formula."""
    w = q + _TERMS
    rest = 1 / (s - 1) + 0.5 / w
    factor = s / w / w
    for j, c in enumerate(_OF_REST):
        rest = rest + c * factor
        factor = factor * ((s + 2 * j + 1) / w) * ((s + 2 * j + 2) / w)
    last = w ** (1 - s)
    result = xp.where(last > 0, last * rest, 0)
    for k in reversed(range(_TERMS)):
        result = result + (q + k) ** -s
    return result


def _of_negative(xp: Any, s: Array, q: Array) -> Array:
    """Return the sum over all integers k (periodic in q) minus the sum over k < 0."""
    f = fraction(xp, q)
    sign = xp.where(is_odd(xp, s), -1, 1)
    middle, above, below = f**-s, (1 + f) ** -s, sign * (1 - f) ** -s
    # If q is halfway between two integers, the two nearest terms cancel exactly.
    next_to_it = xp.where(f < 0, middle + above + below, middle + below + above)
    rest = _of_positive(xp, s, 2 + f) + sign * _of_positive(xp, s, 2 - f)
    return next_to_it + rest - sign * _of_positive(xp, s, 1 - q)
