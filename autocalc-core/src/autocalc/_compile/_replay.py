# SPDX-License-Identifier: MIT
"""A program bound to memory: parameters by pointer, temporaries in one arena."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import getrefcount
from typing import Any

import numpy as np

from autocalc._compile._executor import Executor, Place, calls_of, place_of
from autocalc._compile._memory import address
from autocalc._compile._plan import Plan
from autocalc._compile._program import Program
from autocalc._compile._structure import rebuild
from autocalc._compile._trace import (
    Argument,
    Copied,
    Given,
    Gradient,
    Made,
    Owned,
    Same,
    Trace,
)
from autocalc._dispatch._select import make_executor
from autocalc._dispatch._state import current
from autocalc._tensor import Tensor, make

_BYTE = np.dtype(np.uint8)

#: References to a gradient that only its leaf holds: the leaf's, the program's, a local
#: name and the argument of `getrefcount`.
_GRADIENT_REFERENCES = 4

#: References to its array: the tensor's, and the argument of `getrefcount`.
_ARRAY_REFERENCES = 2


class Follower:
    """A slot whose memory a tensor says, anew at each replay."""

    __slots__ = ("array", "find", "offset", "slot")

    def __init__(
        self, slot: int, offset: int, find: Callable[[list[Tensor]], Any], array: Any
    ) -> None:
        self.slot = slot
        self.offset = offset
        self.find = find
        self.array = array

    def place(self, array: Any) -> Place:
        """Return where the slot is if `array` is the tensor's."""
        return place_of(array, -self.offset)


class Result:
    """A slot that outlives a replay: memory that is new where somebody holds the old.

    `references` counts what the program itself holds of `root`.
    """

    __slots__ = ("gradients", "nbytes", "references", "root", "slot")

    def __init__(self, slot: int, nbytes: int, root: Any) -> None:
        self.slot = slot
        self.nbytes = nbytes
        self.root = root
        self.references = 0
        self.gradients: list[Any] = []

    def is_free(self) -> bool:
        """Return whether nobody sees the memory but leaves that get it again."""
        for leaf, tensor in self.gradients:
            held = _GRADIENT_REFERENCES - (leaf.grad is not tensor)
            if getrefcount(tensor) > held:
                return False
            if getrefcount(tensor._array) > _ARRAY_REFERENCES:
                return False
        return getrefcount(self.root) <= self.references + len(self.gradients)


class Replay:
    """Runs a program in place of the function.

    Parameters
    ----------
    program, plan
        What runs, and where temporaries lie.
    trace
        The recording that the program came from.
    empty
        Makes memory.
    """

    def __init__(
        self, program: Program, plan: Plan, trace: Trace, empty: Callable[..., Any]
    ) -> None:
        self.program = program
        self.plan = plan
        self._empty = empty
        self._trace = trace
        arena = empty((plan.nbytes,), _BYTE)
        places = {s: Place(arena, o) for s, o in plan.offsets.items()}
        self._followers = list(self._followed(program, trace))
        for slot in program.others:
            root = program.own.get(slot)
            root = trace.memory.slots[slot].array if root is None else root
            places[slot] = Place(root, 0)
        self._results = [self._result(s, places) for s in sorted(program.results)]
        self._places = places
        make_one = make_executor(current().selection) or Executor
        self._executor = make_one(calls_of(program.instructions, places), places)
        for result in self._results:
            result.references = getrefcount(result.root)
            result.gradients = self._new_gradients(result)
        written = {v.slot for i in program.instructions for v in i.writes()}
        bindings = trace.bindings.items()
        self._written = [
            _found(b) for s, b in bindings if s in written and isinstance(b, _TENSORS)
        ]

    def _result(self, slot: int, places: dict[int, Place]) -> Result:
        nbytes = self.program.sizes[slot]
        result = Result(slot, nbytes, self._empty((nbytes,), _BYTE))
        places[slot] = Place(result.root, 0)
        return result

    @staticmethod
    def _followed(program: Program, trace: Trace) -> Iterator[Follower]:
        """Yield the slots whose memory may be another at the next call."""
        for slot in sorted(program.others):
            binding = trace.bindings.get(slot)
            root = trace.memory.slots[slot].array
            if isinstance(binding, Argument):
                yield Follower(slot, binding.offset, _found(binding), None)
            elif isinstance(binding, _TENSORS):
                array = _found(binding)([])._array
                offset = address(array) - address(root)
                yield Follower(slot, offset, _found(binding), array)

    def holds(self) -> bool:
        """Return whether every tensor still lies in memory as it was recorded."""
        for follower in self._followers:
            if follower.array is not None:
                tensor = follower.find([])
                if tensor is None:
                    return False
                now = tensor._array
                if now is not follower.array and not _alike(now, follower.array):
                    return False
        return True

    def run(self, tensors: list[Tensor]) -> Any:
        """Run the program with these arguments; return what the function returns."""
        move = self._executor.move
        for follower in self._followers:
            array = follower.find(tensors)._array
            if array is not follower.array:
                place = self._places[follower.slot] = follower.place(array)
                move(follower.slot, *place)
                if follower.array is not None:
                    follower.array = array
        for result in self._results:
            if not result.is_free():
                self._renew(result)
        self._executor.run()
        for find in self._written:
            find(tensors)._bump()
        for result in self._results:
            for leaf, tensor in result.gradients:
                leaf.grad = tensor
        leaves = iter(self._trace.leaves)
        return rebuild(self._trace.nesting, lambda: self._leaf(next(leaves), tensors))

    def _renew(self, result: Result) -> None:
        """Give a slot new memory: somebody holds what the last run put there."""
        result.gradients = []
        result.root = self._empty((result.nbytes,), _BYTE)
        place = self._places[result.slot] = Place(result.root, 0)
        self._executor.move(result.slot, *place)
        result.gradients = self._new_gradients(result)

    def _new_gradients(self, result: Result) -> list[Any]:
        """Return the leaves whose gradient is in a slot, each with a new tensor."""
        return [
            (leaf, make(self._places[view.slot].array(view), None))
            for leaf, view in self._trace.gradients
            if view.slot == result.slot
        ]

    def _leaf(self, leaf: Made | Copied | Given | Same, tensors: list[Tensor]) -> Any:
        """Return one leaf of the result."""
        if isinstance(leaf, Given):
            return tensors[leaf.number]
        if isinstance(leaf, Same):
            return leaf.value
        if isinstance(leaf, Copied):
            return make(leaf.array.copy(), None)
        return make(self._places[leaf.view.slot].array(leaf.view), None)


_TENSORS = (Argument, Owned, Gradient)


def _found(binding: Any) -> Callable[[list[Tensor]], Any]:
    """Return a function that finds the tensor of a slot among a call's arguments."""
    if isinstance(binding, Argument):
        return lambda tensors: tensors[binding.number]
    if isinstance(binding, Owned):
        return lambda _: binding.tensor
    return lambda _: binding.leaf.grad


def _alike(a: Any, b: Any) -> bool:
    """Return whether two arrays lie in memory in the same way."""
    same: bool = (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype)
    return same
