# SPDX-License-Identifier: MIT
"""The scaled error function, and inverses of error functions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import mebi, uniform
from autocalc._kernels.declare import elementwise
from autocalc._kernels.elementwise.arithmetic import ULP_4
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Sample
from autocalc._kernels.special._error import erfcx_of, erfinv_of, ndtri_of
from autocalc._kernels.special._series import double


@elementwise("exp(a**2) * erfc(a)", kind="standalone", budget=ULP_4, flops=60)
def erfcx(xp: Any, a: Array) -> Array:
    return narrow(erfcx_of(xp, double(xp, a)), a)


@elementwise(
    "-a * log(a), which is 0 at 0 and minus infinity below.",
    kind="standalone",
    budget=ULP_4,
    flops=15,
)
def entr(xp: Any, a: Array) -> Array:
    x = double(xp, a)
    result = xp.where(x > 0, -x * xp.log(xp.where(x > 0, x, 1)), x)
    return narrow(xp.where(x < 0, -xp.inf, result), a)


@elementwise(
    "The logarithm of the probability that a standard normal number is below a.",
    kind="standalone",
    budget=None,
    flops=100,
)
def log_ndtr(xp: Any, a: Array) -> Array:
    x = double(xp, a)
    half = math.sqrt(0.5)
    low, high = xp.minimum(x, -1.0), xp.maximum(x, -1.0)
    below = xp.log(erfcx_of(xp, -half * low) / 2) - low * low / 2
    above = xp.log1p(-xp.erfc(high * half) / 2)
    return narrow(xp.where(x < -1, below, xp.where(xp.isnan(x), x, above)), a)


@log_ndtr.budget("4 ULP, and above 0 a**2 ULP: roundings of a, squared")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    above = np.clip(np.nan_to_num(np.asarray(inputs[0], np.float64)), 0, 40)
    return [(4 + above**2) * ulp(expected[0], eps)]


def _between_0_and_1(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.unit(n) * make.scalar(0.998),))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.unit(*shape) * make.scalar(0.998),))
    yield Sample("special", (make.special(),))
    yield Sample("any size", (make.any_size(999),))
    yield Sample("large", (make.unit(LARGE) * make.scalar(0.998),))


@elementwise(
    "The number whose erf is a: infinite at -1 and 1, NaN beyond.",
    kind="standalone",
    budget=ULP_4,
    flops=200,
    samples=_between_0_and_1,
    benchmarks=mebi(uniform),
)
def erfinv(xp: Any, a: Array) -> Array:
    return narrow(erfinv_of(xp, double(xp, a)), a)


@elementwise(
    "The number below which the standard normal distribution has the probability a.",
    kind="standalone",
    budget=ULP_4,
    flops=200,
    samples=_between_0_and_1,
    benchmarks=mebi(uniform),
)
def ndtri(xp: Any, a: Array) -> Array:
    return narrow(ndtri_of(xp, double(xp, a)), a)
