# SPDX-License-Identifier: MIT
"""Recipes run by Python, where no eager runtime runs them.

`_remembered.py` says which functions have recipes and what a recipe is.  Here is what a
runtime does with them: it makes a key of the arguments of a call, records what comes
often, and runs the recipe in the place of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from operator import itemgetter
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._eager import paused
from autocalc._dispatch._state import current
from autocalc._graph._node import Version
from autocalc._kernels.adapter import quietly, restore, silence
from autocalc._kernels.rules import DTYPES, FLOATS
from autocalc._ops._view_tracker import view_of
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.dtypes import DType

#: What a step of a recipe does.
MAKE, VIEW, RUN, DRAW, FORGET, CONSTANT = range(6)
#: Here alone: append what a function returns.
NEW = 6

#: In the place of a slot: a list of arrays, whose slots stand with the objects.
LIST = -2

#: More arrays, operands or dimensions than a runtime has room for.
SLOTS, OPERANDS, DIMS = 64, 40, 8

#: A call that came so often is recorded, which takes as long as a hundred calls.
OFTEN = 32

#: More keys than this in a selection, and it begins anew.
MAX_KEYS = 4096

#: Arguments that are told from one another by their class and value.
_VALUES = frozenset({bool, int, str, NoneType, EllipsisType, DType})


class _FailedError(Exception):
    """What a recipe requires does not hold: the function itself has to run."""


def required(truth: Any) -> None:
    """Raise unless an array of one truth value holds it, before anything is drawn."""
    if not truth:
        raise _FailedError


# One frame: a call of 16 elements takes as long as a few of them.
def replaying(definition: Any, record: Any, in_place: bool) -> Any:  # noqa: C901
    """Make the call of a remembered function; it runs the definition or a recipe."""

    @wraps(definition)
    def call(*args: Any, **keywords: Any) -> Any:  # noqa: C901
        state = current()
        table: Any = state.selection.remembered
        if table is None or paused:
            return definition(*args, **keywords)
        grad = state.grad
        key: list[Any] = [definition, dtypes.get_default_dtype()]
        tensors: list[Any] = []
        for x in args:
            if x.__class__ is Tensor:
                if grad and x._edge is not None:
                    return definition(*args, **keywords)
                a = x._array
                key += (a.dtype, a.shape, a.strides)
                tensors.append(x)
            elif x.__class__ in _VALUES:
                key += (x.__class__, x)
            elif not _put(key, tensors, x, grad):
                return definition(*args, **keywords)
        for name, x in keywords.items():
            key.append(name)
            if not _put(key, tensors, x, grad):
                return definition(*args, **keywords)
        if len(tensors) > 1 and not _put_twice(key, tensors):
            return definition(*args, **keywords)
        if in_place:
            first: Any = args[0] if args else None
            if not (tensors and tensors[0] is first and _may_write(tensors)):
                return definition(*args, **keywords)
            key.append(tensors[0]._version is None)
        known = tuple(key)
        found = table.get(known, 0)
        if found.__class__ is int:
            if found < OFTEN - 1:
                if not found and len(table) >= MAX_KEYS:
                    table.clear()
                table[known] = found + 1
                return definition(*args, **keywords)
            return _learn(table, known, record, definition, args, keywords, tensors)
        if found is None:
            return definition(*args, **keywords)
        return found(state.selection, tensors, definition, args, keywords)

    return call


def _put(
    key: list[Any], tensors: list[Any], x: Any, grad: bool, depth: int = 3
) -> bool:
    """Add an argument to a key; False for what no key tells apart."""
    cls = x.__class__
    if cls is Tensor:
        if grad and x._edge is not None:
            return False
        a = x._array
        key += (a.dtype, a.shape, a.strides)
        tensors.append(x)
        return True
    if cls in _VALUES:
        key += (cls, x)
        return True
    if cls is float:
        key += (cls, x.hex())  # 0.0 == -0.0
        return True
    if cls is slice:
        x = (x.start, x.stop, x.step)
    elif (cls is not list and cls is not tuple) or depth == 0:
        return False
    key += (cls, len(x))
    return all(_put(key, tensors, one, grad, depth - 1) for one in x)


def _put_twice(key: list[Any], tensors: list[Any]) -> bool:
    """Add which tensors came before, and leave them out; False where arrays did."""
    places: dict[int, int] = {}
    for x in tensors:
        places.setdefault(id(x), len(places))
    if len(places) < len(tensors):
        key.append(tuple([places[id(x)] for x in tensors]))
        tensors[:] = {id(x): x for x in tensors}.values()
    return len({id(x._array) for x in tensors}) == len(tensors)


def _may_write(tensors: list[Any]) -> bool:
    """Return whether the first may be written while the others are read."""
    a = tensors[0]._array
    if not (a.flags.c_contiguous and a.flags.writeable and a.dtype in FLOATS):
        return False
    return not any(arrays.may_overlap(a, x._array) for x in tensors[1:])


def _learn(
    table: dict[Any, Any],
    key: Any,
    record: Any,
    definition: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    tensors: list[Any],
) -> Any:
    """Run the definition, and keep under the key what runs instead; None is nothing."""
    inputs = tuple([x._array for x in tensors])
    known = all(a.dtype in DTYPES and a.size and a.ndim <= DIMS for a in inputs)
    if not known:
        table[key] = None
        return definition(*args, **keywords)
    result, recipe = record(definition, args, keywords, inputs)
    known = recipe is not None and _can_view(recipe, inputs)
    table[key] = Program(recipe, inputs).run if known else None
    return result


def _can_view(recipe: Any, inputs: tuple[Any, ...]) -> bool:
    """Return whether what views are made of is contiguous, as all that is made is."""
    of = {step[2] for step in recipe[0] if step[0] == VIEW}
    return all(a.flags.c_contiguous for i, a in enumerate(inputs) if i in of)


class Program:
    """A recipe, made ready to run."""

    __slots__ = ("cls", "constants", "counts", "in_place", "results", "returns_none",
                 "steps", "writes")  # fmt: skip

    def __init__(self, recipe: Any, inputs: tuple[Any, ...]) -> None:
        n_inputs = len(inputs)
        steps, results, self.cls, self.counts, self.returns_none = recipe
        #: Arrays and numbers that calls of kernels have in common; behind the inputs.
        self.constants: list[Any] = []
        for code, _, _, places, things, *_ in steps:
            if code == RUN:
                given = zip(places, things, strict=True)
                self.constants += [thing for at, thing in given if at == -1]
        self.writes = any(s[0] == DRAW or (s[0] == RUN and s[2]) for s in steps)
        self.in_place = not results
        n = len(self.constants)
        unused = iter(range(n_inputs, n_inputs + n))

        def moved(place: int) -> int:
            return place if place < n_inputs else place + n

        self.steps = [_step(one, moved, unused) for one in steps]
        if not self.writes:  # and so may run once more
            self.steps = _fresh_steps(self.steps, [*inputs, *self.constants])
        self.steps = [
            (code, thing, _getter(more) if code in {RUN, NEW} else more)
            for code, thing, more in self.steps
        ]
        self.results = [
            (moved(at), counted, of, way) for at, counted, of, way in results
        ]

    def run(  # noqa: C901
        self,
        selection: Any,
        tensors: list[Any],
        definition: Any,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> Any:
        """Run it; where a kernel fails, the definition says what is wrong."""
        slots = [x._array for x in tensors]
        slots += self.constants
        empty = selection.empty
        before = silence()
        try:
            for code, thing, more in self.steps:
                if code == RUN:
                    thing(*more(slots))
                elif code == NEW:
                    slots.append(thing(*more(slots)))
                elif code == MAKE:
                    slots.append(empty(more, thing))
                elif code == VIEW:
                    slots.append(thing(slots[more]))
                elif code == FORGET:
                    slots[more] = None
                elif code == CONSTANT:
                    slots.append(thing)
                else:
                    slots += thing(more)
        except Exception as error:
            if self.writes and error.__class__ is not _FailedError:
                raise
            slots = []
        finally:
            restore(before)
        if not slots and self.steps:
            return definition(*args, **keywords)
        if self.in_place:
            return self.written(args[0])
        if self.cls is None:
            place, counted, of, way = self.results[0]
            if of < 0 and not counted:
                return make(slots[place], None)
            return _wrapped(slots[place], counted, of, way, tensors)
        several = [
            _wrapped(slots[place], counted, of, way, tensors)
            for place, counted, of, way in self.results
        ]
        return tuple(several) if self.cls is tuple else self.cls(*several)

    def written(self, x: Any) -> Any:
        """Count the write; return what the function does."""
        if self.counts:
            x._version = x._version or Version()
        x._bump()
        return None if self.returns_none else x


def _step(step: Any, moved: Any, constants: Any) -> tuple[int, Any, Any]:
    """Return (what it does, with what, where) of a step of a recipe."""
    code, thing, place, sizes, strides, offset, writable = step
    if code == RUN:
        places: list[Any] = []
        for at, x in zip(sizes, strides, strict=True):
            if at == LIST:
                places.append(tuple(map(moved, x)))
            else:
                places.append(next(constants) if at < 0 else moved(at))
        return code, thing, places
    if code == MAKE:
        return code, thing, sizes
    if code == VIEW:
        seen = partial(_view, thing, sizes, strides, offset, writable)
        return code, seen, moved(place)
    if code == CONSTANT:
        return code, thing, None
    return code, thing, offset if code == DRAW else moved(place)


def _fresh_steps(steps: list[Any], slots: list[Any]) -> list[Any]:
    """Return the steps, with kernels that return their results where they can.

    Each is run as it stands, and the result compared with what the kernel returns: that
    must be an array of its own that lies as the one that it would be written into.
    """
    empty = current().selection.empty
    found: list[Any] = []
    for step in steps:
        code, thing, more = step
        made = bool(found) and found[-1][0] == MAKE
        found.append(step)
        if code == RUN:
            operands = _getter(more)(slots)
            thing(*operands)
            fresh = getattr(thing, "fresh", None)
            if made and fresh is not None and operands[0] is slots[-1]:
                result = quietly(fresh, *operands[1:])
                if _is_like(result, operands):
                    found[-2:] = [_new(fresh, more[1:])]
        elif code == MAKE:
            slots.append(empty(more, thing))
        elif code == VIEW:
            slots.append(thing(slots[more]))
        elif code == CONSTANT:
            slots.append(thing)
        else:
            slots[more] = None
    return found


def _new(fresh: Any, given: list[Any]) -> tuple[int, Any, Any]:
    """Return the step that appends what a function returns of these slots."""
    if len(given) == 1 and not isinstance(given[0], tuple):
        return VIEW, fresh, given[0]
    return NEW, fresh, given


def _is_like(result: Any, operands: Any) -> bool:
    """Return whether a result is as the first operand, and none of the others."""
    out, *others = operands
    return (
        result.__class__ is np.ndarray
        and result.base is None
        and not any(result is x for x in others)
        and (result.dtype, result.shape) == (out.dtype, out.shape)
        and result.strides == out.strides
        and result.tobytes() == out.tobytes()
    )


def _getter(places: list[Any]) -> Callable[[list[Any]], Any]:
    """Return what picks the operands of a kernel out of all slots."""
    if len(places) > 1 and not any(isinstance(at, tuple) for at in places):
        return itemgetter(*places)

    def operands(slots: list[Any]) -> list[Any]:
        return [
            [slots[one] for one in at] if isinstance(at, tuple) else slots[at]
            for at in places
        ]

    return operands


def _view(
    dtype: Any, sizes: Any, strides: Any, offset: int, writable: bool, a: Any
) -> Any:
    """Return a view of the memory behind the first element of `a`."""
    seen: Any = np.ndarray(sizes, dtype or a.dtype, a, offset, strides)
    if not writable:
        seen.setflags(False)
    return seen


def _wrapped(array: Any, counted: bool, of: int, way: Any, tensors: list[Any]) -> Any:
    """Return the tensor of a result: a new one, a view of an input, or the input."""
    if of < 0:
        result: Any = make(array, None)
        if counted:
            result._version = Version()
        return result
    x = tensors[of]
    if not way:
        return x
    view: Any = view_of(x, array, *way[-1][:2])
    held = x._view
    base, chain = held if held.__class__ is tuple else (x, None)
    for step in way:
        chain = (chain, *step)
    view._view = base, chain
    return view
