# SPDX-License-Identifier: MIT
"""Exponentials, logarithms, roots and the error function."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, budget, ulp, ulps
from autocalc._kernels.cases import floats, mebi, positive, sized
from autocalc._kernels.declare import elementwise
from autocalc._kernels.elementwise.arithmetic import ULP_4
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.spec import Array, Attributes

ULP_2 = ulps(2)


@elementwise(
    "e ** a", budget=ULP_2, flops=10, benchmarks=lambda: sized(floats), complex=True
)
def exp(xp: Any, a: Array) -> Array:
    return narrow(xp.exp(wide(xp, a)), a)


@elementwise("2 ** a", kind="standalone", budget=ULP_2, flops=10, complex=True)
def exp2(xp: Any, a: Array) -> Array:
    if a.dtype.kind == "c":
        return narrow(xp.exp(math.log(2) * wide(xp, a)), a)
    return narrow(xp.exp2(wide(xp, a)), a)


@elementwise(
    "e ** a - 1, precise near 0",
    kind="standalone",
    budget=ULP_2,
    flops=15,
    complex=True,
)
def expm1(xp: Any, a: Array) -> Array:
    return narrow(xp.expm1(wide(xp, a)), a)


@elementwise(
    "The natural logarithm of a.",
    budget=ULP_2,
    flops=10,
    benchmarks=mebi(positive),
    complex=True,
)
def log(xp: Any, a: Array) -> Array:
    return narrow(xp.log(wide(xp, a)), a)


@elementwise(
    "The logarithm of a to base 2.",
    kind="standalone",
    budget=ULP_2,
    flops=10,
    benchmarks=mebi(positive),
    complex=True,
)
def log2(xp: Any, a: Array) -> Array:
    return narrow(xp.log2(wide(xp, a)), a)


@elementwise(
    "The logarithm of a to base 10.",
    kind="standalone",
    budget=ULP_2,
    flops=10,
    benchmarks=mebi(positive),
    complex=True,
)
def log10(xp: Any, a: Array) -> Array:
    return narrow(xp.log10(wide(xp, a)), a)


@elementwise(
    "log(1 + a), precise near 0.",
    kind="standalone",
    budget=ULP_2,
    flops=15,
    benchmarks=mebi(positive),
    complex=True,
)
def log1p(xp: Any, a: Array) -> Array:
    return narrow(xp.log1p(wide(xp, a)), a)


@elementwise(
    "The square root of a; NaN if a < 0.",
    kind="composite",
    benchmarks=mebi(positive),
    complex=True,
)
def sqrt(xp: Any, a: Array) -> Array:
    return xp.sqrt(a)


@sqrt.decomposition(lead="pow")
def _(k: Any, a: Array) -> Array:
    zero, half, nan = (k.constant(c, a) for c in (0.0, 0.5, math.nan))
    return k.where(k.compare(a, zero, "lt"), nan, k.pow(a, half))


@elementwise(
    "1 / sqrt(a); NaN if a < 0.",
    kind="composite",
    budget=ulps(2),
    flops=2,
    benchmarks=mebi(positive),
    complex=True,
)
def rsqrt(xp: Any, a: Array) -> Array:
    return narrow(1 / xp.sqrt(wide(xp, a)), a)


@rsqrt.decomposition(lead="pow")
def _(k: Any, a: Array) -> Array:
    zero, one, half, nan = (k.constant(c, a) for c in (0.0, 1.0, -0.5, math.nan))
    root = k.where(k.compare(a, zero, "lt"), nan, k.pow(a, half))
    return k.where(k.compare(a, zero, "eq"), k.div(one, a), root)  # -inf for -0


@elementwise("The error function of a.", budget=ULP_4, flops=20)
def erf(xp: Any, a: Array) -> Array:
    return narrow(xp.erf(wide(xp, a)), a)


@elementwise(
    "1 - erf(a), precise in its tail.", kind="standalone", budget=ULP_4, flops=25
)
def erfc(xp: Any, a: Array) -> Array:
    return narrow(xp.erfc(wide(xp, a)), a)


@budget("4 ULP + 2 eps")
def _WITH_ROOT(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    return [4 * ulp(expected[0], eps) + 2 * eps]


@elementwise(
    "log(e ** a + e ** b), without overflow.",
    kind="standalone",
    budget=_WITH_ROOT,
    flops=30,
)
def logaddexp(xp: Any, a: Array, b: Array) -> Array:
    return narrow(xp.logaddexp(wide(xp, a), wide(xp, b)), a)


@elementwise(
    "log2(2 ** a + 2 ** b), without overflow.",
    kind="standalone",
    budget=_WITH_ROOT,
    flops=30,
)
def logaddexp2(xp: Any, a: Array, b: Array) -> Array:
    return narrow(xp.logaddexp2(wide(xp, a), wide(xp, b)), a)


@elementwise(
    "a * log(b), which is 0 where a is 0 (and NaN where b is).",
    kind="standalone",
    budget=ULP_4,
    flops=12,
    benchmarks=mebi(floats, positive),
)
def xlogy(xp: Any, a: Array, b: Array) -> Array:
    x, y = wide(xp, a), wide(xp, b)
    product = x * xp.log(xp.where(x == 0, 1, y))
    return narrow(xp.where(xp.isnan(y), y, product), a)


@elementwise(
    "a * log(1 + b), which is 0 where a is 0 (and NaN where b is).",
    kind="standalone",
    budget=ULP_4,
    flops=15,
    benchmarks=mebi(floats, positive),
)
def xlog1py(xp: Any, a: Array, b: Array) -> Array:
    x, y = wide(xp, a), wide(xp, b)
    product = x * xp.log1p(xp.where(x == 0, 0, y))
    return narrow(xp.where(xp.isnan(y), y, product), a)
