# SPDX-License-Identifier: MIT
"""Trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.cases import floats, mebi, positive, sized, uniform
from autocalc._kernels.declare import elementwise
from autocalc._kernels.elementwise.arithmetic import ULP_4
from autocalc._kernels.elementwise.exponential import ULP_2
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make
from autocalc._kernels.spec import Array, Sample


@elementwise("The sine of a radians.", budget=ULP_4, flops=15, complex=True)
def sin(xp: Any, a: Array) -> Array:
    return narrow(xp.sin(wide(xp, a)), a)


@elementwise("The cosine of a radians.", budget=ULP_4, flops=15, complex=True)
def cos(xp: Any, a: Array) -> Array:
    return narrow(xp.cos(wide(xp, a)), a)


@elementwise(
    "The tangent of a radians.", kind="standalone", budget=ULP_4, flops=20, complex=True
)
def tan(xp: Any, a: Array) -> Array:
    return narrow(xp.tan(wide(xp, a)), a)


@elementwise(
    "The angle in radians whose sine is a.",
    kind="standalone",
    budget=ULP_4,
    flops=20,
    benchmarks=mebi(uniform),
    complex=True,
)
def asin(xp: Any, a: Array) -> Array:
    return narrow(xp.arcsin(wide(xp, a)), a)


@elementwise(
    "The angle in radians whose cosine is a.",
    kind="standalone",
    budget=ULP_4,
    flops=20,
    benchmarks=mebi(uniform),
    complex=True,
)
def acos(xp: Any, a: Array) -> Array:
    return narrow(xp.arccos(wide(xp, a)), a)


@elementwise(
    "The angle in radians whose tangent is a.",
    kind="standalone",
    budget=ULP_4,
    flops=20,
    complex=True,
)
def atan(xp: Any, a: Array) -> Array:
    return narrow(xp.arctan(wide(xp, a)), a)


@elementwise(
    "The angle in radians of the point (b, a), from -pi to pi.",
    kind="standalone",
    budget=ULP_4,
    flops=25,
    benchmarks=mebi(floats, positive),
)
def atan2(xp: Any, a: Array, b: Array) -> Array:
    return narrow(xp.arctan2(wide(xp, a), wide(xp, b)), a)


@elementwise(
    "The hyperbolic sine of a.", kind="standalone", budget=ULP_4, flops=20, complex=True
)
def sinh(xp: Any, a: Array) -> Array:
    return narrow(xp.sinh(wide(xp, a)), a)


@elementwise(
    "The hyperbolic cosine of a.",
    kind="standalone",
    budget=ULP_4,
    flops=20,
    complex=True,
)
def cosh(xp: Any, a: Array) -> Array:
    return narrow(xp.cosh(wide(xp, a)), a)


@elementwise(
    "The hyperbolic tangent of a.",
    budget=ULP_2,
    flops=15,
    benchmarks=lambda: sized(floats),
    complex=True,
)
def tanh(xp: Any, a: Array) -> Array:
    return narrow(xp.tanh(wide(xp, a)), a)


@elementwise(
    "The number whose hyperbolic sine is a.",
    kind="standalone",
    budget=ULP_4,
    flops=25,
    complex=True,
)
def asinh(xp: Any, a: Array) -> Array:
    return narrow(xp.arcsinh(wide(xp, a)), a)


def _from_1(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.positive(n) + make.scalar(1),))
    for shape in SHAPES:
        x = np.asarray(make.positive(*shape) + make.scalar(1), make.dtype)
        yield Sample(f"shape={shape}", (x,))
    yield Sample("special", (make.special(),))
    yield Sample("any size", (make.any_size(2000),))
    yield Sample("near 1", (make.scalar(1) + make.unit(999) * make.scalar(1e-3),))
    yield Sample("large", (make.positive(LARGE) + make.scalar(1),))


@elementwise(
    "The number of 0 or more whose hyperbolic cosine is a; NaN below 1.",
    kind="standalone",
    budget=ULP_4,
    flops=25,
    samples=_from_1,
    benchmarks=mebi(positive),
    complex=True,
)
def acosh(xp: Any, a: Array) -> Array:
    return narrow(xp.arccosh(wide(xp, a)), a)


@elementwise(
    "The number whose hyperbolic tangent is a; NaN beyond -1 and 1.",
    kind="standalone",
    budget=ULP_4,
    flops=25,
    benchmarks=mebi(uniform),
    complex=True,
)
def atanh(xp: Any, a: Array) -> Array:
    return narrow(xp.arctanh(wide(xp, a)), a)


@elementwise(
    "sin(pi * a) / (pi * a), which is 1 at 0.",
    kind="standalone",
    budget=ULP_4,
    flops=20,
    complex=True,
)
def sinc(xp: Any, a: Array) -> Array:
    x = wide(xp, a)
    if a.dtype.kind == "c":
        turned = math.pi * xp.where(x == 0, 1, x)
        return narrow(xp.where(x == 0, 1, xp.sin(turned) / turned), a)
    whole = xp.round(x)
    sine = xp.sin(math.pi * (x - whole))
    sine = xp.where(xp.fmod(whole, 2) == 0, sine, -sine)
    return narrow(xp.where(x == 0, 1, sine / (math.pi * xp.where(x == 0, 1, x))), a)


@elementwise(
    "sqrt(a ** 2 + b ** 2), without intermediate overflow.",
    kind="standalone",
    budget=ULP_4,
    flops=6,
)
def hypot(xp: Any, a: Array, b: Array) -> Array:
    return narrow(xp.hypot(wide(xp, a), wide(xp, b)), a)
