# SPDX-License-Identifier: MIT
"""The regularised incomplete Gamma functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.cases import mebi, positive
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import BROADCAST, FEW_TAILS, LARGE, SHAPES, Make, pairs
from autocalc._kernels.spec import Array, Sample
from autocalc._kernels.special._budget import WITH_TAILS
from autocalc._kernels.special._incomplete import igamma_of
from autocalc._kernels.special._series import double


def _shapes_and_limits(make: Make) -> Iterator[Sample]:
    for n in FEW_TAILS:
        yield Sample(f"n={n}", (make.positive(n), make.positive(n)))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.positive(*shape), make.positive(*shape)))
    for left, right in BROADCAST:
        label = f"broadcast {left} with {right}"
        yield Sample(label, (make.positive(*left), make.positive(*right)))
    yield Sample("special", pairs(make.special()))
    yield Sample("large", (make.positive(LARGE // 10), make.positive(LARGE // 10)))
    for size in (1e-3, 5.0, 60.0, 5000.0):
        a, x = make.positive(99) * size, make.positive(99) * size
        yield Sample(f"around {size}", (a.astype(make.dtype), x.astype(make.dtype)))


@elementwise(
    "The integral of t**(a - 1) * exp(-t) over 0 ... b, divided by Gamma(a).",
    kind="standalone",
    budget=WITH_TAILS,
    flops=500,
    samples=_shapes_and_limits,
    benchmarks=mebi(positive, positive),
)
def igamma(xp: Any, a: Array, b: Array) -> Array:
    return narrow(igamma_of(xp, double(xp, a), double(xp, b))[0], a)


@elementwise(
    "1 - igamma(a, b), precise in its tail.",
    kind="standalone",
    budget=WITH_TAILS,
    flops=500,
    samples=_shapes_and_limits,
    benchmarks=mebi(positive, positive),
)
def igammac(xp: Any, a: Array, b: Array) -> Array:
    return narrow(igamma_of(xp, double(xp, a), double(xp, b))[1], a)
