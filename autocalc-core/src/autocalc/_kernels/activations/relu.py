# SPDX-License-Identifier: MIT
"""ReLU and its backward kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.activations._formulas import activation_backward
from autocalc._kernels.budgets import EXACT
from autocalc._kernels.declare import elementwise
from autocalc._kernels.rules import NUMBERS
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample


@elementwise("max(a, 0); NaN stays.", lead="maximum", dtypes=NUMBERS, budget=EXACT)
def relu(xp: Any, a: Array) -> Array:
    return xp.maximum(a, xp.zeros((), a.dtype))


def relu_backward_samples(make: Make) -> Iterator[Sample]:
    return activation_backward(make, 0.0, 4.0)


def relu_backward_formula(xp: Any, g: Array, y: Array) -> Array:
    return xp.where(y <= 0, xp.zeros((), g.dtype), g)


relu_backward = elementwise(
    "0 where y <= 0, else g (y = relu(a)).",
    "g y",
    name="relu_backward",
    lead="where",
    budget=EXACT,
    samples=relu_backward_samples,
)(relu_backward_formula)
