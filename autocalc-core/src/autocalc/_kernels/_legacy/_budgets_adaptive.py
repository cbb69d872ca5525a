# SPDX-License-Identifier: MIT
"""Error budgets of Adagrad, Adadelta and Lion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy._budgets import Inputs, budget, magnitude
from autocalc._kernels.spec import Attributes


@budget("eps * (|p| + 8 * rate * (|g| + weight_decay * |p|) / (sqrt(s) + e)); s 4 eps")
def adagrad(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    params, total, grads, lr, step = inputs
    lr_decay, epsilon, decay, _ = attributes
    rate = float(lr) / (1 + (int(step) - 1) * lr_decay)
    result: tuple[list[Any], ...] = ([], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        ratio = g / (np.sqrt(magnitude(expected[1][i])) + epsilon)
        result[0].append(eps * (magnitude(p) + 8 * rate * ratio))
        result[1].append(4 * eps * (magnitude(total[i]) + g * g))
    return result


@budget("eps * (|p| + 8 * lr * |change|); v and u 4 eps and what change is off by")
def adadelta(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    params, square_avg, acc_delta, grads, lr = inputs
    rho, epsilon, decay, _ = attributes
    result: tuple[list[Any], ...] = ([], [], [])
    for i, p in enumerate(params):
        g = magnitude(grads[i]) + decay * magnitude(p)
        v = rho * magnitude(square_avg[i]) + (1 - rho) * g * g
        u = magnitude(acc_delta[i])
        change = np.sqrt((u + epsilon) / (magnitude(expected[1][i]) + epsilon)) * g
        result[0].append(eps * (magnitude(p) + 8 * magnitude(lr) * change))
        result[1].append(4 * eps * v)
        result[2].append(eps * (4 * rho * u + 20 * (1 - rho) * change * change))
    return result


@budget("2 eps * (|p| + lr), 2 lr more where the sign is one of rounding; m 2 eps")
def lion(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    params, exp_avg, grads, lr = inputs
    beta1, _, _, maximize = attributes
    rate = magnitude(lr)
    result: tuple[list[Any], ...] = ([], [])
    for p, m, given in zip(params, exp_avg, grads, strict=True):
        g = -given if maximize else given
        size = beta1 * magnitude(m) + (1 - beta1) * magnitude(g)
        is_rounding = magnitude(beta1 * m + (1 - beta1) * g) <= 2 * eps * size
        flipped = np.where(is_rounding & (size > 0), 2 * rate, 0.0)
        result[0].append(2 * eps * (magnitude(p) + rate) + flipped)
        result[1].append(2 * eps * (magnitude(m) + magnitude(g)))
    return result
