# SPDX-License-Identifier: MIT
"""Recurrent layers; ONNX has another order of gates, see the writers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops.arranging import joining, rearranging
from autocalc._ops.creation import constants
from autocalc._ops.recurrent import Weights, layer
from autocalc._ops.views import splitting
from autocalc._tensor import Tensor
from autocalc.onnx._node import Node
from autocalc.onnx._reading import recurrent_steps
from autocalc.onnx._table import reads

_ACTIVATIONS = {
    "LSTM": ["Sigmoid", "Tanh", "Tanh"],
    "GRU": ["Sigmoid", "Tanh"],
    "RNN": ["Tanh"],
}

#: The order in which AutoCalc's layers have ONNX's gates.
_ORDERS = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}

_UNUSED = (
    "hidden_size", "activations", "activation_alpha", "activation_beta", "clip",
    "direction", "input_forget", "layout", "linear_before_reset", "output_sequence",
)  # fmt: skip


def _refuses(node: Node) -> str:
    """Refuse functions that are not known."""
    for name in node.attributes.get("activations", []):
        if name.lower() not in recurrent_steps.FUNCTIONS:
            return node.unlike("activations", name, *sorted(recurrent_steps.FUNCTIONS))
    return ""


def _ordered(w: Tensor, order: Sequence[int]) -> Tensor:
    blocks = splitting.chunk(w, len(order), 0)
    return w if len(order) == 1 else joining.cat([blocks[i] for i in order], 0)


def _functions(node: Node, turns: int) -> list[list[str]]:
    """Return the names of the functions of each direction."""
    usual = _ACTIVATIONS[node.op]
    given = node.get("activations") or usual * turns
    names = [name.capitalize() for name in given]
    return [names[i * len(usual) : (i + 1) * len(usual)] for i in range(turns)]


def _kind(node: Node, functions: list[list[str]], plain: bool) -> str:
    """Return the kind of layer that AutoCalc has, or "" if none is the same."""
    special = node.get("clip") is not None or node.get("input_forget", 0)
    if special or not plain:
        return ""
    if node.op == "RNN":
        names = {name for one in functions for name in one}
        return {"Tanh": "RNN_TANH", "Relu": "RNN_RELU"}.get(
            names.pop() if len(names) == 1 else "", ""
        )
    usual = all(one == _ACTIVATIONS[node.op] for one in functions)
    resets = node.op == "LSTM" or node.get("linear_before_reset", 0)
    return node.op if usual and resets else ""


@reads("LSTM", "GRU", "RNN", numbers=(4,), unused=_UNUSED, refuses=_refuses)
def _(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: list[int] | None = None,
    *states: Tensor | None,
) -> tuple[Tensor, ...]:
    """Run one or both directions; return outputs ``[T, D, B, H]`` and last states."""
    count = 2 if node.op == "LSTM" else 1
    first, peepholes = states[:count], states[count:]
    turned = bool(node.get("layout", 0))
    if turned:
        x = x.transpose(0, 1)
        first = tuple(s if s is None else s.transpose(0, 1) for s in first)
    if lengths is not None and all(n == x.shape[0] for n in lengths):
        lengths = None
    first = (*first, *[None] * (count - len(first)))
    directions = {"forward": [False], "reverse": [True]}
    turns = directions.get(node.get("direction", "forward"), [False, True])
    functions = _functions(node, len(turns))
    holes = peepholes[0] if peepholes else None
    kind = _kind(node, functions, lengths is None and holes is None)
    outs, ends = [], []
    for number, reverse in enumerate(turns):
        begin = tuple(
            constants.zeros(x.shape[1], r.shape[2], dtype=x.dtype)
            if s is None
            else s[number]
            for s in first
        )
        parts = [one if one is None else one[number] for one in (w, r, b, holes)]
        if kind:
            out, last = _layer(node, kind, x, parts, begin, reverse)
        else:
            out, last = _stepped(
                node, functions[number], number, x, parts, begin, reverse, lengths
            )
        outs.append(out)
        ends.append(last)
    joined = [joining.stack(list(parts), 0) for parts in zip(*ends, strict=True)]
    every = joining.stack(outs, 1)
    if turned:
        return (every.permute(2, 0, 1, 3), *(one.transpose(0, 1) for one in joined))
    return (every, *joined)


def _layer(
    node: Node,
    kind: str,
    x: Tensor,
    parts: Sequence[Any],
    first: tuple[Tensor, ...],
    reverse: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Run a layer of AutoCalc."""
    w, r, b, _ = parts
    pair = (None, None) if b is None else splitting.chunk(b, 2, 0)
    order = _ORDERS[node.op]
    turned: Any = [None if a is None else _ordered(a, order) for a in (w, r, *pair)]
    return layer(kind, x, Weights(*turned), first, reverse)


def _stepped(
    node: Node,
    names: list[str],
    number: int,
    x: Tensor,
    parts: Sequence[Any],
    first: tuple[Tensor, ...],
    reverse: bool,
    lengths: list[int] | None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Run step by step what the layers do not have."""
    functions = recurrent_steps.functions(node, names, number)
    step = recurrent_steps.step(node, parts, functions)
    if not reverse:
        return recurrent_steps.run(step, x, first, lengths)
    if lengths is None:
        out, last = recurrent_steps.run(step, rearranging.flip(x, [0]), first, None)
        return rearranging.flip(out, [0]), last
    turned = recurrent_steps.turned(x, lengths)
    out, last = recurrent_steps.run(step, turned, first, lengths)
    return recurrent_steps.turned(out, lengths), last
