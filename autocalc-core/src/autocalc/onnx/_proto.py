# SPDX-License-Identifier: MIT
"""Conversion of a graph to the messages of the format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels.spec import DType
from autocalc._version import __version__
from autocalc.errors import OnnxError
from autocalc.onnx._graph import Graph, GraphNode, Value
from autocalc.onnx._package import package

#: The versions of the written operators and of the file format.
OPSET = 18
IR_VERSION = 8

#: The key under which a file stores which constants are parameters and buffers.
KINDS = "autocalc_kinds"

#: The limit of protobuf for one message.
MOST_BYTES = 2**31 - 1

Shape = tuple[int | str, ...]


def used(graph: Graph) -> Graph:
    """Remove nodes and constants that no output needs."""
    needed = {value.name for value in graph.outputs}
    calls: list[GraphNode] = []
    for call in reversed(graph.calls):
        if not needed.isdisjoint(call.outputs):
            needed.update(call.inputs)
            calls.append(call)
    graph.calls = calls[::-1]
    graph.arrays = {name: a for name, a in graph.arrays.items() if name in needed}
    return graph


def model_of(graph: Graph, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> Any:
    """Return the checked message of a model; the shapes are of inputs and outputs."""
    onnx = package("onnx.export")
    helper = package("onnx.export", "onnx.helper")
    nbytes = sum(array.nbytes for array in graph.arrays.values())
    if nbytes > MOST_BYTES:
        raise OnnxError(
            f"onnx.export: the model's constants take {nbytes} bytes, but one ONNX "
            f"file can hold at most {MOST_BYTES}. Export the model in parts."
        )
    made = helper.make_graph(
        [_node(helper, call) for call in graph.calls],
        "autocalc",
        _values(helper, graph.inputs, inputs),
        _values(helper, graph.outputs, outputs),
        [_array(helper, name, array) for name, array in graph.arrays.items()],
    )
    words = {"producer_name": "autocalc", "producer_version": __version__}
    versions = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(
        made, opset_imports=versions, ir_version=IR_VERSION, **words
    )
    kinds = {name: kind for name, kind in graph.kinds.items() if name in graph.arrays}
    helper.set_model_props(model, {KINDS: json.dumps(kinds)})
    _check(onnx, model)
    return model


def _check(onnx: Any, model: Any) -> None:
    """Raise an error of AutoCalc if ONNX's own check refuses the message."""
    inference = package("onnx.export", "onnx.shape_inference").InferenceError
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, inference) as error:
        raise OnnxError(
            "onnx.export: the exported graph is not valid ONNX, so no file was "
            f"written. This is an error in AutoCalc; please report it: {error}"
        ) from error


def _values(helper: Any, values: Sequence[Value], shapes: Sequence[Shape]) -> list[Any]:
    return [
        helper.make_tensor_value_info(value.name, _type(helper, value.dtype), shape)
        for value, shape in zip(values, shapes, strict=True)
    ]


def _node(helper: Any, call: GraphNode) -> Any:
    words = {
        key: _type(helper, one) if isinstance(one, np.dtype) else one
        for key, one in call.attributes.items()
    }
    return helper.make_node(call.op, call.inputs, call.outputs, **words)


def _type(helper: Any, dtype: DType) -> Any:
    return helper.np_dtype_to_tensor_dtype(dtype)


def _array(helper: Any, name: str, array: Any) -> Any:
    little = array.astype(array.dtype.newbyteorder("<"), order="C")
    kind = _type(helper, array.dtype)
    return helper.make_tensor(name, kind, array.shape, little.tobytes(), raw=True)
