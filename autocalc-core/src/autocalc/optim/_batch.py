# SPDX-License-Identifier: MIT
"""Parameters of one dtype and step count, which one kernel call updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from autocalc._dispatch.selection.arrays import arrays
from autocalc._tensor import Tensor, make

State: TypeAlias = dict[str, Any]


class Batch:
    """Parameters that one kernel call updates."""

    __slots__ = ("dtype", "grads", "params", "states", "tensors")

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.tensors: list[Tensor] = []
        self.states: list[State] = []
        self.params: list[Any] = []
        self.grads: list[Any] = []

    def kept(self, name: str) -> list[Any]:
        """Return the arrays that the states hold under `name`, initially zeros."""
        result = []
        for state, array in zip(self.states, self.params, strict=True):
            tensor = state.get(name)
            if tensor is None:
                zeros = arrays.zeros(array.shape, array.dtype)
                tensor = state[name] = make(zeros, None)
            result.append(tensor._array)
        return result

    def each(self) -> Iterator[tuple[Tensor, Tensor, State]]:
        """Return the parameters with their gradients and states."""
        grads: list[Any] = [param.grad for param in self.tensors]
        return zip(self.tensors, grads, self.states, strict=True)

    def bump(self) -> None:
        """Count a write to each parameter, so that changed saved arrays are noticed."""
        for tensor in self.tensors:
            cell = tensor._version
            if cell is not None:
                cell.count += 1

    def in_pairs(self) -> None:
        """Prepare the arrays for the kernel; only complex ones need it."""

    #: Called after a kernel has written to the parameters.
    written = bump


class PairBatch(Batch):
    """Complex parameters, which are updated as pairs of real numbers.

    States have the dtype of the parameter, as in PyTorch.  Those that an optimizer
    makes of the tensors from `each` are pairs.
    """

    __slots__ = ()

    def in_pairs(self) -> None:
        """View the parameters and gradients as real numbers."""
        self.params = [arrays.as_pairs(a) for a in self.params]
        self.grads = [arrays.as_pairs(a) for a in self.grads]
        self.dtype = self.params[0].dtype

    def kept(self, name: str) -> list[Any]:
        """Return views of the arrays that the states hold, initially complex zeros."""
        result = []
        for state, param in zip(self.states, self.tensors, strict=True):
            tensor = state.get(name)
            if tensor is None:
                a = param._array
                tensor = state[name] = make(arrays.zeros(a.shape, a.dtype), None)
            held = tensor._array
            result.append(arrays.as_pairs(held) if tensor.is_complex() else held)
        return result

    def each(self) -> Iterator[tuple[Tensor, Tensor, State]]:
        """Return the parameters and gradients as pairs, with the states."""
        for param, state in zip(self.tensors, self.states, strict=True):
            pairs = make(arrays.as_pairs(param._array), None)
            pairs._version = param._cell()
            grad: Any = param.grad
            yield pairs, make(arrays.as_pairs(grad._array), None), state
