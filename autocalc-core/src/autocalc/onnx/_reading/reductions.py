# SPDX-License-Identifier: MIT
"""Reductions, running sums and sorting."""

from __future__ import annotations

from typing import Any

import autocalc as ac
from autocalc._tensor import Tensor
from autocalc.onnx._node import Node
from autocalc.onnx._table import READERS, Reader, reads


def _square_sum(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return ac.sum(x * x, axes, keep)


def _l1(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return ac.sum(abs(x), axes, keep)


def _l2(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return ac.sqrt(_square_sum(x, axes, keep))


def _product(x: Tensor, axes: Any, keep: bool) -> Tensor:
    for axis in sorted((axis % x.ndim for axis in axes), reverse=True):
        x = ac.prod(x, axis, keep)
    return x


def _reduction(function: Any) -> Any:
    def read(node: Node, x: Tensor, axes: list[int] | None = None) -> Tensor:
        axes = node.get("axes") if axes is None else axes
        if not axes and node.get("noop_with_empty_axes", 0):
            return x
        every = list(range(x.ndim))
        keep = bool(node.get("keepdims", 1))
        result: Tensor = function(x, tuple(axes or every), keep).to(x.dtype)
        return result

    return read


_REDUCTIONS = {
    "ReduceL1": _l1, "ReduceL2": _l2, "ReduceLogSumExp": ac.logsumexp,
    "ReduceMax": ac.amax, "ReduceMean": ac.mean, "ReduceMin": ac.amin,
    "ReduceProd": _product, "ReduceSum": ac.sum, "ReduceSumSquare": _square_sum,
}  # fmt: skip
READERS.update({n: Reader(_reduction(f), (1,)) for n, f in _REDUCTIONS.items()})


@reads("GlobalAveragePool")
def _(node: Node, x: Tensor) -> Tensor:
    return ac.mean(x, tuple(range(2, x.ndim)), True)


@reads("GlobalMaxPool")
def _(node: Node, x: Tensor) -> Tensor:
    return ac.amax(x, tuple(range(2, x.ndim)), True)


@reads("ArgMax")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("select_last_index", 0)
    return ac.argmax(x, node.get("axis", 0), bool(node.get("keepdims", 1)))


@reads("ArgMin")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("select_last_index", 0)
    return ac.argmin(x, node.get("axis", 0), bool(node.get("keepdims", 1)))


@reads("CumSum", numbers=(1,))
def _(node: Node, x: Tensor, axis: list[int]) -> Tensor:
    node.only("exclusive", 0)
    if node.get("reverse", 0):
        return ac.flip(ac.cumsum(ac.flip(x, axis), axis[0]), axis).to(x.dtype)
    return ac.cumsum(x, axis[0]).to(x.dtype)


@reads("TopK", numbers=(1,))
def _(node: Node, x: Tensor, count: list[int]) -> tuple[Tensor, Tensor]:
    largest = bool(node.get("largest", 1))
    values, indices = ac.topk(x, count[0], node.get("axis", -1), largest, True)
    return values, indices
