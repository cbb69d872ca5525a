# SPDX-License-Identifier: MIT
"""The regularised incomplete Gamma functions P(a, x) and Q(a, x) = 1 - P, in float64.

There are four methods for different regions.  Near x = a, for large `a`, the uniform
expansion of N. M. Temme is used (SIAM J. Math. Anal. 10, 1979).  For smaller x, the
series of P is used; for larger x, the continued fraction of Q; and for small `a` and
`x`, a series of Q.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from autocalc._kernels.spec import Array
from autocalc._kernels.special._gamma import lgamma1p, lgamma_of, stirling
from autocalc._kernels.special._series import polynomial

#: The least `a`, and the largest |x / a - 1|, for the uniform expansion.
_UNIFORM_FROM, _UNIFORM_WIDTH = 30.0, 0.35
_UNIFORM_TERMS = 26
_MOST_TERMS = 400
_EPS = 2.0**-53
_SPLIT = 2.0**27 + 1
#: The largest x / a - 1 for the series of its logarithm.
_NEAR = 0.5


def igamma_of(xp: Any, a: Array, x: Array) -> tuple[Array, Array]:
    """Return P(a, x) and Q(a, x)."""
    usual = (a > 0) & (x > 0) & xp.isfinite(a) & xp.isfinite(x)
    known_a, known_x = xp.where(usual, a, 1), xp.where(usual, x, 1)
    p, q = _of_usual(xp, known_a, known_x)
    one = ((x > 0) & (a == 0)) | (xp.isinf(x) & xp.isfinite(a))
    special = xp.where(one, 1, 0)
    wrong = (a < 0) | (x < 0) | xp.isnan(a) | xp.isnan(x)
    wrong |= ((a == 0) & (x == 0)) | (xp.isinf(a) & xp.isinf(x))
    special = xp.where(wrong, xp.nan, special)
    return xp.where(usual, p, special), xp.where(usual, q, 1 - special)


def _of_usual(xp: Any, a: Array, x: Array) -> tuple[Array, Array]:
    uniform = (a > _UNIFORM_FROM) & (xp.absolute(x - a) < _UNIFORM_WIDTH * a)
    small = ~uniform & (x <= 1.1) & (a < 1)
    below = ~uniform & ~small & (x <= a)
    above = ~uniform & ~small & ~below
    p = q = xp.zeros(xp.broadcast_shapes(a.shape, x.shape))
    front = _front(xp, a, x)
    if xp.any(below | small):
        series = front * _series(xp, *_only(xp, below | small, a, x))
        p = xp.where(below | small, series, p)
        q = xp.where(below, 1 - series, q)
    if xp.any(small):
        q = xp.where(small, _q_of_small(xp, *_only(xp, small, a, x)), q)
    if xp.any(above):
        fraction = front * a * _fraction(xp, *_only(xp, above, a, x))
        p, q = xp.where(above, 1 - fraction, p), xp.where(above, fraction, q)
    if xp.any(uniform):
        near = _uniform(xp, xp.where(uniform, a, 100), xp.where(uniform, x, 100))
        p, q = xp.where(uniform, near[0], p), xp.where(uniform, near[1], q)
    return p, q


def _only(xp: Any, where: Array, a: Array, x: Array) -> tuple[Array, Array]:
    """Return `a` and `x`, with harmless values where they are not wanted."""
    return xp.where(where, a, 0.5), xp.where(where, x, 0.5)


def _front(xp: Any, a: Array, x: Array) -> Array:
    """Return x^a e^-x / Gamma(a + 1)."""
    near_0 = lgamma1p(xp, xp.minimum(a, 0.5))
    lgamma = xp.where(a < 0.5, near_0, lgamma_of(xp, a + 1))
    direct = xp.exp(a * xp.log(x) - x - lgamma)
    large = xp.maximum(a, 10.0)
    exponent = -large * _distance(xp, x, large) - stirling(large)
    scaled = xp.exp(exponent) / xp.sqrt(2 * math.pi * large)
    return xp.where(a < 10, direct, scaled)


def _distance(xp: Any, x: Array, a: Array) -> Array:
    """Return m - log(1 + m) for m = x / a - 1, by a series near 0.

    The result times `a` is an exponent, in which the rounding error of m counts a m^2 /
    (1 + m) times.
    """
    m, low = _relative_difference(xp, x, a)
    correction = low * m / xp.maximum(1 + m, _EPS)
    correction = xp.where(xp.isfinite(correction), correction, 0)  # for huge x
    near = xp.absolute(m) < _NEAR
    short = xp.where(near, m, 0)
    # log((1 + r) / (1 - r)) = 2 (r + r^3 / 3 + ...), with r = m / (2 + m)
    r = short / (2 + short)
    odd = polynomial([2 / (2 * k + 3) for k in range(20)], r * r)
    by_series = r * (short - r * r * odd)
    # For larger m, the difference loses at most two bits.
    result = xp.where(near, by_series, m - xp.log1p(xp.maximum(m, -1)))
    return result + correction


def _relative_difference(xp: Any, x: Array, a: Array) -> tuple[Array, Array]:
    """Return x / a - 1, and its rounding error."""
    difference = x - a
    back = difference - x
    lost = (x - (difference - back)) - (a + back)
    m = difference / a
    return m, (difference - m * a - _lost_of_product(m, a) + lost) / a


def _lost_of_product(a: Array, b: Array) -> Array:
    """Return the rounding error of a b, by T. J. Dekker's halves of 26 bits."""
    a_high, b_high = a * _SPLIT - (a * _SPLIT - a), b * _SPLIT - (b * _SPLIT - b)
    a_low, b_low = a - a_high, b - b_high
    rest = (a_high * b_high - a * b) + a_high * b_low + a_low * b_high
    return rest + a_low * b_low


