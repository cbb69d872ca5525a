# SPDX-License-Identifier: MIT
"""The logistic function; the backward kernels of sigmoid and tanh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.activations._formulas import activation_backward
from autocalc._kernels.budgets import ulps
from autocalc._kernels.declare import elementwise
from autocalc._kernels.elementwise.arithmetic import (
    absolute_in_primitives,
    sub_in_primitives,
)
from autocalc._kernels.precision import narrow, sigmoid_of, wide, widest
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample


@elementwise(
    "sigmoid", "a", "1 / (1 + exp(-a))", kind="composite", budget=ulps(2), flops=15
)
def sigmoid(xp: Any, a: Array) -> Array:
    # In float64 alone the formula is off by 2.44 ULP where the budget is 2.
    return narrow(sigmoid_of(xp, widest(xp, a)), a)


@sigmoid.decomposition(lead="exp")
def sigmoid_in_primitives(k: Any, a: Array) -> Array:
    zero, one = k.constant(0, a), k.constant(1, a)
    decay = k.exp(k.neg(absolute_in_primitives(k, a)))
    return k.div(k.exp(k.minimum(a, zero)), k.add(one, decay))


def sigmoid_backward_samples(make: Make) -> Iterator[Sample]:
    return activation_backward(make, 0.0, 1.0)


@elementwise(
    "sigmoid_backward",
    "g y",
    "g * y * (1 - y) (y = sigmoid(a)).",
    kind="composite",
    budget=ulps(4),
    flops=3,
    samples=sigmoid_backward_samples,
)
def sigmoid_backward(xp: Any, g: Array, y: Array) -> Array:
    g_, y = wide(xp, g), wide(xp, y)
    return narrow(g_ * (y * (1 - y)), g)


@sigmoid_backward.decomposition(lead="mul")
def _(k: Any, g: Array, y: Array) -> Array:
    one = k.constant(1, y)
    return k.mul(g, k.mul(y, sub_in_primitives(k, one, y)))


def tanh_backward_samples(make: Make) -> Iterator[Sample]:
    return activation_backward(make, -1.0, 1.0)


@elementwise(
    "tanh_backward",
    "g y",
    "g * (1 - y) * (1 + y) (y = tanh(a)).",
    kind="composite",
    budget=ulps(4),
    flops=4,
    samples=tanh_backward_samples,
)
def tanh_backward(xp: Any, g: Array, y: Array) -> Array:
    g_, y = wide(xp, g), wide(xp, y)
    return narrow(g_ * ((1 - y) * (1 + y)), g)


@tanh_backward.decomposition(lead="mul")
def _(k: Any, g: Array, y: Array) -> Array:
    one = k.constant(1, y)
    product = k.mul(sub_in_primitives(k, one, y), k.add(one, y))
    return k.mul(g, product)
