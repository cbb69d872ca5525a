# SPDX-License-Identifier: MIT
"""What AutoCalc does not take of a file: collected, and raised as one error."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from autocalc._tensor import dtypes
from autocalc.errors import DTypeError, OnnxError
from autocalc.onnx._node import Node
from autocalc.onnx._package import package
from autocalc.onnx._table import READERS

DTYPES = {dtype.numpy: dtype for dtype in dtypes.ALL}

#: Attributes that hold the number of a dtype.
_KINDS = ("to", "dtype", "output_dtype", "output_datatype")


class Refusals:
    """A list of what is not supported in a file.

    Attributes
    ----------
    operators
        Names of operators, with the number of their occurrences.
    kinds
        Names of dtypes, with the values that have them.
    settings
        Sentences about nodes.
    """

    def __init__(self) -> None:
        self.operators: Counter[str] = Counter()
        self.kinds: dict[str, list[str]] = {}
        self.settings: list[str] = []

    def node(self, node: Node) -> None:
        """Enter what is not supported about a node."""
        reader = READERS.get(node.op)
        if reader is None:
            self.operators[node.op] += 1
            return
        for name in _KINDS:
            if isinstance(node.attributes.get(name), int):
                self.kind(f"the result of {node.op}", node.attributes[name])
        for name, allowed in reader.only.items():
            value = node.attributes.get(name, allowed[0])
            self._add(node.unlike(name, value, *allowed))
        if reader.refuses is not None:
            self._add(reader.refuses(node))

    def schema(self, node: Node) -> None:
        """Enter what ONNX's description of the node's operator does not allow."""
        self._add(_unlike_schema(node))

    def _add(self, sentence: str) -> None:
        if sentence:
            self.settings.append(sentence)

    def kind(self, what: str, number: int) -> Any:
        """Return the dtype with this number in files; enter it if there is none."""
        names = package("onnx.load").TensorProto.DataType
        known = number in names.values() and number
        name = names.Name(number).lower() if known else f"number {number}"
        if not known or name == "string":
            return self._refused(what, name)
        helper = package("onnx.load", "onnx.helper")
        return self.dtype(what, np.dtype(helper.tensor_dtype_to_np_dtype(number)))

    def dtype(self, what: str, dtype: Any) -> Any:
        """Return AutoCalc's dtype; enter it if there is none."""
        if dtype in DTYPES:
            return DTYPES[dtype]
        return self._refused(what, "string" if dtype.kind == "O" else str(dtype))

    def _refused(self, what: str, name: str) -> None:
        values = self.kinds.setdefault(name, [])
        if what not in values:
            values.append(what)

    def check(self) -> None:
        """Raise an error that lists everything, unless all is supported."""
        parts = []
        if self.operators:
            listed = ", ".join(f"{k} ({n})" for k, n in sorted(self.operators.items()))
            parts.append(
                f"AutoCalc does not support {len(self.operators)} of the graph's "
                "operators. These are, with the number of their occurrences: "
                f"{listed}."
            )
        for name, values in sorted(self.kinds.items()):
            listed = f"{', '.join(values[:5])}{' ...' if len(values) > 5 else ''}"
            parts.append(f"{listed} {'is' if len(values) == 1 else 'are'} {name}.")
        if self.kinds:
            had = ", ".join(sorted(map(str, DTYPES)))
            parts[-1] = f"{parts[-1][:-1]}; AutoCalc has {had}."
        parts += self.settings
        if parts:
            only = self.kinds and not self.operators and not self.settings
            raise (DTypeError if only else OnnxError)(f"onnx.load: {' '.join(parts)}")


def _unlike_schema(node: Node) -> str:
    """Return what ONNX's description of an operator does not allow, or ""."""
    schema = schema_of(node.op, node.opset)
    if schema is None:
        return ""
    unknown = [
        name
        for name in {**node.attributes, **node.blocks}
        if name not in schema.attributes
    ]
    if unknown:
        return (
            f"{node} has the attributes {', '.join(sorted(unknown))}, which AutoCalc "
            "does not know. Export the model with another version of the operators."
        )
    few = sum(map(bool, node.inputs)) < schema.min_input
    if few or len(node.inputs) > schema.max_input:
        return (
            f"{node} has {len(node.inputs)} inputs; it needs {schema.min_input} to "
            f"{schema.max_input}."
        )
    if len(node.outputs) > schema.max_output:
        more = ", ".join(node.outputs[schema.max_output :])
        return (
            f"{node} has the outputs {more}; the operator has only {schema.max_output}."
        )
    return ""


def schema_of(op: str, opset: int) -> Any:
    """Return ONNX's description of an operator, or None if there is none."""
    domain, _, name = op.rpartition("::")
    defs = package("onnx.load", "onnx.defs")
    try:
        return defs.get_schema(name, opset, domain)
    except (defs.SchemaError, TypeError):
        return None
