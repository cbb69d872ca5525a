# SPDX-License-Identifier: MIT
"""Error budgets: the largest allowed difference of a kernel from the float64 oracle.

Each budget is an error bound that follows from the computation of the value, times a
small constant.  It is therefore neither too loose for large values nor too tight for
small values. `eps` is the spacing of the kernel's dtype at 1 (2**-23 for float32).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels.spec import Array, Attributes, Budget

#: Half a unit, plus a margin for the oracle's rounding (2**-11 ULP in long double).
ROUNDING = 0.501

Inputs: TypeAlias = Sequence[Any]
#: The allowed absolute errors of each output: an array or a number.
Limits: TypeAlias = Sequence[Any]
Tolerance = Callable[[Inputs, Attributes, Inputs, float], Limits]


def ulp(value: Array, eps: float) -> Array:
    """Return the spacing of the kernel's dtype at `value` (float64)."""
    dtype = np.float32 if eps > 1e-10 else np.float64
    with np.errstate(over="ignore", invalid="ignore"):
        spacing = np.spacing(np.abs(np.asarray(value).astype(dtype)))
    return np.where(np.isfinite(spacing), spacing, 0).astype(np.float64)


def smallest(eps: float) -> float:
    """Return the smallest normal number of the kernel's dtype."""
    return float(np.finfo(np.float32 if eps > 1e-10 else np.float64).tiny)


def magnitude(a: Array) -> Array:
    """Return ``|a|``, or 0 where it is not finite; these are compared separately."""
    a = np.asarray(a, dtype=np.float64)
    return np.where(np.isfinite(a), np.abs(a), 0.0)


def log2(n: int) -> float:
    """Return the depth of a pairwise sum of `n` terms, at least 1."""
    return float(np.log2(max(n, 2)))


def budget(text: str) -> Callable[[Tolerance], Budget]:
    """Make a budget from a tolerance function."""
    return lambda tolerance: Budget(text, tolerance)


def ulps(n: float) -> Budget:
    """Allow `n` units in the last place, on every output."""

    @budget(f"{n:g} ULP")
    def result(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
        return [None if e is None else n * ulp(e, eps) for e in expected]

    return result


@budget("exact")
def EXACT(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    return [0.0] * len(expected)


@budget("correctly rounded")
def ROUNDED(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    return [None if e is None else ROUNDING * ulp(e, eps) for e in expected]
