# SPDX-License-Identifier: MIT
"""A finished recording: the kinds of its slots, and the results of the function."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np

from autocalc._compile._asked import asked_guards
from autocalc._compile._guards import Inside, changed, is_effect, thing_of
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._signature import Signature
from autocalc._compile._structure import flatten
from autocalc._compile._tracked import Span
from autocalc._compile._watch import FunctionWatch
from autocalc._dispatch._callers import UserLine
from autocalc._dispatch.device.addresses import address
from autocalc._graph._frozen import frozen_objects
from autocalc._graph._node import Leaf, leaves
from autocalc._ops._operator.view_tracker import base_of
from autocalc._program._form import Instruction
from autocalc._program._memory import Memory, Slot
from autocalc._program._views import View, owner_of
from autocalc._tensor import Tensor


class Argument(NamedTuple):
    """A slot that is an argument's memory: the tensor's number, where it begins."""

    number: int
    offset: int


class Owned(NamedTuple):
    """A slot that a tensor owns which is no argument: a parameter, a buffer."""

    tensor: Tensor


class Gradient(NamedTuple):
    """A slot that is the gradient of a leaf."""

    leaf: Leaf


class Constant(NamedTuple):
    """A slot that no tensor owns: a number, or a cell that the host fills."""

    array: Any


#: What a slot is that was there before the call.
Binding = Argument | Owned | Gradient | Constant


class NewLeaf(NamedTuple):
    """A leaf of the result that the function made, or a view of what was there."""

    view: View


class Copied(NamedTuple):
    """A leaf of the result that is the same numbers in each call, in new memory."""

    array: Any


class Given(NamedTuple):
    """A leaf of the result that is an argument itself."""

    number: int


class Same(NamedTuple):
    """A leaf of the result that is one object in each call."""

    value: Any


#: What a leaf of a result is.
Result = NewLeaf | Copied | Given | Same


@dataclass(slots=True)
class Trace:
    """The recording of one run of a function.

    Attributes
    ----------
    instructions, memory
        The kernel calls and the slots they use.
    bindings
        What each slot is that was there before.
    nesting, leaves
        The result.
    gradients
        Leaves whose gradient the function made, with the view of it.
    fresh
        Those of them that had no gradient before.
    cleared
        Leaves that had a gradient before, and have none any more.
    stray
        Slots that the function made and that live on elsewhere.
    registered
        Parameters and buffers of the modules that ran.
    guards, effects
        Python values that the function looked at, and those that it changed.
    numbers
        Those of them that are numbers, and the arguments that are: by their source.
    spans
        Of arguments that were followed: the values for which Python does the same.
    sizes
        The shapes that the user's code looked at.
    shared
        Sources of guards of arrays whose memory the kernels use.
    changed
        Objects that the function changed, and that it may have made.
    """

    instructions: list[Instruction]
    memory: Memory
    bindings: dict[int, Binding]
    nesting: Any
    leaves: list[Result]
    gradients: list[tuple[Leaf, View]]
    fresh: list[Leaf]
    cleared: list[Leaf]
    stray: list[Slot]
    guards: list[Any]
    registered: list[Tensor]
    effects: list[Any]
    numbers: dict[Any, Any]
    spans: dict[Any, Span]
    sizes: list[Any]
    shared: set[Any]
    changed: list[Any]

    def things(self) -> list[Any]:
        """Return the objects that it has found, and that live."""
        return [*map(thing_of, self.guards), *self.changed]

    def offset_of(self, slot: int, array: Any) -> int:
        """Return where the array of a slot's owner begins in the slot."""
        return address(array) - address(self.memory.slots[slot].array)

    def lent(self) -> set[int]:
        """Return the slots that callbacks use."""
        return {v.slot for i in self.instructions if i.callback for v in i.views()}

    def line_of(self, slot: int) -> UserLine | None:
        """Return the user's line that first uses a slot."""
        uses = (
            i.line
            for i in self.instructions
            if any(view.slot == slot for view in i.views())
        )
        return next(uses, None)


