# SPDX-License-Identifier: MIT
"""Recurrent layers step by step: lengths, peepholes, other functions, clipping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._ops.arranging import joining, rearranging
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.indexing import masking
from autocalc._ops.matrices import matmul
from autocalc._ops.views import splitting
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.onnx._node import Node

States = tuple[Tensor, ...]
Step = Callable[[Tensor, States], States]

#: Functions of a tensor, alpha and beta; alpha and beta are None if not given.
FUNCTIONS: dict[str, Callable[[Tensor, Any, Any], Tensor]] = {
    "relu": lambda x, a, b: functional.relu(x),
    "tanh": lambda x, a, b: functional.tanh(x),
    "sigmoid": lambda x, a, b: functional.sigmoid(x),
    "affine": lambda x, a, b: x * (1.0 if a is None else a) + (b or 0.0),
    "leakyrelu": lambda x, a, b: functional.leaky_relu(x, 0.01 if a is None else a),
    "thresholdedrelu": lambda x, a, b: functional.threshold(
        x, 1.0 if a is None else a, 0.0
    ),
    "scaledtanh": lambda x, a, b: (
        functional.tanh(x * (1.0 if b is None else b)) * (1.0 if a is None else a)
    ),
    "hardsigmoid": lambda x, a, b: (
        x * (0.2 if a is None else a) + (0.5 if b is None else b)
    ).clamp(0, 1),
    "elu": lambda x, a, b: functional.elu(x, 1.0 if a is None else a),
    "softsign": lambda x, a, b: functional.softsign(x),
    "softplus": lambda x, a, b: functional.softplus(x),
}

#: Functions that take alpha, and those that take beta, from the node's lists.
_ALPHA = {
    "affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu",
}  # fmt: skip
_BETA = {"affine", "scaledtanh", "hardsigmoid"}


def functions(node: Node, names: Sequence[str], number: int) -> list[Any]:
    """Return the functions of a direction, with their constants.

    The lists of constants have entries only for functions that take them.
    """
    every = [name.lower() for name in node.get("activations") or names]
    alphas, betas = _spread(node, every, _ALPHA, "activation_alpha"), _spread(
        node, every, _BETA, "activation_beta"
    )  # fmt: skip
    start = number * len(names) if node.get("activations") else 0

    def function(i: int, name: str) -> Any:
        a, b = alphas[start + i], betas[start + i]
        return lambda x: FUNCTIONS[name.lower()](x, a, b)

    return [function(i, name) for i, name in enumerate(names)]


def _spread(node: Node, names: list[str], takes: set[str], key: str) -> list[Any]:
    """Return the constant of each function; None where it takes none."""
    given = list(node.get(key) or [])
    return [given.pop(0) if name in takes and given else None for name in names]


def step(node: Node, parts: Sequence[Any], functions: Sequence[Any]) -> Step:
    """Return a function of an input and the states, which returns the next states."""
    makers = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}
    limit = node.get("clip")

    def clip(x: Tensor) -> Tensor:
        return x if limit is None else x.clamp(-limit, limit)

    return makers[node.op](node, parts, functions, clip)


def _biases(w: Tensor, b: Tensor | None) -> list[Any]:
    """Return the biases of the input's and of the state's product."""
    return [0, 0] if b is None else list(splitting.chunk(b, 2, 0))


def _rnn(node: Node, parts: Sequence[Any], f: Sequence[Any], clip: Any) -> Step:
    w, r, b, _ = parts
    one, two = _biases(w, b)

    def step(x: Tensor, states: States) -> States:
        (h,) = states
        return (f[0](clip(matmul.matmul(x, w.T) + one + matmul.matmul(h, r.T) + two)),)

    return step


def _gru(node: Node, parts: Sequence[Any], f: Sequence[Any], clip: Any) -> Step:
    w, r, b, _ = parts
    linear = bool(node.get("linear_before_reset", 0))
    one, two = _biases(w, b)
    size = r.shape[1]
    for_z_r, for_h = r[: 2 * size], r[2 * size :]
    near, far = (0, 0) if b is None else (two[: 2 * size], two[2 * size :])

    def step(x: Tensor, states: States) -> States:
        (h,) = states
        z, reset, new = splitting.chunk(matmul.matmul(x, w.T) + one, 3, -1)
        inner = splitting.chunk(matmul.matmul(h, for_z_r.T) + near, 2, -1)
        z, reset = f[0](clip(z + inner[0])), f[0](clip(reset + inner[1]))
        if linear:
            new = new + reset * (matmul.matmul(h, for_h.T) + far)
        else:
            new = new + matmul.matmul(reset * h, for_h.T) + far
        return ((1 - z) * f[1](clip(new)) + z * h,)

    return step


def _lstm(node: Node, parts: Sequence[Any], f: Sequence[Any], clip: Any) -> Step:
    w, r, b, holes = parts
    one, two = _biases(w, b)
    p_i, p_o, p_f = (0, 0, 0) if holes is None else splitting.chunk(holes, 3, 0)
    coupled = bool(node.get("input_forget", 0))

    def step(x: Tensor, states: States) -> States:
        h, c = states
        gates = matmul.matmul(x, w.T) + one + matmul.matmul(h, r.T) + two
        i, o, forget, new = splitting.chunk(gates, 4, -1)
        i = f[0](clip(i + p_i * c))
        forget = 1 - i if coupled else f[0](clip(forget + p_f * c))
        c = forget * c + i * f[1](clip(new))
        return f[0](clip(o + p_o * c)) * f[2](c), c

    return step


def run(
    step: Step, x: Tensor, states: States, lengths: list[int] | None
) -> tuple[Tensor, States]:
    """Run over ``x [T, B, I]``; a row keeps its states after its end, and answers 0."""
    outs = []
    ends = None if lengths is None else tensor(lengths).unsqueeze(1)
    for t, one in enumerate(x.unbind(0)):
        new = step(one, states)
        if ends is None:
            outs.append(new[0])
            states = new
            continue
        on = ends > t
        outs.append(masking.where(on, new[0], new[0] * 0))
        states = tuple(
            masking.where(on, a, b) for a, b in zip(new, states, strict=True)
        )
    return joining.stack(outs, 0), states


def turned(x: Tensor, lengths: list[int]) -> Tensor:
    """Return ``x [T, B, I]`` with the first `length` steps of each row reversed."""
    rows = []
    for one, length in zip(splitting.split(x, 1, 1), lengths, strict=True):
        head = rearranging.flip(one[:length], [0])
        rows.append(joining.cat([head, one[length:]], 0))
    return joining.cat(rows, 1)
