# SPDX-License-Identifier: MIT
"""NumPy, with the BLAS of its wheels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def start(threads: int) -> str:
    """Return the version; the driver has set the threads in the environment."""
    return np.__version__


def convert(array: np.ndarray) -> np.ndarray:
    """Return the array itself."""
    return array


def softmax(a: np.ndarray, axis: int) -> np.ndarray:
    """Two results of full size, the rest in place."""
    e = a - a.max(axis, keepdims=True)
    np.exp(e, out=e)
    e /= e.sum(axis, keepdims=True)
    return e


FUNCTIONS: dict[str, Callable[..., object]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "pow": np.power,
    "neg": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "where": np.where,
    "compare": lambda a, b, op: np.less(a, b),
    "copy": np.ascontiguousarray,
    "gemm": lambda a, b, bias, *_: np.matmul(a, b),
    "linear": lambda x, weight, bias, _: np.matmul(x, weight.T) + bias,
    "sum": lambda a, axes, keepdim: np.sum(a, axes, keepdims=keepdim),
    "mean": lambda a, axes, keepdim: np.mean(a, axes, keepdims=keepdim),
    "max": lambda a, axes, keepdim: np.max(a, axes, keepdims=keepdim),
    "argmax": lambda a, axis, keepdim: np.argmax(a, axis),
    "softmax": softmax,
    "embedding": lambda weight, index: weight.take(index, axis=0),
}
