# SPDX-License-Identifier: MIT
"""Compares a replay with the function; both start from the same state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._compile._structure import flatten
from autocalc._compile._trace import Argument, Gradient, Owned, Trace
from autocalc._tensor import Tensor

#: The differences allowed for each dtype, relative to the largest element: a pass may
#: change the order of a sum.
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}


class State:
    """A copy of the state that a program may write."""

    def __init__(
        self, trace: Trace, generators: Sequence[Any], tensors: Sequence[Tensor]
    ) -> None:
        written = {v.slot for i in trace.instructions for v in i.writes()}
        self._leaves = [leaf for leaf, _ in trace.gradients]
        self._leaves += trace.cleared
        self._grads = [leaf.grad for leaf in self._leaves]
        self._arrays: list[Any] = []
        self._names: list[str] = []
        for slot, binding in trace.bindings.items():
            if slot not in written:
                continue
            if isinstance(binding, Owned):
                self._add("a tensor", binding.tensor._array)
            elif isinstance(binding, Gradient) and binding.leaf.grad is not None:
                self._add("a gradient", binding.leaf.grad._array)
            elif isinstance(binding, Argument):
                self._add("an argument", tensors[binding.number]._array)
        self._before = [array.copy() for array in self._arrays]
        self._generators = [(g, g.get_state()) for g in generators]

    def _add(self, what: str, array: Any) -> None:
        self._arrays.append(array)
        self._names.append(f"{what} of shape {array.shape} that it writes")

    def restore(self) -> None:
        """Restore the state."""
        for array, before in zip(self._arrays, self._before, strict=True):
            np.copyto(array, before)
        for generator, state in self._generators:
            generator.set_state(state)
        for leaf, grad in zip(self._leaves, self._grads, strict=True):
            leaf.grad = grad

    def seen(self, result: Any) -> list[tuple[str, Any]]:
        """Return copies of the state as it is now, and of the tensors in the result."""
        leaves: list[Any] = []
        flatten(result, leaves)
        pairs = list(zip(self._names, self._arrays, strict=True))
        for leaf in self._leaves:
            if leaf.grad is not None:
                what = f"the gradient of a leaf of shape {leaf.shape}"
                pairs.append((what, leaf.grad._array))
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor):
                pairs.append((f"result {i}", leaf._array))
        return [(name, array.copy()) for name, array in pairs]

    def difference(self, replayed: Any, result: Any) -> str:
        """Return the first difference from the current state, in words; "" if none."""
        for (name, got), (_, wanted) in zip(replayed, self.seen(result), strict=True):
            if got.shape != wanted.shape:
                return f"{name} has shape {got.shape}, eagerly {wanted.shape}."
            if _differs(got, wanted):
                found = np.abs(got.astype(float) - wanted.astype(float)).max()
                return f"{name} is off by up to {found:.3g}."
        return ""


def _differs(got: Any, wanted: Any) -> bool:
    if np.array_equal(got, wanted, equal_nan=wanted.dtype.kind == "f"):
        return False
    tolerance = TOLERANCE.get(wanted.dtype.name)
    if tolerance is None:
        return True
    size = np.abs(wanted).max(initial=0.0, where=np.isfinite(wanted))
    near = np.isclose(
        got, wanted, rtol=tolerance, atol=tolerance * size, equal_nan=True
    )
    return not bool(near.all())
