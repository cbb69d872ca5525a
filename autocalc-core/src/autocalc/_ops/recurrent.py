# SPDX-License-Identifier: MIT
"""RNN, LSTM and GRU layers for padded or packed sequences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.factories import multi, nary
from autocalc._ops._operator.halves import check_alike, rounded_once
from autocalc._ops.arranging import joining
from autocalc._ops.matrices import matmul
from autocalc._ops.views import view
from autocalc._tensor import Tensor

# The inputs are x, w_ih, w_hh, b_ih, b_hh, h0, and for an LSTM c0; see the kernel
# specs.
rnn_op = nary("rnn", saves="out x w_ih w_hh b_ih b_hh h0")


@rnn_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, x, w_ih, w_hh, b_ih, b_hh, h0 = n.saved
    if k.records:
        inputs = (x, w_ih, w_hh, b_ih, b_hh, h0)
        return k.through_decomposition("rnn", inputs, n.attributes, g)
    want = _want(n, 0, 1, 2, (3, 4), 5)
    operands = (g, x, w_ih, w_hh, out, h0)
    *dw, dbias, dh0 = k.rnn_backward(*operands, *n.attributes, want=want)
    return *dw, dbias, dbias, dh0


lstm_op = multi("lstm", saves="out acts cells x w_ih w_hh b_ih b_hh h0 c0")


@lstm_op.vjp
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


gru_op = nary("gru", saves="out acts x w_ih w_hh b_ih b_hh h0")


@gru_op.vjp
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


States = tuple[Tensor, ...]


class Weights(NamedTuple):
    """The parameters of one layer in one direction; see `nn.LSTM`."""

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor | None
    b_hh: Tensor | None
    w_hr: Tensor | None = None


def _precision(kind: str, *args: Any, cell: bool = False) -> str:
    """Return the policy under `autocast`.

    Operators without a policy blend the states of a GRU and of an LSTM cell.  So these
    keep their precision.
    """
    first: States = args[-2]
    if kind == "GRU" or (cell and kind == "LSTM"):
        return "lower" if first[0].dtype.is_half else "float32"
    return "lower"


@autocasts(_precision)
def layer(
    kind: str,
    x: Tensor,
    weights: Weights,
    first: States,
    reverse: bool,
    *,
    cell: bool = False,
) -> tuple[Tensor, States]:
    """Run a layer over ``x [T, B, I]``; return its outputs and its last states.

    `kind` is ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``; a `cell` runs one
    step.
    """
    del cell  # only the policy uses it
    if x._array.dtype is not weights.w_ih._array.dtype:
        check_alike(kind, (x, *weights))
    if weights.w_hr is not None:
        return _projecting(x, weights, first, reverse)
    operands = (x, *weights[:4], *first)
    if kind == "LSTM":
        out, c_n = lstm_op(*operands, reverse)
        return out, (_last(out, reverse), c_n)
    if kind == "GRU":
        out = gru_op(*operands, reverse)
    else:
        out = rnn_op(*operands, kind.removeprefix("RNN_").lower(), reverse)
    return out, (_last(out, reverse),)


@autocasts(_precision)
@rounded_once
def packed_layer(
    kind: str,
    data: Tensor,
    sizes: Sequence[int],
    weights: Weights,
    first: States,
    reverse: bool,
) -> tuple[Tensor, States]:
    """Run a layer over packed sequences ``[N, I]``; `sizes` has the batch of each step.

    Consecutive steps with the same number of sequences are one call.  Between two calls
    the shorter sequences have ended.  In the reverse direction they begin with their
    first states.
    """
    spans = _spans(sizes)
    out: list[Tensor] = []
    ended: list[States] = []
    states = tuple(s[: spans[-1].batch if reverse else sizes[0]] for s in first)
    for span in reversed(spans) if reverse else spans:
        count = states[0].shape[0]
        if count > span.batch:
            ended.append(tuple(s[span.batch :] for s in states))
            states = tuple(s[: span.batch] for s in states)
        elif count < span.batch:
            states = tuple(
                joining.cat([s, begun[count : span.batch]], 0)
                for s, begun in zip(states, first, strict=True)
            )
        rows = span.steps * span.batch
        x = data[span.start : span.start + rows]
        x = view.reshape(x, (span.steps, span.batch, x.shape[1]))
        y, states = layer(kind, x, weights, states, reverse)
        out.append(view.reshape(y, (rows, y.shape[2])))
    parts = zip(states, *reversed(ended), strict=True)
    last = tuple(joining.cat(list(s), 0) for s in parts)
    return joining.cat(out[::-1] if reverse else out, 0), last


class _Span(NamedTuple):
    """Consecutive steps with the same number of sequences."""

    start: int  # the row of the first element
    steps: int
    batch: int


def _spans(sizes: Sequence[int]) -> list[_Span]:
    spans, start = [], 0
    for batch, group in groupby(sizes):
        steps = len(list(group))
        spans.append(_Span(start, steps, batch))
        start += steps * batch
    return spans


def _last(out: Tensor, reverse: bool) -> Tensor:
    return out[0] if reverse else out[-1]


@rounded_once
def _projecting(
    x: Tensor, weights: Weights, first: States, reverse: bool
) -> tuple[Tensor, States]:
    """Run an LSTM with projected outputs, operator by operator at each step."""
    assert weights.w_hr is not None
    h, c = first
    size = c.shape[1]
    inputs = matmul.linear(x, weights.w_ih, weights.b_ih)
    out: list[Tensor] = []
    for t in reversed(range(x.shape[0])) if reverse else range(x.shape[0]):
        sums = inputs[t] + matmul.linear(h, weights.w_hh, weights.b_hh)
        i, f, g, o = (sums[:, j * size : (j + 1) * size] for j in range(4))
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = matmul.linear(o.sigmoid() * c.tanh(), weights.w_hr)
        out.append(h)
    return joining.stack(out[::-1] if reverse else out), (h, c)
