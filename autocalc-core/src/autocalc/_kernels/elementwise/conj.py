# SPDX-License-Identifier: MIT
"""The conjugates of complex numbers."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.declare import elementwise
from autocalc._kernels.spec import Array


@elementwise(
    "The conjugate of a: a itself if it is real.",
    kind="standalone",
    budget=EXACT,
    complex=True,
)
def conj(xp: Any, a: Array) -> Array:
    return xp.conjugate(a)
