# SPDX-License-Identifier: MIT
"""The work of a replay around its kernels: memory before them, results after them.

A replay of ``def step(x): return x @ w``, where `w` is a parameter, takes these steps
(`run`):

1. Follow: let the slots of `x` and `w` point to the current memory of both tensors.
2. Renew: if the caller still holds the last result, give its slot other memory, so
   that the last result is not overwritten.  This is the memory used before, or new
   memory.
3. Count a write to each tensor that the program writes, as eager code does.
4. Run the kernels.
5. Give leaves their gradients, and wrap the results as tensors.

The class here is the definition.  The native engine may provide a class that does the
same in C, for the executors that it knows (`_dispatch/engine/eager.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.engine.eager import accelerated
from autocalc._graph._node import Leaf
from autocalc._kernels.kernel_set import Executor
from autocalc._kernels.spec import Array, DType, Shape
from autocalc._program._executor import Placement, placement_of
from autocalc._program._memory import OWN_REFERENCES
from autocalc._program._views import View
from autocalc._tensor import Tensor, make

_BYTE = np.dtype(np.uint8)

#: The owner of a slot's memory: the number of an argument, a tensor that is no
#: argument, or a leaf, whose gradient owns the memory.
Owner = int | Tensor | Leaf

#: A leaf of the result: a view of a slot, the number of an argument, an array that is
#: copied, or an object that is the same in each call, in a tuple.
ResultLeaf = View | int | Array | tuple[Any]


class Follower(NamedTuple):
    """A slot that uses a tensor's memory, which each replay looks up again.

    `offset` is where the tensor's array begins in the slot.  `array` is the recorded
    array; a later one must have its layout.  It is None for arguments, whose layout is
    part of their key.
    """

    slot: int
    owner: Owner
    offset: int
    array: Any


class Result(NamedTuple):
    """A slot that outlives a replay.  It gets other memory while the old is referenced.

    `root` is its first memory.  `gradients` are the leaves whose gradients are in the
    slot.
    """

    slot: int
    nbytes: int
    root: Any
    gradients: Sequence[tuple[Leaf, View]]


class Bookkeeping:
    """Follows tensors, renews results, runs the executor and makes what it returns.

    Parameters
    ----------
    executor
        Runs the kernels.
    empty
        Allocates memory.
    places
        Where each slot is in memory.
    followers, results
        Slots whose memory may change from call to call.
    written
        Tensors that the program writes.
    leaves
        The leaves of the result.
    """

    def __init__(
        self,
        executor: Executor,
        empty: Callable[[Shape, DType], Array],
        places: dict[int, Placement],
        followers: Sequence[Follower],
        results: Sequence[Result],
        written: Sequence[Owner],
        leaves: Sequence[ResultLeaf],
    ) -> None:
        self._executor = executor
        self._empty = empty
        self._places = places
        self._followers = [(f.slot, f.owner, f.offset) for f in followers]
        self._recorded = [follower.array for follower in followers]
        self._results = [_Renewed(result) for result in results]
        self._written = written
        self._leaves = leaves
        self._begun = False

    def holds(self) -> bool:
        """Return whether every tensor still has its recorded place and layout."""
        for (_, owner, _), recorded in zip(
            self._followers, self._recorded, strict=True
        ):
            if recorded is not None:
                tensor = find(owner, [])
                if tensor is None:
                    return False
                now = tensor._array
                if now is not recorded and not _alike(now, recorded):
                    return False
        return True

    def run(self, tensors: list[Tensor]) -> list[Any]:
        """Run the program with these arguments; return the leaves of the result."""
        self._follow(tensors)
        if not self._begun:
            self._begin()
        for result in self._results:
            if not result.room.is_free():
                self._renew(result)
        for owner in self._written:
            find(owner, tensors)._bump()
        self._executor.run()
        for result in self._results:
            for leaf, tensor in result.room.gradients:
                leaf.grad = tensor
        return [self._leaf(leaf, tensors) for leaf in self._leaves]

    def _follow(self, tensors: list[Tensor]) -> None:
        """Let the program use the memory that the tensors have now."""
        for i, (slot, owner, offset) in enumerate(self._followers):
            array, recorded = find(owner, tensors)._array, self._recorded[i]
            if array is not recorded:
                self._move(slot, placement_of(array, -offset))
                if recorded is not None:
                    self._recorded[i] = array

    def _move(self, slot: int, place: Placement) -> None:
        self._executor.move(slot, *place)
        self._places[slot] = place

    def _begin(self) -> None:
        """Count the references to the memory of results, while no copies exist."""
        self._begun = True
        for result in self._results:
            result.room.references = _references(result.room)
            self._give(result)

    def _renew(self, result: _Renewed) -> None:
        """Give a slot other memory; the last run's content is still referenced."""
        room, spare = result.spare, result.room
        if room is None or not room.is_free():
            room = _Room(self._empty((result.nbytes,), _BYTE))
        alone = _references(room)
        self._move(result.slot, Placement(room.root, 0))
        spare.references -= _references(room) - alone
        room.references = _references(room)
        result.room = room
        # Eager code needs this spare copy as well: its caller holds the last result
        # while it computes the next one.  Spare copies of gradients would double their
        # memory.
        result.spare = None if result.gradients else spare
        self._give(result)

    def _give(self, result: _Renewed) -> None:
        """Make the tensors of the gradients in the slot."""
        place = self._places[result.slot]
        result.room.gradients = [
            (leaf, make(place.array(view), None)) for leaf, view in result.gradients
        ]

    def _leaf(self, leaf: ResultLeaf, tensors: list[Tensor]) -> Any:
        """Return one leaf of the result."""
        if isinstance(leaf, int):
            return tensors[leaf]
        if isinstance(leaf, View):
            return make(self._places[leaf.slot].array(leaf), None)
        if isinstance(leaf, np.ndarray):
            return make(leaf.copy(), None)
        return leaf[0]


