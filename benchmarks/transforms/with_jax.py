# SPDX-License-Identifier: MIT
"""JAX as a peer: the same functions under `jax.jit`, written as JAX is written."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from benchmarks.side_by_side import with_jax
from benchmarks.worker import Run

PEER = with_jax.PEER
start = with_jax.start


def prepare(case: str) -> Run:
    """Return the jitted function of a row, which waits for its result."""
    jax: Any = importlib.import_module(PEER)
    kind = case.partition(" ")[0].rstrip(",")
    function, args = _ROWS["CNN" if "CNN" in case else kind](jax)
    jitted = jax.jit(function)
    jitted(*args)
    return lambda: jax.block_until_ready(jitted(*args))


def _layers(jax: Any, sizes: Sequence[int], *lead: int) -> list[Any]:
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    return [
        {
            "weight": jax.random.normal(key, (*lead, a, b)) * a**-0.5,
            "bias": jax.numpy.zeros((*lead, b)),
        }
        for key, a, b in zip(keys, sizes, sizes[1:], strict=False)
    ]


def _mlp(layers: Any, x: Any, activation: Any) -> Any:
    for layer in layers[:-1]:
        x = activation(x @ layer["weight"] + layer["bias"])
    return x @ layers[-1]["weight"] + layers[-1]["bias"]


def _draw(jax: Any, *shape: int) -> Any:
    return jax.random.normal(jax.random.PRNGKey(1), shape)


def _labels(jax: Any) -> Any:
    return jax.random.randint(jax.random.PRNGKey(2), (64,), 0, 10)


def _gradients(jax: Any, scores: Any) -> Any:
    def loss(p: Any, x: Any, label: Any) -> Any:
        return -jax.nn.log_softmax(scores(p, x))[label]

    return jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))


def _mlp_gradients(jax: Any) -> Any:
    function = _gradients(jax, lambda p, x: _mlp(p, x, jax.nn.relu))
    layers = _layers(jax, (64, 128, 128, 10))
    return function, (layers, _draw(jax, 64, 64), _labels(jax))


def _cnn_gradients(jax: Any) -> Any:
    lax = jax.lax

    def pooled(x: Any) -> Any:
        window = (1, 1, 2, 2)
        return lax.reduce_window(x, -jax.numpy.inf, lax.max, window, window, "VALID")

    def scores(p: Any, x: Any) -> Any:
        x = x[None]
        for weight, bias in p["convolutions"]:
            x = lax.conv_general_dilated(x, weight, (1, 1), "VALID")
            x = pooled(jax.nn.relu(x + bias[:, None, None]))
        return _mlp(p["top"], x.reshape(-1), None)

    parameters = {
        "convolutions": [
            (_draw(jax, 8, 1, 3, 3) / 3, jax.numpy.zeros(8)),
            (_draw(jax, 16, 8, 3, 3) / 9, jax.numpy.zeros(16)),
        ],
        "top": _layers(jax, (400, 10)),
    }
    x = _draw(jax, 64, 1, 28, 28)
    return _gradients(jax, scores), (parameters, x, _labels(jax))


def _hessian(jax: Any) -> Any:
    layers = _layers(jax, (20, 32, 32, 1))
    value = jax.hessian(lambda x: _mlp(layers, x, jax.numpy.tanh).sum())
    return value, (_draw(jax, 20),)


def _laplacian(jax: Any) -> Any:
    layers = _layers(jax, (2, 32, 32, 1))
    second = jax.hessian(lambda x: _mlp(layers, x, jax.numpy.tanh).sum())
    at_point = jax.vmap(lambda x: jax.numpy.trace(second(x)))
    return at_point, (_draw(jax, 1000, 2),)


def _ensemble(jax: Any) -> Any:
    layers = _layers(jax, (64, 128, 10), 16)
    scores = jax.vmap(lambda p, x: _mlp(p, x, jax.nn.relu), in_axes=(0, None))
    return scores, (layers, _draw(jax, 32, 64))


_ROWS: dict[str, Any] = {
    "gradients": _mlp_gradients,
    "CNN": _cnn_gradients,
    "Hessian": _hessian,
    "Laplacian": _laplacian,
    "ensemble": _ensemble,
}
