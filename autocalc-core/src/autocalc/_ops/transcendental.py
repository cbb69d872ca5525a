# SPDX-License-Identifier: MIT
"""Exponentials, logarithms, trigonometric and hyperbolic functions: y_i = f(x_i)."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._op import binary, unary

# ---- exponentials and logarithms -----------------------------------------------------

exp2 = unary("exp2", "2^x", saves="out")


@exp2.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.mul(n.saved[0], k.constant(math.log(2), g)))


expm1 = unary("expm1", "e^x - 1, precise near 0", saves="out")


@expm1.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.add(n.saved[0], k.constant(1, g)))


log2 = unary("log2", "the logarithm to base 2", saves="a")


@log2.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, k.mul(n.saved[0], k.constant(math.log(2), g)))


log10 = unary("log10", "the logarithm to base 10", saves="a")


@log10.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, k.mul(n.saved[0], k.constant(math.log(10), g)))


log1p = unary("log1p", "log(1 + x), precise near 0", saves="a")


@log1p.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, k.add(n.saved[0], k.constant(1, g)))


erfc = unary("erfc", "1 - erf(x), precise in the tail", saves="a")


@erfc.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    slope = k.mul(k.exp(k.neg(k.mul(a, a))), k.constant(-2 / math.sqrt(math.pi), g))
    return k.mul(g, slope)


# ---- angles --------------------------------------------------------------------------

tan = unary("tan", "the tangent", saves="out")


@tan.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (y,) = n.saved
    return k.mul(g, k.add(k.mul(y, y), k.constant(1, g)))


asin = unary("asin", "the angle whose sine is x", saves="a")


@asin.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, _over_the_leg(k, n.saved[0]))


acos = unary("acos", "the angle whose cosine is x", saves="a")


@acos.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.neg(k.mul(g, _over_the_leg(k, n.saved[0])))


def _over_the_leg(k: Any, a: Any) -> Any:
    """Return 1 / sqrt(1 - a^2)."""
    return k.rsqrt(k.sub(k.constant(1, a), k.mul(a, a)))


atan = unary("atan", "the angle whose tangent is x", saves="a")


@atan.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    return k.div(g, k.add(k.mul(a, a), k.constant(1, g)))


atan2 = binary(
    "atan2",
    "the angle of the point (y, x) = (`other`, `input`)",
    saves="a b",
    floats=True,
)


@atan2.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Of the point (b, a): da = g b / r^2, db = -g a / r^2, and 0 at the origin."""
    a, b = n.saved
    square = k.add(k.mul(a, a), k.mul(b, b))
    zero = k.constant(0, g)
    origin = k.compare(square, zero, "eq")
    part = k.div(g, k.where(origin, k.constant(1, g), square))
    part = k.where(origin, zero, part)
    return (
        k.sum_to(k.mul(part, b), n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.neg(k.mul(part, a)), n.shapes[1]) if n.needs(1) else None,
    )


# ---- hyperbolic ----------------------------------------------------------------------

sinh = unary("sinh", "the hyperbolic sine", saves="a")


@sinh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.cosh(n.saved[0]))


cosh = unary("cosh", "the hyperbolic cosine", saves="a")


@cosh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.sinh(n.saved[0]))
