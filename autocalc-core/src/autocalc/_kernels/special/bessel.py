# SPDX-License-Identifier: MIT
"""Modified Bessel functions of the first kind."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import ulps
from autocalc._kernels.cases import floats, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import FEW_TAILS, LARGE, SHAPES, Make
from autocalc._kernels.spec import Array, Sample
from autocalc._kernels.special._series import double

#: From this number on, the asymptotic series is exact for orders up to 8.
_LARGE = 40.0


def _orders(make: Make) -> Iterator[Sample]:
    for n in FEW_TAILS:
        yield Sample(f"n={n}", (make.normal(n, scale=3.0),), (0, False))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.normal(*shape),), (1, True))
    yield Sample("large", (make.normal(LARGE // 10),), (0, False))
    for order in (0, 1, 2, 5):
        for scaled in (False, True):
            label = f"order={order}{', scaled' if scaled else ''}"
            attributes = order, scaled
            yield Sample(f"special, {label}", (make.special(),), attributes)
            yield Sample(f"any size, {label}", (make.any_size(99),), attributes)
            wide = (make.normal(99, scale=40.0),)
            yield Sample(f"scale=40, {label}", wide, attributes)


@elementwise(
    "The modified Bessel function I of an order >= 0. If `scaled`, it is multiplied by "
    "exp(-|a|).",
    "a ; order:int scaled:bool",
    kind="standalone",
    budget=ulps(16),
    flops=200,
    samples=_orders,
    benchmarks=mebi(floats, attributes=(0, False)),
)
def bessel_i(xp: Any, a: Array, order: int, scaled: bool) -> Array:
    x = double(xp, a)
    size = xp.absolute(x)
    result = xp.where(
        size < _LARGE,
        _near(xp, xp.minimum(size, _LARGE), order, scaled),
        _far(xp, xp.maximum(size, _LARGE), order, scaled),
    )
    return narrow(xp.where((x < 0) & (order % 2 == 1), -result, result), a)


def _near(xp: Any, x: Array, order: int, scaled: bool) -> Array:
    """Return the power series (x / 2)^(2 k + order) / (k! (k + order)!)."""
    square = x * x / 4
    total = xp.ones_like(x)
    for k in range(90, 0, -1):
        total = 1 + total * square / (k * (k + order))
    total = total * (x / 2) ** order / math.factorial(order)
    return total * xp.exp(-x) if scaled else total


def _far(xp: Any, x: Array, order: int, scaled: bool) -> Array:
    """Return exp(x) / sqrt(2 pi x) times the series in 1 / (8 x)."""
    total = xp.ones_like(x)
    for k in range(25, 0, -1):
        factor = (2 * k - 1) ** 2 - 4 * order**2
        total = 1 + total * factor / (8 * k * x)
    total = total / xp.sqrt(2 * math.pi * x)
    if scaled:
        return total
    half = xp.exp(x / 2)  # exp(x) alone would overflow too early
    return xp.where(xp.isinf(x), x, total * half * half)
