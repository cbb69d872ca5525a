# SPDX-License-Identifier: MIT
"""Functions that run the same kernels whenever they are given the same shapes.

::

    @method("roll")
    @remembered
    def roll(input, shifts, dims=None): ...

Such a function is a few checks, views and kernels.  What it runs is told by the
dtypes, shapes and strides of its tensors and by its other arguments, never by the
elements, and it writes new memory alone; with `remembered_write` its first argument,
which it returns.  An eager runtime then runs it in full for a while, and at last
records the calls of kernels as a *recipe*.  From then on the recipe runs.  Calls that
lead to a gradient, and all that a recipe cannot say, run the function as it stands.
Without a runtime `_replayed.py` does the same for functions that are `replayed`.

A recipe is (steps, results, class of several results, whether a write makes a version
cell, whether None is returned).  Arrays are in numbered slots: first the inputs, then
what each step makes.  A step is (code, object, slot, sizes, strides, offset, writable):

====  ===========================================================================
code  what it does
====  ===========================================================================
0     make an array of the dtype `object` and these sizes
1     make a view of the array in `slot`, of the dtype `object` if it is another
2     run the kernel `object`: `sizes` are slots, -1 for what stands in `strides`, -2
      for a list of the slots that stand there; `slot` is 1 where it writes an input
3     draw `offset` words from the generator by `object`: two arrays
4     forget the array in `slot`
5     take the array `object`, a constant
====  ===========================================================================
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._dispatch._addresses import address, span
from autocalc._dispatch._eager import CallT, accelerated
from autocalc._dispatch._select import Selection
from autocalc._dispatch._state import current, enter, leave
from autocalc._ops._recipe_chains import CHECKING, in_chains
from autocalc._ops._recipe_check import UnknownError, compare, replay
from autocalc._ops._replayed import (
    DIMS,
    DRAW,
    FORGET,
    LIST,
    MAKE,
    OPERANDS,
    RUN,
    SLOTS,
    VIEW,
    replaying,
    required,
)
from autocalc._ops._view_tracker import base_of, view_chain_of
from autocalc._program._opaque import (
    OpaqueArray,
    copy_of,
    guarded,
    plain,
)
from autocalc._program._views import owner_of
from autocalc._tensor import Tensor
from autocalc._tensor.checks import checked
from autocalc._tensor.generator import Generator, default_generator, drawing_from


def holds(truth: Any) -> bool:
    """Return whether an array of one truth value holds it.

    A function that goes on where it does, and else raises or does something else, may
    ask before it draws or writes: its recipe then asks again, and leaves what does not
    hold to the function.
    """
    found = bool(plain(truth).item())
    calls: list[Any] = getattr(_running, "calls", [])
    if found and calls and isinstance(truth, OpaqueArray):
        calls.append((required, 0, (truth,), (None, "")))
    elif isinstance(truth, OpaqueArray):
        bool(truth)  # a look that no recipe can repeat
    return found


def leave_undefined(array: Any) -> None:
    """Note that new memory may be returned as it is, by a call that is recorded."""
    left = getattr(_running, "left", None)
    if left is not None:
        left.append(array)


class _Spy(Generator):
    """Draws from the default generator, and notes it among the calls."""

    def __init__(self, calls: list[Any]) -> None:
        super().__init__()
        self._calls = calls
        self._draw = default_generator.source()

    def draw(self, words: int) -> tuple[Any, Any]:
        """Take words from the generator that is the default one outside."""
        pair = self._draw(words)
        self._calls.append((None, words, pair, None))
        return pair


def record(
    definition: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    inputs: tuple[Any, ...],
    written: Any = None,
) -> tuple[Any, Any]:
    """Run the definition; return its result, and the recipe or None.

    `inputs` are the arrays of the tensors among the arguments, each once; `written` is
    the tensor that the definition may write.
    """
    calls: list[Any] = []
    before = None
    if written is not None:
        cell = written._version
        before = written._array.copy(), None if cell is None else cell.count
    tensors = _tensors((args, *keywords.values()))
    firsts = [next(x for x in tensors if x._array is a) for a in inputs]
    apart = _apart(inputs)
    spy = _Spy(calls)
    token = enter(selection=_recording())
    left: list[Any] = []
    _running.calls, _running.left = calls, left
    try:
        with drawing_from(lambda: spy), guarded(tensors, apart) as reads:
            result = definition(*args, **keywords)
    finally:
        _running.calls, _running.left = [], None
        leave(token)
    several = result if isinstance(result, tuple) else (result,)
    for x in several:
        if isinstance(x, Tensor):
            x._array = plain(x._array)
            if not isinstance(x._array, np.ndarray):  # it went to a device
                return result, None
    writer = _Writer(firsts, [apart.get(id(a), a) for a in inputs], written is not None)
    writer.left = {id(owner_of(a)) for a in left}
    if apart and any(writer.is_of_input(x) for x in several):
        return definition(*args, **keywords), None  # a view of what stood in
    try:
        if reads:
            raise UnknownError
        recipe = _recipe(writer, calls, result, written, before)
    except UnknownError:
        recipe = None
    return result, recipe


#: The calls of kernels in the recording that runs in this thread.
_running = threading.local()

#: A selection whose kernels note their calls, for the decisions of another one.
_recorder: list[Any] = [None, None]


def _recording() -> Selection:
    """Return the current selection, with kernels that note their calls."""
    now = current().selection
    decisions, selection = _recorder
    if decisions is not now.tables:  # another selection, or other decisions
        selection = now.derive(wrap=_noting)
        selection.empty = lambda shape, dtype: _guard(now.empty(shape, dtype))
        _recorder[:] = now.tables, selection
    return selection  # type: ignore[no-any-return]  # one


def _guard(array: Any) -> Any:
    """Return new memory as what notes each look; on a device as it is."""
    return array.view(OpaqueArray) if isinstance(array, np.ndarray) else array


def _noting(spec: Any, name: str, entry: Any) -> Any:
    n_outputs = len(spec.outputs)

    def kernel(*operands: Any) -> None:
        entry(*[plain(x) for x in operands])
        _running.calls.append((entry, n_outputs, operands, (spec, name)))

    return kernel


def _apart(inputs: tuple[Any, ...]) -> dict[int, Any]:
    """Return copies of inputs that share memory, by the inputs' ids.

    A view would not tell of which of them it is; copies lie as the inputs do.
    """
    copies: dict[int, Any] = {}
    ends = sorted(((*_bounds(a), a) for a in inputs), key=lambda one: one[:2])
    reach = 0
    for start, end, a in ends:
        if start < reach:
            copies[id(a)] = copy_of(a, end - start)
        reach = max(reach, end)
    return copies


def _tensors(arguments: Any) -> list[Any]:
    """Return the tensors among arguments, and in the lists and tuples there."""
    found: list[Any] = []
    for x in arguments:
        if isinstance(x, Tensor):
            found.append(x)
        elif isinstance(x, (list, tuple)):
            found += _tensors(x)
    return found


def record_write(definition: Any, args: Any, keywords: Any, inputs: Any) -> Any:
    """Do the same for a function that writes its first argument."""
    return record(definition, args, keywords, inputs, args[0])


def _recipe(
    writer: _Writer, calls: list[Any], result: Any, written: Any, before: Any
) -> Any:
    """Return the recipe of what was run; raise `UnknownError` where there is none."""
    inputs = tuple(writer.arrays)
    for call in calls:
        writer.add(*call)
    if written is not None:
        if result is not None and result is not written:
            raise UnknownError
        old, count = before
        new = written._version
        if not writer.writes or (new is not None and new.count != (count or 0) + 1):
            raise UnknownError
        counted = count is None and new is not None
        writer.write_over()
        steps, _ = writer.finished([])
        recipe: Any = steps, (), None, counted, result is None
        compare([written._array], replay(recipe, (old, *inputs[1:]), calls)[:1])
        return recipe
    several = result if isinstance(result, tuple) else (result,)
    places = tuple([writer.result(x) for x in several])
    new = [place for place, _, of, _ in places if of < 0]
    if len(set(new)) < len(new):
        raise UnknownError
    cls = type(result) if isinstance(result, tuple) else None
    steps, slots = writer.finished([place for place, *_ in places])
    places = tuple([(slots[at], cell, of, way) for at, cell, of, way in places])
    recipe = steps, places, cls, False, False
    found = replay(recipe, inputs, calls)
    given = [x._array for x in several]
    compare(given, [found[place] for place, *_ in places], writer.undefined)
    return recipe


class _Writer:
    """Writes the steps of a recipe; `arrays` are the slots' own, all held."""

    def __init__(self, tensors: list[Any], inputs: list[Any], in_place: bool) -> None:
        self.steps: list[Any] = []
        self.kernels: dict[int, Any] = {}
        self.tensors = tensors
        self.arrays = list(inputs)
        self.n_inputs = len(inputs)
        self.in_place = in_place
        self.writes = False
        self.places = {id(a): i for i, a in enumerate(inputs)}
        #: Owners of memory that may stay undefined, and those that no kernel writes.
        self.left: set[int] = set()
        self.undefined: set[int] = set()
        #: Owners of memory -> slots of the arrays that are known there.
        self.owners: dict[int, list[int]] = {}
        for i, a in enumerate(inputs):
            self.owners.setdefault(id(owner_of(a)), []).append(i)

    def add(self, entry: Any, n: Any, operands: tuple[Any, ...], kernel: Any) -> None:
        """Write a step for a kernel that ran, or for a draw."""
        if entry is None:
            self.steps.append((DRAW, default_generator.draw, 0, (), (), n, True))
            for a in operands:
                self.keep(a)
            return
        places, things, writes = [], [], False
        for i, x in enumerate(operands):
            place = -1
            if isinstance(x, np.ndarray):
                place = self.place(x, output=i < n)
                writes = writes or (i < n and self.root(place) < self.n_inputs)
            listed = isinstance(x, (list, tuple)) and _has_arrays(x)
            places.append(LIST if listed else place)
            thing = self.list_of(x, output=i < n) if listed else x
            things.append(thing if place < 0 else None)
        if len(places) > OPERANDS:
            raise UnknownError
        self.writes = self.writes or writes
        self.kernels[len(self.steps)] = kernel
        self.steps.append(
            (RUN, entry, int(writes), tuple(places), tuple(things), 0, True)
        )

    def list_of(self, arrays: Any, *, output: bool) -> tuple[int, ...]:
        """Return the slots of a list of operands, none of which is a constant."""
        places = [
            self.place(a, output=False) if isinstance(a, np.ndarray) else -1
            for a in arrays
        ]
        if output or min(places) < 0:
            raise UnknownError
        return tuple(places)

    def keep(self, a: Any) -> int:
        """Give an array the next slot."""
        place = len(self.arrays)
        if place == SLOTS:
            raise UnknownError
        self.arrays.append(a)
        self.places[id(a)] = place
        self.owners.setdefault(id(owner_of(a)), []).append(place)
        return place

    def place(self, a: Any, *, output: bool) -> int:
        """Return the slot of an operand, -1 for a constant; make what is new."""
        found = self.places.get(id(a))
        if found is None:
            found = self.found_in_memory(a, output)
        if output and found >= 0:
            root = self.root(found)
            if root < self.n_inputs and not (self.in_place and root == 0):
                raise UnknownError
        return found

    def root(self, place: int) -> int:
        """Return the first slot that has the memory of this one."""
        return min(self.owners[id(owner_of(self.arrays[place]))])

    def found_in_memory(self, a: Any, output: bool) -> int:
        """Return the slot of a view, of a constant, or of a new array."""
        owner = owner_of(a)
        known = self.owners.get(id(owner))
        if known is not None:
            return self.view(a, known)
        if not output:
            # What is kept may not be written; a number was made for this call alone.
            number = not a.ndim and not isinstance(a, OpaqueArray)
            if (owner.flags.writeable and not number) or not _is_own(owner):
                raise UnknownError
            return -1
        if not (_is_own(owner) and owner.flags.c_contiguous):
            raise UnknownError
        sizes = _sizes(owner.shape)
        self.steps.append((MAKE, owner.dtype, 0, sizes, (), 0, True))
        return self.view(a, [self.keep(owner)])

    def view(self, a: Any, known: list[int]) -> int:
        """Return a new slot for a view of the memory of one of these slots."""
        for place in known:
            if _is_same(a, self.arrays[place]):
                return place
        sizes, strides = _sizes(a.shape), _sizes(a.strides)
        writable = bool(a.flags.writeable)
        if a.size == 0:
            raise UnknownError
        low, high = _bounds(a)
        for place in known:
            base = self.arrays[place]
            start, end = _bounds(base)
            if start <= low and high <= end:
                break
        else:
            raise UnknownError
        kind = None if base.dtype is a.dtype else a.dtype
        step = VIEW, kind, place, sizes, strides, low - start, writable
        self.steps.append(step)
        return self.keep(a)

    def is_of_input(self, x: Any) -> bool:
        """Return whether a result has the memory of an input."""
        if not isinstance(x, Tensor):
            return False
        known = self.owners.get(id(owner_of(x._array)))
        return known is not None and min(known) < self.n_inputs

    def result(self, x: Any) -> tuple[int, bool, int, tuple[Any, ...]]:
        """Return a result's slot, whether it has a version cell, and what it is of.

        That is -1 where it is new, else the slot of the input that it is a view of, and
        the steps that lead there: none where it is the input.
        """
        if x.__class__ is not Tensor or x._edge is not None:
            raise UnknownError
        owner = id(owner_of(x._array))
        empty = owner in self.left and owner not in self.owners
        if empty:
            self.undefined.add(owner)
        place = self.place(x._array, output=empty)
        if place < 0:
            raise UnknownError
        if self.root(place) < self.n_inputs:
            return place, False, *self.origin(x)
        cell = x._version
        if x._view is not None or (cell is not None and cell.count):
            raise UnknownError
        return place, cell is not None, -1, ()

    def origin(self, x: Any) -> tuple[int, tuple[Any, ...]]:
        """Return the input that a tensor is a view of, and the steps from there."""
        for i, given in enumerate(self.tensors):
            if base_of(given) is base_of(x):
                steps, chain, end = [], view_chain_of(x), view_chain_of(given)
                while chain is not None and chain is not end:
                    chain, *step = chain
                    steps.append(tuple(step))
                if chain is end and (steps or x is given):
                    return i, tuple(reversed(steps))
        raise UnknownError

    def write_over(self) -> None:
        """Let the last kernel write the first input, where its result is copied there.

        Elementwise kernels may, if nothing else of that input is read.
        """
        steps, at = self.steps, len(self.steps) - 2
        if at < 1 or [step[0] for step in steps[-3:]] != [MAKE, RUN, RUN]:
            return
        (maker, _), (copy, _) = self.kernels[at], self.kernels[at + 1]
        source, made, first = steps[at][3][0], self.arrays[-1], self.arrays[0]
        if copy.name != "copy" or tuple(steps[at + 1][3]) != (0, source):
            return
        if not maker.elementwise or len(maker.outputs) > 1 or maker.name in CHECKING:
            return
        alike = (made.dtype, made.shape) == (first.dtype, first.shape)
        if source != len(self.arrays) - 1 or not alike or steps[at][2]:
            return
        if any(step[0] == VIEW and self.root(step[2]) == 0 for step in steps):
            return
        code, thing, _, places, *rest = steps[at]
        del steps[-3:], self.kernels[at + 1]
        self.kernels[at - 1] = self.kernels.pop(at)
        steps.append((code, thing, 1, (0, *places[1:]), *rest))
        self.arrays.pop()

    def finished(self, results: list[int]) -> tuple[tuple[Any, ...], dict[int, int]]:
        """Return the steps with chains of kernels as one, and slots' new numbers.

        Each slot but the results is forgotten behind its last use.
        """
        given, slots = in_chains(
            self.steps, self.kernels, self.arrays, self.n_inputs, set(results)
        )
        kept = {slots[place] for place in results}
        last: dict[int, int] = {}
        for i, (code, _, place, sizes, *rest) in enumerate(given):
            used = [place] if code == VIEW else []
            if code == RUN:
                lists = [x for at, x in zip(sizes, rest[0], strict=True) if at == LIST]
                used = [*sizes, *(one for x in lists for one in x)]
            last.update({slot: i for slot in used if slot >= self.n_inputs})
        ended: dict[int, list[int]] = {}
        for slot, i in last.items():
            if slot not in kept:
                ended.setdefault(i, []).append(slot)
        steps: list[Any] = []
        for i, step in enumerate(given):
            steps.append(step)
            gone = ended.get(i, ())
            steps.extend([(FORGET, None, slot, (), (), 0, True) for slot in gone])
        return tuple(steps), slots