def _series(xp: Any, a: Array, x: Array) -> Array:
    """Return 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..."""
    total = term = xp.ones(xp.broadcast_shapes(a.shape, x.shape))
    for n in range(1, _MOST_TERMS):
        term = term * (x / (a + n))
        total = total + term
        if not xp.any(term > _EPS * total):
            break
    return total


def _fraction(xp: Any, a: Array, x: Array) -> Array:
    """Return 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by Lentz's algorithm."""
    b = x + 1 - a
    c, d = b + 1e300, 1 / b
    result, moves = d, True
    for n in range(1, _MOST_TERMS):
        factor = n * (a - n)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        # After convergence, further factors would add rounding errors of 100 ULP.
        result = xp.where(moves, result * (c * d), result)
        moves = moves & (xp.absolute(c * d - 1) > 2 * _EPS)
        if not xp.any(moves):
            break
    return result


def _q_of_small(xp: Any, a: Array, x: Array) -> Array:
    """Return Q for a < 1 and x <= 1.1, where 1 - P loses all digits.

    The sum is over (-x)^k / (k! (a + k)) for k = 1, 2, ...
    """
    term, total = xp.ones_like(x), x * 0
    for k in range(1, 25):
        term = term * (-x / k)
        total = total + term / (a + k)
    lgamma = xp.where(a < 0.5, lgamma1p(xp, xp.minimum(a, 0.5)), lgamma_of(xp, a + 1))
    exponent = a * xp.log(x) - lgamma
    return -xp.expm1(exponent) - xp.exp(exponent) * a * total


def _uniform(xp: Any, a: Array, x: Array) -> tuple[Array, Array]:
    """Return P and Q = erfc(eta sqrt(a / 2)) / 2 + exp(-a eta^2 / 2) S / sqrt(2 pi a).

    Here eta^2 / 2 = m - log(1 + m).  Differentiating Q with respect to eta gives S' / a
    - eta S = 1 - f / G, where f = eta / m and G = Gamma(a) divided by its leading term.
    For the coefficients this means s_(k - 1) = f_k / G + (k + 1) s_(k + 1) / a, which
    is evaluated from the last one down.
    """
    half_square = _distance(xp, x, a)
    eta = xp.copysign(xp.sqrt(2 * half_square), x - a)
    scale = xp.exp(-stirling(a))
    after, this = a * 0, a * 0  # s_(k + 1) and s_k
    total = a * 0
    for k in range(_UNIFORM_TERMS, 0, -1):
        before = _slopes()[k] * scale + (k + 1) * after / a
        total = total * eta + before
        after, this = this, before
    rest = xp.exp(-a * half_square) * total / xp.sqrt(2 * math.pi * a)
    root = eta * xp.sqrt(a / 2)
    return xp.erfc(-root) / 2 - rest, xp.erfc(root) / 2 + rest


@functools.cache
def _slopes() -> tuple[float, ...]:
    """Return the Taylor coefficients of eta / m in eta: 1, -1/3, 1/12, ...

    The derivative of the equation of eta, m' m = eta (1 + m), gives the coefficients of
    m.  Those of f = eta / m follow from f m = eta.
    """
    n = _UNIFORM_TERMS + 3
    m = [0.0, 1.0]
    for k in range(2, n):
        known = sum(j * m[j] * m[k + 1 - j] for j in range(2, k))
        m.append((m[k - 1] - known) / (k + 1))
    f = [1.0]
    for k in range(1, n - 1):
        f.append(-sum(f[j] * m[k + 1 - j] for j in range(k)))
    return tuple(f)
