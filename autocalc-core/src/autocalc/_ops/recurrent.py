# SPDX-License-Identifier: MIT
"""Recurrent layers over a whole sequence; their rules run one kernel too.

What a forward kernel keeps for its rule has no history: where the backward walk is
itself recorded it takes the primitives, as for attention.
"""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import multi, nary

# Inputs x, w_ih, w_hh, b_ih, b_hh, h0, and c0 of an LSTM; see the kernels' specs.
rnn = nary("rnn", saves="out x w_ih w_hh b_ih b_hh h0")


@rnn.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, x, w_ih, w_hh, b_ih, b_hh, h0 = n.saved
    if k.records:
        inputs = (x, w_ih, w_hh, b_ih, b_hh, h0)
        return k.through_decomposition("rnn", inputs, n.attributes, g)
    want = _want(n, 0, 1, 2, (3, 4), 5)
    operands = (g, x, w_ih, w_hh, out, h0)
    *dw, dbias, dh0 = k.rnn_backward(*operands, *n.attributes, want=want)
    return *dw, dbias, dbias, dh0


lstm = multi("lstm", saves="out acts cells x w_ih w_hh b_ih b_hh h0 c0")


@lstm.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, acts, cells, x, w_ih, w_hh, b_ih, b_hh, h0, c0 = n.saved
    if k.records:
        inputs = (x, w_ih, w_hh, b_ih, b_hh, h0, c0)
        return k.through_decomposition("lstm", inputs, n.attributes, g)
    g_out, gc = g
    if g_out is None:  # only the last cell was used
        g_out = k.zeros(k.shape(out), k.dtype(out))
    want = _want(n, 0, 1, 2, (3, 4), 5, 6)
    operands = (g_out, gc, x, w_ih, w_hh, out, acts, cells, h0, c0)
    *dw, dbias, dh0, dc0 = k.lstm_backward(*operands, *n.attributes, want=want)
    return *dw, dbias, dbias, dh0, dc0


gru = nary("gru", saves="out acts x w_ih w_hh b_ih b_hh h0")


@gru.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, acts, x, w_ih, w_hh, b_ih, b_hh, h0 = n.saved
    if k.records:
        inputs = (x, w_ih, w_hh, b_ih, b_hh, h0)
        return k.through_decomposition("gru", inputs, n.attributes, g)
    want = _want(n, 0, 1, 2, 3, 4, 5)
    operands = (g, x, w_ih, w_hh, out, acts, h0)
    return k.gru_backward(*operands, *n.attributes, want=want)


def _want(n: Any, *inputs: int | tuple[int, ...]) -> int:
    """Return the mask of outputs; output i is the gradient of these inputs."""
    mask = 0
    for i, places in enumerate(inputs):
        several = places if isinstance(places, tuple) else (places,)
        mask |= any(n.needs(place) for place in several) << i
    return mask
