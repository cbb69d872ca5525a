# SPDX-License-Identifier: MIT
"""Error budgets of kernels that have not yet moved to their family's folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels.budgets import *  # noqa: F403
from autocalc._kernels.budgets import Inputs, Tolerance, budget, log2, magnitude, ulp
from autocalc._kernels.spec import Array, Attributes, Budget


@budget("eps * (|y| + |alpha * x|)")
def axpy(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    y, alpha, x = map(magnitude, inputs)
    return [eps * (y + alpha * x) + ulp(expected[0], eps)]


# ---- reductions ----------------------------------------------------------------------


def _count(a: Array, axes: tuple[int, ...]) -> int:
    return int(np.prod([np.shape(a)[axis] for axis in axes], dtype=np.int64))


@budget("log2(n) * eps * sum(|a|)")
def sum_(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    axes, keepdim = attributes[:2]
    total = magnitude(inputs[0]).sum(axis=axes, keepdims=keepdim)
    return [eps * log2(_count(inputs[0], axes)) * total + ulp(expected[0], eps)]


@budget("log2(n) * eps * mean(|a|)")
def mean(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    n = max(_count(inputs[0], attributes[0]), 1)
    (tolerance,) = sum_.tolerance(inputs, attributes, expected, eps)
    return [tolerance / n + ulp(expected[0], eps)]


@budget("2 (log2(n) + 4) * eps * var, and the square of the mean's error")
def var(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    n = _count(inputs[0], attributes[0])
    out, center = expected
    expected_mean = out if center is None else center
    (shift,) = mean.tolerance(inputs, attributes, [expected_mean], eps)
    ratio = n / max(n - attributes[2], 1)
    spread = 2 * (log2(n) + 4) * eps * magnitude(out)
    return [spread + ratio * shift**2 + ulp(out, eps), shift]


@budget("eps * (2 |out| + |max(a)| + log2(n) + 4)")
def logsumexp(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    axes, keepdim = attributes[:2]
    largest = magnitude(inputs[0]).max(axis=axes, keepdims=keepdim, initial=0)
    steps = log2(_count(inputs[0], axes)) + 4
    return [eps * (2 * magnitude(expected[0]) + largest + steps)]


# ---- softmax -------------------------------------------------------------------------


def _below_max(a: Array, axis: int) -> Array:
    """Return max(a) - a along `axis`, 0 where it is not finite."""
    a = np.asarray(a, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return magnitude(a.max(axis=axis, keepdims=True, initial=-np.inf) - a)


@budget("eps * out * (log2(n) + 6 + max(a) - a)")
def softmax(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    a, out = inputs[0], expected[0]
    steps = log2(a.shape[attributes[0]]) + 6 + _below_max(a, attributes[0])
    return [eps * (magnitude(out) * steps) + ulp(out, eps)]


@budget("eps * (log2(n) + 4 + max(a) - a + |out|)")
def log_softmax(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    a, out = inputs[0], expected[0]
    steps = log2(a.shape[attributes[0]]) + 4 + _below_max(a, attributes[0])
    return [eps * (steps + magnitude(out))]


@budget("2 eps * |y| * (|g| + (log2(n) + 2) * sum(|g * y|))")
def softmax_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, y = map(magnitude, inputs)
    (axis,) = attributes
    total = (log2(g.shape[axis]) + 2) * (g * y).sum(axis=axis, keepdims=True)
    return [2 * eps * (y * (g + total)) + ulp(expected[0], eps)]


@budget("2 eps * (|g| + exp(y) * (log2(n) + 3 + |y|) * sum(|g|))")
def log_softmax_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, (axis,) = magnitude(inputs[0]), attributes
    y = np.minimum(inputs[1], 0.0)
    steps = log2(g.shape[axis]) + 3 + magnitude(y)
    total = np.exp(y) * steps * g.sum(axis=axis, keepdims=True)
    return [2 * eps * (g + total)]


# ---- matrix products -----------------------------------------------------------------

#: The steepest slope of each activation.
_SLOPE = {"none": 1.0, "relu": 1.0, "gelu": 1.13, "gelu_tanh": 1.13}


def _product(a: Array, b: Array, eps: float) -> Array:
    """Return the componentwise bound (K + 2) * eps * (|A| |B|)."""
    return (a.shape[-1] + 2) * eps * np.matmul(magnitude(a), magnitude(b))


def _activated(before: Array, pre: Array, activation: str, eps: float) -> Array:
    """Carry the error `before` the activation through it."""
    own = 4 * eps * magnitude(pre) if activation.startswith("gelu") else 0.0
    return _SLOPE[activation] * before + own


def _affine(
    product: Array, bias: Array | None, expected: Inputs, activation: str, eps: float
) -> Sequence[Any]:
    out, pre = expected
    before = product + (0.0 if bias is None else 2 * eps * magnitude(bias))
    before = before + ulp(out, eps)
    scale = out if pre is None else pre
    # gelu(x) is at least -0.17, so |x| <= |gelu(x)| + 0.17 for the values that count
    own = magnitude(scale) + (0.17 if pre is None else 0.0)
    return [_activated(before, own, activation, eps), before]


#: Of two operands: the bound of their product's errors.
Bound: TypeAlias = Callable[[Array, Array, float], Array]


#: Of two operands: what their product loses beside its rounding errors.
Lost: TypeAlias = Callable[[Array, Array], Array | float]


def lost_in_parts(a: Array, b: Array) -> Array:
    """Return what ``a @ b`` loses of bfloat16 parts that are no normal numbers.

    A bfloat16 tile takes numbers below 2**-126 for zero: the lower parts of elements,
    which the other side's elements multiply, and partial sums, 6 K of them.
    """
    a, b = np.asarray(a), np.asarray(b)
    rows = magnitude(a).sum(axis=-1, keepdims=True)
    columns = magnitude(b).sum(axis=-2, keepdims=True)
    tiny = float(np.finfo(np.float32).tiny)
    return np.asarray(2 * tiny * (rows + columns + 6 * a.shape[-1]))


def _split_product(a: Array, b: Array, eps: float) -> Array:
    return _product(a, b, eps) + lost_in_parts(a, b)


def _gemm(of: Bound) -> Tolerance:
    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Sequence[Any]:
        a, b, bias = inputs
        product = abs(attributes[0]) * of(a, b, eps)
        return _affine(product, bias, expected, attributes[2], eps)

    return tolerance


def _linear(of: Bound) -> Tolerance:
    gemm = _gemm(of)

    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Sequence[Any]:
        x, weight, bias = inputs
        return gemm((x, weight.T, bias), (1.0, 1.0, *attributes), expected, eps)

    return tolerance


def _linear_backward(of: Bound) -> Tolerance:
    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Sequence[Any]:
        g, x, weight = inputs
        rows = g.reshape(int(np.prod(g.shape[:-1])), g.shape[-1])
        dx = None if weight is None else of(g, weight, eps)
        dweight = None
        if x is not None:
            dweight = of(rows.T, x.reshape(rows.shape[0], x.shape[-1]), eps)
        dbias = 2 * eps * log2(rows.shape[0]) * magnitude(rows).sum(axis=0)
        return [dx, dweight, dbias]

    return tolerance


SPLIT = " + 2**-125 * (|A| 1 + 1 |B| + 6 K)"

gemm = Budget("(K + 2) * eps * (|A| |B|), through the activation", _gemm(_product))
gemm_split = Budget(
    f"(K + 2) * eps * (|A| |B|){SPLIT}, through the activation", _gemm(_split_product)
)
linear = Budget(
    "(K + 2) * eps * (|x| |weight.T|), through the activation", _linear(_product)
)
linear_split = Budget(
    f"(K + 2) * eps * (|A| |B|){SPLIT}, through the activation",
    _linear(_split_product),
)
linear_backward = Budget(
    "(K + 2) * eps * (|A| |B|) for each product; dbias as sum",
    _linear_backward(_product),
)
linear_backward_split = Budget(
    f"(K + 2) * eps * (|A| |B|){SPLIT} for each product; dbias as sum",
    _linear_backward(_split_product),
)


# ---- indices -------------------------------------------------------------------------


def _added(where: tuple[Any, ...], base: Array, src: Array, eps: float) -> Array:
    """Return n * eps * (|a| + sum(|src|)) with n the terms added at each place."""
    total, count = magnitude(base).copy(), np.zeros(np.shape(base))
    np.add.at(total, where, magnitude(src))
    np.add.at(count, where, 1.0)
    return count * eps * total


@budget("n * eps * (|a| + sum(|src|)), n terms at one place")
def scatter_add(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    a, index, src = inputs
    where = list(np.indices(index.shape, sparse=True))
    where[attributes[0]] = index
    return [_added(tuple(where), a, src, eps)]


@budget("n * eps * (|a| + sum(|src|)), n terms at one place")
def index_add(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    a, index, src = inputs
    return [_added((*[slice(None)] * attributes[0], index), a, src, eps)]


@budget("n * eps * sum(|g|), n terms at one place")
def embedding_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, indices = inputs
    return [_added((indices,), np.zeros(expected[0].shape), g, eps)]


# ---- loss ----------------------------------------------------------------------------


@budget("2 eps * sum(q * (log2(C) + 8 + max(x) - x)) by row; so the gradient")
def cross_entropy(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    logits, target, weight = inputs
    reduction, ignore_index, smoothing = attributes
    rows, classes = logits.shape
    w = np.ones(classes) if weight is None else magnitude(weight)
    kept = target != ignore_index
    is_label = np.arange(classes) == np.where(kept, target, 0)[:, None]
    q = w * ((1 - smoothing) * is_label + smoothing / max(classes, 1)) * kept[:, None]
    below = _below_max(logits, 1)
    steps = 2 * eps * (log2(classes) + 8 + below)
    mass = q.sum(axis=1, keepdims=True)
    loss = (q * steps).sum(axis=1)
    grad = steps * (np.exp(-below) * mass + q)
    last = 0.0 if expected[1] is None else ulp(expected[1], eps)
    if reduction == "none":
        return [loss + ulp(expected[0], eps), grad + last]
    n = 1.0
    if reduction == "mean":
        n = float((w * is_label * kept[:, None]).sum()) or 1.0
    total = loss.sum() / n + eps * log2(rows) * magnitude(expected[0])
    return [total, grad / n + last]


# ---- random numbers ------------------------------------------------------------------


@budget("eps * (|low| + |high|)")
def uniform(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    low, high = attributes
    return [eps * (abs(low) + abs(high))]


@budget("eps * (16 std + |mean|)")
def normal(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    mean_, std = attributes
    return [eps * (16 * abs(std) + abs(mean_)) + ulp(expected[0], eps)]


@budget("2 ULP; the mask exact")
def dropout(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    return [2 * ulp(expected[0], eps), 0.0]
