# SPDX-License-Identifier: MIT
"""`ac.onnx.load`."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.spec import Array
from autocalc._tensor import dtypes
from autocalc._tensor.checks import check_flag, check_type, short
from autocalc.errors import AutocalcError, CheckpointError, DTypeError, OnnxError
from autocalc.onnx import _reading  # noqa: F401  it fills the table of readers
from autocalc.onnx._module import OnnxModule
from autocalc.onnx._node import Node
from autocalc.onnx._package import package
from autocalc.onnx._proto import KINDS
from autocalc.onnx._table import READERS

#: Operators of older versions have other attributes.
OLDEST = 13

_DOMAINS = ("", "ai.onnx")
_DTYPES = {dtype.numpy: dtype for dtype in dtypes.ALL}


def load(f: str | os.PathLike[str], *, trainable: bool = False) -> OnnxModule:
    """Read an ONNX file as a module that runs its graph with AutoCalc's operators.

    Parameters
    ----------
    f
        The path of the file.
    trainable
        True if the parameters shall require gradients.  If `export` wrote the file, its
        parameters are those of the model.  In another file, the parameters are all
        floating-point constants with at least one dimension.

    Returns
    -------
    OnnxModule
        A module that is called with the inputs of the graph.

    Raises
    ------
    OnnxError
        If the package onnx is missing, if the version of the graph's operators is below
        13, or if AutoCalc does not support some of the operators.  The message lists
        all unsupported operators.
    CheckpointError
        If the file does not exist or is not an ONNX file.
    DTypeError
        If `f` is not a path, or an array has a dtype that AutoCalc does not have.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> path = tempfile.mkdtemp() + "/model.onnx"
    >>> ac.onnx.export(ac.nn.Linear(3, 2), ac.ones(4, 3), path)
    >>> model = ac.onnx.load(path, trainable=True)
    >>> model(ac.ones(4, 3)).requires_grad
    True
    """
    package("onnx.load")
    trainable = check_flag("onnx.load", "trainable", trainable)
    model = _read(f)
    try:
        return _module(model, trainable)
    except (AutocalcError, ImportError):
        raise
    except Exception as error:  # any error that a damaged message causes
        message = f"onnx.load: {os.fspath(f)} is damaged: {_first_line(error)}"
        raise CheckpointError(message) from error


def _module(model: Any, trainable: bool) -> OnnxModule:
    opset = _opset(model)
    graph = model.graph
    arrays = {one.name: _array(one.name, one) for one in graph.initializer}
    nodes = [_node(one, opset) for one in graph.node]
    _check(graph)
    nodes = [node for node in nodes if not _constant(node, arrays)]
    inputs = {
        one.name: _dtype(one.name, _numpy(one.type.tensor_type.elem_type))
        for one in graph.input
        if one.name not in arrays
    }
    outputs = [one.name for one in graph.output]
    _check_order(nodes, {*inputs, *arrays}, outputs)
    kinds = _kinds(model, arrays)
    return OnnxModule(nodes, inputs, outputs, arrays, kinds, trainable)


def _read(f: Any) -> Any:
    check_type("onnx.load", "f", f, (str, os.PathLike), "a path")
    path = Path(f)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise CheckpointError(f"onnx.load: {path} {what}.")
    try:
        model = package("onnx.load").load(path)
        if model.functions:
            inliner = package("onnx.load", "onnx.inliner")
            model = inliner.inline_local_functions(model)
    except Exception as error:  # the package raises errors of many libraries
        message = f"onnx.load: {path} is incomplete or not an ONNX file: {error}"
        raise CheckpointError(message) from error
    if not model.graph.output:
        message = (
            f"onnx.load: {path} is not an ONNX file: it has no graph with outputs."
        )
        raise CheckpointError(message)
    return model


def _opset(model: Any) -> int:
    versions = [o.version for o in model.opset_import if o.domain in _DOMAINS]
    opset = max(versions, default=1)
    if opset < OLDEST:
        raise OnnxError(
            f"onnx.load: the file has version {opset} of ONNX's operators; AutoCalc "
            f"supports version {OLDEST} and later. Convert it with "
            f"onnx.version_converter.convert_version(model, {OLDEST})."
        )
    return int(opset)


def _check(graph: Any) -> None:
    """Raise with a list of all operators that have no reader."""
    names = [
        one.op_type if one.domain in _DOMAINS else f"{one.domain}::{one.op_type}"
        for one in graph.node
    ]
    missing = Counter(n for n in names if n not in READERS and n != "Constant")
    if missing:
        listed = ", ".join(
            f"{name} ({count})" for name, count in sorted(missing.items())
        )
        raise OnnxError(
            f"onnx.load: AutoCalc does not support {len(missing)} of the graph's "
            f"operators. These are, with the number of their occurrences: {listed}."
        )


def _check_order(nodes: list[Node], there: set[str], outputs: list[str]) -> None:
    """Raise unless each value is made once, and before it is used."""
    made = set(there)
    for node in nodes:
        _expect_made(f"the operator {node.op} ({node.name})", node.inputs, made)
        again = made.intersection(node.outputs) - {""}
        if again:
            raise OnnxError(
                f"onnx.load: the operator {node.op} ({node.name}) computes "
                f"{', '.join(sorted(again))}, but the graph already has a value of "
                "this name."
            )
        made.update(node.outputs)
    _expect_made("the graph", outputs, made)


def _expect_made(what: str, names: list[str], made: set[str]) -> None:
    missing = [name for name in names if name and name not in made]
    if missing:
        raise OnnxError(
            f"onnx.load: {what} uses {', '.join(missing)}, which is not an input, a "
            "constant or the result of an earlier operator. The file is damaged, or "
            "its operators are not in the order in which they run."
        )


def _first_line(error: Exception) -> str:
    """Return the type of an error and the first line of its text."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}"


