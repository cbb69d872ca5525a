# SPDX-License-Identifier: MIT
"""Functions that densities need, made of operators: differentiable to any order.

They compute in float64 and round once.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.made_like import full_like, zeros_like
from autocalc._ops.masking import where
from autocalc._tensor import Tensor
from autocalc.autograd import Function

#: From here on the asymptotic series of the Gamma function are exact to 1e-15.
_LARGE = 8

#: B_2k / (2k (2k - 1)) and B_2k / 2k with the Bernoulli numbers B: the coefficients of
#: 1 / x^(2k - 1) in log Gamma and of 1 / x^2k in its derivative.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_OF_LGAMMA = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
_OF_DIGAMMA = [b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)]


def lgamma(x: Any) -> Tensor:
    """Return the logarithm of the Gamma function of positive numbers.

    Stirling's series, from 8 on; Gamma(x + 1) = x Gamma(x) leads there.
    """
    z = x.double()
    small = z < _LARGE
    y = where(small, z + _LARGE, z)
    low = where(small, z, z * 0 + 1)
    product = low
    for i in range(1, _LARGE):
        product = product * (low + i)
    series = _horner(_OF_LGAMMA, 1 / (y * y)) / y
    result = (y - 0.5) * y.log() - y + 0.5 * math.log(2 * math.pi) + series
    total: Tensor = result - where(small, product.log(), z * 0)
    return total.to(x.dtype)


def digamma(x: Any) -> Tensor:
    """Return the derivative of `lgamma` of positive numbers."""
    z = x.double()
    small = z < _LARGE
    y = where(small, z + _LARGE, z)
    low = where(small, z, z * 0 + 1)
    steps = 1 / low
    for i in range(1, _LARGE):
        steps = steps + 1 / (low + i)
    square = 1 / (y * y)
    result = y.log() - 0.5 / y - _horner(_OF_DIGAMMA, square) * square
    total: Tensor = result - where(small, steps, z * 0)
    return total.to(x.dtype)


def _horner(coefficients: list[float], x: Any) -> Any:
    result = x * 0 + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def lbeta(a: Any, b: Any) -> Any:
    """Return the logarithm of the Beta function."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def xlogx(x: Any) -> Any:
    """Return x log(x), and 0 at 0."""
    positive = x > 0
    return where(positive, x * where(positive, x, x * 0 + 1).log(), x * 0)


class _ErfInv(Function):
    """The inverse of erf; its slope is sqrt(pi) / 2 exp(y^2)."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = _erfinv(x.double()).to(x.dtype)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (y,) = ctx.saved_tensors
        return grads[0] * (y * y).exp() * (math.sqrt(math.pi) / 2)


def _erfinv(x: Any) -> Any:
    """Return a first guess (Winitzki, 2008: 0.2 % off), made better by Halley's steps.

    A step leaves the cube of the error.
    """
    a = 0.147
    size = x.abs()
    log = (1 - size * size).log()
    middle = 2 / (math.pi * a) + log / 2
    y = ((middle * middle - log / a).sqrt() - middle).sqrt()
    inside = size < 1
    y = where(inside, y, zeros_like(y))
    for _ in range(3):
        # Near 1 erf has no digits left, but 1 - erf has.
        error = where(size < 0.5, y.erf() - size, 1 - size - y.erfc())
        step = error * (y * y).exp() * (math.sqrt(math.pi) / 2)
        y = y - step / (1 + y * step)
    ends = where(size == 1, full_like(x, math.inf), full_like(x, math.nan))
    return x.sign() * where(inside, y, ends)


def erfinv(x: Tensor) -> Any:
    """Return the number whose erf is x."""
    return _ErfInv.apply(x)
