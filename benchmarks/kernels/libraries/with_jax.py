# SPDX-License-Identifier: MIT
"""JAX: compiled functions, waiting for each result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def start(threads: int) -> str:
    """Return the version; JAX takes as many threads as it may run on."""
    return jax.__version__


def convert(array: np.ndarray) -> Any:
    """Return a device array."""
    return jax.device_put(array)


def _compiled(function: Callable[..., Any], static: int = 0) -> Callable[..., object]:
    """Compile `function`, whose last `static` arguments are attributes."""

    def call(*args: Any) -> object:
        names = tuple(range(len(args) - static, len(args)))
        if names not in programs:
            programs[names] = jax.jit(function, static_argnums=names)
        return jax.block_until_ready(programs[names](*args))

    programs: dict[tuple[int, ...], Any] = {}
    return call


FUNCTIONS: dict[str, Callable[..., object]] = {
    "add": _compiled(jnp.add),
    "sub": _compiled(jnp.subtract),
    "mul": _compiled(jnp.multiply),
    "div": _compiled(jnp.divide),
    "maximum": _compiled(jnp.maximum),
    "minimum": _compiled(jnp.minimum),
    "pow": _compiled(jnp.power),
    "neg": _compiled(jnp.negative),
    "abs": _compiled(jnp.abs),
    "exp": _compiled(jnp.exp),
    "log": _compiled(jnp.log),
    "tanh": _compiled(jnp.tanh),
    "sin": _compiled(jnp.sin),
    "cos": _compiled(jnp.cos),
    "erf": _compiled(jax.scipy.special.erf),
    "sqrt": _compiled(jnp.sqrt),
    "rsqrt": _compiled(jax.lax.rsqrt),
    "relu": _compiled(jax.nn.relu),
    "sigmoid": _compiled(jax.nn.sigmoid),
    "silu": _compiled(jax.nn.silu),
    "gelu": _compiled(lambda a, form: jax.nn.gelu(a, approximate=form == "tanh"), 1),
    "where": _compiled(jnp.where),
    "compare": _compiled(lambda a, b, op: jnp.less(a, b), 1),
    "gemm": _compiled(lambda a, b, bias, *_: jnp.matmul(a, b), 3),
    "linear": _compiled(lambda x, w, bias, _: jnp.matmul(x, w.T) + bias, 1),
    "linear_backward": _compiled(lambda g, x, w: (g @ w, g.T @ x, g.sum(0))),
    "sum": _compiled(lambda a, axes, keepdim: jnp.sum(a, axes), 2),
    "mean": _compiled(lambda a, axes, keepdim: jnp.mean(a, axes), 2),
    "max": _compiled(lambda a, axes, keepdim: jnp.max(a, axes), 2),
    "logsumexp": _compiled(lambda a, axes, keepdim: jax.nn.logsumexp(a, axes), 2),
    "var": _compiled(lambda a, axes, keepdim, c: jnp.var(a, axes, ddof=c), 3),
    "std": _compiled(lambda a, axes, keepdim, c: jnp.std(a, axes, ddof=c), 3),
    "argmax": _compiled(lambda a, axis, keepdim: jnp.argmax(a, axis), 2),
    "softmax": _compiled(jax.nn.softmax, 1),
    "log_softmax": _compiled(jax.nn.log_softmax, 1),
    "embedding": _compiled(lambda weight, index: weight[index]),
}