def _has_arrays(given: Any) -> bool:
    return any(isinstance(x, np.ndarray) for x in given)


def _is_own(owner: Any) -> bool:
    return type(owner) is np.ndarray and owner.base is None


def _bounds(a: Any) -> tuple[int, int]:
    """Return where the memory of an array begins and ends."""
    if any(stride < 0 for stride in a.strides) or a.ndim > DIMS:
        raise UnknownError
    start = address(a)
    return start, start + span(a)


def _is_same(a: Any, b: Any) -> bool:
    """Return whether two arrays of one owner are the same but for their class."""
    return (
        a.dtype is b.dtype
        and a.shape == b.shape
        and a.strides == b.strides
        and a.flags.writeable == b.flags.writeable
        and address(a) == address(b)
    )


def _sizes(sizes: Any) -> tuple[int, ...]:
    return tuple([int(n) for n in sizes])


#: The functions that are declared so, by module and name.
FUNCTIONS: dict[str, Any] = {}


def remembered(function: CallT) -> CallT:
    """Declare that what a function runs is told by all but the elements.

    Its flags are checked, as by `checked`, where the function itself runs.
    """
    return _declared(_checked(function), record, False)


def remembered_write(function: CallT) -> CallT:
    """Declare the same of a function that writes its first argument, and no other."""
    return _declared(_checked(function), record_write, True)


def replayed(function: CallT) -> CallT:
    """Do what `remembered` does; without a runtime Python runs the recipe.

    For functions whose own Python takes longer than a key of their arguments does,
    1.5 us.
    """
    definition = _checked(function)
    call = _declared(definition, record, False)
    return call if call is not definition else _replaying(definition, record, False)


def replayed_write(function: CallT) -> CallT:
    """Do the same for a function that writes its first argument."""
    definition = _checked(function)
    call = _declared(definition, record_write, True)
    if call is not definition:
        return call
    return _replaying(definition, record_write, True)


def _checked(function: CallT) -> CallT:
    """Check flags before the function; those that may be None it checks itself.

    They are deprecated ones, or None in nearly every call.
    """
    kinds = inspect.unwrap(function).__annotations__.values()
    return checked(function) if "bool" in kinds else function


def _declared(function: CallT, *known: Any) -> CallT:
    return _named(function, accelerated("remembered", function, *known))


def _replaying(function: CallT, *known: Any) -> CallT:
    call: CallT = replaying(function, *known)
    return _named(function, call)


def _named(function: Callable[..., Any], call: CallT) -> CallT:
    FUNCTIONS[f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}"] = call
    return call
