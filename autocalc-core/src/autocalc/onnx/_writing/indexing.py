# SPDX-License-Identifier: MIT
"""Elements selected by index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc.onnx._graph import Value
from autocalc.onnx._namespace import Kernels
from autocalc.onnx._table import WRITERS, writes


@writes("embedding")
def _(k: Kernels, weight: Value, indices: Value) -> Value:
    shape = (*indices.shape, weight.shape[1])
    return k.node("Gather", weight, indices, shape=shape, axis=0)


@writes("index_select")
def _(k: Kernels, a: Value, index: Value, axis: int) -> Value:
    shape = (*a.shape[:axis], *index.shape, *a.shape[axis + 1 :])
    return k.node("Gather", a, index, shape=shape, axis=axis)


@writes("gather")
def _(k: Kernels, a: Value, index: Value, axis: int) -> Value:
    box = list(index.shape)
    box[axis] = a.shape[axis]
    part = k.graph.cut(a, [0] * len(box), box, [1] * len(box))
    return k.node("GatherElements", part, index, shape=index.shape, axis=axis)


@writes("scatter")
def _(k: Kernels, a: Value, index: Value, src: Value, axis: int) -> Value:
    return k.node("ScatterElements", a, index, src, shape=a.shape, axis=axis)


@writes("index_copy")
def _(k: Kernels, a: Value, index: Value, src: Value, axis: int) -> Value:
    shape = tuple(n if i == axis else 1 for i, n in enumerate(src.shape))
    places = k.expand(k.reshape(index, shape), src.shape)
    return k.node("ScatterElements", a, places, src, shape=a.shape, axis=axis)


def _scatter(reduction: str) -> Any:
    def write(k: Kernels, a: Value, index: Value, src: Value, axis: int) -> Value:
        words: dict[str, Any] = {"axis": axis, "reduction": reduction}
        value: Value = k.node("ScatterElements", a, index, src, shape=a.shape, **words)
        return value

    return write


_SCATTERED = {"add": "add", "amax": "max", "amin": "min", "mul": "mul"}
WRITERS.update({f"scatter_{name}": _scatter(how) for name, how in _SCATTERED.items()})


@writes("positions")
def _(k: Kernels, index: Sequence[Value], sizes: tuple[int, ...]) -> Value:
    """Write the row-major position of each element; negative indices are allowed."""
    total: Value | None = None
    for i, (one, size) in enumerate(zip(index, sizes, strict=True)):
        negative = k.compare(one, k.constant(0, one), "lt")
        end = k.graph.reshape(k.graph.numbers((size,)), ())
        place = k.where(negative, k.node("Add", one, end), one)
        step = k.graph.reshape(k.graph.numbers((math.prod(sizes[i + 1 :]),)), ())
        part = k.node("Mul", place, step)
        total = part if total is None else k.node("Add", total, part)
    assert total is not None  # at least one index is given
    return total
