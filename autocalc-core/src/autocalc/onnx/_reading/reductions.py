# SPDX-License-Identifier: MIT
"""Reductions, running sums and sorting."""

from __future__ import annotations

from typing import Any

from autocalc._ops.arranging import rearranging
from autocalc._ops.elementwise import exponential
from autocalc._ops.reductions import extrema, reduction, softmax
from autocalc._ops.sequences import scans, sorting
from autocalc._tensor import Tensor
from autocalc.onnx._node import Node
from autocalc.onnx._table import READERS, Reader, reads


def _square_sum(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return reduction.sum(x * x, axes, keep)


def _l1(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return reduction.sum(abs(x), axes, keep)


def _l2(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return exponential.sqrt(_square_sum(x, axes, keep))


def _product(x: Tensor, axes: Any, keep: bool) -> Tensor:
    for axis in sorted((axis % x.ndim for axis in axes), reverse=True):
        x = reduction.prod(x, axis, keep)
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
    "ReduceL1": _l1, "ReduceL2": _l2, "ReduceLogSumExp": softmax.logsumexp,
    "ReduceMax": extrema.amax, "ReduceMean": reduction.mean, "ReduceMin": extrema.amin,
    "ReduceProd": _product, "ReduceSum": reduction.sum, "ReduceSumSquare": _square_sum,
}  # fmt: skip
_UNUSED = ("keepdims", "noop_with_empty_axes")
READERS.update(
    {n: Reader(_reduction(f), (1,), _UNUSED) for n, f in _REDUCTIONS.items()}
)


@reads("GlobalAveragePool")
def _(node: Node, x: Tensor) -> Tensor:
    return reduction.mean(x, tuple(range(2, x.ndim)), True)


@reads("GlobalMaxPool")
def _(node: Node, x: Tensor) -> Tensor:
    return extrema.amax(x, tuple(range(2, x.ndim)), True)


@reads("ArgMax")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("select_last_index", 0)
    return extrema.argmax(x, node.get("axis", 0), bool(node.get("keepdims", 1)))


@reads("ArgMin")
def _(node: Node, x: Tensor) -> Tensor:
    node.only("select_last_index", 0)
    return extrema.argmin(x, node.get("axis", 0), bool(node.get("keepdims", 1)))


@reads("CumSum", numbers=(1,))
def _(node: Node, x: Tensor, axis: list[int]) -> Tensor:
    node.only("exclusive", 0)
    if node.get("reverse", 0):
        return rearranging.flip(
            scans.cumsum(rearranging.flip(x, axis), axis[0]), axis
        ).to(x.dtype)
    return scans.cumsum(x, axis[0]).to(x.dtype)


@reads("TopK", numbers=(1,), unused=("sorted",))
def _(node: Node, x: Tensor, count: list[int]) -> tuple[Tensor, Tensor]:
    largest = bool(node.get("largest", 1))
    values, indices = sorting.topk(x, count[0], node.get("axis", -1), largest, True)
    return values, indices
