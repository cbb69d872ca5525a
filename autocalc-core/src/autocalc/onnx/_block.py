# SPDX-License-Identifier: MIT
"""A loaded graph that can be run: the main one, or one inside a node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from autocalc.errors import AutocalcError, OnnxError
from autocalc.onnx._known import KNOWN, LARGEST
from autocalc.onnx._node import Known, Node, numbers_of, tensor_of
from autocalc.onnx._table import READERS


@dataclass(slots=True)
class Block:
    """Nodes in the order in which they run.

    All names in a file are different, also those inside nodes, so the values of all
    blocks are in one dict.

    Attributes
    ----------
    nodes
        The nodes, in the order in which they run.
    inputs, outputs
        The names of the inputs and outputs.
    outer
        Values that the block takes from the graph around it.
    """

    nodes: list[Node]
    inputs: list[str]
    outputs: list[str]
    outer: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.mark_last()

    def mark_last(self) -> None:
        """Note for each node which values no later node needs."""
        made = set(self.inputs).union(*(node.outputs for node in self.nodes))
        every = set().union(*({*n.inputs, *n.outer} for n in self.nodes))
        self.outer = (every | {*self.outputs}) - made - {""}
        needed = {*self.outputs, *self.outer}
        for node in reversed(self.nodes):
            names = {*node.inputs, *node.outputs, *node.outer} - {""}
            node.last = sorted(names - needed)
            needed |= names

    def numbers(self) -> set[str]:
        """Return the names of values that nodes read as Python numbers."""
        found: set[str] = set()
        for node in self.nodes:
            places = READERS[node.op].numbers
            found.update(node.inputs[i] for i in places if i < len(node.inputs))
            found.update(*(one.numbers() for one in node.blocks.values()))
        return found

    def run(self, values: dict[str, Any], *given: Any) -> list[Any]:
        """Run the nodes on these inputs and return the outputs."""
        values.update(zip(self.inputs, given, strict=True))
        for node in self.nodes:
            run(node, values)
        return [values[name] for name in self.outputs]


def run(node: Node, values: dict[str, Any]) -> None:
    """Run a node and enter its outputs among the values."""
    given = [values[name] if name else None for name in node.inputs]
    try:
        results = _results(node, given, values)
    except AutocalcError:
        raise
    except Exception as error:  # any error that a damaged node causes
        shapes = ", ".join(_described(x) for x in given)
        raise OnnxError(
            f"OnnxModule: {node} cannot be run with the inputs {shapes}: {error}"
        ) from error
    _check_used(node, len(results))
    values.update(zip(node.outputs, results, strict=False))
    for name in node.last:
        values.pop(name, None)


def on_host(node: Node, given: Iterable[Any]) -> bool:
    """Return whether a node computes numbers from few numbers that the host knows."""
    return node.op in KNOWN and all(
        x is None or (isinstance(x, Known) and x.array.size <= LARGEST) for x in given
    )


def _results(node: Node, given: list[Any], values: dict[str, Any]) -> Sequence[Any]:
    """Run a node: on the host if all inputs are numbers, else by its reader."""
    if on_host(node, given):
        found = KNOWN[node.op](node, *[x and x.array for x in given])
        several = found if isinstance(found, list) else [found]
        return [Known(np.asarray(one)) for one in several]
    reader = READERS[node.op]
    operands = [
        numbers_of(x) if i in reader.numbers and x is not None else tensor_of(x)
        for i, x in enumerate(given)
    ]
    blocks = {name: partial(b.run, values) for name, b in node.blocks.items()}
    results = reader.function(node, *operands, **blocks)
    return results if isinstance(results, tuple) else (results,)


def _check_used(node: Node, count: int) -> None:
    """Raise if a node has unused attributes, or more outputs than are known."""
    reader = READERS[node.op]
    unused = node.attributes.keys() - node.used - {*reader.unused, *reader.only}
    if unused:
        raise OnnxError(
            f"OnnxModule: {node} has the attributes {', '.join(sorted(unused))}, which "
            "AutoCalc does not know. Export the model with an older version of the "
            "operators."
        )
    missing = [name for name in node.outputs[count:] if name]
    if missing:
        raise OnnxError(
            f"OnnxModule: {node} has the outputs {', '.join(missing)}; AutoCalc "
            f"computes only the first {count}."
        )


def _described(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return f"a sequence of {len(value)}"
    tensor = tensor_of(value)
    return f"{tensor.dtype}{list(tensor.shape)}"