class _Room:
    """One piece of memory for a result, and the gradients in it.

    `references` is the number of references to `root` that the program itself holds, as
    `_references` counts them.
    """

    __slots__ = ("gradients", "references", "root")

    def __init__(self, root: Array) -> None:
        self.root = root
        self.references = 0
        self.gradients: list[tuple[Leaf, Tensor]] = []

    def is_free(self) -> bool:
        """Return whether nothing but the leaves' own gradients refers to the memory."""
        for leaf, tensor in self.gradients:
            held = _GRADIENT_REFERENCES - (leaf.grad is not tensor)
            if getrefcount(tensor) > held:
                return False
            if getrefcount(tensor._array) > _ARRAY_REFERENCES:
                return False
        return _references(self) <= self.references + len(self.gradients)


#: References to a gradient that only its leaf holds: one of the leaf, one of the room,
#: and those of the function that counts them.
_GRADIENT_REFERENCES = 2 + OWN_REFERENCES

#: References to the gradient's array: one of the tensor, and the argument of
#: `getrefcount`.
_ARRAY_REFERENCES = 2


def _references(room: _Room) -> int:
    return getrefcount(room.root)


class _Renewed:
    """A result with its current memory, and spare memory that it had before."""

    __slots__ = ("gradients", "nbytes", "room", "slot", "spare")

    def __init__(self, result: Result) -> None:
        self.slot, self.nbytes = result.slot, result.nbytes
        self.gradients = result.gradients
        self.room = _Room(result.root)
        self.spare: _Room | None = None


def find(owner: Owner, tensors: list[Tensor]) -> Any:
    """Return the tensor that owns a slot's memory; None for an absent gradient."""
    if isinstance(owner, int):
        return tensors[owner]
    return owner.grad if owner.__class__ is Leaf else owner


def _alike(a: Any, b: Any) -> bool:
    """Return whether two arrays have the same layout."""
    same: bool = (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype)
    return same


#: `Bookkeeping`, or the native engine's class in its place.
bookkeeping: Callable[..., Bookkeeping] = accelerated("bookkeeping", Bookkeeping)
