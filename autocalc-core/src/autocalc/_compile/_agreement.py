# SPDX-License-Identifier: MIT
"""Compares two recordings of a function, and says where they differ.

A function is replayed after two recordings in a row agree.  One recording is not
enough: the first call may have created state, and a value that changes from call to
call only shows when two recordings are compared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autocalc._compile._guards import Inside
from autocalc._compile._settings import fixed_attributes
from autocalc._compile._trace import (
    Argument,
    Constant,
    Copied,
    Gradient,
    NewLeaf,
    Owned,
    Trace,
)
from autocalc._compile._tracked import Formula
from autocalc._graph._node import Leaf
from autocalc._program._form import Instruction
from autocalc._program._views import Operand, View


class Link(NamedTuple):
    """The source of a number, and the formula that computes a constant from it."""

    source: Any
    of: Formula


#: The links of a program, by slots of the second recording.
Links = dict[int, Link]


def compare(first: Trace, second: Trace) -> tuple[str, Links]:
    """Return where two recordings differ, in words, and their links.

    The text is "" if they agree.  A 0-d constant may differ if it is computed from a
    number that each recording was given.  The constant is then an input of the program.
    """
    if len(first.instructions) != len(second.instructions):
        return _lengths(first, second), {}
    numbers = Numbers(first), Numbers(second)
    for a, b in zip(first.instructions, second.instructions, strict=True):
        if numbers[0].of(a) != numbers[1].of(b):
            return _unequal(a, b), {}
    results = numbers[0].result(), numbers[1].result()
    links: Links = {}
    if len(numbers[0].order) != len(numbers[1].order):
        return "the function returns different things from call to call", {}
    for slot, other in zip(numbers[0].order, numbers[1].order, strict=True):
        what = numbers[0].role(slot), numbers[1].role(other)
        if what[0] == what[1] and not is_followed(second, other):
            continue
        found = link(first, slot, second, other)
        if found is None:
            return _roles(second, other, *what), {}
        links[other] = found
    if results[0] != results[1]:
        return "the function returns different things from call to call", {}
    return "", links


def is_followed(trace: Trace, slot: int) -> bool:
    """Return whether a slot holds a constant computed from a number that varies."""
    binding = trace.bindings.get(slot)
    return isinstance(binding, Constant) and any(
        span.formula_of(binding.array) is not None for span in trace.spans.values()
    )


def link(first: Trace, slot: int, second: Trace, other: int) -> Link | None:
    """Return the link of a constant that differs between two recordings.

    The second recording followed the number, so the decisions that Python based on it
    are known.  The same formula must give the constant of the first recording.
    """
    held = first.bindings.get(slot), second.bindings.get(other)
    if not all(isinstance(b, Constant) and b.array.ndim == 0 for b in held):
        return None
    now: Any = held[1]
    for source, span in second.spans.items():
        formula, before = span.formula_of(now.array), first.numbers.get(source)
        if formula is None and span.is_pinned and _holds(now, span.value):
            formula = _same  # for this value only, as after ``int(t)``
        if formula is None or before is None:
            continue
        try:
            if _holds(held[0], formula(before)):
                return Link(source, formula)
        except (ArithmeticError, ValueError):  # the formula has no value there
            return None
    return None


def _same(t: Any) -> Any:
    return t


def _holds(binding: Any, number: Any) -> bool:
    array = binding.array
    return bool(array == np.asarray(number).astype(array.dtype))


def _unequal(a: Instruction, b: Instruction) -> str:
    if a.name == b.name and a.attributes != b.attributes:
        return (
            f"{b.name} is called with {a.attributes}, then {b.attributes}, at {b.line}"
        )
    if a.callback and b.callback and a.callback.key() != b.callback.key():
        return (
            f"a callback is another function from call to call, or one that holds "
            f"other variables ({b.callback.name}), at {b.line} Keep what it needs in "
            f"an object that lives on"
        )
    return f"{b.name} is called with other operands at {b.line}"


def _lengths(first: Trace, second: Trace) -> str:
    for a, b in zip(first.instructions, second.instructions, strict=False):
        if a.name != b.name:
            return f"one recording calls {a.name}, the other {b.name}, at {b.line}"
    counts = len(first.instructions), len(second.instructions)
    return f"one recording has {counts[0]} kernel calls, the other {counts[1]}"


def _roles(trace: Trace, slot: int, a: Any, b: Any) -> str:
    line = trace.line_of(slot)
    if a[0] == b[0] == "constant":
        array = trace.memory.slots[slot].array
        shown = array.item() if array.size == 1 else f"{array.size} numbers"
        return (
            f"a value differs from call to call ({shown} in the last one), used at "
            f"{line}"
        )
    return f"{a[0]} in one recording is {b[0]} in the other, used at {line}"


def release_shared(trace: Trace, other: Trace) -> None:
    """Drop guards of arrays whose values changed while two recordings agree.

    Kernels use the memory of these arrays, as `from_numpy` allows.  Python does not
    read their values.
    """
    before = {g.source: g for g in other.guards if isinstance(g, Inside)}
    trace.guards = [
        guard
        for guard in trace.guards
        if guard.source not in trace.shared
        or guard.is_like(before.get(guard.source, guard))
    ]


class Numbers:
    """Numbers the slots of a recording in the order of their first use.

    Attributes
    ----------
    trace
        The recording.
    order
        The slots, in the order of their numbers.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.order: list[int] = []
        self.number: dict[int, int] = {}
        self._leaves: dict[int, Leaf] = {}
        for leaf, view in trace.gradients:
            self._leaves.setdefault(view.slot, leaf)
        self._returned = {x.view.slot for x in trace.leaves if isinstance(x, NewLeaf)}
        host = (i for i in trace.instructions if i.spec is None)
        self._filled = {view.slot for i in host for view in i.writes()}

    def view(self, view: View) -> View:
        number = self.number.get(view.slot)
        if number is None:
            number = self.number[view.slot] = len(self.order)
            self.order.append(view.slot)
        return View(number, *view[1:])

    def operand(self, x: Operand) -> Operand:
        if x is None:
            return None
        if isinstance(x, View):
            return self.view(x)
        return tuple(map(self.view, x))

    def of(self, i: Instruction) -> Any:
        """Return an instruction with its slots numbered."""
        outputs = tuple(map(self.operand, i.outputs))
        inputs = tuple(map(self.operand, i.inputs))
        done = fixed_attributes(i) if i.callback is None else i.callback.key()
        return i.name, i.chosen, outputs, inputs, done

    def calls(self) -> tuple[Any, ...]:
        """Return all calls in this form.

        Kernel sets are left out where shapes decide them.
        """
        return tuple(map(self._call, self.trace.instructions))

    def _call(self, i: Instruction) -> Any:
        name, chosen, *rest = self.of(i)
        by_shapes = i.spec is not None and i.spec.key == "shapes"
        return name, None if by_shapes else chosen, *rest

    def role(self, slot: int) -> tuple[Any, ...]:
        """Return the role of a slot in a form that can be compared."""
        binding = self.trace.bindings.get(slot)
        if isinstance(binding, Argument):
            return "an argument", binding
        if isinstance(binding, Owned):
            return "a tensor", id(binding.tensor)
        if isinstance(binding, Gradient):
            return "a gradient", id(binding.leaf)
        if isinstance(binding, Constant):
            return self._constant(slot, binding.array)
        if slot in self._leaves:
            return "a new gradient", id(self._leaves[slot])
        nbytes = self.trace.memory.slots[slot].nbytes
        return ("a result" if slot in self._returned else "a temporary"), nbytes

    def _constant(self, slot: int, array: Any) -> tuple[Any, ...]:
        if slot in self._filled:
            return "a number of the host", array.dtype
        return "constant", array.shape, array.dtype, array.tobytes()

    def _leaf(self, leaf: Any) -> Any:
        if isinstance(leaf, NewLeaf):
            return self.view(leaf.view)
        if isinstance(leaf, Copied):
            return leaf.array.shape, leaf.array.dtype, leaf.array.tobytes()
        return leaf

    def result(self) -> Any:
        """Return the result in a form that can be compared."""
        leaves = [self._leaf(leaf) for leaf in self.trace.leaves]
        gradients = [(id(leaf), self.view(v)) for leaf, v in self.trace.gradients]
        nesting = self.trace.nesting, self.trace.order
        return nesting, leaves, sorted(gradients, key=lambda g: g[0])
