# SPDX-License-Identifier: MIT
"""Error budgets of functions whose roots or tails are sensitive to rounding."""

from __future__ import annotations

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, budget, magnitude, ulp
from autocalc._kernels.spec import Attributes


@budget("8 ULP + 8 eps")
def WITH_ROOTS(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    return [8 * ulp(expected[0], eps) + 8 * eps]


@budget("(32 + 4 |log(out)|) ULP")
def WITH_TAILS(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    size = magnitude(expected[0])
    depth = np.abs(np.log(np.where(size > 0, size, 1)))
    return [(32 + 4 * depth) * ulp(expected[0], eps)]
