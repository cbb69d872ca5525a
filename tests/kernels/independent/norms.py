# SPDX-License-Identifier: MIT
"""Sums, normalisations and products, written naively."""

from __future__ import annotations

import math

import numpy as np
from tests.kernels.independent.common import Case, differences, gradients, normal
from tests.kernels.independent.elementwise import each, hardswish, sigmoid


def _means():
    x = normal(3, 4, 5)
    by_hand = [[math.fsum(row) / 5 for row in plane] for plane in x.tolist()]
    yield Case((x,), ((2,), False), (by_hand,))


def _moments(name):
    x = normal(3, 7)
    for correction in (0.0, 1.0):
        square = [_variance(row, correction) for row in x.tolist()]
        out = square if name == "var" else [math.sqrt(v) for v in square]
        mean = [math.fsum(row) / 7 for row in x.tolist()]
        yield Case((x,), ((1,), False, correction), (out, mean))


def _variance(row, correction):
    """Return the variance from the differences of all pairs, without a mean."""
    pairs = math.fsum((a - b) ** 2 for a in row for b in row)
    return pairs / (2 * len(row)) / (len(row) - correction)


def _norm():
    x = normal(3, 7)
    yield Case((x,), ((1,), False), ([math.hypot(*row) for row in x],))


def _logsumexp():
    x = normal(3, 7)
    yield Case((x,), ((1,), False), (np.logaddexp.reduce(x, axis=1),))


def _softmax(x):
    e = np.exp(x)
    return e / e.sum(axis=1, keepdims=True)


def _log_softmax():
    x = normal(3, 7)
    yield Case((x,), (1,), (np.log(_softmax(x)),))


def _softmax_backward(log):
    x, g = normal(3, 7), normal(3, 7, seed=1)

    def forward(a):
        return np.log(_softmax(a)) if log else _softmax(a)

    yield Case((g, forward(x)), (1,), (differences(forward, x, g),))


def _layer_norm(x, weight, bias, eps):
    out = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def _layer_norms():
    x, weight, bias = 2 + normal(3, 7), normal(7), normal(7, seed=1)
    rstd = 1 / np.sqrt(x.var(-1) + 0.1)
    for pair in ((weight, bias), (None, None)):
        out = _layer_norm(x, *pair, 0.1)
        yield Case((x, *pair), (0.1,), (out, x.mean(-1), rstd))


def _add_layer_norm():
    for (x, *pair), eps, expected, _ in _layer_norms():
        b = normal(*x.shape, seed=2)
        yield Case((x - b, b, *pair), eps, (x, *expected))


def _layer_norm_backward():
    for (x, weight, bias), (eps,), (_, mean, rstd), _ in _layer_norms():
        g = normal(*x.shape, seed=3)
        found = gradients(lambda *a, e=eps: _layer_norm(*a, e), (x, weight, bias), g)
        yield Case((g, x, mean, rstd, weight), (), found)


def _rms_norm_backward():
    x, weight, g = normal(3, 7), normal(7), normal(3, 7, seed=1)

    def forward(x, weight):
        return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 0.1) * weight

    rstd = 1 / np.sqrt(np.mean(x * x, -1, keepdims=True) + 0.1)
    yield Case((g, x, rstd, weight), (), gradients(forward, (x, weight), g))


#: The activations after a batch norm, by name and two numbers.
AFTER = {
    "none": lambda z, a, b: z,
    "relu": lambda z, a, b: np.where(z > 0, z, 0.0),
    "hardtanh": np.clip,
    "leaky_relu": lambda z, a, b: np.where(z > 0, z, a * z),
    "hardswish": lambda z, a, b: each(hardswish)(z),
    "silu": lambda z, a, b: z * each(sigmoid)(z),
}


def _by_channel(a):
    return a.reshape(-1, 1, 1)


def _batch_norm(x, weight, bias, other, eps, activation="none", a=0.0, b=0.0):
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    return _running(x, mean, var, weight, bias, other, eps, activation, a, b)


