# SPDX-License-Identifier: MIT
"""The activations that a matrix product may end with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._kernels._spec import Array
from autocalc._kernels._wide import narrow, wide


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


ACTIVATIONS: dict[str, Callable[[Any, Array], Array]] = {
    "none": none,
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}
