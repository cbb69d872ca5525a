# SPDX-License-Identifier: MIT
"""Calls and what they should answer; gradients as differences of a forward pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    """One call in float64, and what it should answer: None is not compared."""

    inputs: tuple
    attributes: tuple
    expected: tuple
    #: Of the result, where the inputs do not say it.
    shape: tuple | None = None


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def differences(f, x, g):
    """Return the gradient of ``sum(g * f(x))``, by central differences."""
    grad, step = np.empty(x.shape), 1e-5
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i], down[i] = x[i] + step, x[i] - step
        grad[i] = np.sum(g * (f(up) - f(down))) / (2 * step)
    return grad


def gradients(f, inputs, g):
    """Return the gradients by each of several arrays; None has none."""

    def one(i):
        return lambda x: f(*inputs[:i], x, *inputs[i + 1 :])

    return [
        None if x is None else differences(one(i), x, g) for i, x in enumerate(inputs)
    ]
