# SPDX-License-Identifier: MIT
"""`torch._functorch.vmap`: `vmap` that says which results have the examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc import Tensor
from autocalc._dispatch.device.levels import levels_of
from autocalc._ops.views.levels import hide, show
from autocalc.func._function_rules import spread
from autocalc.func._vmap import _entered
from autocalc.torch import _mentioned
from autocalc.utils._pytree import tree_flatten, tree_unflatten


def restore_vmap(
    func: Callable[..., Any], in_dims: Any, batch_size: int, randomness: str
) -> Callable[..., Any]:
    """Return `func` over examples; it returns results and their dimensions, or None."""

    def run(*args: Any, **words: Any) -> tuple[Any, Any]:
        leaves, spec = tree_flatten(args)
        dims = spread(in_dims, spec) or [None] * len(leaves)
        with _entered(batch_size, randomness) as level:
            inputs = [
                x if dim is None else hide(x, level, dim % x.ndim)
                for x, dim in zip(leaves, dims, strict=True)
            ]
            found = func(*tree_unflatten(inputs, spec), **words)
            results, out_spec = tree_flatten(found)
            has = [
                isinstance(y, Tensor) and level in levels_of(y._array) for y in results
            ]
            shown = [
                show(y, level, 0) if own else y
                for y, own in zip(results, has, strict=True)
            ]
        places = [0 if own else None for own in has]
        return tree_unflatten(shown, out_spec), tree_unflatten(places, out_spec)

    return run


__getattr__ = _mentioned.names_of(__name__)
