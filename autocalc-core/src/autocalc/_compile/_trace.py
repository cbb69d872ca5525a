# SPDX-License-Identifier: MIT
"""A finished recording: the roles of its slots, and the results of the function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from autocalc._compile._asked import asked_guards, switched
from autocalc._compile._guards import (
    Drawn,
    Inside,
    changed,
    is_effect,
    leave_out,
    thing_of,
)
from autocalc._compile._owners import find_owners, gradients_in, reached, strays
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._signature import Signature
from autocalc._compile._structure import distinct, flatten
from autocalc._compile._tracked import Span
from autocalc._compile._watch import FunctionWatch
from autocalc._dispatch._callers import UserLine
from autocalc._dispatch.device.addresses import address
from autocalc._graph._node import Leaf, leaves
from autocalc._program._form import Instruction, Settings
from autocalc._program._memory import Memory, Slot
from autocalc._program._views import View, owner_of
from autocalc._tensor import Tensor


class Argument(NamedTuple):
    """A slot with an argument's memory: the tensor's number, and where it begins."""

    number: int
    offset: int


class Owned(NamedTuple):
    """A slot owned by a tensor that is no argument, such as a parameter or a buffer."""

    tensor: Tensor


class Gradient(NamedTuple):
    """A slot that is the gradient of a leaf."""

    leaf: Leaf


class Constant(NamedTuple):
    """A slot that no tensor owns: a number, or a cell that the host fills."""

    array: Any


#: The role of a slot that existed before the call.
Binding = Argument | Owned | Gradient | Constant


class NewLeaf(NamedTuple):
    """A leaf of the result that the function made, or a view of existing memory."""

    view: View


class Copied(NamedTuple):
    """A leaf of the result with the same numbers in each call, in new memory."""

    array: Any


class Given(NamedTuple):
    """A leaf of the result that is an argument itself."""

    number: int


class Same(NamedTuple):
    """A leaf of the result that is the same object in each call."""

    value: Any


#: The role of a leaf of the result.
Result = NewLeaf | Copied | Given | Same


@dataclass(slots=True)
class Trace:
    """The recording of one run of a function.

    Attributes
    ----------
    instructions, memory
        The kernel calls and the slots they use.
    bindings
        The role of each slot that existed before.
    nesting, leaves
        The nesting and the leaves of the result.
    gradients
        The leaves whose gradient the function made, with the view of the gradient.
    fresh
        The leaves among them that had no gradient before.
    cleared
        The leaves that had a gradient before, and have none now.
    stray
        The slots that the function made and that live on elsewhere.
    registered
        The parameters and buffers of the modules that ran.
    guards, effects
        The Python values that the function read, and those that it changed.
    numbers
        The numbers among these values and among the arguments, by their source.
    spans
        For each number that was followed: the values for which Python acts the same.
    sizes
        The shapes that the user's code read.
    shared
        The sources of guards of arrays whose memory the kernels use.
    changed
        The objects that the function changed, and that it may have made.
    again
        The settings that each replay reads, by the places of the calls that use them.
    aliases
        Tensors that share memory which a kernel uses; they must continue to share it.
    """

    instructions: list[Instruction]
    memory: Memory
    bindings: dict[int, Binding]
    nesting: Any
    order: list[int] | None
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
    again: dict[int, Settings]
    aliases: list[Tensor]

    def things(self) -> list[Any]:
        """Return the living objects that the recording found."""
        return [*map(thing_of, self.guards), *self.changed]

    def offset_of(self, slot: int, array: Any) -> int:
        """Return the offset of an owner's array in its slot."""
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

    `before` holds the leaves that had a gradient when it began.  `spans` are those of
    the followed numbers.  `earlier` holds the objects that earlier recordings found.
    """
    found: list[Any] = []
    nesting = flatten(result, found)
    found, order = distinct(found)
    memory = recorder.memory
    switches = list(switched(watch.asked, memory, call))
    asked = asked_guards(watch.asked, memory, call, before)
    described = [_result(leaf, call, recorder) for leaf in found]
    # The slots in use. Some of those that the function made may still be held: they are
    # state, which outlives the call as results do.
    used = {v.slot for i in recorder.instructions for v in i.views()}
    returned = {leaf.view.slot for leaf in described if isinstance(leaf, NewLeaf)}
    used |= returned
    reach = reached(watch, call, asked)
    owners = find_owners(recorder, used, reach)
    gradients = gradients_in(memory, reach)
    owners.tensors.update((view.slot, leaf) for leaf, view in gradients)
    kept = [(leaf, view) for leaf, view in gradients if memory.slots[view.slot].made]
    explained = {view.slot for _, view in kept}
    stray = strays(memory, used - returned - explained, owners.tensors)
    # What changed while the function ran. If the object existed before, the change is
    # an effect, since no replay would repeat it. Otherwise the function made the object
    # itself.
    leave_out(watch.guards, recorder.refreshed | recorder.rewritten)
    gone = list(changed(watch.guards))
    effects = [guard for guard in gone if is_effect(guard, earlier)]
    effects += [*switches, *_attributes(found, described)]
    made = set(map(id, gone)) - set(map(id, effects))
    guards: list[Any] = [g for g in watch.guards if _is_kept(g, made)]
    guards += asked
    guards += recorder.decisions
    numbers = {guard.source: guard.value for guard in watch.numbers}
    bindings = _bindings(memory, used, call, owners.tensors)
    return Trace(
        recorder.instructions,
        memory,
        bindings,
        nesting,
        order,
        described,
        kept,
        [leaf for leaf, _ in kept if leaf not in before],
        [leaf for leaf in before if leaf.grad is None],
        stray,
        guards,
        watch.own.registered,
        effects,
        {**call.numbers, **numbers},
        spans,
        watch.sizes,
        set(_shared(guards, bindings)),
        [thing_of(guard) for guard in gone],
        {},
        owners.shared,
    )


def _attributes(results: list[Any], described: list[Any]) -> Iterator[Drawn]:
    """Yield attributes of results, because the tensors of a replay do not have them."""
    for leaf, kind in zip(results, described, strict=True):
        if isinstance(kind, (NewLeaf, Copied)) and leaf.__dict__:
            names = ", ".join(map(repr, leaf.__dict__))
            yield Drawn(f"the attributes {names} of a result", None)


def _is_kept(guard: Any, made: set[int]) -> bool:
    """Return whether replays need a guard; `made` are of the function's own objects."""
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


def _bindings(
    memory: Memory, used: set[int], call: Signature, owners: dict[int, Tensor | Leaf]
) -> dict[int, Binding]:
    """Return the role of each used slot that existed before the call."""
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
        # The first known source counts: a copy for constants, the number of an
        # argument, a leaf's gradient, a tensor, and finally the memory itself.
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
