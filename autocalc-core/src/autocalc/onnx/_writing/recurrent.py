# SPDX-License-Identifier: MIT
"""Recurrent layers over ``[T, B, I]``.

ONNX has another order of gates.  For an LSTM it has i, o, f, g; here it is i, f, g, o.
For a GRU it has z, r, n; here it is r, z, n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import writes


def _ordered(k: Kernels, w: Value, order: Sequence[int]) -> Value:
    """Return the blocks of gates in another order."""
    size = w.shape[0] // len(order)
    blocks = [k.slice(w, slice(i * size, (i + 1) * size)) for i in order]
    value: Value = k.cat(blocks, 0)
    return value


def _layer(
    k: Kernels,
    op: str,
    order: Sequence[int],
    x: Value,
    weights: Sequence[Value | None],
    states: Sequence[Value],
    reverse: bool,
    **words: Any,
) -> tuple[Value, ...]:
    """Write a layer; return outputs and last states without a direction axis."""
    turned = [None if w is None else _ordered(k, w, order) for w in weights]
    w_ih, w_hh, b_ih, b_hh = turned
    steps, batch, _ = x.shape
    hidden = states[0].shape[1]
    bias = None
    if b_ih is not None or b_hh is not None:
        zeros = k.zeros((len(order) * hidden,), x.dtype)
        pair = [zeros if b is None else b for b in (b_ih, b_hh)]
        bias = k.reshape(k.cat(pair, 0), (1, 2 * len(order) * hidden))
    assert w_ih is not None
    assert w_hh is not None
    matrices = [k.reshape(w, (1, *w.shape)) for w in (w_ih, w_hh)]
    first = [k.reshape(s, (1, batch, hidden)) for s in states]
    last = [((1, batch, hidden), x.dtype)] * len(states)
    words["direction"] = "reverse" if reverse else "forward"
    out, *ends = k.graph.several(
        op,
        (x, *matrices, bias, None, *first),
        [((steps, 1, batch, hidden), x.dtype), *last],
        hidden_size=hidden,
        **words,
    )
    flat = [k.reshape(end, (batch, hidden)) for end in ends]
    return (k.reshape(out, (steps, batch, hidden)), *flat)


@writes("lstm")
def _(
    k: Kernels,
    x: Value,
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None,
    b_hh: Value | None,
    h0: Value,
    c0: Value,
    reverse: bool,
) -> tuple[Value, Value]:
    weights = (w_ih, w_hh, b_ih, b_hh)
    out, _, c_n = _layer(k, "LSTM", (0, 3, 1, 2), x, weights, (h0, c0), reverse)
    return out, c_n


@writes("gru")
def _(
    k: Kernels,
    x: Value,
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None,
    b_hh: Value | None,
    h0: Value,
    reverse: bool,
) -> Value:
    weights = (w_ih, w_hh, b_ih, b_hh)
    words = {"linear_before_reset": 1}
    return _layer(k, "GRU", (1, 0, 2), x, weights, (h0,), reverse, **words)[0]


@writes("rnn")
def _(
    k: Kernels,
    x: Value,
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None,
    b_hh: Value | None,
    h0: Value,
    activation: str,
    reverse: bool,
) -> Value:
    weights = (w_ih, w_hh, b_ih, b_hh)
    words = {"activations": [activation.title()]}
    return _layer(k, "RNN", (0,), x, weights, (h0,), reverse, **words)[0]
