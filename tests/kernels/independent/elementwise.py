# SPDX-License-Identifier: MIT
"""Activations and other kernels of single elements, a number at a time."""

from __future__ import annotations

import math

import numpy as np
from tests.kernels.independent.common import Case, normal


def each(f):
    """Make a function of arrays of one of numbers."""
    return np.vectorize(f, otypes=[np.float64])


def between(x, low, high):
    return sorted((low, x, high))[1]


def _gelu(x, approximate):
    if approximate == "none":
        return x * math.erfc(-x / math.sqrt(2)) / 2
    inner = math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)
    return x / (1 + math.exp(-inner))


def _softplus(x, beta, threshold):
    return x if beta * x > threshold else math.log1p(math.exp(beta * x)) / beta


def sigmoid(x):
    return math.tanh(x / 2) / 2 + 0.5


def hardswish(x):
    return x * between(x + 3, 0, 6) / 6


def _leaky(x, slope):
    return max(x, 0) + slope * min(x, 0)


ACTIVATIONS = {
    "relu": (lambda x: max(x, 0), [()]),
    "hardtanh": (between, [(-1.0, 0.5)]),
    "leaky_relu": (_leaky, [(0.25,), (-2.0,)]),
    "hardswish": (hardswish, [()]),
    "sigmoid": (sigmoid, [()]),
    "silu": (lambda x: x * sigmoid(x), [()]),
    "gelu": (_gelu, [("none",), ("tanh",)]),
    "softplus": (_softplus, [(1.0, 20.0), (2.0, 1.5)]),
    "tanh": (math.tanh, [()]),
}
#: Their backward kernels are given the result instead of the input.
BY_RESULT = ("relu", "hardtanh", "sigmoid", "tanh")


def _activation(name):
    f, options = ACTIVATIONS[name]
    x = 3 * normal(60)
    for option in options:
        yield Case((x,), option, (each(lambda a, o=option: f(a, *o))(x),))


def _activation_backward(name):
    f, options = ACTIVATIONS[name]
    x, g = 3 * normal(60), normal(60, seed=1)
    for option in options:
        forward = each(lambda a, o=option: f(a, *o))
        given = forward(x) if name in BY_RESULT else x
        slope = (forward(x + 1e-6) - forward(x - 1e-6)) / 2e-6
        yield Case((g, given), option, (g * slope,))


def _reciprocal():
    x = normal(9) + 3
    yield Case((x,), (), (x**-1.0,))


def _weigh():
    a, b = np.array([0.0, 0.0, 2.0, 0.5]), np.array([np.inf, 3.0, 4.0, -6.0])
    yield Case((a, b), (), ([0.0, 0.0, 8.0, -3.0],))


def _heaviside():
    a = np.array([-2.0, 0.0, 3.0])
    yield Case((a, np.array(0.25)), (), ([0.0, 0.25, 1.0],))


def _clamp():
    x, low, high = normal(40), np.array(-0.5), np.array(0.75)
    yield Case((x, low, high), (), (each(lambda a: between(a, -0.5, 0.75))(x),))


def _clamp_backward():
    x, low, high, g = normal(40), np.array(-0.5), np.array(0.75), normal(40, seed=1)
    inside = [-0.5 <= a <= 0.75 for a in x]
    yield Case((g, x, low, high), (), (np.multiply(g, inside),))


CASES = {
    **{f: lambda f=f: _activation(f) for f in ACTIVATIONS if f != "tanh"},
    **{f"{f}_backward": lambda f=f: _activation_backward(f) for f in ACTIVATIONS},
    "reciprocal": _reciprocal,
    "weigh": _weigh,
    "heaviside": _heaviside,
    "clamp": _clamp,
    "clamp_backward": _clamp_backward,
}
