# SPDX-License-Identifier: MIT
"""The logistic function; the backward kernels of sigmoid and tanh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.activations._formulas import activation_backward
from autocalc._kernels.budgets import ulps
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, sigmoid_of, wide, widest
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample


@elementwise(
    "1 / (1 + exp(-a))",
    lead="exp",
    budget=ulps(2),
    flops=15,
    flushes=("out",),
    complex=True,
)
def sigmoid(xp: Any, a: Array) -> Array:
    # In float64, the error of the formula is 2.44 ULP, but the budget is 2.
    return narrow(sigmoid_of(xp, widest(xp, a)), a)


def sigmoid_backward_samples(make: Make) -> Iterator[Sample]:
    return activation_backward(make, 0.0, 1.0)


@elementwise(
    "g * y * (1 - y) (y = sigmoid(a)).",
    lead="mul",
    budget=ulps(4),
    flops=3,
    samples=sigmoid_backward_samples,
    complex=True,
)
def sigmoid_backward(xp: Any, g: Array, y: Array) -> Array:
    g_, y = wide(xp, g), wide(xp, y)
    return narrow(g_ * (y * (1 - y)), g)


def tanh_backward_samples(make: Make) -> Iterator[Sample]:
    return activation_backward(make, -1.0, 1.0)


@elementwise(
    "g * (1 - y) * (1 + y) (y = tanh(a)).",
    lead="mul",
    budget=ulps(4),
    flops=4,
    samples=tanh_backward_samples,
    complex=True,
)
def tanh_backward(xp: Any, g: Array, y: Array) -> Array:
    g_, y = wide(xp, g), wide(xp, y)
    return narrow(g_ * ((1 - y) * (1 + y)), g)
