# SPDX-License-Identifier: MIT
"""The activations that a matrix product may end with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.spec import Array


def none(xp: Any, x: Array) -> Array:
    return x


def relu(xp: Any, x: Array) -> Array:
    return xp.maximum(x, xp.zeros((), x.dtype))


def gelu(xp: Any, x: Array) -> Array:
    w = wide(xp, x)
    return narrow(0.5 * w * (1 + xp.erf(w / math.sqrt(2))), x)


def gelu_tanh(xp: Any, x: Array) -> Array:
    w = wide(xp, x)
    inner = math.sqrt(2 / math.pi) * (w + 0.044715 * w * w * w)
    return narrow(0.5 * w * (1 + xp.tanh(inner)), x)


def relu_in_primitives(k: Any, x: Array) -> Array:
    return k.maximum(x, k.constant(0, x))


def gelu_in_primitives(k: Any, x: Array) -> Array:
    bell = k.erf(k.mul(x, k.constant(math.sqrt(0.5), x)))
    return _half_of(k, x, bell)


def gelu_tanh_in_primitives(k: Any, x: Array) -> Array:
    cube = k.mul(k.mul(x, x), x)
    inner = k.add(x, k.mul(cube, k.constant(0.044715, x)))
    return _half_of(k, x, k.tanh(k.mul(inner, k.constant(math.sqrt(2 / math.pi), x))))


def _half_of(k: Any, x: Array, bell: Array) -> Array:
    """Return x / 2 * (1 + bell)."""
    half, one = k.constant(0.5, x), k.constant(1, x)
    return k.mul(k.mul(x, half), k.add(bell, one))


ACTIVATIONS: dict[str, Callable[[Any, Array], Array]] = {
    "none": none,
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}

#: The same over the namespace `k`; "none" needs nothing.
IN_PRIMITIVES: dict[str, Callable[[Any, Array], Array]] = {
    "relu": relu_in_primitives,
    "gelu": gelu_in_primitives,
    "gelu_tanh": gelu_tanh_in_primitives,
}
