# SPDX-License-Identifier: MIT
"""Reductions, running sums and sorting."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.arranging import joining, rearranging
from autocalc._ops.creation import constants
from autocalc._ops.elementwise import exponential
from autocalc._ops.reductions import extrema, reduction, softmax
from autocalc._ops.sequences import scans, sorting
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.limits import iinfo
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


def _log_sum(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return exponential.log(reduction.sum(x, axes, keep))


def _extremum(function: Any, worst: Any) -> Any:
    """Return a maximum or minimum, which of no elements is an infinity."""

    def run(x: Tensor, axes: Any, keep: bool) -> Tensor:
        if any(x.shape[axis] == 0 for axis in axes):
            some = reduction.sum(x, axes, keep)
            return constants.full(some.shape, worst(x), dtype=x.dtype)
        if x.dtype is dtypes.bool_:
            return function(x.to(dtypes.uint8), axes, keep)  # type: ignore[no-any-return]
        return function(x, axes, keep)  # type: ignore[no-any-return]

    return run


def _limits(x: Tensor) -> tuple[Any, Any]:
    if x.dtype is dtypes.bool_:
        return False, True
    if x.is_floating_point():
        return -math.inf, math.inf
    return iinfo(x.dtype).min, iinfo(x.dtype).max


_maximum = _extremum(extrema.amax, lambda x: _limits(x)[0])
_minimum = _extremum(extrema.amin, lambda x: _limits(x)[1])

_REDUCTIONS = {
    "ReduceLogSum": _log_sum,
    "ReduceL1": _l1, "ReduceL2": _l2, "ReduceLogSumExp": softmax.logsumexp,
    "ReduceMax": _maximum, "ReduceMean": reduction.mean, "ReduceMin": _minimum,
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


def _position(function: Any) -> Any:
    def read(node: Node, x: Tensor) -> Tensor:
        axis, keep = node.get("axis", 0), bool(node.get("keepdims", 1))
        if not node.get("select_last_index", 0):
            return function(x, axis, keep)  # type: ignore[no-any-return]
        turned = function(rearranging.flip(x, [axis]), axis, keep)
        return x.shape[axis] - 1 - turned  # type: ignore[no-any-return]

    return read


READERS["ArgMax"] = Reader(_position(extrema.argmax))
READERS["ArgMin"] = Reader(_position(extrema.argmin))


def _running(function: Any, first: int) -> Any:
    def read(node: Node, x: Tensor, axes: list[int]) -> Tensor:
        axis = axes[0] % x.ndim
        turned = bool(node.get("reverse", 0))
        x = rearranging.flip(x, [axis]) if turned else x
        found = function(x, axis).to(x.dtype)
        if node.get("exclusive", 0):
            size = x.shape[axis]
            none = constants.full(found.narrow(axis, 0, 1).shape, first, dtype=x.dtype)
            found = joining.cat([none, found.narrow(axis, 0, size - 1)], axis)
        return rearranging.flip(found, [axis]) if turned else found

    return read


READERS["CumSum"] = Reader(_running(scans.cumsum, 0), (1,))
READERS["CumProd"] = Reader(_running(scans.cumprod, 1), (1,))


@reads("TopK", numbers=(1,), unused=("sorted",))
def _(node: Node, x: Tensor, count: list[int]) -> tuple[Tensor, Tensor]:
    largest = bool(node.get("largest", 1))
    values, indices = sorting.topk(x, count[0], node.get("axis", -1), largest, True)
    return values, indices
