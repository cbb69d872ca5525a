# SPDX-License-Identifier: MIT
"""The scaled error function, and inverses of error functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.cases import mebi, uniform
from autocalc._kernels.declare import elementwise
from autocalc._kernels.elementwise.arithmetic import FOUR
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make
from autocalc._kernels.spec import Array, Sample
from autocalc._kernels.special._error import erfcx_of, erfinv_of, ndtri_of
from autocalc._kernels.special._series import double


@elementwise(
    "erfcx",
    "a",
    "exp(a**2) * erfc(a)",
    kind="standalone",
    budget=FOUR,
    flops=60,
)
def erfcx(xp: Any, a: Array) -> Array:
    return narrow(erfcx_of(xp, double(xp, a)), a)


@elementwise(
    "entr",
    "a",
    "-a * log(a), which is 0 at 0 and minus infinity below.",
    kind="standalone",
    budget=FOUR,
    flops=15,
)
def entr(xp: Any, a: Array) -> Array:
    x = double(xp, a)
    result = xp.where(x > 0, -x * xp.log(xp.where(x > 0, x, 1)), x)
    return narrow(xp.where(x < 0, -xp.inf, result), a)


def _between_0_and_1(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.unit(n) * make.scalar(0.998),))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.unit(*shape) * make.scalar(0.998),))
    yield Sample("special", (make.special(),))
    yield Sample("any size", (make.any_size(999),))
    yield Sample("large", (make.unit(LARGE) * make.scalar(0.998),))


@elementwise(
    "erfinv",
    "a",
    "The number whose erf is a: infinite at -1 and 1, NaN beyond.",
    kind="standalone",
    budget=FOUR,
    flops=200,
    samples=_between_0_and_1,
    benchmarks=mebi(uniform),
)
def erfinv(xp: Any, a: Array) -> Array:
    return narrow(erfinv_of(xp, double(xp, a)), a)


@elementwise(
    "ndtri",
    "a",
    "The number below which the standard normal distribution has the probability a.",
    kind="standalone",
    budget=FOUR,
    flops=200,
    samples=_between_0_and_1,
    benchmarks=mebi(uniform),
)
def ndtri(xp: Any, a: Array) -> Array:
    return narrow(ndtri_of(xp, double(xp, a)), a)