def _running(x, mean, var, weight, bias, other, eps, activation, a, b):
    z = (x - _by_channel(mean)) / np.sqrt(_by_channel(var) + eps)
    z = z if weight is None else z * _by_channel(weight)
    z = z if bias is None else z + _by_channel(bias)
    return AFTER[activation](z if other is None else z + other, a, b)


_IMAGES = 1 + normal(2, 3, 2, 2)
_MEAN, _VAR = _IMAGES.mean((0, 2, 3)), _IMAGES.var((0, 2, 3))
_PAIR = normal(3), normal(3, seed=1)


def _batch_norms():
    for pair in (_PAIR, (None, None)):
        out = _batch_norm(_IMAGES, *pair, None, 0.1)
        yield Case((_IMAGES, *pair), (0.1,), (out, _MEAN, _VAR))


def _batch_norm_backward():
    g = normal(*_IMAGES.shape, seed=1)
    for pair in (_PAIR, (None, None)):
        found = gradients(lambda *a: _batch_norm(*a, None, 0.1), (_IMAGES, *pair), g)
        yield Case((g, _IMAGES, _MEAN, _VAR, pair[0]), (0.1,), found)


def _activations():
    """Yield attributes, and the shortcut that is added before."""
    for i, name in enumerate(AFTER):
        other = normal(*_IMAGES.shape, seed=2) if i % 2 else None
        yield (0.1, name, 0.25, 0.75), other


def _batch_norm_activation():
    for attributes, other in _activations():
        out = _batch_norm(_IMAGES, *_PAIR, other, *attributes)
        yield Case((_IMAGES, *_PAIR, other), attributes, (out, _MEAN, _VAR))


def _batch_norm_running():
    mean, var = normal(3, seed=2), 1 + normal(3, seed=3) ** 2
    for attributes, other in _activations():
        given = (_IMAGES, mean, var, *_PAIR, other)
        yield Case(given, attributes, (_running(*given, *attributes),))


def _batch_norm_activation_backward():
    g = normal(*_IMAGES.shape, seed=1)
    for attributes, other in _activations():
        given = (_IMAGES, *_PAIR, np.zeros(()) if other is None else other)

        def forward(*a, attributes=attributes):
            return _batch_norm(*a, *attributes)

        found = gradients(forward, given, g)
        if other is None:
            found[3] = None
        saved = (forward(*given), other, _MEAN, _VAR, *_PAIR)
        yield Case((g, _IMAGES, *saved), attributes, found)


def _linear_backward(relu):
    g, x, weight = normal(2, 3, 4), normal(2, 3, 5), normal(4, 5)
    dx = np.einsum("abo,oi->abi", g, weight) * (x > 0 if relu else 1.0)
    dweight = np.einsum("abo,abi->oi", g, x)
    yield Case((g, x, weight), (), (dx, dweight, np.einsum("abo->o", g)))


CASES = {
    "mean": _means,
    "var": lambda: _moments("var"),
    "std": lambda: _moments("std"),
    "norm": _norm,
    "logsumexp": _logsumexp,
    "log_softmax": _log_softmax,
    "softmax_backward": lambda: _softmax_backward(False),
    "log_softmax_backward": lambda: _softmax_backward(True),
    "layer_norm": _layer_norms,
    "add_layer_norm": _add_layer_norm,
    "layer_norm_backward": _layer_norm_backward,
    "rms_norm_backward": _rms_norm_backward,
    "batch_norm": _batch_norms,
    "batch_norm_backward": _batch_norm_backward,
    "batch_norm_activation": _batch_norm_activation,
    "batch_norm_activation_backward": _batch_norm_activation_backward,
    "batch_norm_running": _batch_norm_running,
    "linear_backward": lambda: _linear_backward(False),
    "linear_relu_backward": lambda: _linear_backward(True),
}
