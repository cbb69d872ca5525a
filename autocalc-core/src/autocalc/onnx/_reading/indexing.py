# SPDX-License-Identifier: MIT
"""Elements selected by index."""

from __future__ import annotations

from autocalc._ops.creation import ranges
from autocalc._ops.in_place import index_put
from autocalc._ops.indexing import indexing, masking, scattering
from autocalc._ops.sequences import scatter_reduction
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


@reads("GatherND")
def _(node: Node, x: Tensor, index: Tensor) -> Tensor:
    node.only("batch_dims", 0)
    sizes = x.shape[: index.shape[-1]]
    parts = [_indices(one, n) for one, n in zip(index.unbind(-1), sizes, strict=True)]
    return x[tuple(parts)]


_REDUCTIONS = {"add": "sum", "max": "amax", "min": "amin", "mul": "prod"}


@reads("ScatterElements")
def _(node: Node, x: Tensor, index: Tensor, new: Tensor) -> Tensor:
    node.only("reduction", "none", *_REDUCTIONS)
    axis, how = node.get("axis", 0), node.get("reduction", "none")
    index = _indices(index, x.shape[axis])
    if how == "none":
        return scattering.scatter(x, axis, index, new)
    return scatter_reduction.scatter_reduce(x, axis, index, new, _REDUCTIONS[how])


@reads("ScatterND")
def _(node: Node, x: Tensor, index: Tensor, new: Tensor) -> Tensor:
    node.only("reduction", "none", "add")
    sizes = x.shape[: index.shape[-1]]
    parts = [_indices(one, n) for one, n in zip(index.unbind(-1), sizes, strict=True)]
    added = node.get("reduction", "none") == "add"
    return index_put.index_put(x, tuple(parts), new, accumulate=added)


@reads("OneHot", numbers=(1,))
def _(node: Node, index: Tensor, depth: list[int], values: Tensor) -> Tensor:
    """Return `values[1]` where the new dimension's position is the index.

    All other elements are `values[0]`.

    An index outside of [-depth, depth) selects no position.
    """
    classes = ranges.arange(int(depth[0]))
    hot = _indices(index, len(classes)).unsqueeze(-1) == classes
    return masking.where(hot, values[1], values[0]).movedim(-1, node.get("axis", -1))
