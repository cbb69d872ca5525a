# SPDX-License-Identifier: MIT
"""Updates of optimizers, a number at a time."""

from __future__ import annotations

import math

import numpy as np
from tests.kernels.independent.common import Case, normal


def _sgd(p, b, g, lr, step, momentum, dampening, decay, nesterov, maximize):
    g = (-g if maximize else g) + decay * p
    b = g if step == 1 else momentum * b + (1 - dampening) * g
    change = g if not momentum else g + momentum * b if nesterov else b
    return p - lr * change, b if momentum else None


def _adamw(p, m, v, g, lr, step, beta1, beta2, eps, decay, decoupled, maximize):
    g = -g if maximize else g
    p, g = (p - lr * decay * p, g) if decoupled else (p, g + decay * p)
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    unbiased_m, unbiased_v = m / (1 - beta1**step), v / (1 - beta2**step)
    return p - lr * unbiased_m / (math.sqrt(unbiased_v) + eps), m, v


def _amsgrad(p, m, v, most, g, lr, step, beta1, beta2, eps, *options):
    plain = (beta1, beta2, eps, *options)
    _, m, v = _adamw(p, m, v, g, lr, step, *plain)
    decay, decoupled, _ = options
    p, most = p - (lr * decay * p if decoupled else 0.0), max(most, v)
    root = math.sqrt(most / (1 - beta2**step))
    return p - lr * m / (1 - beta1**step) / (root + eps), m, v, most


def _adagrad(p, total, g, lr, step, lr_decay, eps, decay, maximize):
    g = (-g if maximize else g) + decay * p
    total = total + g**2
    rate = lr / (1 + (step - 1) * lr_decay)
    return p - rate * g / (math.sqrt(total) + eps), total


def _adadelta(p, v, u, g, lr, rho, eps, decay, maximize):
    g = (-g if maximize else g) + decay * p
    v = rho * v + (1 - rho) * g**2
    change = g * math.sqrt((u + eps) / (v + eps))
    return p - lr * change, v, rho * u + (1 - rho) * change**2


def _lion(p, m, g, lr, beta1, beta2, decay, maximize):
    g = -g if maximize else g
    sign = math.copysign(1.0, beta1 * m + (1 - beta1) * g)
    return p - lr * (decay * p + sign), beta2 * m + (1 - beta2) * g


def _rmsprop(p, v, b, m, g, lr, alpha, eps, decay, momentum, centered, maximize):
    g = (-g if maximize else g) + decay * p
    v, m = alpha * v + (1 - alpha) * g**2, alpha * m + (1 - alpha) * g
    change = g / (math.sqrt(v - m**2 if centered else v) + eps)
    b = momentum * b + change
    return p - lr * b if momentum else p - lr * change, v, b, m


#: The function, how many lists, which of them are squares, step?, and options.
OPTIMIZERS = {
    "sgd": (_sgd, 2, "", True, [(0.9, 0.1, 0.01, True, True)]),
    "adamw": (
        _adamw, 3, "2", True,
        [(0.9, 0.99, 1e-3, 0.1, True, True), (0.8, 0.9, 1e-2, 0.1, False, False)],
    ),
    "amsgrad": (
        _amsgrad, 4, "23", True,
        [(0.9, 0.99, 1e-3, 0.1, True, True), (0.8, 0.9, 1e-2, 0.1, False, False)],
    ),
    "adagrad": (_adagrad, 2, "1", True, [(0.1, 1e-2, 0.1, True)]),
    "adadelta": (_adadelta, 3, "12", False, [(0.9, 1e-2, 0.1, True)]),
    "lion": (_lion, 2, "", False, [(0.9, 0.99, 0.1, True)]),
    "rmsprop": (_rmsprop, 4, "1", False, [(0.9, 1e-2, 0.1, 0.5, True, True)]),
}  # fmt: skip


def _optimizer(name):
    f, lists, squares, has_step, options = OPTIMIZERS[name]
    kept = [
        4 + normal(5, seed=i) ** 2 if str(i) in squares else normal(5, seed=i)
        for i in range(lists)
    ]
    g, lr = normal(5, seed=9), 0.25
    for attributes in options:
        for step in (1, 3) if has_step else (None,):
            numbers = (lr,) if step is None else (lr, step)
            results = [
                f(*each, *numbers, *attributes) for each in zip(*kept, g, strict=True)
            ]
            expected = tuple(
                [np.array(column)] for column in zip(*results, strict=True)
            )
            scalars = (np.array(lr),) + (() if step is None else (np.array(step),))
            inputs = (*[[a] for a in kept], [g], *scalars)
            yield Case(inputs, attributes, expected)


def _scale():
    a = normal(4)
    yield Case(([a], np.array(0.25)), (), ([[x / 4 for x in a]],))


CASES = {**{f: lambda f=f: _optimizer(f) for f in OPTIMIZERS}, "scale": _scale}
