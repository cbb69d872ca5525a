# SPDX-License-Identifier: MIT
"""JAX as a peer: whole training steps under `jax.jit`, written as JAX is written.

Steps are functions of parameters and state, which are donated, so that XLA writes them
in place.  Calls are synchronous: a call returns when its work is done.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from benchmarks.side_by_side.language import VOCABULARY, Sizes
from benchmarks.worker import Run

PEER = "jax"
CLASSES = 10

#: A loss of parameters and a batch, and both.
Problem = tuple[Callable[..., Any], Any, tuple[Any, ...]]


def start(threads: int) -> str:
    """Set the number of threads, which must come before JAX is imported."""
    flags = "--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads="
    os.environ["XLA_FLAGS"] = f"{flags}{threads}"
    jax: Any = importlib.import_module(PEER)
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    return f"{PEER} {jax.__version__}"


def mlp(features: int, hidden: int, batch: int) -> Run:
    """Return the step of an MLP: ReLU, ten classes, SGD with momentum."""
    jax: Any = importlib.import_module(PEER)

    def logits(p: Any, x: Any) -> Any:
        return jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    draw = _Draw(jax)
    parameters = {
        "w1": draw.normal(features, hidden, scale=features**-0.5),
        "b1": draw.zeros(hidden),
        "w2": draw.normal(hidden, CLASSES, scale=hidden**-0.5),
        "b2": draw.zeros(CLASSES),
    }
    batch_of = draw.normal(batch, features), draw.integers(CLASSES, batch)

    def loss(p: Any, x: Any, target: Any) -> Any:
        return _cross_entropy(jax, logits(p, x), target)

    return _step(jax, (loss, parameters, batch_of), _sgd(jax, 0.1, 0.9), 1)


def language(sizes: Sizes) -> Run:
    """Return the step of the transformer of `language.step`, with AdamW."""
    jax: Any = importlib.import_module(PEER)
    draw, d = _Draw(jax), sizes.d_model
    text = draw.integers(VOCABULARY, sizes.batch, sizes.seq + 1)
    layers = [_block(draw, d, sizes.d_ff) for _ in range(sizes.layers)]
    parameters = {
        "tokens": draw.normal(VOCABULARY, d),
        "places": draw.normal(sizes.seq, d),
        "layers": layers,
        "norm": _norm(draw, d),
        "top": _linear(draw, d, VOCABULARY),
    }

    def loss(p: Any, text: Any) -> Any:
        x = p["tokens"][text[:, :-1]] + p["places"]
        for layer in p["layers"]:
            x = _apply_block(jax, layer, x, sizes.heads)
        logits = _apply_linear(p["top"], _apply_norm(jax, p["norm"], x))
        return _cross_entropy(jax, logits, text[:, 1:])

    return _step(jax, (loss, parameters, (text,)), _adamw(jax, 1e-3), 2)


# ---- layers: dictionaries of parameters, and functions of them -----------------------


class _Draw:
    """Draws parameters and batches from one key after another."""

    def __init__(self, jax: Any) -> None:
        self._jax = jax
        self._key = jax.random.PRNGKey(0)

    def _next(self) -> Any:
        self._key, key = self._jax.random.split(self._key)
        return key

    def normal(self, *shape: int, scale: float = 1.0) -> Any:
        return self._jax.random.normal(self._next(), shape) * scale

    def zeros(self, *shape: int) -> Any:
        return self._jax.numpy.zeros(shape)

    def integers(self, below: int, *shape: int) -> Any:
        return self._jax.random.randint(self._next(), shape, 0, below)


def _linear(draw: _Draw, inputs: int, outputs: int) -> Any:
    weight = draw.normal(inputs, outputs, scale=inputs**-0.5)
    return {"weight": weight, "bias": draw.zeros(outputs)}


def _norm(draw: _Draw, d: int) -> Any:
    return {"weight": draw.zeros(d) + 1, "bias": draw.zeros(d)}


def _block(draw: _Draw, d: int, d_ff: int) -> Any:
    return {
        "norm_1": _norm(draw, d),
        "qkv": _linear(draw, d, 3 * d),
        "out": _linear(draw, d, d),
        "norm_2": _norm(draw, d),
        "up": _linear(draw, d, d_ff),
        "down": _linear(draw, d_ff, d),
    }


def _apply_linear(p: Any, x: Any) -> Any:
    return x @ p["weight"] + p["bias"]


def _apply_norm(jax: Any, p: Any, x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    rstd = jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    return (x - mean) * rstd * p["weight"] + p["bias"]


def _apply_block(jax: Any, p: Any, x: Any, heads: int) -> Any:
    batch, seq, d = x.shape
    qkv = _apply_linear(p["qkv"], _apply_norm(jax, p["norm_1"], x))
    q, k, v = (
        part.reshape(batch, seq, heads, d // heads)
        for part in jax.numpy.split(qkv, 3, axis=-1)
    )
    y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    x = x + _apply_linear(p["out"], y.reshape(batch, seq, d))
    up = _apply_linear(p["up"], _apply_norm(jax, p["norm_2"], x))
    return x + _apply_linear(p["down"], jax.nn.gelu(up, approximate=False))


def _cross_entropy(jax: Any, logits: Any, target: Any) -> Any:
    chosen = jax.numpy.take_along_axis(
        jax.nn.log_softmax(logits), target[..., None], axis=-1
    )
    return -chosen.mean()


# ---- optimizers: functions of parameters, state and gradients ------------------------


def _sgd(jax: Any, lr: float, momentum: float) -> Callable[..., Any]:
    def update(p: Any, state: Any, grads: Any) -> Any:
        (velocity,) = state
        velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, grads)
        return jax.tree.map(lambda x, v: x - lr * v, p, velocity), (velocity,)

    return update


def _adamw(jax: Any, lr: float) -> Callable[..., Any]:
    beta_1, beta_2, eps, decay = 0.9, 0.999, 1e-8, 1e-2

    def update(p: Any, state: Any, grads: Any) -> Any:
        first, second, count = state
        count = count + 1
        first = jax.tree.map(lambda m, g: beta_1 * m + (1 - beta_1) * g, first, grads)
        second = jax.tree.map(
            lambda s, g: beta_2 * s + (1 - beta_2) * g * g, second, grads
        )
        scale_1, scale_2 = 1 - beta_1**count, 1 - beta_2**count

        def moved(x: Any, m: Any, s: Any) -> Any:
            root = jax.numpy.sqrt(s / scale_2) + eps
            return x * (1 - lr * decay) - lr * (m / scale_1) / root

        return jax.tree.map(moved, p, first, second), (first, second, count)

    return update


def _step(jax: Any, problem: Problem, update: Callable[..., Any], moments: int) -> Run:
    loss_of, parameters, batch = problem
    zeros = [jax.tree.map(jax.numpy.zeros_like, parameters) for _ in range(moments)]
    state = (*zeros,) if moments == 1 else (*zeros, jax.numpy.zeros(()))

    def step(p: Any, state: Any, *batch: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(p, *batch)
        return *update(p, state, grads), loss

    compiled = jax.jit(step, donate_argnums=(0, 1))
    kept = [parameters, state]

    def run() -> object:
        kept[0], kept[1], loss = compiled(*kept, *batch)
        return loss.block_until_ready()

    return run
