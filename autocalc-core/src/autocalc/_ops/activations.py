# SPDX-License-Identifier: MIT
"""Activations with a tail: silu, gelu, softplus.

Each backward kernel g * f'(a) is an operator too, so that second derivatives are the
formula g * f''(a) and not what its decomposition, with its kinks at 0, would give.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._op import binary, nary, unary


def _both_sigmoids(k: Any, a: Any) -> tuple[Any, Any]:
    return k.sigmoid(a), k.sigmoid(k.neg(a))


# ---- silu ----------------------------------------------------------------------------

silu = unary("silu", "x / (1 + e^-x)", saves="a")


@silu.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.silu_backward(g, n.saved[0])


silu_backward = binary(
    "silu_backward", "x times the derivative of silu at y", saves="g:a a"
)


@silu_backward.vjp
def _(k: Any, n: Any, h: Any) -> Any:
    """With s = sigmoid(a), q = sigmoid(-a): f'' = s q (2 + a (q - s))."""
    g, a = n.saved
    da = None
    if n.needs(1):
        s, q = _both_sigmoids(k, a)
        second_derivative = k.add(k.mul(a, k.sub(q, s)), k.constant(2, a))
        da = k.mul(k.mul(h, g), k.mul(k.mul(s, q), second_derivative))
    return k.silu_backward(h, a) if n.needs(0) else None, da


# ---- gelu ----------------------------------------------------------------------------

gelu = nary("gelu", saves="a")


@gelu.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.gelu_backward(g, n.saved[0], *n.attributes)


gelu_backward = nary("gelu_backward", saves="g:a a")


@gelu_backward.vjp
def _(k: Any, n: Any, h: Any) -> Any:
    g, a = n.saved
    (approximate,) = n.attributes
    da = None
    if n.needs(1):
        exact = approximate == "none"
        second_derivative = (
            _gelu_second_derivative(k, a)
            if exact
            else _gelu_tanh_second_derivative(k, a)
        )
        da = k.mul(k.mul(h, g), second_derivative)
    return k.gelu_backward(h, a, approximate) if n.needs(0) else None, da


def _gelu_second_derivative(k: Any, a: Any) -> Any:
    """Return f'' = phi(a) (2 - a^2), phi the normal density."""
    square = k.mul(a, a)
    density = k.exp(k.mul(square, k.constant(-0.5, a)))
    peak = k.constant(1 / math.sqrt(2 * math.pi), a)
    return k.mul(k.mul(density, peak), k.sub(k.constant(2, a), square))


def _gelu_tanh_second_derivative(k: Any, a: Any) -> Any:
    """Return f'' = s q (2 z' + a (z'^2 (q - s) + z'')), of f = a sigmoid(z).

    s = sigmoid(z), q = sigmoid(-z), z = c (a + 0.044715 a^3), c = 2 sqrt(2 / pi).
    Beyond |a| = 10, where s q < exp(-87), a^2 is limited lest 0 * infinity be NaN.
    """
    c, cubic = 2 * math.sqrt(2 / math.pi), 0.044715
    square = k.minimum(k.mul(a, a), k.constant(100, a))

    def times(x: Any, factor: float) -> Any:
        return k.mul(x, k.constant(factor, a))

    z = k.mul(a, k.add(times(square, c * cubic), k.constant(c, a)))
    slope = k.add(times(square, 3 * c * cubic), k.constant(c, a))
    s, q = _both_sigmoids(k, z)
    curved = k.add(k.mul(k.mul(slope, slope), k.sub(q, s)), times(a, 6 * c * cubic))
    return k.mul(k.mul(s, q), k.add(times(slope, 2), k.mul(a, curved)))


# ---- softplus ------------------------------------------------------------------------

softplus = nary("softplus", saves="a")


@softplus.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.softplus_backward(g, n.saved[0], *n.attributes)


softplus_backward = nary("softplus_backward", saves="g:a a")


@softplus_backward.vjp
def _(k: Any, n: Any, h: Any) -> Any:
    """f'' = beta sigmoid(beta a) sigmoid(-beta a), and 0 above the threshold."""
    g, a = n.saved
    beta, threshold = n.attributes
    da = None
    if n.needs(1):
        z = k.mul(a, k.constant(beta, a))
        s, q = _both_sigmoids(k, z)
        second_derivative = k.mul(k.mul(s, q), k.constant(beta, a))
        above = k.compare(z, k.constant(threshold, a), "gt")
        second_derivative = k.where(above, k.constant(0, a), second_derivative)
        da = k.mul(k.mul(h, g), second_derivative)
    dg = k.softplus_backward(h, a, beta, threshold) if n.needs(0) else None
    return dg, da
