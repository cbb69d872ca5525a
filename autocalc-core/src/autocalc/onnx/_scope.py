# SPDX-License-Identifier: MIT
"""Messages of ONNX become nodes and blocks, in which every name is different."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.spec import Array
from autocalc.errors import CheckpointError, OnnxError
from autocalc.onnx._block import Block
from autocalc.onnx._node import Node
from autocalc.onnx._older import renewed
from autocalc.onnx._package import package
from autocalc.onnx._refusals import Refusals

#: The domains of ONNX's own operators.
DOMAINS = ("", "ai.onnx")


class Input(NamedTuple):
    """What an input of a graph takes: a tensor of a dtype, or several of them.

    A size that the file leaves open is a name, or None.
    """

    dtype: Any
    several: bool = False
    optional: bool = False
    sizes: tuple[int | str | None, ...] = ()


class Reading:
    """A file that is being read.

    Attributes
    ----------
    opsets
        The version of the operators of each domain.
    arrays
        The constants of all graphs, by name.
    refusals
        A list of what AutoCalc does not support in this file.
    """

    def __init__(self, opsets: dict[str, int], refusals: Refusals) -> None:
        self.opsets = opsets
        self.arrays: dict[str, Array] = {}
        self.refusals = refusals
        self._taken: set[str] = set()

    def main(self, graph: Any) -> tuple[Block, dict[str, Input]]:
        """Return the main graph, and its inputs."""
        held = {one.name for one in graph.initializer}
        inputs = {
            one.name: self._input(one) for one in graph.input if one.name not in held
        }
        return _Scope(self, None).block(graph), inputs

    def _input(self, one: Any) -> Input:
        kind, optional = one.type, False
        if kind.HasField("optional_type"):
            kind, optional = kind.optional_type.elem_type, True
        several = kind.HasField("sequence_type")
        kind = kind.sequence_type.elem_type if several else kind
        number = kind.tensor_type.elem_type
        dtype = self.refusals.kind(repr(one.name), number)
        dims = kind.tensor_type.shape.dim
        sizes = tuple(
            d.dim_value if d.HasField("dim_value") else d.dim_param or None
            for d in dims
        )
        return Input(dtype, several, optional, sizes)

    def unique(self, wanted: str) -> str:
        """Return `wanted`, with a number appended if that name is taken."""
        name, count = wanted, 0
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name

    def array(self, wanted: str, array: Array) -> str:
        """Enter a constant and return its name."""
        self.refusals.dtype(repr(wanted), array.dtype)
        name = self.unique(wanted)
        self.arrays[name] = array
        return name


class _Scope:
    """The names of a graph and of the graphs around it."""

    def __init__(self, reading: Reading, around: _Scope | None) -> None:
        self.reading = reading
        self.around = around
        self._names: dict[str, str] = {}

    def block(self, graph: Any) -> Block:
        """Return the graph as a block."""
        if graph.sparse_initializer:
            raise OnnxError(
                "onnx.load: the graph has sparse constants, which AutoCalc does not "
                "support. Store them as dense tensors."
            )
        held = {one.name for one in graph.initializer}
        inputs = [
            self._new(one.name, "") for one in graph.input if one.name not in held
        ]
        for one in graph.initializer:
            self._hold(one.name, to_array(one))
        nodes = [made for one in graph.node if (made := self._node(one)) is not None]
        ends = [one.name for one in graph.output]
        if not all([*inputs, *ends]):
            raise OnnxError(
                "onnx.load: an input or output of a graph has no name. The file is "
                "damaged."
            )
        return Block(nodes, inputs, [self._look(name, "the graph") for name in ends])

    def _hold(self, name: str, array: Array) -> None:
        if name in self._names:
            raise _made_again(f"the constant {name}", [name])
        self._names[name] = self.reading.array(name, array)

    def _new(self, name: str, what: str) -> str:
        """Return the name of a value that is made here."""
        if not name:
            return ""
        if name in self._names:
            raise _made_again(what or "an input", [name])
        self._names[name] = self.reading.unique(name)
        return self._names[name]

    def _look(self, name: str, what: str) -> str:
        """Return the name of a value that was made here or around here."""
        if not name:
            return ""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope._names:
                return scope._names[name]
            scope = scope.around
        raise OnnxError(
            f"onnx.load: {what} uses {name}, which is not an input, a constant or the "
            "result of an earlier operator. The file is damaged, or its operators are "
            "not in the order in which they run."
        )

    def _node(self, one: Any) -> Node | None:
        """Return a node, or None for a constant, which is stored with the arrays."""
        node = plain_node(one, self.reading.opsets)
        if node.op == "Constant" and self._constant(node):
            return None
        graphs = {a.name: a.g for a in one.attribute if a.HasField("g")}
        for name in graphs:
            node.attributes.pop(name)
        node.inputs = [self._look(name, str(node)) for name in node.inputs]
        for name, graph in graphs.items():
            node.blocks[name] = _Scope(self.reading, self).block(graph)
            node.outer |= node.blocks[name].outer
        node.outputs = [self._new(name, str(node)) for name in node.outputs]
        self.reading.refusals.schema(node)
        first = next(filter(None, node.outputs), node.op)
        node = renewed(node, lambda a: self.reading.array(f"{first}_constant", a))
        self.reading.refusals.node(node)
        return node

    def _constant(self, node: Node) -> bool:
        """Store a constant; return False if it has strings, which are refused."""
        (kind, value), name = next(iter(node.attributes.items())), node.outputs[0]
        if kind == "value":
            if self.reading.refusals.kind(repr(name), value.data_type) is None:
                self._new(name, str(node))
                return True
            array = to_array(value)
        elif kind in {"value_int", "value_ints"}:
            array = np.array(value, np.int64)
        elif kind in {"value_float", "value_floats"}:
            array = np.array(value, np.float32)
        elif kind in {"value_string", "value_strings"}:
            self.reading.refusals.dtype(repr(name), np.dtype(object))
            self._new(name, str(node))
            return True
        else:
            self.reading.refusals.settings.append(
                f"{node} is a constant with {kind}; AutoCalc supports only dense ones."
            )
            self._new(name, str(node))
            return True
        if name in self._names:
            raise _made_again(str(node), [name])
        self._hold(name, array)
        return True


def _made_again(what: str, names: list[str]) -> OnnxError:
    return OnnxError(
        f"onnx.load: {what} computes {', '.join(names)}, but the graph already has a "
        "value of this name."
    )


def to_array(proto: Any) -> Array:
    """Return the array of a message."""
    array: Array = package("onnx.load", "onnx.numpy_helper").to_array(proto)
    return array


def plain_node(one: Any, opsets: dict[str, int]) -> Node:
    """Return a message as a node; graphs among its attributes stay messages."""
    helper = package("onnx.load", "onnx.helper")
    attributes = {a.name: _plain(helper.get_attribute_value(a)) for a in one.attribute}
    texts = [one.op_type, one.name, one.domain, *one.input, *one.output, *attributes]
    for text in texts:
        if not isinstance(text, str):  # protobuf does this for invalid UTF-8
            message = f"onnx.load: a node has the name {text!r}, which is not a string."
            raise CheckpointError(message)
    name = one.name or f"that makes {', '.join(one.output)}"
    own = one.domain in DOMAINS
    op = one.op_type if own else f"{one.domain}::{one.op_type}"
    opset = opsets.get("" if own else one.domain, 1)
    return Node(op, name, list(one.input), list(one.output), attributes, opset)


def _plain(value: Any) -> Any:
    """Return an attribute as numbers, strings or lists of them, or unchanged."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value
