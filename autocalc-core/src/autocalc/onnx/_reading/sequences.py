# SPDX-License-Identifier: MIT
"""Sequences, which are lists of tensors, and optional values, which may be None."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._ops.arranging import joining
from autocalc._ops.views import splitting
from autocalc._tensor import Tensor
from autocalc.onnx._node import Known, Node
from autocalc.onnx._table import reads


@reads("SequenceConstruct")
def _(node: Node, *x: Tensor) -> list[Tensor]:
    return list(x)


@reads("SequenceEmpty", unused=("dtype",))
def _(node: Node) -> list[Tensor]:
    return []


@reads("SequenceAt", numbers=(1,))
def _(node: Node, x: list[Tensor], place: list[int]) -> Tensor:
    return x[place[0]]


@reads("SequenceErase", numbers=(1,))
def _(node: Node, x: list[Tensor], place: list[int] | None = None) -> list[Tensor]:
    left = list(x)
    left.pop(place[0] if place else -1)
    return left


@reads("SequenceInsert", numbers=(2,))
def _(
    node: Node, x: list[Tensor], new: Tensor, place: list[int] | None = None
) -> list[Tensor]:
    longer = list(x)
    longer.insert(place[0] if place else len(x), new)
    return longer


@reads("SequenceLength")
def _(node: Node, x: list[Tensor]) -> Known:
    return Known(np.array(len(x), np.int64))


@reads("SplitToSequence")
def _(node: Node, x: Tensor, split: Tensor | None = None) -> list[Tensor]:
    axis = node.get("axis", 0)
    if split is None:
        parts = splitting.split(x, 1, axis)
        keep = node.get("keepdims", 1)
        return [one if keep else one.squeeze(axis) for one in parts]
    node.get("keepdims")
    sizes = split.numpy().tolist()
    return list(splitting.split(x, sizes, axis))


@reads("ConcatFromSequence")
def _(node: Node, x: list[Tensor]) -> Tensor:
    axis = node.get("axis")
    return joining.stack(x, axis) if node.get("new_axis", 0) else joining.cat(x, axis)


@reads("Optional", unused=("type",))
def _(node: Node, x: Any = None) -> Any:
    return x


@reads("OptionalGetElement")
def _(node: Node, x: Any) -> Any:
    if x is None:
        raise ValueError("the optional value is absent")
    return x


@reads("OptionalHasElement")
def _(node: Node, x: Any = None) -> Known:
    return Known(np.array(x is not None))
