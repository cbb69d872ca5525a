# SPDX-License-Identifier: MIT
"""Integer operators on values that the host knows, with which sizes are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc.onnx._node import Node


def _gather(node: Node, a: Array, index: Array) -> Array:
    return np.take(a, index, axis=node.get("axis", 0))


def _concat(node: Node, *parts: Array) -> Array:
    return np.concatenate(parts, axis=node.get("axis", 0))


def _unsqueeze(node: Node, a: Array, axes: Array) -> Array:
    return np.expand_dims(a, tuple(axes.reshape(-1).tolist()))


def _squeeze(node: Node, a: Array, axes: Array | None = None) -> Array:
    return np.squeeze(a, None if axes is None else tuple(axes.reshape(-1).tolist()))


def _slice(
    node: Node,
    a: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Array:
    first, last = int(starts.reshape(-1)[0]), int(ends.reshape(-1)[0])
    return a[first : last : 1 if steps is None else int(steps.reshape(-1)[0])]


def _div(node: Node, a: Array, b: Array) -> Array:
    return np.asarray(np.trunc(a / b), np.int64)


#: Maps the name of an operator to a function of a node and arrays of at most one
#: dimension.
KNOWN: dict[str, Callable[..., Any]] = {
    "Add": lambda node, a, b: a + b,
    "Concat": _concat,
    "Div": _div,
    "Gather": _gather,
    "Identity": lambda node, a: a,
    "Mul": lambda node, a, b: a * b,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Sub": lambda node, a, b: a - b,
    "Unsqueeze": _unsqueeze,
}
