# SPDX-License-Identifier: MIT
"""The modified Bessel functions I_0 and I_1, of which von Mises's density is made."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.masking import where
from autocalc.autograd import Function

#: From here on the asymptotic series are exact to 1e-16, below it 80 terms are enough.
_LARGE = 32.0
_TERMS = 80
_ASYMPTOTIC_TERMS = 30


def log_i0(x: Any) -> Any:
    """Return log I_0(x) of numbers of 0 or more."""
    return _LogI0.apply(x)


def bessel_ratio(x: Any) -> Any:
    """Return I_1(x) / I_0(x) of numbers of 0 or more, the slope of `log_i0`."""
    return _Ratio.apply(x)


class _LogI0(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        wide = x.double()
        large, low, high = _split(wide)
        tail = high - 0.5 * (2 * math.pi * high).log() + _asymptotic(high, 0).log()
        return where(large, tail, _series(low, 0).log()).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] * bessel_ratio(x)


class _Ratio(Function):
    """r = I_1 / I_0; I_1' = I_0 - I_1 / x, so r' = 1 - r / x - r^2, and 1/2 at 0."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        large, low, high = _split(x.double())
        tail = _asymptotic(high, 1) / _asymptotic(high, 0)
        near = low / 2 * _series(low, 1) / _series(low, 0)
        return where(large, tail, near).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        r = bessel_ratio(x)
        tiny = x < 1e-6
        share = where(tiny, r * 0 + 0.5, r / where(tiny, x * 0 + 1, x))
        return grads[0] * (1 - share - r * r)


def _split(x: Any) -> Any:
    """Return where x is large, and x for either case, moved where it is not that."""
    large = x > _LARGE
    return large, where(large, x * 0 + 1, x), where(large, x, x * 0 + _LARGE)


def _series(x: Any, order: int) -> Any:
    """Return I_order / (x / 2)^order: the sum of (x / 2)^2k / (k! (k + order)!)."""
    square = x * x / 4
    total = term = square * 0 + 1
    for k in range(1, _TERMS):
        term = term * square / (k * (k + order))
        total = total + term
    return total


def _asymptotic(x: Any, order: int) -> Any:
    """Return I_order sqrt(2 pi x) exp(-x), a series in 1 / x (DLMF 10.40.1)."""
    total = term = x * 0 + 1
    for k in range(1, _ASYMPTOTIC_TERMS):
        term = term * ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k * x)
        total = total + term
    return total
