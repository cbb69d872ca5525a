# SPDX-License-Identifier: MIT
"""Error budgets of what works on lists: optimizers, gradient norm, scaling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy._budgets import (
    ROUNDING,
    Inputs,
    budget,
    log2,
    magnitude,
    ulp,
)
from autocalc._kernels.spec import Attributes


@budget("4 eps * (|p| + lr * (|g| + weight_decay * |p| + momentum * |b|))")
def sgd(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    params, buffers, grads, lr, _ = inputs
    momentum, _, decay = attributes[:3]
    new_params, new_buffers = [], []
    for i, (p, g) in enumerate(zip(params, grads, strict=True)):
        size = magnitude(g) + decay * magnitude(p)
        if momentum:
            size = size + momentum * magnitude(buffers[i])
            new_buffers.append(4 * eps * size)
            size = size * (1 + momentum)
        new_params.append(4 * eps * (magnitude(p) / 4 + magnitude(lr) * size))
    return [new_params, new_buffers]


@budget("eps * (2 |p| + 16 * step size * (|m| + |g|) / denominator); m, v 4 eps")
def adamw(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    params, exp_avg, _, grads, lr, step = inputs
    beta1, beta2, epsilon, decay = attributes[:4]
    step_size = float(lr) / (1 - beta1 ** int(step))
    root = float(np.sqrt(1 - beta2 ** int(step)))
    result: tuple[list[Any], ...] = ([], [], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        m = magnitude(exp_avg[i]) + g
        v = magnitude(expected[2][i])
        ratio = m / (np.sqrt(v) / root + epsilon)
        change = 2 * magnitude(p) + 16 * step_size * ratio
        tolerances = (eps * change, 4 * eps * m, 4 * eps * (v + g * g * (1 - beta2)))
        for values, value in zip(result, tolerances, strict=True):
            values.append(value)
    return result


@budget("8 eps * (|p| / 8 + lr * (|change| + momentum * |b|)); centered, of v + m**2")
def rmsprop(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    params, square_avg, buffers, grad_avg, grads, lr = inputs
    alpha, epsilon, decay, momentum, centered = attributes[:5]
    result: tuple[list[Any], ...] = ([], [], [], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        v = alpha * magnitude(square_avg[i]) + (1 - alpha) * g * g
        result[1].append(4 * eps * v)
        spread = magnitude(expected[1][i])
        relative = 8 * eps
        if centered:
            m = magnitude(expected[3][i])
            size = magnitude(grad_avg[i]) + g
            result[3].append(4 * eps * size)
            spread = np.maximum(spread - m * m, 0)
            # What v - m**2 is off by, taken through the square root.
            off = 4 * eps * (v + m * size)
            root = np.sqrt(spread)
            lost = np.minimum(off / np.maximum(root, 1e-300), np.sqrt(off))
            relative = relative + lost / (root + epsilon)
        change = relative * g / (np.sqrt(spread) + epsilon)
        if momentum:
            change = change + 4 * eps * momentum * magnitude(buffers[i])
            result[2].append(change + ulp(expected[2][i], eps))
        step = 2 * eps * magnitude(expected[2][i]) if momentum else 0.0
        result[0].append(eps * magnitude(p) + magnitude(lr) * (change + step))
    return result


@budget("1 ULP ((log2(n) + 2) / 2 * eps * norm in float64)")
def grad_norm(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (grads,) = inputs
    n = sum(int(np.size(g)) for g in grads)
    own = ulp(expected[0], eps)
    if eps > 1e-10:
        return [own]
    return [(log2(n) + 2) / 2 * eps * magnitude(expected[0]) + own]


@budget("correctly rounded")
def scale(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    return [[ROUNDING * ulp(a, eps) for a in expected[0]]]
