# SPDX-License-Identifier: MIT
"""The floating-point numbers next to others."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.budgets import ulps
from autocalc._kernels.declare import elementwise
from autocalc._kernels.spec import Array


@elementwise(
    "nextafter",
    "a b",
    "The number of a's dtype next to a, towards b.",
    kind="standalone",
    budget=ulps(1),  # the oracle's neighbour is nearer than a dtype's own
    flops=4,
)
def nextafter(xp: Any, a: Array, b: Array) -> Array:
    return xp.nextafter(a, b)
