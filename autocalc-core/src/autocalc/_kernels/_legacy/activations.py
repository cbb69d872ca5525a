# SPDX-License-Identifier: MIT
"""Activations with a tail, and their backward kernels: silu, gelu, softplus.

Their backward kernels take the forward's input `a`.  Each sigmoid here is taken from
``decay = exp(-|a|)``, which cannot overflow and keeps the relative precision of both
tails: sigmoid(a) is 1 / (1 + decay) for a >= 0 and decay / (1 + decay) for a < 0, and
sigmoid(-a) is the other one.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels._legacy import _budgets_activations as budgets
from autocalc._kernels._legacy import _samples_activations as samples
from autocalc._kernels._legacy._activations import (
    gelu,
    gelu_in_primitives,
    gelu_tanh,
    gelu_tanh_in_primitives,
)
from autocalc._kernels._legacy._elementwise import elementwise
from autocalc._kernels._legacy.elementwise_composites import (
    absolute_in_primitives,
    sigmoid_in_primitives,
)
from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.spec import Array

#: 1 / sqrt(2 pi), the height of the normal density.
_PEAK = 1 / math.sqrt(2 * math.pi)
#: tanh in gelu is of ROOT * (a + CUBIC * a**3).
_ROOT = math.sqrt(2 / math.pi)
_CUBIC = 0.044715
#: Beyond |a| = 10 that tanh is 1 to within exp(-87), so that a**2 need not be larger:
#: without a bound a**2 is infinite for a = 1e20 and 0 * a**2 is NaN.
_LARGEST_SQUARE = 100.0


def _both_sigmoids(k: Any, a: Array) -> tuple[Array, Array]:
    """Return sigmoid(a) and sigmoid(-a), of one exponential."""
    zero, one = k.constant(0, a), k.constant(1, a)
    decay = k.exp(k.neg(absolute_in_primitives(k, a)))
    large = k.div(one, k.add(one, decay))
    small = k.mul(decay, large)
    negative = k.compare(a, zero, "lt")
    return k.where(negative, small, large), k.where(negative, large, small)


# ---- silu ----------------------------------------------------------------------------


def silu(xp: Any, a: Array) -> Array:
    w = wide(xp, a)
    return narrow(w * sigmoid_of(xp, w), a)


def silu_in_primitives(k: Any, a: Array) -> Array:
    return k.mul(a, sigmoid_in_primitives(k, a))


def silu_backward(xp: Any, g: Array, a: Array) -> Array:
    w = wide(xp, a)
    slope = 1 + w * sigmoid_of(xp, -w)
    return narrow(wide(xp, g) * (sigmoid_of(xp, w) * slope), g)


def silu_backward_in_primitives(k: Any, g: Array, a: Array) -> Array:
    s, other = _both_sigmoids(k, a)
    slope = k.add(k.constant(1, a), k.mul(a, other))
    return k.mul(g, k.mul(s, slope))


# ---- gelu ----------------------------------------------------------------------------


def gelu_of(xp: Any, a: Array, approximate: str) -> Array:
    return gelu(xp, a) if approximate == "none" else gelu_tanh(xp, a)


def gelu_of_in_primitives(k: Any, a: Array, approximate: str) -> Array:
    exact = approximate == "none"
    return gelu_in_primitives(k, a) if exact else gelu_tanh_in_primitives(k, a)


def gelu_backward(xp: Any, g: Array, a: Array, approximate: str) -> Array:
    w = wide(xp, a)
    slope = _gelu_slope(xp, w) if approximate == "none" else _gelu_tanh_slope(xp, w)
    return narrow(wide(xp, g) * slope, g)


def _gelu_slope(xp: Any, a: Array) -> Array:
    """Return the derivative of a * Phi(a): Phi(a) + a * phi(a)."""
    below = 0.5 * (1 + xp.erf(a / math.sqrt(2)))
    return below + a * (_PEAK * xp.exp(-0.5 * a * a))


def _gelu_tanh_slope(xp: Any, a: Array) -> Array:
    """Return the derivative of a * sigmoid(z), z = 2 ROOT * (a + CUBIC * a**3)."""
    square = xp.minimum(a * a, _LARGEST_SQUARE)
    z = 2 * _ROOT * a * (1 + _CUBIC * square)
    slope = 2 * _ROOT * (1 + 3 * _CUBIC * square)
    s = sigmoid_of(xp, z)
    return s + a * (s * sigmoid_of(xp, -z)) * slope


def gelu_backward_in_primitives(k: Any, g: Array, a: Array, approximate: str) -> Array:
    exact = approximate == "none"
    return k.mul(g, _gelu_slope_in(k, a) if exact else _gelu_tanh_slope_in(k, a))


def _gelu_slope_in(k: Any, a: Array) -> Array:
    half, one = k.constant(0.5, a), k.constant(1, a)
    bell = k.erf(k.mul(a, k.constant(math.sqrt(0.5), a)))
    below = k.mul(half, k.add(one, bell))
    density = k.exp(k.mul(k.mul(a, a), k.constant(-0.5, a)))
    return k.add(below, k.mul(a, k.mul(density, k.constant(_PEAK, a))))


def _gelu_tanh_slope_in(k: Any, a: Array) -> Array:
    square = k.minimum(k.mul(a, a), k.constant(_LARGEST_SQUARE, a))

    def one_plus(factor: float) -> Array:
        scaled = k.mul(square, k.constant(factor, a))
        return k.mul(k.add(scaled, k.constant(1, a)), k.constant(2 * _ROOT, a))

    s, other = _both_sigmoids(k, k.mul(a, one_plus(_CUBIC)))
    bump = k.mul(k.mul(a, k.mul(s, other)), one_plus(3 * _CUBIC))
    return k.add(s, bump)


# ---- softplus ------------------------------------------------------------------------


def softplus(xp: Any, a: Array, beta: float, threshold: float) -> Array:
    w = wide(xp, a)
    z = beta * w
    soft = (xp.maximum(z, 0) + xp.log1p(xp.exp(-xp.absolute(z)))) / beta
    return narrow(xp.where(z > threshold, w, soft), a)


def softplus_in_primitives(k: Any, a: Array, beta: float, threshold: float) -> Array:
    slope, zero = k.constant(beta, a), k.constant(0, a)
    z = k.mul(a, slope)
    decay = k.exp(k.neg(absolute_in_primitives(k, z)))
    soft = k.add(k.maximum(z, zero), _log1p(k, decay))
    above = k.compare(z, k.constant(threshold, a), "gt")
    return k.where(above, a, k.div(soft, slope))


def _log1p(k: Any, x: Array) -> Array:
    """Return log(1 + x) with the relative precision of `x`.

    u = 1 + x is rounded; log(u) / (u - 1) hardly changes by that, so that times `x` it
    is right, and `x` itself is where u is 1.
    """
    one = k.constant(1, x)
    u = k.add(one, x)
    off = k.add(u, k.neg(one))
    is_one = k.compare(u, one, "eq")
    safe = k.where(is_one, one, off)
    return k.where(is_one, x, k.mul(x, k.div(k.log(u), safe)))


def softplus_backward(
    xp: Any, g: Array, a: Array, beta: float, threshold: float
) -> Array:
    g_, z = wide(xp, g), beta * wide(xp, a)
    return narrow(xp.where(z > threshold, g_, g_ * sigmoid_of(xp, z)), g)


def softplus_backward_in_primitives(
    k: Any, g: Array, a: Array, beta: float, threshold: float
) -> Array:
    z = k.mul(a, k.constant(beta, a))
    above = k.compare(z, k.constant(threshold, a), "gt")
    return k.where(above, g, k.mul(g, sigmoid_in_primitives(k, z)))


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    elementwise(
        "silu",
        "a",
        "a * sigmoid(a)",
        silu,
        budget=budgets.silu,
        flops=16,
        decomposition=silu_in_primitives,
        lead="exp",
    ),
    elementwise(
        "silu_backward",
        "g a",
        "g * sigmoid(a) * (1 + a * sigmoid(-a)).",
        silu_backward,
        budget=budgets.silu_backward,
        flops=20,
        sample=samples.backward,
        decomposition=silu_backward_in_primitives,
        lead="exp",
    ),
    elementwise(
        "gelu",
        "a ; approximate:none,tanh",
        (
            "a / 2 * (1 + erf(a / sqrt(2))); tanh: a / 2 * (1 + tanh(sqrt(2 / pi) * "
            "(a + 0.044715 a**3)))."
        ),
        gelu_of,
        budget=budgets.gelu,
        flops=25,
        sample=samples.gelu,
        decomposition=gelu_of_in_primitives,
        lead="mul",
        defaults=("none",),
    ),
    elementwise(
        "gelu_backward",
        "g a ; approximate:none,tanh",
        "g times the derivative of gelu at a.",
        gelu_backward,
        budget=budgets.gelu_backward,
        flops=40,
        sample=samples.gelu_backward,
        decomposition=gelu_backward_in_primitives,
        lead="exp",
        defaults=("none",),
    ),
    elementwise(
        "softplus",
        "a ; beta:float threshold:float",
        "log(1 + exp(beta * a)) / beta; a itself where beta * a > threshold.",
        softplus,
        budget=budgets.softplus,
        flops=25,
        sample=samples.softplus,
        decomposition=softplus_in_primitives,
        lead="exp",
        defaults=(1.0, 20.0),
    ),
    elementwise(
        "softplus_backward",
        "g a ; beta:float threshold:float",
        "g * sigmoid(beta * a); g itself where beta * a > threshold.",
        softplus_backward,
        budget=budgets.softplus_backward,
        flops=16,
        sample=samples.softplus_backward,
        decomposition=softplus_backward_in_primitives,
        lead="exp",
        defaults=(1.0, 20.0),
    ),
)
