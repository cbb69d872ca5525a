# SPDX-License-Identifier: MIT
"""Branches and loops: nodes that contain graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autocalc._ops.arranging import joining
from autocalc._tensor import Tensor
from autocalc.errors import OnnxError
from autocalc.onnx._node import Known, Node, tensor_of
from autocalc.onnx._table import reads

#: A graph inside a node: a function of values that returns a list of values.
Body = Callable[..., list[Any]]


def _true(value: Any) -> bool:
    """Return a condition as a truth value."""
    if isinstance(value, Known):
        return bool(value.array.reshape(-1)[0])
    if isinstance(value, list):
        return bool(value[0])
    return bool(value.item())


@reads("If", numbers=(0,))
def _(
    node: Node, condition: list[bool], *, then_branch: Body, else_branch: Body
) -> tuple[Any, ...]:
    return tuple(then_branch() if condition[0] else else_branch())


def _endless(node: Node) -> str:
    """Refuse a loop that has neither a number of rounds nor a condition."""
    if not any(node.inputs[:2]):
        return f"{node} has neither a count nor a condition, so it never ends."
    return ""


@reads("Loop", numbers=(0, 1), refuses=_endless)
def _(
    node: Node,
    count: list[int] | None = None,
    condition: list[bool] | None = None,
    *carried: Any,
    body: Body,
) -> tuple[Any, ...]:
    """Run the body until it says so, or `count` times."""
    rows: list[list[Any]] = []
    values, on, i = list(carried), condition is None or condition[0], 0
    while on and (count is None or i < count[0]):
        said, *found = body(
            Known(np.array(i, np.int64)), Known(np.array(True)), *values
        )
        on, i = _true(said), i + 1
        values = found[: len(carried)]
        rows.append(found[len(carried) :])
    return (*values, *_stacked(node, rows, len(node.outputs) - len(carried)))


def _stacked(node: Node, rows: list[list[Any]], count: int) -> list[Tensor]:
    """Return what each round made, stacked."""
    if not rows and count:
        raise OnnxError(
            f"OnnxModule: {node} ran no round, so the shapes of its "
            f"{count} stacked outputs are not known."
        )
    return [
        joining.stack([tensor_of(one) for one in column], 0)
        for column in zip(*rows, strict=True)
    ]


def _odd_scan(node: Node) -> str:
    if node.opset < 9:
        return (
            f"{node} has version {node.opset}, in which Scan ran over a batch; "
            "AutoCalc supports version 9 and later."
        )
    count = node.attributes.get("num_scan_inputs", 0)
    if not 0 < count <= len(node.inputs):
        return (
            f"{node} has num_scan_inputs={count}; it must be 1 to {len(node.inputs)}, "
            "the number of its inputs."
        )
    return ""


@reads("Scan", unused=("num_scan_inputs",), refuses=_odd_scan)
def _(node: Node, *given: Any, body: Body) -> tuple[Any, ...]:
    """Run the body over the slices of the last inputs."""
    count = node.get("num_scan_inputs")
    states, inputs = list(given[: len(given) - count]), given[len(given) - count :]
    axes = node.get("scan_input_axes", [0] * count)
    turns = node.get("scan_input_directions", [0] * count)
    slices = [
        _slices(x, axis, turned)
        for x, axis, turned in zip(inputs, axes, turns, strict=True)
    ]
    rows: list[list[Any]] = []
    for parts in zip(*slices, strict=True):
        found = body(*states, *parts)
        states, made = found[: len(states)], found[len(states) :]
        rows.append(made)
    outputs = len(node.outputs) - len(states)
    axes = node.get("scan_output_axes", [0] * outputs)
    turns = node.get("scan_output_directions", [0] * outputs)
    if not rows:
        return (*states, *_stacked(node, rows, outputs))
    columns = zip(zip(*rows, strict=True), axes, turns, strict=True)
    return (*states, *(_joined(column, a, turned) for column, a, turned in columns))


def _slices(x: Tensor, axis: int, turned: int) -> Sequence[Tensor]:
    parts = x.unbind(axis)
    return parts[::-1] if turned else parts


def _joined(column: Sequence[Any], axis: int, turned: int) -> Tensor:
    parts = [tensor_of(one) for one in column]
    return joining.stack(parts[::-1] if turned else parts, axis)
