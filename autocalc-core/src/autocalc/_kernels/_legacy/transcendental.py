# SPDX-License-Identifier: MIT
"""Exponentials, logarithms, angles and their kin beyond the primitives.

Standalone kernels: there is a reference and no decomposition, since one in exp and log
would lose the digits that these exist for (expm1, log1p) or the tails (erfc).
"""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy._elementwise import elementwise
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.spec import Array, Budget, KernelSpec

TWO = budgets.ulps(2)
FOUR = budgets.ulps(4)


def _of_one(
    name: str, function: str, doc: str, budget: Budget, flops: float
) -> KernelSpec:
    """Make the spec of a function that `xp` has: computed wide, rounded once."""

    def reference(xp: Any, a: Array) -> Array:
        return narrow(getattr(xp, function)(wide(xp, a)), a)

    return elementwise(
        name, "a", doc, reference, budget=budget, flops=flops, standalone=True
    )


def atan2(xp: Any, a: Array, b: Array) -> Array:
    return narrow(xp.arctan2(wide(xp, a), wide(xp, b)), a)


SPECS = (
    _of_one("exp2", "exp2", "2 ** a", TWO, 10),
    _of_one("expm1", "expm1", "e ** a - 1, precise near 0", TWO, 15),
    _of_one("log2", "log2", "The logarithm of a to base 2.", TWO, 10),
    _of_one("log10", "log10", "The logarithm of a to base 10.", TWO, 10),
    _of_one("log1p", "log1p", "log(1 + a), precise near 0.", TWO, 15),
    _of_one("tan", "tan", "The tangent of a radians.", FOUR, 20),
    _of_one("asin", "arcsin", "The angle in radians whose sine is a.", FOUR, 20),
    _of_one("acos", "arccos", "The angle in radians whose cosine is a.", FOUR, 20),
    _of_one("atan", "arctan", "The angle in radians whose tangent is a.", FOUR, 20),
    _of_one("sinh", "sinh", "The hyperbolic sine of a.", FOUR, 20),
    _of_one("cosh", "cosh", "The hyperbolic cosine of a.", FOUR, 20),
    _of_one("erfc", "erfc", "1 - erf(a), precise in its tail.", FOUR, 25),
    elementwise(
        "atan2",
        "a b",
        "The angle in radians of the point (b, a), from -pi to pi.",
        atan2,
        budget=FOUR,
        flops=25,
        standalone=True,
    ),
)
