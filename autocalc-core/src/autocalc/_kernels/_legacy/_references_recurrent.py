# SPDX-License-Identifier: MIT
"""The references of the recurrent kernels; `rnn`, `lstm`, `gru` have the formulas."""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _recurrent as recurrent
from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.spec import Array

# ---- a plain layer -------------------------------------------------------------------


def rnn(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    activation: str,
    reverse: bool,
) -> Array:
    h, w = wide(xp, h0), wide(xp, w_hh)
    inputs = recurrent.projected(xp, wide(xp, x), wide(xp, w_ih), b_ih)
    out: dict[int, Array] = {}
    for t in recurrent.order(x.shape[0], reverse):
        sums = inputs[t] + recurrent.projected(xp, h, w, b_hh)
        h = out[t] = xp.tanh(sums) if activation == "tanh" else xp.maximum(sums, 0)
    return narrow(recurrent.joined(xp, out, x, h0.shape[1]), x)


def rnn_backward(
    xp: Any,
    g: Array,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    out: Array,
    h0: Array,
    activation: str,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0 = (wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0))
    dh = xp.zeros_like(h0)
    parts: dict[int, Array] = {}
    for t in reversed(recurrent.order(x.shape[0], reverse)):
        dh = dh + g[t]
        slope = 1 - out[t] * out[t] if activation == "tanh" else out[t] > 0
        parts[t] = dh * slope
        dh = xp.matmul(parts[t], w_hh)
    d = recurrent.joined(xp, parts, x, h0.shape[1])
    results = (
        xp.matmul(d, w_ih),
        recurrent.times(xp, d, x),
        recurrent.times(xp, d, recurrent.before(xp, out, h0, reverse)),
        xp.sum(d, axis=(0, 1)),
        dh,
    )
    return tuple(narrow(a, like) for a in results)


# ---- long short-term memory ----------------------------------------------------------


def lstm(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    c0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, Array, Array, Array]:
    h, c, w = (wide(xp, a) for a in (h0, c0, w_hh))
    inputs = recurrent.projected(xp, wide(xp, x), wide(xp, w_ih), b_ih)
    hidden = h0.shape[1]
    out: dict[int, Array] = {}
    cells: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in recurrent.order(x.shape[0], reverse):
        sums = inputs[t] + recurrent.projected(xp, h, w, b_hh)
        i, f, g, o = recurrent.blocks(sums, 4)
        i, f, o = (sigmoid_of(xp, a) for a in (i, f, o))
        g = xp.tanh(g)
        c = f * c + i * g
        h = o * xp.tanh(c)
        out[t], cells[t] = h, c
        acts[t] = xp.concatenate([i, f, g, o], axis=1)
    joined = [
        narrow(recurrent.joined(xp, parts, x, width), x)
        for parts, width in ((out, hidden), (acts, 4 * hidden), (cells, hidden))
    ]
    return joined[0], narrow(c, x), joined[1], joined[2]


def lstm_backward(
    xp: Any,
    g: Array,
    gc: Array | None,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    out: Array,
    acts: Array,
    cells: Array,
    h0: Array,
    c0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0, c0 = (
        wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0, c0)
    )
    dh, dc = xp.zeros_like(h0), xp.zeros_like(c0) if gc is None else wide(xp, gc)
    first = recurrent.before(xp, wide(xp, cells), c0, reverse)
    parts: dict[int, Array] = {}
    for t in reversed(recurrent.order(x.shape[0], reverse)):
        i, f, a, o = recurrent.blocks(wide(xp, acts[t]), 4)
        dh = dh + g[t]
        top = xp.tanh(wide(xp, cells[t]))
        dc = dc + dh * o * (1 - top * top)
        sums = [
            dc * a * (i * (1 - i)),
            dc * first[t] * (f * (1 - f)),
            dc * i * (1 - a * a),
            dh * top * (o * (1 - o)),
        ]
        parts[t] = xp.concatenate(sums, axis=1)
        dc = dc * f
        dh = xp.matmul(parts[t], w_hh)
    d = recurrent.joined(xp, parts, x, 4 * h0.shape[1])
    results = (
        xp.matmul(d, w_ih),
        recurrent.times(xp, d, x),
        recurrent.times(xp, d, recurrent.before(xp, out, h0, reverse)),
        xp.sum(d, axis=(0, 1)),
        dh,
        dc,
    )
    return tuple(narrow(a, like) for a in results)


# ---- gated recurrent units -----------------------------------------------------------


def gru(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, Array]:
    h, w = wide(xp, h0), wide(xp, w_hh)
    inputs = recurrent.projected(xp, wide(xp, x), wide(xp, w_ih), b_ih)
    hidden = h0.shape[1]
    out: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in recurrent.order(x.shape[0], reverse):
        xr, xz, xn = recurrent.blocks(inputs[t], 3)
        hr, hz, hn = recurrent.blocks(recurrent.projected(xp, h, w, b_hh), 3)
        r, z = sigmoid_of(xp, xr + hr), sigmoid_of(xp, xz + hz)
        n = xp.tanh(xn + r * hn)
        h = n + z * (h - n)
        out[t], acts[t] = h, xp.concatenate([r, z, n, hn], axis=1)
    return (
        narrow(recurrent.joined(xp, out, x, hidden), x),
        narrow(recurrent.joined(xp, acts, x, 4 * hidden), x),
    )


def gru_backward(
    xp: Any,
    g: Array,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    out: Array,
    acts: Array,
    h0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0 = (wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0))
    dh = xp.zeros_like(h0)
    first = recurrent.before(xp, out, h0, reverse)
    of_x: dict[int, Array] = {}
    of_h: dict[int, Array] = {}
    for t in reversed(recurrent.order(x.shape[0], reverse)):
        r, z, n, hn = recurrent.blocks(wide(xp, acts[t]), 4)
        dh = dh + g[t]
        dn = dh * (1 - z) * (1 - n * n)
        dz = dh * (first[t] - n) * (z * (1 - z))
        dr = dn * hn * (r * (1 - r))
        of_x[t] = xp.concatenate([dr, dz, dn], axis=1)
        of_h[t] = xp.concatenate([dr, dz, dn * r], axis=1)
        dh = dh * z + xp.matmul(of_h[t], w_hh)
    width = 3 * h0.shape[1]
    dx, dh_sums = (recurrent.joined(xp, parts, x, width) for parts in (of_x, of_h))
    results = (
        xp.matmul(dx, w_ih),
        recurrent.times(xp, dx, x),
        recurrent.times(xp, dh_sums, first),
        xp.sum(dx, axis=(0, 1)),
        xp.sum(dh_sums, axis=(0, 1)),
        dh,
    )
    return tuple(narrow(a, like) for a in results)
