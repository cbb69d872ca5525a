# SPDX-License-Identifier: MIT
"""Recurrent layers, a number at a time."""

from __future__ import annotations

import math

import numpy as np
from tests.kernels.independent.common import Case, gradients, normal
from tests.kernels.independent.elementwise import sigmoid


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
        math.tanh(s) if 2 * n <= j < 3 * n else sigmoid(s) for j, s in enumerate(sums)
    ]
    i, f, g, o = (acts[j * n : (j + 1) * n] for j in range(4))
    cell = [f[j] * c[j] + i[j] * g[j] for j in range(n)]
    return [o[j] * math.tanh(cell[j]) for j in range(n)], cell, acts


def _gru_step(x, weights, h):
    n = len(h)
    of_x, of_h = _gates(*weights, x, h)
    r, z = (
        [sigmoid(of_x[i] + of_h[i]) for i in range(b * n, (b + 1) * n)] for b in (0, 1)
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
        normal(steps, batch, features),
        normal(rows, features),
        normal(rows, hidden, seed=1),
        normal(rows),
        normal(rows, seed=1),
        *[normal(batch, hidden, seed=i) for i in range(2)],
    )


def _lstms():
    given = _sequence(4)
    for reverse in (False, True):
        yield Case(given, (reverse,), _lstm(*given, reverse))


def _lstm_backward():
    for (x, w_ih, w_hh, b_ih, b_hh, h0, c0), (reverse,), saved, _ in _lstms():
        out, last, acts, cells = saved
        g, gc = normal(*out.shape, seed=5), normal(*last.shape, seed=6)

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
    for given, (reverse,), (out, acts), _ in _grus():
        g = normal(*out.shape, seed=5)
        found = gradients(lambda *a, r=reverse: _gru(*a, r)[0], given, g)
        x, w_ih, w_hh, _, _, h0 = given
        yield Case((g, x, w_ih, w_hh, out, acts, h0), (reverse,), found)


def _rnns():
    given = _sequence(1)[:6]
    for attributes in (("tanh", False), ("relu", True)):
        yield Case(given, attributes, (_rnn(*given, *attributes),))


def _rnn_backward():
    for given, attributes, (out,), _ in _rnns():
        x, w_ih, w_hh, _, b_hh, h0 = given
        g = normal(*out.shape, seed=5)

        def forward(*a, b_hh=b_hh, attributes=attributes):
            return _rnn(*a[:4], b_hh, a[4], *attributes)

        found = gradients(forward, (*given[:4], h0), g)
        yield Case((g, x, w_ih, w_hh, out, h0), attributes, found)


CASES = {
    "lstm": _lstms,
    "lstm_backward": _lstm_backward,
    "gru": _grus,
    "gru_backward": _gru_backward,
    "rnn": _rnns,
    "rnn_backward": _rnn_backward,
}
