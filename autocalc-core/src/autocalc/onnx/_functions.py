# SPDX-License-Identifier: MIT
"""Functions in a graph: those of the file, and those with which ONNX defines others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc.onnx._package import package
from autocalc.onnx._refusals import schema_of
from autocalc.onnx._scope import DOMAINS
from autocalc.onnx._table import READERS

#: Bodies of functions contain functions, at most so deep.
DEEPEST = 8


def expanded(model: Any) -> Any:
    """Return the model with the bodies of functions in place of their calls.

    Operators that AutoCalc reads keep their nodes.
    """
    if model.functions:
        inliner = package("onnx.load", "onnx.inliner")
        model = inliner.inline_local_functions(model)
    for _ in range(DEEPEST):
        wanted = sorted(_defined(model))
        inlined = model
        for one in wanted:
            inlined = _inlined(inlined, one)
        if inlined is model:
            break
        model = inlined
    return model


def _inlined(model: Any, one: tuple[str, str]) -> Any:
    """Return the model without the calls of one operator, if that is possible.

    The package cannot expand some operators without their optional inputs.
    """
    _set_defaults(model, one)
    _set_types(model)
    inliner = package("onnx.load", "onnx.inliner")
    try:
        return inliner.inline_selected_functions(
            model, [one], inline_schema_functions=True
        )
    except Exception:  # of several kinds; the operator is then listed as refused
        return model


def _set_defaults(model: Any, one: tuple[str, str]) -> None:
    """Enter the default attributes of an operator's nodes: its body refers to them."""
    opsets = {o.domain: o.version for o in model.opset_import}
    for node in nodes_of(model.graph):
        if (node.domain, node.op_type) != one:
            continue
        schema = schema_of(*_named(node, opsets))
        given = {a.name for a in node.attribute}
        for name, attribute in schema.attributes.items():
            if name not in given and attribute.default_value.name:
                node.attribute.append(attribute.default_value)


def _set_types(model: Any) -> None:
    """Enter the types of constants and results: bodies can depend on them."""
    onnx = package("onnx.load")
    known = {one.name for one in (*model.graph.input, *model.graph.value_info)}
    for one in model.graph.initializer:
        if one.name not in known:
            info = model.graph.value_info.add(name=one.name)
            info.type.tensor_type.elem_type = one.data_type
            dims = info.type.tensor_type.shape.dim
            for size in one.dims:
                dims.add(dim_value=size)
    try:
        inferred = onnx.shape_inference.infer_shapes(model)
    except Exception:  # of several kinds; the operator is then listed as refused
        return
    known = {one.name for one in (*model.graph.input, *model.graph.value_info)}
    model.graph.value_info.extend(
        one for one in inferred.graph.value_info if one.name not in known
    )


def _named(node: Any, opsets: dict[str, int]) -> tuple[str, int]:
    """Return the name of a node's operator, and the version."""
    own = node.domain in DOMAINS
    op = node.op_type if own else f"{node.domain}::{node.op_type}"
    return op, opsets.get("" if own else node.domain, 1)


def _defined(model: Any) -> set[tuple[str, str]]:
    """Return the operators without a reader that have a body, by domain and name."""
    opsets = {o.domain: o.version for o in model.opset_import}
    found = set()
    for node in nodes_of(model.graph):
        op, opset = _named(node, opsets)
        if op not in READERS:
            schema = schema_of(op, opset)
            if schema is not None and (
                schema.has_function or schema.has_context_dependent_function
            ):
                found.add((node.domain, node.op_type))
    return found


def nodes_of(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph and of the graphs inside its nodes."""
    graphs = [graph]
    while graphs:
        for node in graphs.pop().node:
            yield node
            graphs += [a.g for a in node.attribute if a.HasField("g")]
