# SPDX-License-Identifier: MIT
"""Recurrent layers; ONNX has another order of gates, see the writers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops.arranging import joining
from autocalc._ops.creation import constants
from autocalc._ops.recurrent import Weights, layer
from autocalc._ops.views import splitting
from autocalc._tensor import Tensor
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads

_ACTIVATIONS = {
    "LSTM": ["Sigmoid", "Tanh", "Tanh"],
    "GRU": ["Sigmoid", "Tanh"],
    "RNN": ["Tanh"],
}


def _ordered(w: Tensor, order: Sequence[int]) -> Tensor:
    blocks = splitting.chunk(w, len(order), 0)
    return w if len(order) == 1 else joining.cat([blocks[i] for i in order], 0)


def _run(
    node: Node,
    order: Sequence[int],
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None,
    states: Sequence[Tensor | None],
    kind: str = "",
) -> tuple[Tensor, ...]:
    """Run one or both directions; return outputs ``[T, D, B, H]`` and last states."""
    node.only("layout", 0)
    node.only("clip", None)
    node.only("input_forget", 0)
    direction = node.get("direction", "forward")
    turns = {"forward": [False], "reverse": [True]}.get(direction, [False, True])
    hidden, batch = r.shape[2], x.shape[1]
    outs, ends = [], []
    for number, reverse in enumerate(turns):
        first = tuple(
            constants.zeros(batch, hidden, dtype=x.dtype) if s is None else s[number]
            for s in states
        )
        pair = (None, None) if b is None else splitting.chunk(b[number], 2, 0)
        given = [w[number], r[number], *pair]
        turned: Any = [None if a is None else _ordered(a, order) for a in given]
        weights = Weights(*turned)
        out, last = layer(kind or node.op, x, weights, first, reverse)
        outs.append(out)
        ends.append(last)
    joined = [joining.stack(list(parts), 0) for parts in zip(*ends, strict=True)]
    return (joining.stack(outs, 1), *joined)


def _expect_plain(node: Node, lengths: Tensor | None) -> None:
    node.expect("sequence_lens", lengths, None)
    usual = _ACTIVATIONS[node.op]
    node.only("activations", usual, 2 * usual)


@reads("LSTM", unused=("hidden_size",))
def _(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
    c: Tensor | None = None,
    peepholes: Tensor | None = None,
) -> tuple[Tensor, ...]:
    _expect_plain(node, lengths)
    node.expect("P", peepholes, None)
    return _run(node, (0, 2, 3, 1), x, w, r, b, (h, c))


@reads("GRU", unused=("hidden_size",))
def _(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
) -> tuple[Tensor, ...]:
    _expect_plain(node, lengths)
    node.expect("linear_before_reset", node.get("linear_before_reset", 0), 1)
    return _run(node, (1, 0, 2), x, w, r, b, (h,))


@reads("RNN", unused=("hidden_size",))
def _(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
) -> tuple[Tensor, ...]:
    node.expect("sequence_lens", lengths, None)
    names = set(node.get("activations", ["Tanh"]))
    node.expect("activations", names, {"Tanh"}, {"Relu"})
    kind = "RNN_RELU" if names == {"Relu"} else "RNN_TANH"
    return _run(node, (0,), x, w, r, b, (h,), kind)
