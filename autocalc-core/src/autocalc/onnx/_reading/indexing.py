# SPDX-License-Identifier: MIT
"""Elements selected by index."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.arranging import joining, rearranging
from autocalc._ops.creation import constants, ranges
from autocalc._ops.in_place import index_put
from autocalc._ops.indexing import indexing, masking, scattering
from autocalc._ops.sequences import scatter_reduction, searching, sorting
from autocalc._ops.views import splitting
from autocalc._tensor import Tensor, dtypes
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


def _indices(index: Tensor, size: int) -> Tensor:
    """Return indices as int64, with negative ones counted from the end."""
    index = index.to(dtypes.int64)
    return masking.where(index < 0, index + size, index)


@reads("Gather")
def _(node: Node, x: Tensor, index: Tensor) -> Tensor:
    axis = node.get("axis", 0)
    axis = axis + x.ndim if axis < 0 else axis
    index = _indices(index, x.shape[axis])
    if axis == 0 and x.ndim == 2 and x.is_floating_point():
        return functional.embedding(index, x)
    chosen = indexing.index_select(x, axis, index.reshape(-1))
    return chosen.reshape(*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])


@reads("GatherElements")
def _(node: Node, x: Tensor, index: Tensor) -> Tensor:
    axis = node.get("axis", 0)
    return indexing.gather(x, axis, _indices(index, x.shape[axis]))


def _parts(x: Tensor, index: Tensor, first: int = 0) -> list[Tensor]:
    """Return the indices of each dimension from `first` on."""
    sizes = x.shape[first : first + index.shape[-1]]
    pairs = zip(index.unbind(-1), sizes, strict=True)
    return [_indices(one, size) for one, size in pairs]


@reads("GatherND")
def _(node: Node, x: Tensor, index: Tensor) -> Tensor:
    outer = node.get("batch_dims", 0)
    rows = [
        ranges.arange(n).reshape(n, *[1] * (index.ndim - 2 - i))
        for i, n in enumerate(x.shape[:outer])
    ]
    places: Any = (*rows, *_parts(x, index, outer))
    return x[places]


_REDUCTIONS = {"add": "sum", "max": "amax", "min": "amin", "mul": "prod"}


_HOW = {"reduction": ("none", *_REDUCTIONS)}


@reads("ScatterElements", only=_HOW)
def _(node: Node, x: Tensor, index: Tensor, new: Tensor) -> Tensor:
    axis, how = node.get("axis", 0), node.get("reduction", "none")
    index = _indices(index, x.shape[axis])
    if how == "none":
        return scattering.scatter(x, axis, index, new)
    return scatter_reduction.scatter_reduce(x, axis, index, new, _REDUCTIONS[how])


@reads("ScatterND", only=_HOW)
def _(node: Node, x: Tensor, index: Tensor, new: Tensor) -> Tensor:
    how, parts = node.get("reduction", "none"), _parts(x, index)
    if how in {"none", "add"}:
        return index_put.index_put(x, tuple(parts), new, accumulate=how == "add")
    depth = len(parts)
    rows = math.prod(x.shape[:depth])
    place = parts[0]
    for part, size in zip(parts[1:], x.shape[1:depth], strict=True):
        place = place * size + part
    flat = x.reshape(rows, -1)
    new = new.reshape(-1, flat.shape[1])
    place = place.reshape(-1, 1).expand(*new.shape)
    done = scatter_reduction.scatter_reduce(flat, 0, place, new, _REDUCTIONS[how])
    return done.reshape(x.shape)


@reads("OneHot", numbers=(1,))
def _(node: Node, index: Tensor, depth: list[int], values: Tensor) -> Tensor:
    """Return `values[1]` where the new dimension's position is the index.

    All other elements are `values[0]`.

    An index outside of [-depth, depth) selects no position.
    """
    classes = ranges.arange(int(depth[0]))
    hot = _indices(index, len(classes)).unsqueeze(-1) == classes
    return masking.where(hot, values[1], values[0]).movedim(-1, node.get("axis", -1))


def _places(x: Tensor) -> Tensor:
    """Return the indices of the elements that are not 0, a row for each."""
    found: Any = masking.nonzero(x)
    return found  # type: ignore[no-any-return]


@reads("NonZero")
def _(node: Node, x: Tensor) -> Tensor:
    return _places(x).T


@reads("Compress")
def _(node: Node, x: Tensor, condition: Tensor) -> Tensor:
    axis = node.get("axis")
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    return indexing.index_select(x, axis, _places(condition).reshape(-1))


@reads("EyeLike", unused=("dtype",))
def _(node: Node, x: Tensor) -> Tensor:
    rows, columns = x.shape
    shift = ranges.arange(columns) - ranges.arange(rows).unsqueeze(1)
    result: Tensor = (shift == node.get("k", 0)).to(node.dtype("dtype", x.dtype))
    return result


@reads("ReverseSequence", numbers=(1,))
def _(node: Node, x: Tensor, lengths: list[int]) -> Tensor:
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    rows = []
    for one, length in zip(splitting.split(x, 1, batch), lengths, strict=True):
        head = one.narrow(time, 0, length)
        rest = one.narrow(time, length, x.shape[time] - length)
        rows.append(joining.cat([rearranging.flip(head, [time]), rest], time))
    return joining.cat(rows, batch)


@reads("Unique")
def _(node: Node, x: Tensor) -> tuple[Tensor, ...]:
    """Return values, where each is first, the inverse, and how often each occurs."""
    axis = node.get("axis")
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    values, inverse, counts = searching.unique(
        x, return_inverse=True, return_counts=True, dim=axis
    )
    count, rows = values.shape[axis], ranges.arange(x.shape[axis])
    last = constants.full((count,), x.shape[axis], dtype=dtypes.int64)
    first = scatter_reduction.scatter_reduce(last, 0, inverse, rows, "amin")
    if not node.get("sorted", 1):
        order = sorting.argsort(first)
        values = indexing.index_select(values, axis, order)
        first, counts = first[order], counts[order]
        inverse = sorting.argsort(order)[inverse]
    return values, first, inverse, counts


@reads("TensorScatter", only={"mode": ("linear", "circular")})
def _(node: Node, past: Tensor, new: Tensor, starts: Tensor | None = None) -> Tensor:
    """Write a part of each row of a cache, from its own position on."""
    axis = node.get("axis", -2) % past.ndim
    count, size = new.shape[axis], past.shape[axis]
    if starts is None:
        starts = constants.zeros(past.shape[0], dtype=dtypes.int64)
    places = starts.to(dtypes.int64).unsqueeze(1) + ranges.arange(count)
    if node.get("mode", "linear") == "circular":
        places = places % size
    shape = [1] * past.ndim
    shape[0], shape[axis] = places.shape
    return scattering.scatter(
        past, axis, places.reshape(*shape).expand(*new.shape), new
    )
