# SPDX-License-Identifier: MIT
"""Angles and hyperbolic functions."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.cases import floats, mebi, positive, sized, uniform
from autocalc._kernels.declare import elementwise
from autocalc._kernels.elementwise.arithmetic import FOUR
from autocalc._kernels.elementwise.exponential import TWO
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.spec import Array


@elementwise("sin", "a", "The sine of a radians.", budget=FOUR, flops=15)
def sin(xp: Any, a: Array) -> Array:
    return narrow(xp.sin(wide(xp, a)), a)


@elementwise("cos", "a", "The cosine of a radians.", budget=FOUR, flops=15)
def cos(xp: Any, a: Array) -> Array:
    return narrow(xp.cos(wide(xp, a)), a)


@elementwise(
    "tan", "a", "The tangent of a radians.", kind="standalone", budget=FOUR, flops=20
)
def tan(xp: Any, a: Array) -> Array:
    return narrow(xp.tan(wide(xp, a)), a)


@elementwise(
    "asin",
    "a",
    "The angle in radians whose sine is a.",
    kind="standalone",
    budget=FOUR,
    flops=20,
    benchmarks=mebi(uniform),
)
def asin(xp: Any, a: Array) -> Array:
    return narrow(xp.arcsin(wide(xp, a)), a)


@elementwise(
    "acos",
    "a",
    "The angle in radians whose cosine is a.",
    kind="standalone",
    budget=FOUR,
    flops=20,
    benchmarks=mebi(uniform),
)
def acos(xp: Any, a: Array) -> Array:
    return narrow(xp.arccos(wide(xp, a)), a)


@elementwise(
    "atan",
    "a",
    "The angle in radians whose tangent is a.",
    kind="standalone",
    budget=FOUR,
    flops=20,
)
def atan(xp: Any, a: Array) -> Array:
    return narrow(xp.arctan(wide(xp, a)), a)


@elementwise(
    "atan2",
    "a b",
    "The angle in radians of the point (b, a), from -pi to pi.",
    kind="standalone",
    budget=FOUR,
    flops=25,
    benchmarks=mebi(floats, positive),
)
def atan2(xp: Any, a: Array, b: Array) -> Array:
    return narrow(xp.arctan2(wide(xp, a), wide(xp, b)), a)


@elementwise(
    "sinh", "a", "The hyperbolic sine of a.", kind="standalone", budget=FOUR, flops=20
)
def sinh(xp: Any, a: Array) -> Array:
    return narrow(xp.sinh(wide(xp, a)), a)


@elementwise(
    "cosh", "a", "The hyperbolic cosine of a.", kind="standalone", budget=FOUR, flops=20
)
def cosh(xp: Any, a: Array) -> Array:
    return narrow(xp.cosh(wide(xp, a)), a)


@elementwise(
    "tanh",
    "a",
    "The hyperbolic tangent of a.",
    budget=TWO,
    flops=15,
    benchmarks=lambda: sized(floats),
)
def tanh(xp: Any, a: Array) -> Array:
    return narrow(xp.tanh(wide(xp, a)), a)