def leaves_with_gradients() -> list[Leaf]:
    """Return all leaves that have a gradient, in the order in which they were made."""
    return [leaf for leaf in leaves() if leaf.grad is not None]


def finish(
    recorder: StepRecorder,
    call: Signature,
    result: Any,
    before: set[Leaf],
    watch: FunctionWatch,
    spans: dict[Any, Span],
    earlier: list[Any],
) -> Trace:
    """Describe a recording after its function has returned.

    `before` are the leaves that had a gradient when it began, `spans` those of the
    numbers that were followed, `earlier` what earlier recordings have found.
    """
    found: list[Any] = []
    nesting = flatten(result, found)
    memory = recorder.memory
    asked = asked_guards(watch.asked, memory, call, before)
    described = [_result(leaf, call, recorder) for leaf in found]
    # Slots in use, and those among them that the function made and that something still
    # holds: state, which outlives the call as results do.
    used = {v.slot for i in recorder.instructions for v in i.views()}
    used |= {leaf.view.slot for leaf in described if isinstance(leaf, NewLeaf)}
    alive = _alive(memory, used, described)
    owners, gradients = _owners(memory, used)
    kept = [(leaf, view) for leaf, view in gradients if memory.slots[view.slot].made]
    explained = {view.slot for _, view in kept}
    # What has changed while the function ran: an effect if it was there before, since
    # no replay would repeat it; else an object that the function made itself.
    gone = list(changed(watch.guards))
    effects = [guard for guard in gone if is_effect(guard, earlier)]
    made = set(map(id, gone)) - set(map(id, effects))
    guards: list[Any] = [g for g in watch.guards if _is_kept(g, made)]
    guards += asked
    numbers = {guard.source: guard.value for guard in watch.numbers}
    bindings = _bindings(memory, used, call, owners)
    return Trace(
        recorder.instructions,
        memory,
        bindings,
        nesting,
        described,
        kept,
        [leaf for leaf, _ in kept if leaf not in before],
        [leaf for leaf in before if leaf.grad is None],
        [slot for slot in alive if slot.index not in explained],
        guards,
        watch.registered,
        effects,
        {**call.numbers, **numbers},
        spans,
        watch.sizes,
        set(_shared(guards, bindings)),
        [thing_of(guard) for guard in gone],
    )


def _is_kept(guard: Any, made: set[int]) -> bool:
    """Return whether a guard is one for replays; `made` are of what a function made."""
    return id(guard) not in made and not getattr(guard, "only_effects", False)


def _shared(guards: list[Any], bindings: dict[int, Binding]) -> Iterator[Any]:
    """Yield the sources of guards of arrays whose memory the kernels use."""
    bound = [b.array for b in bindings.values() if isinstance(b, Constant)]
    roots = {id(owner_of(array)) for array in bound}
    for guard in guards:
        thing = guard.held.thing if isinstance(guard, Inside) else None
        if isinstance(thing, np.ndarray) and id(owner_of(thing)) in roots:
            yield guard.source


def _result(leaf: Any, call: Signature, recorder: StepRecorder) -> Result:
    if not isinstance(leaf, Tensor) or leaf._edge.__class__ is Leaf:
        return Same(leaf)
    for number, tensor in enumerate(call.tensors):
        if tensor is leaf:
            return Given(number)
    view = recorder.memory.view(leaf._array)
    slot = recorder.memory.slots[view.slot]
    if slot.kept or (slot.made and slot.index not in recorder.written):
        return Copied(leaf._array.copy())
    return NewLeaf(view)


