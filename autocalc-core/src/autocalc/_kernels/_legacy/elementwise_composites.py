# SPDX-License-Identifier: MIT
"""Elementwise composites: the reference, and the same in primitives, side by side."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels._legacy._activations import relu_in_primitives
from autocalc._kernels._legacy._elementwise import elementwise
from autocalc._kernels.precision import narrow, sigmoid_of, wide, widest
from autocalc._kernels.rules import NUMBERS
from autocalc._kernels.spec import Array


def sub(xp: Any, a: Array, b: Array) -> Array:
    return xp.subtract(a, b)


def sub_in_primitives(k: Any, a: Array, b: Array) -> Array:
    return k.add(a, k.neg(b))


def sqrt(xp: Any, a: Array) -> Array:
    return xp.sqrt(a)


def sqrt_in_primitives(k: Any, a: Array) -> Array:
    zero, half, nan = (k.constant(c, a) for c in (0.0, 0.5, math.nan))
    return k.where(k.compare(a, zero, "lt"), nan, k.pow(a, half))


def rsqrt(xp: Any, a: Array) -> Array:
    return narrow(1 / xp.sqrt(wide(xp, a)), a)


def rsqrt_in_primitives(k: Any, a: Array) -> Array:
    zero, one, half, nan = (k.constant(c, a) for c in (0.0, 1.0, -0.5, math.nan))
    root = k.where(k.compare(a, zero, "lt"), nan, k.pow(a, half))
    return k.where(k.compare(a, zero, "eq"), k.div(one, a), root)  # of -0: -inf


def absolute(xp: Any, a: Array) -> Array:
    return xp.absolute(a)


def absolute_in_primitives(k: Any, a: Array) -> Array:
    if k.dtype(a).kind == "u":
        return k.copy(a)
    return k.add(k.maximum(a, k.neg(a)), k.constant(0, a))  # |-0| is 0


def relu(xp: Any, a: Array) -> Array:
    return xp.maximum(a, xp.zeros((), a.dtype))


def sigmoid(xp: Any, a: Array) -> Array:
    # In float64 alone the formula is off by 2.44 ULP where the budget is 2.
    return narrow(sigmoid_of(xp, widest(xp, a)), a)


def sigmoid_in_primitives(k: Any, a: Array) -> Array:
    zero, one = k.constant(0, a), k.constant(1, a)
    decay = k.exp(k.neg(absolute_in_primitives(k, a)))
    return k.div(k.exp(k.minimum(a, zero)), k.add(one, decay))


def clamp(xp: Any, a: Array, low: Array | None, high: Array | None) -> Array:
    a = a if low is None else xp.maximum(a, low)
    return a if high is None else xp.minimum(a, high)


def clamp_in_primitives(
    k: Any, a: Array, low: Array | None, high: Array | None
) -> Array:
    if low is None and high is None:
        return k.copy(a)
    a = a if low is None else k.maximum(a, low)
    return a if high is None else k.minimum(a, high)


def relu_backward(xp: Any, g: Array, y: Array) -> Array:
    return xp.where(y <= 0, xp.zeros((), g.dtype), g)


def relu_backward_in_primitives(k: Any, g: Array, y: Array) -> Array:
    zero = k.constant(0, g)
    return k.where(k.compare(y, zero, "le"), zero, g)


def sigmoid_backward(xp: Any, g: Array, y: Array) -> Array:
    g_, y = wide(xp, g), wide(xp, y)
    return narrow(g_ * (y * (1 - y)), g)


def sigmoid_backward_in_primitives(k: Any, g: Array, y: Array) -> Array:
    one = k.constant(1, y)
    return k.mul(g, k.mul(y, sub_in_primitives(k, one, y)))


def tanh_backward(xp: Any, g: Array, y: Array) -> Array:
    g_, y = wide(xp, g), wide(xp, y)
    return narrow(g_ * ((1 - y) * (1 + y)), g)


def tanh_backward_in_primitives(k: Any, g: Array, y: Array) -> Array:
    one = k.constant(1, y)
    product = k.mul(sub_in_primitives(k, one, y), k.add(one, y))
    return k.mul(g, product)


SPECS = (
    elementwise(
        "sub",
        "a b",
        "a - b",
        sub,
        dtypes=NUMBERS,
        decomposition=sub_in_primitives,
        lead="add",
    ),
    elementwise(
        "sqrt",
        "a",
        "The square root of a; NaN if a < 0.",
        sqrt,
        decomposition=sqrt_in_primitives,
        lead="pow",
    ),
    elementwise(
        "rsqrt",
        "a",
        "1 / sqrt(a); NaN if a < 0.",
        rsqrt,
        budget=budgets.ulps(2),
        flops=2,
        decomposition=rsqrt_in_primitives,
        lead="pow",
    ),
    elementwise(
        "abs",
        "a",
        "|a|",
        absolute,
        dtypes=NUMBERS,
        budget=budgets.EXACT,
        decomposition=absolute_in_primitives,
        lead="maximum",
    ),
    elementwise(
        "relu",
        "a",
        "max(a, 0); NaN stays.",
        relu,
        dtypes=NUMBERS,
        budget=budgets.EXACT,
        decomposition=relu_in_primitives,
        lead="maximum",
    ),
    elementwise(
        "sigmoid",
        "a",
        "1 / (1 + exp(-a))",
        sigmoid,
        budget=budgets.ulps(2),
        flops=15,
        decomposition=sigmoid_in_primitives,
        lead="exp",
    ),
    elementwise(
        "clamp",
        "a low? high?",
        "min(max(a, low), high); NaN stays.",
        clamp,
        dtypes=NUMBERS,
        budget=budgets.EXACT,
        flops=2,
        sample=samples.clamp,
        decomposition=clamp_in_primitives,
        lead="minimum",
    ),
    elementwise(
        "relu_backward",
        "g y",
        "0 where y <= 0, else g (y = relu(a)).",
        relu_backward,
        budget=budgets.EXACT,
        sample=samples.relu_backward,
        decomposition=relu_backward_in_primitives,
        lead="where",
    ),
    elementwise(
        "sigmoid_backward",
        "g y",
        "g * y * (1 - y) (y = sigmoid(a)).",
        sigmoid_backward,
        budget=budgets.ulps(4),
        flops=3,
        sample=samples.sigmoid_backward,
        decomposition=sigmoid_backward_in_primitives,
        lead="mul",
    ),
    elementwise(
        "tanh_backward",
        "g y",
        "g * (1 - y) * (1 + y) (y = tanh(a)).",
        tanh_backward,
        budget=budgets.ulps(4),
        flops=4,
        sample=samples.tanh_backward,
        decomposition=tanh_backward_in_primitives,
        lead="mul",
    ),
)
