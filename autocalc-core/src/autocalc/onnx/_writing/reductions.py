# SPDX-License-Identifier: MIT
"""Reductions, softmax, running sums and sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.reduction._axes import reduced_count
from autocalc._kernels.rules import reduced_shape
from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import WRITERS, writes

_INT64 = np.dtype(np.int64)
_Axes = tuple[int, ...]


def _reduction(op: str) -> Any:
    def write(k: Kernels, a: Value, axes: _Axes, keepdim: bool = False) -> Value:
        if not axes:
            return a
        if op in {"ReduceSum", "ReduceProd"} and a.dtype.kind not in FLOAT_KINDS:
            a = k.cast(a, _INT64)
        shape = reduced_shape(a.shape, axes, keepdim)
        places = k.graph.axes(axes)
        value: Value = k.node(op, a, places, shape=shape, keepdims=int(keepdim))
        return value

    return write


_REDUCTIONS = {
    "sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin",
    "prod": "ReduceProd",
}  # fmt: skip
WRITERS.update({name: _reduction(op) for name, op in _REDUCTIONS.items()})


@writes("norm")
def _(k: Kernels, a: Value, axes: _Axes, keepdim: bool) -> Value:
    value: Value = _reduction("ReduceL2")(k, a, axes, keepdim)
    return value if axes else k.node("Abs", a)


@writes("var")
def var(k: Kernels, a: Value, axes: _Axes, keepdim: bool, correction: float) -> Value:
    """Write the mean squared deviation, without a correction of the mean."""
    rest = k.node("Sub", a, k.mean(a, axes, True))
    squares = k.sum(k.node("Mul", rest, rest), axes, keepdim)
    freedom = max(reduced_count(a.shape, axes) - correction, 0)
    value: Value = k.node("Div", squares, k.constant(freedom, a))
    return value


@writes("std")
def _(k: Kernels, a: Value, axes: _Axes, keepdim: bool, correction: float) -> Value:
    value: Value = k.node("Sqrt", var(k, a, axes, keepdim, correction))
    return value


@writes("argmax")
def _(k: Kernels, a: Value, axis: int, keepdim: bool) -> Value:
    shape = reduced_shape(a.shape, (axis,), keepdim)
    words = {"axis": axis, "keepdims": int(keepdim)}
    return k.node("ArgMax", a, shape=shape, dtype=_INT64, **words)


@writes("softmax")
def _(k: Kernels, a: Value, axis: int) -> Value:
    return k.node("Softmax", a, axis=axis)


@writes("log_softmax")
def _(k: Kernels, a: Value, axis: int) -> Value:
    return k.node("LogSoftmax", a, axis=axis)


@writes("cumsum")
def _(k: Kernels, a: Value, axis: int, reverse: bool) -> Value:
    a = a if a.dtype.kind in FLOAT_KINDS else k.cast(a, _INT64)
    place = k.graph.constant(axis, _INT64)
    return k.node("CumSum", a, place, shape=a.shape, reverse=int(reverse))


@writes("argsort")
def _(k: Kernels, a: Value, axis: int, descending: bool) -> Value:
    return _places(k, a, axis, a.shape[axis], descending)


@writes("argtopk")
def _places(k: Kernels, a: Value, axis: int, count: int, descending: bool) -> Value:
    shape = (*a.shape[:axis], count, *a.shape[axis + 1 :])
    metas = [(shape, a.dtype), (shape, _INT64)]
    words = {"axis": axis, "largest": int(descending)}
    return k.graph.several("TopK", (a, k.graph.numbers((count,))), metas, **words)[1]
