# SPDX-License-Identifier: MIT
"""The incomplete Gamma function, whose slopes exist in both arguments.

Up to the shape 10,000 it is summed; above it is what the error function makes of it.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.broadcasting import broadcast_tensors
from autocalc._ops.made_like import full_like
from autocalc._ops.masking import where
from autocalc.autograd import Function, once_differentiable
from autocalc.distributions._draws import slope
from autocalc.distributions._special import lgamma

#: Above, the expansion in 1 / a is exact to 1e-10, and below 1000 terms are enough.
_LARGE = 1e4
_TERMS = 2000
_EPS = 1e-17
#: In place of 0 in a denominator of the continued fraction.
_TINY = 1e-290
#: Of the expansion for large a (DLMF 8.12.7): of eta^k, and of 1 / a.
_OF_ETA = (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835)
_OF_INVERSE = -1 / 540


def gammainc(a: Any, x: Any) -> Any:
    """Return the integral from 0 to x of t^(a - 1) exp(-t) / Gamma(a)."""
    a, x = broadcast_tensors(a, x)
    return _IncompleteGamma.apply(a, x)


class _IncompleteGamma(Function):
    """A draw z moves by dz/da at a fixed share, so the share moves by -F' dz/da."""

    @staticmethod
    def forward(ctx: Any, a: Any, x: Any) -> Any:
        ctx.save_for_backward(a, x)
        return _lower(a.double(), x.double()).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        a, x = (given.double() for given in ctx.saved_tensors)
        density = ((a - 1).xlogy(x) - x - lgamma(a)).exp()
        in_a = _slope_in_shape(a, x) if ctx.needs_input_grad[0] else a
        dtype = ctx.saved_tensors[1].dtype
        return (grads[0] * in_a).to(dtype), (grads[0] * density).to(dtype)


def _slope_in_shape(a: Any, x: Any) -> Any:
    """Return dF/da, which is 0 at 0 and beyond what a draw of float64 can be."""
    inside = (x > 0) & (x < a + 10 * a.sqrt() + 60)
    z = where(inside, x, a)
    density = ((a - 1) * z.log() - z - lgamma(a)).exp()
    return where(inside, -density * slope(a, z), x * 0)


def _lower(a: Any, x: Any) -> Any:
    possible = (a > 0) & (x >= 0)
    a, x = where(possible, a, a * 0 + 1), where(possible, x, x * 0)
    large, end = a > _LARGE, x == math.inf
    up = ~large & (x < a + 1)
    down = ~large & ~end & (x >= a + 1)
    one = a * 0 + 1
    summed = _by_series(where(up, a, one), where(up, x, x * 0))
    rest = _by_fraction(where(down, a, one), where(down, x, one + 1))
    result = where(up, summed, 1 - rest)
    if large.any():
        result = where(large, _by_erf(a, where(end, one, x)), result)
    result = where(end, full_like(x, 1.0), result)
    return where(possible, result, full_like(x, math.nan))


def _factor(a: Any, x: Any) -> Any:
    """Return x^a exp(-x) / Gamma(a)."""
    return (a.xlogy(x) - x - lgamma(a)).exp()


def _by_series(a: Any, x: Any) -> Any:
    """Return F(x; a) as the sum of x^n / (a (a + 1) ... (a + n)), times the factor."""
    term = 1 / a
    total = term
    for n in range(1, _TERMS):
        term = term * x / (a + n)
        total = total + term
        if n % 16 == 0 and not (term > _EPS * total).any():
            break
    return total * _factor(a, x)


def _by_fraction(a: Any, x: Any) -> Any:
    """Return 1 - F(x; a) by Legendre's continued fraction, with Lentz's steps."""
    b = x + 1 - a
    c, d = full_like(x, 1 / _TINY), 1 / b
    result = d
    for n in range(1, _TERMS):
        step = n * (a - n)
        b = b + 2
        d = 1 / _not_zero(b + step * d)
        c = _not_zero(b + step / c)
        result = result * (c * d)
        if n % 16 == 0 and not ((c * d - 1).abs() > 1e-15).any():
            break
    return result * _factor(a, x)


def _not_zero(x: Any) -> Any:
    return where(x == 0, full_like(x, _TINY), x)


def _by_erf(a: Any, x: Any) -> Any:
    """Return F(x; a) for large a, where what is added to erf is of size 1 / sqrt(a)."""
    away = (x - a) / a
    half_square = away - away.log1p()
    eta = away.sign() * (2 * half_square).sqrt()
    more = eta * 0 + _OF_ETA[-1]
    for c in reversed(_OF_ETA[:-1]):
        more = more * eta + c
    density = (-a * half_square).exp() / (2 * math.pi * a).sqrt()
    near = eta.abs() < 1  # beyond it the density is 0
    more = where(near, more + _OF_INVERSE / a, a * 0)
    return 0.5 * (-eta * (a / 2).sqrt()).erfc() - density * more