def _node(one: Any, opset: int) -> Node:
    helper = package("onnx.load", "onnx.helper")
    attributes = {a.name: _plain(helper.get_attribute_value(a)) for a in one.attribute}
    texts = [one.op_type, one.name, *one.input, *one.output, *attributes]
    for text in texts:
        if not isinstance(text, str):  # protobuf does this for invalid UTF-8
            message = f"onnx.load: a node has the name {text!r}, which is not a string."
            raise CheckpointError(message)
    name = one.name or f"that makes {', '.join(one.output)}"
    return Node(one.op_type, name, list(one.input), list(one.output), attributes, opset)


def _plain(value: Any) -> Any:
    """Return an attribute as numbers, strings or lists of them, or unchanged."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _constant(node: Node, arrays: dict[str, Array]) -> bool:
    """Return whether a node is a constant, which is stored with the arrays."""
    if node.op != "Constant":
        return False
    (kind, value), name = next(iter(node.attributes.items())), node.outputs[0]
    if kind == "value":
        arrays[name] = _array(name, value)
    elif kind in {"value_int", "value_ints"}:
        arrays[name] = np.array(value, np.int64)
    elif kind in {"value_float", "value_floats"}:
        arrays[name] = np.array(value, np.float32)
    else:
        message = (
            f"onnx.load: the constant {name} is a {kind}, but AutoCalc has no strings."
        )
        raise OnnxError(message)
    return True


def _array(name: str, proto: Any) -> Array:
    array: Array = package("onnx.load", "onnx.numpy_helper").to_array(proto)
    _dtype(name, array.dtype)
    return array


def _numpy(kind: int) -> Any:
    helper = package("onnx.load", "onnx.helper")
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(kind))
    except KeyError:
        return None


def _dtype(name: str, dtype: Any) -> Any:
    if dtype not in _DTYPES:
        raise DTypeError(
            f"onnx.load: {name!r} is {dtype}; AutoCalc has "
            f"{', '.join(sorted(map(str, _DTYPES)))}."
        )
    return _DTYPES[dtype]


def _kinds(model: Any, arrays: dict[str, Array]) -> dict[str, str]:
    """Return the kind of each array: a parameter, a buffer, or a constant."""
    text = next((p.value for p in model.metadata_props if p.key == KINDS), None)
    said = {} if text is None else _said(text)

    def kind(name: str, array: Array) -> str:
        if text is not None:
            return str(said.get(name, "constant"))
        weighs = array.dtype.kind in FLOAT_KINDS
        return "parameter" if weighs and array.ndim else "constant"

    return {name: kind(name, array) for name, array in arrays.items()}


def _said(text: str) -> dict[str, Any]:
    """Return the entries of the metadata about arrays."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise CheckpointError(
            f"onnx.load: the metadata {KINDS!r} are {short(text)}; they must be a JSON "
            "object that names the constants that are parameters and buffers."
        )
    return said
