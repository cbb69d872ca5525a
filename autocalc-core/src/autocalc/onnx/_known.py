# SPDX-License-Identifier: MIT
"""Operators on values that the host knows, with which sizes are computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc.onnx._node import Node
from autocalc.onnx._package import package

#: The host computes with arrays of at most so many elements.
LARGEST = 4096


def _axes(axes: Array | None) -> tuple[int, ...] | None:
    return None if axes is None else tuple(axes.reshape(-1).tolist())


def _unsqueeze(node: Node, a: Array, axes: Array) -> Array:
    return np.expand_dims(a, _axes(axes) or ())


def _squeeze(node: Node, a: Array, axes: Array | None = None) -> Array:
    return np.squeeze(a, _axes(axes))


def _slice(
    node: Node,
    a: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Array:
    count = starts.size
    places = range(count) if axes is None else axes.reshape(-1).tolist()
    strides = [1] * count if steps is None else steps.reshape(-1).tolist()
    index = [slice(None)] * a.ndim
    for axis, first, end, step in zip(
        places, starts.reshape(-1).tolist(), ends.reshape(-1).tolist(), strides,
        strict=True,
    ):  # fmt: skip
        rows = range(*slice(first, end, step).indices(a.shape[axis]))
        stop = rows.stop if rows.stop >= 0 else None
        index[axis] = slice(rows.start, stop, step) if rows else slice(0, 0)
    return a[tuple(index)]


def _div(node: Node, a: Array, b: Array) -> Array:
    if a.dtype.kind not in "iu":
        return np.asarray(a / b)
    whole = a // b
    return whole + ((whole < 0) & (whole * b != a))  # towards zero


def _cast(node: Node, a: Array) -> Array:
    helper = package("onnx.load", "onnx.helper")
    return a.astype(helper.tensor_dtype_to_np_dtype(node.get("to")))


def _reshape(node: Node, a: Array, shape: Array) -> Array:
    sizes = shape.reshape(-1).tolist()
    if not node.get("allowzero", 0):
        sizes = [a.shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    return a.reshape(sizes)


def _constant_of_shape(node: Node, shape: Array) -> Array:
    given, helper = node.get("value"), package("onnx.load", "onnx.numpy_helper")
    value = np.zeros(1, np.float32) if given is None else helper.to_array(given)
    return np.full(shape.reshape(-1), value.item(), value.dtype)


def _range(node: Node, start: Array, limit: Array, delta: Array) -> Array:
    ends = (one.item() for one in (start, limit, delta))
    return np.arange(*ends).astype(start.dtype)


def _shape(node: Node, a: Array) -> Array:
    return np.array(a.shape[node.get("start", 0) : node.get("end")], np.int64)


def _split(node: Node, a: Array, sizes: Array | None = None) -> list[Array]:
    axis, count = node.get("axis", 0), len(node.outputs)
    if sizes is None:
        each = -(-a.shape[axis] // node.get("num_outputs", count))
        return np.split(a, range(each, a.shape[axis], each), axis)
    return np.split(a, np.cumsum(sizes.reshape(-1))[:-1], axis)


def _reduced(function: Any) -> Any:
    def run(node: Node, a: Array, axes: Array | None = None) -> Array:
        chosen = node.get("axes") if axes is None else _axes(axes)
        keep = bool(node.get("keepdims", 1))
        if not chosen and node.get("noop_with_empty_axes", 0):
            return a
        result = function(a, axis=tuple(chosen) if chosen else None, keepdims=keep)
        return np.asarray(result).astype(a.dtype)

    return run


def _mod(node: Node, a: Array, b: Array) -> Array:
    return np.asarray(np.fmod(a, b) if node.get("fmod", 0) else np.mod(a, b))


def _two(function: Any) -> Any:
    return lambda node, a, b: np.asarray(function(a, b))


def _one(function: Any) -> Any:
    return lambda node, a: np.asarray(function(a))


#: Maps the name of an operator to a function of a node and arrays that returns an
#: array, or a list of arrays.
KNOWN: dict[str, Callable[..., Any]] = {
    "Abs": _one(np.abs),
    "Add": _two(np.add),
    "And": _two(np.logical_and),
    "Cast": _cast,
    "Ceil": _one(np.ceil),
    "Concat": lambda node, *a: np.concatenate(a, axis=node.get("axis", 0)),
    "ConstantOfShape": _constant_of_shape,
    "Div": _div,
    "Equal": _two(np.equal),
    "Expand": lambda node, a, shape: np.broadcast_to(
        a, np.broadcast_shapes(a.shape, _axes(shape) or ())
    ),
    "Floor": _one(np.floor),
    "Gather": lambda node, a, index: np.take(a, index, axis=node.get("axis", 0)),
    "Greater": _two(np.greater),
    "GreaterOrEqual": _two(np.greater_equal),
    "Identity": lambda node, a: a,
    "Less": _two(np.less),
    "LessOrEqual": _two(np.less_equal),
    "Max": lambda node, *a: reduce(np.maximum, a),
    "Min": lambda node, *a: reduce(np.minimum, a),
    "Mod": _mod,
    "Mul": _two(np.multiply),
    "Neg": _one(np.negative),
    "Not": _one(np.logical_not),
    "Or": _two(np.logical_or),
    "Range": _range,
    "ReduceMax": _reduced(np.max),
    "ReduceMin": _reduced(np.min),
    "ReduceProd": _reduced(np.prod),
    "ReduceSum": _reduced(np.sum),
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": lambda node, a: np.array(a.size, np.int64),
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Sub": _two(np.subtract),
    "Transpose": lambda node, a: np.transpose(a, node.get("perm")),
    "Unsqueeze": _unsqueeze,
    "Where": lambda node, c, a, b: np.where(c, a, b),
}