def _alive(memory: Memory, used: set[int], results: list[Any]) -> list[Slot]:
    """Return slots that the function made and that are held, but not as results."""
    returned = {leaf.view.slot for leaf in results if isinstance(leaf, NewLeaf)}

    def found() -> list[Slot]:
        made = (memory.slots[i] for i in used - returned if memory.slots[i].made)
        return [slot for slot in made if slot.is_held()]

    held = found()
    for generation in range(3):
        if not held:
            return []
        # Cycles hold memory that is unreachable.  They are young: all generations
        # take 0.3 s in a process of a million objects.
        gc.collect(generation)
        held = found()
    return held


def _owners(
    memory: Memory, used: set[int]
) -> tuple[dict[int, Tensor | Leaf], list[tuple[Leaf, View]]]:
    """Return by slot the tensor or leaf that owns it, and all gradients' views."""
    slots = {
        id(slot.array): slot.index for slot in memory.slots if slot.array is not None
    }
    # Memory does not know its tensor: all tensors of the process are looked at, frozen
    # ones (`gc.freeze`) only where memory is left without an owner.
    owners = _nearest(_tensors_among(gc.get_objects()), slots)
    found = (memory.slots[index] for index in used - owners.keys())
    # Read-only ones are AutoCalc's own numbers.
    unowned = {
        id(slot.array): slot.index
        for slot in found
        if not (slot.made or slot.kept) and slot.array.flags.writeable
    }
    if unowned:
        owners |= _nearest(_tensors_among(frozen_objects()), unowned)
    gradients = [
        (leaf, memory.view(leaf.grad._array))
        for leaf in leaves_with_gradients()
        if id(owner_of(leaf.grad._array)) in slots
    ]
    for leaf, view in gradients:
        owners[view.slot] = leaf
    return owners, gradients


def _nearest(tensors: list[Tensor], slots: dict[int, int]) -> dict[int, Tensor | Leaf]:
    """Return by slot the tensor that is nearest to being its owner."""
    owners: dict[int, Tensor | Leaf] = {}
    nearest: dict[int, tuple[int, ...]] = {}
    for x in tensors:
        index = slots.get(id(owner_of(x._array)))
        if index is not None and (near := _nearness(x)) > nearest.get(index, ()):
            owners[index], nearest[index] = x, near
    return owners


def _tensors_among(objects: list[Any]) -> list[Tensor]:
    # By its type: a dead weak reference's proxy raises when it is asked for a class.
    return [x for x in objects if issubclass(type(x), Tensor)]


def _nearness(x: Tensor) -> tuple[int, ...]:
    """Return how much a tensor owns its memory: of several the largest one does.

    Views come and go, and the collector's order of them changes: a parameter, or else
    what is no view, is the same one in each recording.  Views without a history do not
    know their base, but their arrays are not the one that holds the memory; and what
    `detach` gives has fewer names than the tensor that it is made of.
    """
    array = x._array
    is_root = owner_of(array) is array
    return x._edge.__class__ is Leaf, base_of(x) is x, is_root, getrefcount(x)


def _bindings(
    memory: Memory, used: set[int], call: Signature, owners: dict[int, Tensor | Leaf]
) -> dict[int, Binding]:
    """Return what each used slot is that was there before the call."""
    bindings: dict[int, Binding] = {}
    arguments = {}
    for number, tensor in enumerate(call.tensors):
        if tensor._edge is None:
            view = memory.view(tensor._array)
            arguments[view.slot] = Argument(number, view.offset)
    for index in used:
        slot = memory.slots[index]
        if slot.made:
            continue
        owner = owners.get(index)
        # The first source that is known counts: a copy for constants, the number of an
        # argument, a leaf's gradient, a tensor; else the memory itself.
        if slot.kept:
            slot.replace(slot.array.copy())
            bindings[index] = Constant(slot.array)
        elif index in arguments:
            bindings[index] = arguments[index]
        elif isinstance(owner, Leaf):
            bindings[index] = Gradient(owner)
        elif owner is not None:
            bindings[index] = Owned(owner)
        else:
            bindings[index] = Constant(slot.array)
    return bindings
