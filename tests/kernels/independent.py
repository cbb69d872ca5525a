# SPDX-License-Identifier: MIT
"""What composites should answer, by other algorithms than their formulas.

Reference and decomposition of these composites are one formula: neither can prove the
other.  Here forward passes are written in NumPy or number by number, and gradients are
differences of the forward pass.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    """One call in float64, and what it should answer: None is not compared."""

    inputs: tuple
    attributes: tuple
    expected: tuple


def _normal(*shape, seed=0):
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

    def one(i, x):
        return differences(lambda y: f(*inputs[:i], y, *inputs[i + 1 :]), x, g)

    return [None if x is None else one(i, x) for i, x in enumerate(inputs)]


# ---- element by element --------------------------------------------------------------


def _each(f):
    """Make a function of arrays of one of numbers."""
    return np.vectorize(f, otypes=[np.float64])


def _between(x, low, high):
    return sorted((low, x, high))[1]


def _gelu(x, approximate):
    if approximate == "none":
        return x * math.erfc(-x / math.sqrt(2)) / 2
    return x / (1 + math.exp(-math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)))


def _softplus(x, beta, threshold):
    return x if beta * x > threshold else math.log1p(math.exp(beta * x)) / beta


def _sigmoid(x):
    return math.tanh(x / 2) / 2 + 0.5


def _hardswish(x):
    return x * _between(x + 3, 0, 6) / 6


def _leaky(x, slope):
    return max(x, 0) + slope * min(x, 0)


ACTIVATIONS = {
    "relu": (lambda x: max(x, 0), [()]),
    "hardtanh": (_between, [(-1.0, 0.5)]),
    "leaky_relu": (_leaky, [(0.25,), (-2.0,)]),
    "hardswish": (_hardswish, [()]),
    "sigmoid": (_sigmoid, [()]),
    "silu": (lambda x: x * _sigmoid(x), [()]),
    "gelu": (_gelu, [("none",), ("tanh",)]),
    "softplus": (_softplus, [(1.0, 20.0), (2.0, 1.5)]),
    "tanh": (math.tanh, [()]),
}
#: Their backward kernels are given the result instead of the input.
BY_RESULT = ("relu", "hardtanh", "sigmoid", "tanh")


def _activation(name):
    f, options = ACTIVATIONS[name]
    x = 3 * _normal(60)
    for option in options:
        yield Case((x,), option, (_each(lambda a, o=option: f(a, *o))(x),))


def _activation_backward(name):
    f, options = ACTIVATIONS[name]
    x, g = 3 * _normal(60), _normal(60, seed=1)
    for option in options:
        forward = _each(lambda a, o=option: f(a, *o))
        given = forward(x) if name in BY_RESULT else x
        slope = (forward(x + 1e-6) - forward(x - 1e-6)) / 2e-6
        yield Case((g, given), option, (g * slope,))


def _reciprocal():
    x = _normal(9) + 3
    yield Case((x,), (), (x**-1.0,))


def _weigh():
    a, b = np.array([0.0, 0.0, 2.0, 0.5]), np.array([np.inf, 3.0, 4.0, -6.0])
    yield Case((a, b), (), ([0.0, 0.0, 8.0, -3.0],))


def _heaviside():
    a = np.array([-2.0, 0.0, 3.0])
    yield Case((a, np.array(0.25)), (), ([0.0, 0.25, 1.0],))


def _clamp():
    x, low, high = _normal(40), np.array(-0.5), np.array(0.75)
    yield Case((x, low, high), (), (_each(lambda a: _between(a, -0.5, 0.75))(x),))


def _clamp_backward():
    x, low, high, g = _normal(40), np.array(-0.5), np.array(0.75), _normal(40, seed=1)
    inside = [-0.5 <= a <= 0.75 for a in x]
    yield Case((g, x, low, high), (), (np.multiply(g, inside),))


# ---- sums ----------------------------------------------------------------------------


def _means():
    x = _normal(3, 4, 5)
    by_hand = [[math.fsum(row) / 5 for row in plane] for plane in x.tolist()]
    yield Case((x,), ((2,), False), (by_hand,))


def _moments(name):
    x = _normal(3, 7)
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
    x = _normal(3, 7)
    yield Case((x,), ((1,), False), ([math.hypot(*row) for row in x],))


def _logsumexp():
    x = _normal(3, 7)
    yield Case((x,), ((1,), False), (np.logaddexp.reduce(x, axis=1),))


def _softmax(x):
    e = np.exp(x)
    return e / e.sum(axis=1, keepdims=True)


def _log_softmax():
    x = _normal(3, 7)
    yield Case((x,), (1,), (np.log(_softmax(x)),))


def _softmax_backward(log):
    x, g = _normal(3, 7), _normal(3, 7, seed=1)

    def forward(a):
        return np.log(_softmax(a)) if log else _softmax(a)

    yield Case((g, forward(x)), (1,), (differences(forward, x, g),))


# ---- norms ---------------------------------------------------------------------------


def _layer_norm(x, weight, bias, eps):
    out = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def _layer_norms():
    x, weight, bias = 2 + _normal(3, 7), _normal(7), _normal(7, seed=1)
    rstd = 1 / np.sqrt(x.var(-1) + 0.1)
    for pair in ((weight, bias), (None, None)):
        out = _layer_norm(x, *pair, 0.1)
        yield Case((x, *pair), (0.1,), (out, x.mean(-1), rstd))


def _add_layer_norm():
    for (x, *pair), eps, expected in _layer_norms():
        b = _normal(*x.shape, seed=2)
        yield Case((x - b, b, *pair), eps, (x, *expected))


def _layer_norm_backward():
    for (x, weight, bias), (eps,), (_, mean, rstd) in _layer_norms():
        g = _normal(*x.shape, seed=3)
        found = gradients(lambda *a, e=eps: _layer_norm(*a, e), (x, weight, bias), g)
        yield Case((g, x, mean, rstd, weight), (), found)


def _rms_norm_backward():
    x, weight, g = _normal(3, 7), _normal(7), _normal(3, 7, seed=1)

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
    "hardswish": lambda z, a, b: _each(_hardswish)(z),
    "silu": lambda z, a, b: z * _each(_sigmoid)(z),
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


_IMAGES = 1 + _normal(2, 3, 2, 2)
_MEAN, _VAR = _IMAGES.mean((0, 2, 3)), _IMAGES.var((0, 2, 3))
_PAIR = _normal(3), _normal(3, seed=1)


def _batch_norms():
    for pair in (_PAIR, (None, None)):
        out = _batch_norm(_IMAGES, *pair, None, 0.1)
        yield Case((_IMAGES, *pair), (0.1,), (out, _MEAN, _VAR))


def _batch_norm_backward():
    g = _normal(*_IMAGES.shape, seed=1)
    for pair in (_PAIR, (None, None)):
        found = gradients(lambda *a: _batch_norm(*a, None, 0.1), (_IMAGES, *pair), g)
        yield Case((g, _IMAGES, _MEAN, _VAR, pair[0]), (0.1,), found)


def _activations():
    """Yield attributes, and the shortcut that is added before."""
    for i, name in enumerate(AFTER):
        other = _normal(*_IMAGES.shape, seed=2) if i % 2 else None
        yield (0.1, name, 0.25, 0.75), other


def _batch_norm_activation():
    for attributes, other in _activations():
        out = _batch_norm(_IMAGES, *_PAIR, other, *attributes)
        yield Case((_IMAGES, *_PAIR, other), attributes, (out, _MEAN, _VAR))


def _batch_norm_running():
    mean, var = _normal(3, seed=2), 1 + _normal(3, seed=3) ** 2
    for attributes, other in _activations():
        given = (_IMAGES, mean, var, *_PAIR, other)
        yield Case(given, attributes, (_running(*given, *attributes),))


def _batch_norm_activation_backward():
    g = _normal(*_IMAGES.shape, seed=1)
    for attributes, other in _activations():
        given = (_IMAGES, *_PAIR, np.zeros(()) if other is None else other)

        def forward(*a, attributes=attributes):
            return _batch_norm(*a, *attributes)

        found = gradients(forward, given, g)
        if other is None:
            found[3] = None
        saved = (forward(*given), other, _MEAN, _VAR, *_PAIR)
        yield Case((g, _IMAGES, *saved), attributes, found)


# ---- products ------------------------------------------------------------------------


def _linear_backward(relu):
    g, x, weight = _normal(2, 3, 4), _normal(2, 3, 5), _normal(4, 5)
    dx = np.einsum("abo,oi->abi", g, weight) * (x > 0 if relu else 1.0)
    dweight = np.einsum("abo,abi->oi", g, x)
    yield Case((g, x, weight), (), (dx, dweight, np.einsum("abo->o", g)))


# ---- recurrent layers, a number at a time --------------------------------------------


def _sum(row, vector, bias):
    return math.fsum(a * b for a, b in zip(row, vector, strict=True)) + bias


def _gates(w_ih, w_hh, b_ih, b_hh, x, h):
    of_x = [_sum(row, x, b) for row, b in zip(w_ih, b_ih, strict=True)]
    of_h = [_sum(row, h, b) for row, b in zip(w_hh, b_hh, strict=True)]
    return of_x, of_h


def _lstm_step(x, weights, h, c):
    n = len(h)
    sums = [a + b for a, b in zip(*_gates(*weights, x, h), strict=True)]
    acts = [
        math.tanh(s) if 2 * n <= j < 3 * n else _sigmoid(s) for j, s in enumerate(sums)
    ]
    i, f, g, o = (acts[j * n : (j + 1) * n] for j in range(4))
    cell = [f[j] * c[j] + i[j] * g[j] for j in range(n)]
    return [o[j] * math.tanh(cell[j]) for j in range(n)], cell, acts


def _gru_step(x, weights, h):
    n = len(h)
    of_x, of_h = _gates(*weights, x, h)
    r, z = (
        [_sigmoid(of_x[i] + of_h[i]) for i in range(b * n, (b + 1) * n)] for b in (0, 1)
    )
    new = [math.tanh(of_x[2 * n + i] + r[i] * of_h[2 * n + i]) for i in range(n)]
    out = [(1 - z[i]) * new[i] + z[i] * h[i] for i in range(n)]
    return out, [*r, *z, *new, *of_h[2 * n :]]


def _rnn_step(x, weights, h, activation):
    sums = [a + b for a, b in zip(*_gates(*weights, x, h), strict=True)]
    return [math.tanh(s) if activation == "tanh" else max(s, 0.0) for s in sums]


def _lstm(x, *rest):
    *weights, h0, c0, reverse = rest
    out = np.empty((len(x), *h0.shape))
    cells, acts = np.empty(out.shape), np.empty((*out.shape[:2], 4 * h0.shape[1]))
    for b in range(x.shape[1]):
        h, c = h0[b], c0[b]
        for t in range(len(x))[:: -1 if reverse else 1]:
            h, c, kept = _lstm_step(x[t, b], weights, h, c)
            out[t, b], cells[t, b], acts[t, b] = h, c, kept
    return out, cells[0 if reverse else -1], acts, cells


def _gru(x, *rest):
    *weights, h0, reverse = rest
    out = np.empty((len(x), *h0.shape))
    acts = np.empty((*out.shape[:2], 4 * h0.shape[1]))
    for b in range(x.shape[1]):
        h = h0[b]
        for t in range(len(x))[:: -1 if reverse else 1]:
            h, acts[t, b] = _gru_step(x[t, b], weights, h)
            out[t, b] = h
    return out, acts


def _rnn(x, *rest):
    *weights, h0, activation, reverse = rest
    out = np.empty((len(x), *h0.shape))
    for b in range(x.shape[1]):
        h = h0[b]
        for t in range(len(x))[:: -1 if reverse else 1]:
            h = out[t, b] = _rnn_step(x[t, b], weights, h, activation)
    return out


def _sequence(gates):
    steps, batch, features, hidden = 3, 2, 2, 2
    rows = gates * hidden
    return (
        _normal(steps, batch, features),
        _normal(rows, features),
        _normal(rows, hidden, seed=1),
        _normal(rows),
        _normal(rows, seed=1),
        *[_normal(batch, hidden, seed=i) for i in range(2)],
    )


def _lstms():
    given = _sequence(4)
    for reverse in (False, True):
        yield Case(given, (reverse,), _lstm(*given, reverse))


def _lstm_backward():
    for (x, w_ih, w_hh, b_ih, b_hh, h0, c0), (reverse,), saved in _lstms():
        out, last, acts, cells = saved
        g, gc = _normal(*out.shape, seed=5), _normal(*last.shape, seed=6)

        def forward(*a, b_hh=b_hh, reverse=reverse):
            out, last, *_ = _lstm(*a[:4], b_hh, *a[4:], reverse)
            return np.concatenate([out.ravel(), last.ravel()])

        found = gradients(
            forward,
            (x, w_ih, w_hh, b_ih, h0, c0),
            np.concatenate([g.ravel(), gc.ravel()]),
        )
        inputs = (g, gc, x, w_ih, w_hh, out, acts, cells, h0, c0)
        yield Case(inputs, (reverse,), found)


def _grus():
    given = _sequence(3)[:6]
    for reverse in (False, True):
        yield Case(given, (reverse,), _gru(*given, reverse))


def _gru_backward():
    for given, (reverse,), (out, acts) in _grus():
        g = _normal(*out.shape, seed=5)
        found = gradients(lambda *a, r=reverse: _gru(*a, r)[0], given, g)
        x, w_ih, w_hh, _, _, h0 = given
        yield Case((g, x, w_ih, w_hh, out, acts, h0), (reverse,), found)


def _rnns():
    given = _sequence(1)[:6]
    for attributes in (("tanh", False), ("relu", True)):
        yield Case(given, attributes, (_rnn(*given, *attributes),))


def _rnn_backward():
    for given, attributes, (out,) in _rnns():
        x, w_ih, w_hh, _, b_hh, h0 = given
        g = _normal(*out.shape, seed=5)

        def forward(*a, b_hh=b_hh, attributes=attributes):
            return _rnn(*a[:4], b_hh, a[4], *attributes)

        found = gradients(forward, (*given[:4], h0), g)
        yield Case((g, x, w_ih, w_hh, out, h0), attributes, found)


# ---- optimizers, a number at a time --------------------------------------------------


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
        4 + _normal(5, seed=i) ** 2 if str(i) in squares else _normal(5, seed=i)
        for i in range(lists)
    ]
    g, lr = _normal(5, seed=9), 0.25
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
    a = _normal(4)
    yield Case(([a], np.array(0.25)), (), ([[x / 4 for x in a]],))


CASES = {
    **{f: lambda f=f: _activation(f) for f in ACTIVATIONS if f != "tanh"},
    **{f"{f}_backward": lambda f=f: _activation_backward(f) for f in ACTIVATIONS},
    **{f: lambda f=f: _optimizer(f) for f in OPTIMIZERS},
    "reciprocal": _reciprocal,
    "weigh": _weigh,
    "heaviside": _heaviside,
    "clamp": _clamp,
    "clamp_backward": _clamp_backward,
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
    "lstm": _lstms,
    "lstm_backward": _lstm_backward,
    "gru": _grus,
    "gru_backward": _gru_backward,
    "rnn": _rnns,
    "rnn_backward": _rnn_backward,
    "scale": _scale,
}
