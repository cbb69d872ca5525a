# SPDX-License-Identifier: MIT
"""Nodes of older versions of the operators, rewritten as nodes of newer ones.

Operators whose meaning changed have the version in their readers instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc.onnx._node import Node

#: Attributes that are inputs today, with the position of the input.
_INPUTS = {
    "Clip": {"min": 1, "max": 2},
    "Dropout": {"ratio": 1},
    "Pad": {"pads": 1, "paddings": 1, "value": 2},
    "Reshape": {"shape": 1},
    "Slice": {"starts": 1, "ends": 2, "axes": 3},
    "Split": {"split": 1},
    "Squeeze": {"axes": 1},
    "TopK": {"k": 1},
    "Unsqueeze": {"axes": 1},
    "Upsample": {"scales": 1},
}

#: Operators that have another name today.
_NAMES = {"Scatter": "ScatterElements", "Upsample": "Resize"}

#: Attributes with which early versions named what to overwrite; they change no result.
_DROPPED = ("consumed_inputs", "is_test", "output_sequence")

#: The names of Upsample's modes that changed.
_MODES = {"bilinear": "linear", "trilinear": "linear"}


def renewed(node: Node, constant: Callable[[Array], str]) -> Node:
    """Rewrite a node in place, and return it; `constant` names a new constant."""
    for name, place in _INPUTS.get(node.op, {}).items():
        _moved(node, name, place, constant)
    if node.op == "Upsample" or (node.op == "Resize" and node.opset < 11):
        _resize(node)
    if node.op == "Cast" and isinstance(node.attributes.get("to"), str):
        _named_dtype(node)
    node.op = _NAMES.get(node.op, node.op)
    if node.opset < 7 or node.op in {"BatchNormalization", "Dropout"}:
        for name in _DROPPED:
            node.attributes.pop(name, None)
    return node


def _moved(node: Node, name: str, place: int, constant: Any) -> None:
    """Make an attribute an input."""
    if name not in node.attributes:
        return
    value = np.asarray(node.attributes.pop(name))
    node.inputs += [""] * (place + 1 - len(node.inputs))
    if not node.inputs[place]:
        exact = np.int64 if value.dtype.kind == "i" else np.float32
        node.inputs[place] = constant(value.astype(exact))


def _resize(node: Node) -> None:
    """Rewrite (x, scales) as (x, roi, scales) with the coordinates of that time."""
    node.inputs.insert(1, "")
    mode = node.attributes.get("mode", "nearest")
    node.attributes["mode"] = _MODES.get(mode, mode)
    node.attributes["coordinate_transformation_mode"] = "asymmetric"
    node.attributes["nearest_mode"] = "floor"
    node.opset = 11


def _named_dtype(node: Node) -> None:
    from autocalc.onnx._package import package

    kinds = package("onnx.load").TensorProto.DataType
    node.attributes["to"] = kinds.Value(node.attributes["to"].upper())
