# SPDX-License-Identifier: MIT
"""A `Function` inside of `vmap`: its own rule `vmap` computes all examples.

The rule gets the tensors with the dimension of the examples, and says where its
results have it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._dispatch.device.batches import Level
from autocalc._dispatch.device.levels import levels_of
from autocalc._dispatch.selection.provided import provide
from autocalc._ops.views.levels import hide, show
from autocalc._tensor import Tensor
from autocalc.errors import VmapError
from autocalc.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


def spread(dims: Any, spec: TreeSpec) -> list[Any] | None:
    """Return an entry for each leaf of a structure; None if they do not fit."""
    if dims is None or isinstance(dims, int):
        return [dims] * spec.num_leaves
    if spec.is_leaf():
        return None
    parts, found = tree_flatten(dims, is_leaf=lambda x: x is not dims)
    same = found.type is spec.type
    if not same or found.context != spec.context or len(parts) != len(spec.children):
        return None
    result: list[Any] = []
    for part, child in zip(parts, spec.children, strict=True):
        more = spread(part, child)
        if more is None:
            return None
        result += more
    return result


class VmapInfo(NamedTuple):
    """What a rule gets to know about the call of `vmap` around it."""

    #: The number of examples.
    batch_size: int
    #: What random functions do: the argument of `vmap`.
    randomness: str


def level_inside(args: Any) -> Level | None:
    """Return the innermost level of the tensors in arguments; None without levels."""
    leaves, _ = tree_flatten(args)
    levels = [x for a in leaves if isinstance(a, Tensor) for x in levels_of(a._array)]
    return max(levels, key=lambda level: level.start, default=None)


def by_own_rule(cls: Any, level: Level, args: tuple[Any, ...]) -> Any:
    """Return the outputs of a function, computed by its static method `vmap`."""
    if cls.generate_vmap_rule:
        raise VmapError(
            f"{cls.__name__}: it has generate_vmap_rule=True and a static method "
            f"`vmap`; these are two rules for the examples. Remove one of them."
        )
    leaves, spec = tree_flatten(args)
    has = [isinstance(x, Tensor) and level in levels_of(x._array) for x in leaves]
    full = [show(x, level, 0) if own else x for x, own in zip(leaves, has, strict=True)]
    dims = tree_unflatten([0 if own else None for own in has], spec)
    info = VmapInfo(level.size, level.randomness)
    found = cls.vmap(info, dims, *tree_unflatten(full, spec))
    if not (isinstance(found, tuple) and len(found) == 2):
        raise VmapError(
            f"{cls.__name__}.vmap: it returned {_described(found)}; we expect it to "
            f"have two returns: the outputs, and the dimension of the examples in each."
        )
    return _hidden(cls, level, *found)


def _described(found: Any) -> str:
    one = type(found).__name__
    return f"a tuple of {len(found)}" if isinstance(found, tuple) else f"a {one}"


def _hidden(cls: Any, level: Level, outputs: Any, out_dims: Any) -> Any:
    """Return outputs without their dimension of examples."""
    leaves, spec = tree_flatten(outputs)
    dims = spread(out_dims, spec)
    if dims is None:
        raise VmapError(
            f"{cls.__name__}.vmap: it returned an incompatible (outputs, out_dims): "
            f"out_dims is {out_dims!r} for {spec.num_leaves} outputs. Return one "
            f"number or None for each output, in the structure of the outputs."
        )
    results = [
        y if dim is None else hide(y, level, dim % y.ndim)
        for y, dim in zip(leaves, dims, strict=True)
    ]
    return tree_unflatten(results, spec)


provide(function_rules=(level_inside, by_own_rule))
