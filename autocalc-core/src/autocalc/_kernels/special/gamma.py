# SPDX-License-Identifier: MIT
"""The logarithm of the Gamma function, its derivatives, and Hurwitz's zeta."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import ulps
from autocalc._kernels.cases import mebi, positive
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import FEW_TAILS, LARGE, SHAPES, Make
from autocalc._kernels.spec import Array, Sample
from autocalc._kernels.special._budget import WITH_ROOTS
from autocalc._kernels.special._gamma import digamma_of, lgamma_of
from autocalc._kernels.special._series import double
from autocalc._kernels.special._zeta import hurwitz


@elementwise(
    "log(|Gamma(a)|), infinite at 0, -1, -2, ...",
    kind="standalone",
    budget=WITH_ROOTS,
    flops=100,
    benchmarks=mebi(positive),
)
def lgamma(xp: Any, a: Array) -> Array:
    return narrow(lgamma_of(xp, double(xp, a)), a)


@elementwise(
    "The derivative of log(Gamma(a)); NaN at -1, -2, ...",
    kind="standalone",
    budget=WITH_ROOTS,
    flops=100,
    benchmarks=mebi(positive),
)
def digamma(xp: Any, a: Array) -> Array:
    return narrow(digamma_of(xp, double(xp, a)), a)


def _orders(make: Make) -> Iterator[Sample]:
    for size in FEW_TAILS:
        yield Sample(f"n={size}", (make.positive(size),), (1,))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.positive(*shape),), (2,))
    yield Sample("large", (make.positive(LARGE // 10),), (1,))
    for n in (0, 1, 2, 3, 20, 200):
        yield Sample(f"special, n={n}", (make.special(),), (n,))
        yield Sample(f"any size, n={n}", (make.any_size(99),), (n,))


@elementwise(
    "Derivative n of digamma: (-1)**(n + 1) * n! * zeta(n + 1, a) if n > 0.",
    "a ; n:int",
    kind="standalone",
    budget=WITH_ROOTS,
    flops=100,
    samples=_orders,
    benchmarks=mebi(positive, attributes=(1,)),
)
def polygamma(xp: Any, a: Array, n: int) -> Array:
    x = double(xp, a)
    if n == 0:
        return narrow(digamma_of(xp, x), a)
    factor = float(math.factorial(n)) if n <= 170 else math.inf
    zeta_of = hurwitz(xp, xp.full_like(x, n + 1), x)
    return narrow((factor if n % 2 else -factor) * zeta_of, a)


def _exponents(make: Make) -> Iterator[Sample]:
    for size in FEW_TAILS:
        yield Sample(f"n={size}", (1 + make.positive(size), make.positive(size)))
    for shape in SHAPES:
        pair = (1 + make.positive(*shape), make.positive(*shape))
        yield Sample(f"shape={shape}", pair)
    pair = (1 + make.positive(3, 1), make.positive(5))
    yield Sample("broadcast", pair)
    yield Sample("large", (1 + make.positive(LARGE // 10), make.positive(LARGE // 10)))
    values = make.special()
    yield Sample("special", (values[:, None], values))


@elementwise(
    "The sum of (b + k)**-a over k = 0, 1, 2, ...",
    kind="standalone",
    budget=ulps(8),
    flops=200,
    samples=_exponents,
    benchmarks=mebi(positive, positive),
)
def zeta(xp: Any, a: Array, b: Array) -> Array:
    s, q = xp.broadcast_arrays(double(xp, a), double(xp, b))
    return narrow(hurwitz(xp, s, q), a)
