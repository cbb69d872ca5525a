# SPDX-License-Identifier: MIT
"""Finds the tensors that own the memory which a recording used.

Memory does not know its tensor.  Owners are first searched for among the tensors that
the step reached.  These are the tensors that guards found through Python names, and
those of the step's modules and optimizers.  A tensor in a structure in C is not among
them.  If some memory has no owner among them, all objects of the process are searched.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np

from autocalc._compile._asked import Asked
from autocalc._compile._guards import Attributes, Elements, Guard, Inside
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._signature import Signature
from autocalc._compile._watch import FunctionWatch
from autocalc._graph._frozen import frozen_objects
from autocalc._graph._node import Leaf, leaves
from autocalc._ops._operator.kinds import is_of_kind
from autocalc._ops._operator.view_tracker import base_of
from autocalc._program._memory import Memory, Slot
from autocalc._program._views import View, owner_of
from autocalc._tensor import Tensor


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector from running by itself in this block.

    Cycles that the recorded function leaves are then young, and `strays` collects them.
    A full collection would visit all objects of the process, however small the function
    is.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class Owners(NamedTuple):
    """The owner (a tensor or leaf) of each slot, and tensors that share such memory."""

    tensors: dict[int, Tensor | Leaf]
    shared: list[Tensor]


def reached(watch: FunctionWatch, call: Signature, asked: Iterable[Asked]) -> list[Any]:
    """Return the tensors that a step reached, and the NumPy arrays that it knows."""
    found: list[Any] = [x._array if x._edge is None else x for x in call.tensors]
    found += watch.own.registered
    found += [one.tensor for one in asked]
    for guard in watch.guards:
        if isinstance(guard, Guard):
            _add(guard.value, found)
        elif isinstance(guard, (Elements, Attributes)):
            for value in guard.values():
                _add(value, found)
        elif isinstance(guard, Inside):
            found.append(guard.held.thing)
    for optimizer in watch.own.optimizers:
        for group in optimizer.param_groups:
            for value in group.values():
                _add(value, found)
        for state in list(optimizer.state.values()):
            _add(list(state.values()) if isinstance(state, dict) else state, found)
    found += [base_of(x) for x in found if isinstance(x, Tensor)]
    unique = {id(x): x for x in found if isinstance(x, (Tensor, np.ndarray))}
    return list(unique.values())


def _add(value: Any, found: list[Any], inside: tuple[Any, ...] = ()) -> None:
    """Add a value if it is a tensor, or the tensors inside tuples and lists.

    `inside` are the lists around it: a list may contain itself.
    """
    if isinstance(value, Tensor):
        found.append(value)
    elif isinstance(value, (tuple, list)) and all(value is not x for x in inside):
        for one in value:
            _add(one, found, (*inside, value))


def find_owners(recorder: StepRecorder, used: set[int], found: list[Any]) -> Owners:
    """Find the owners of the slots in use among the objects that a step reached."""
    memory = recorder.memory
    slots = {
        id(slot.array): slot.index for slot in memory.slots if slot.array is not None
    }
    tensors = [x for x in found if isinstance(x, Tensor)]
    owners = _nearest(tensors, slots)
    known = {slots.get(id(owner_of(x))) for x in found if isinstance(x, np.ndarray)}
    unowned = {
        id(slot.array): slot.index
        for slot in _unknown(recorder, used - owners.keys() - known)
    }
    if unowned:
        owners |= _nearest(_tensors_among(gc.get_objects()), unowned)
    left = {key: i for key, i in unowned.items() if i not in owners}
    if left:  # `gc.get_objects` does not list frozen objects (`gc.freeze`)
        owners |= _nearest(_tensors_among(frozen_objects()), left)
    return Owners(owners, list(_shared(tensors, slots, used)))


def _unknown(recorder: StepRecorder, used: set[int]) -> Iterator[Slot]:
    """Yield the slots from before the recording that a tensor may own.

    Read-only slots are left out: they are AutoCalc's own numbers.  So are cells that
    the host fills.
    """
    filled = {
        view.slot
        for i in recorder.instructions
        if i.spec is None and i.callback is None
        for view in i.writes()
    }
    for slot in (recorder.memory.slots[index] for index in used - filled):
        if not (slot.made or slot.kept) and slot.array.flags.writeable:
            yield slot


def _shared(
    tensors: list[Tensor], slots: dict[int, int], used: set[int]
) -> Iterator[Tensor]:
    """Yield the tensors that share a slot with another tensor."""
    by_slot: dict[int, list[Tensor]] = {}
    for x in tensors:
        index = slots.get(id(owner_of(x._array)))
        if index is not None and index in used:
            by_slot.setdefault(index, []).append(x)
    for some in by_slot.values():
        if len(some) > 1:
            yield from some


def _nearest(tensors: list[Tensor], slots: dict[int, int]) -> dict[int, Tensor | Leaf]:
    """Return, for each slot, the tensor that is most likely its owner."""
    owners: dict[int, Tensor | Leaf] = {}
    nearest: dict[int, tuple[int, ...]] = {}
    for x in tensors:
        index = slots.get(id(owner_of(x._array)))
        if index is not None and (near := _nearness(x)) > nearest.get(index, ()):
            owners[index], nearest[index] = x, near
    return owners


def _tensors_among(objects: list[Any]) -> list[Tensor]:
    # `type` is used because the proxy of a dead weak reference raises in `isinstance`.
    return [x for x in objects if issubclass(type(x), Tensor)]


def _nearness(x: Tensor) -> tuple[int, ...]:
    """Return a rank for `x` as the owner of its memory: the highest rank is the owner.

    Views come and go, but a parameter is the same tensor in each recording, and so is a
    tensor that is no view.  Views without a history do not know their base, but their
    arrays are not the array that holds the memory.  The result of `detach` is
    referenced by fewer names than the tensor it was made from.
    """
    array = x._array
    is_root = owner_of(array) is array
    return x._edge.__class__ is Leaf, base_of(x) is x, is_root, getrefcount(x)


def gradients_in(memory: Memory, reach: Iterable[Any]) -> list[tuple[Leaf, View]]:
    """Return the gradients whose memory a recording knows, with their views.

    Leaves that the step itself made may live on in reference cycles.  If a leaf belongs
    to no tensor that the step reached, the garbage collector runs for young objects.
    """
    known = {id(slot.array) for slot in memory.slots if slot.array is not None}

    def found() -> list[Leaf]:
        having = (x for x in leaves() if x.grad is not None and not is_of_kind(x.grad))
        return [x for x in having if id(owner_of(x.grad._array)) in known]

    there = found()
    edges = {id(x._edge) for x in reach if isinstance(x, Tensor)}
    if any(id(leaf) not in edges for leaf in there):
        del there
        gc.collect(0)
        there = found()
    return [(leaf, memory.view(leaf.grad._array)) for leaf in there]


def strays(memory: Memory, used: set[int], owners: dict[int, Any]) -> list[Slot]:
    """Return the slots that the function made and that something still holds."""

    def found() -> list[Slot]:
        made = (memory.slots[i] for i in used if memory.slots[i].made)
        return [slot for slot in made if slot.is_held()]

    held = found()
    if any(slot.index not in owners for slot in held):
        # Unreachable cycles may hold memory. They are young (see `uncollected`).
        gc.collect(0)
        held = found()
    return held
