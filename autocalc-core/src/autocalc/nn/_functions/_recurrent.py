# SPDX-License-Identifier: MIT
"""Recurrent layers, one in one direction at a time: a kernel call each."""

from __future__ import annotations

from typing import NamedTuple

from autocalc import _functional as functional
from autocalc._ops import recurrent as ops
from autocalc._tensor import Tensor

States = tuple[Tensor, ...]


class Weights(NamedTuple):
    """The parameters of one layer in one direction; see `nn.LSTM`."""

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor | None
    b_hh: Tensor | None
    w_hr: Tensor | None = None


def layer(
    kind: str, x: Tensor, weights: Weights, first: States, reverse: bool
) -> tuple[Tensor, States]:
    """Run a layer over ``x [T, B, I]``; return its outputs and its last states.

    `kind` is ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``.
    """
    if weights.w_hr is not None:
        return _projecting(x, weights, first, reverse)
    operands = (x, *weights[:4], *first)
    if kind == "LSTM":
        out, c_n = ops.lstm(*operands, reverse)
        return out, (_last(out, reverse), c_n)
    if kind == "GRU":
        out = ops.gru(*operands, reverse)
    else:
        out = ops.rnn(*operands, kind.removeprefix("RNN_").lower(), reverse)
    return out, (_last(out, reverse),)


def _last(out: Tensor, reverse: bool) -> Tensor:
    return out[0] if reverse else out[-1]


def _projecting(
    x: Tensor, weights: Weights, first: States, reverse: bool
) -> tuple[Tensor, States]:
    """Run an LSTM whose output is projected, operator by operator at each step."""
    assert weights.w_hr is not None
    h, c = first
    size = c.shape[1]
    inputs = functional.linear(x, weights.w_ih, weights.b_ih)
    out: list[Tensor] = []
    for t in reversed(range(x.shape[0])) if reverse else range(x.shape[0]):
        sums = inputs[t] + functional.linear(h, weights.w_hh, weights.b_hh)
        i, f, g, o = (sums[:, j * size : (j + 1) * size] for j in range(4))
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = functional.linear(o.sigmoid() * c.tanh(), weights.w_hr)
        out.append(h)
    return functional.stack(out[::-1] if reverse else out), (h, c)
