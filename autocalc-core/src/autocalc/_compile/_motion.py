# SPDX-License-Identifier: MIT
"""One program for a range of values of an integer argument.

A step that takes its position t as an argument reads ``keys[:, : t + 1]`` and writes
``keys[:, t]``.  The offsets, sizes and strides of its operands are affine functions of
t.  Two recordings determine these functions, and a third must agree with them.

The program then holds for the values of t for which Python makes the same decisions
(`_tracked.py`).  No operand may leave its memory.  No moving size may become 0 or 1,
because strides have another meaning there.

With ``keys`` of shape (4, 64, 8) in float32 and recordings for t = 5, 6 and 7::

    keys[:, t] = new           offset of keys in bytes   160, 192, 224  ->  32 t + 0
    keys[:, : t + 1].sum(1)    shape of the operand      (4, t + 1, 8)
    the program holds for      low = 1 (t + 1 >= 2), high = 63 (the memory ends)

There are three steps.  `motion_of` pairs the last recording with two earlier ones.
`_motion` and `_picture` fit each integer by a line through two values of t, and require
the same line from the other pair.  `_bound` then searches the bounds of t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from autocalc._compile._affine import Affine, DifferError, affines, at, fitted, moves
from autocalc._compile._agreement import Links, Numbers, is_followed, link
from autocalc._compile._trace import Argument, Constant, Owned, Trace
from autocalc._dispatch.device.addresses import span
from autocalc._program._form import Instruction, views_of
from autocalc._program._views import View

#: The most elements of a constant integer array that may change with the number.
MAX_VALUES = 64

#: Where nothing bounds the number, the limit is twice the largest value plus this.
FURTHER = 64

#: The value where the search for an upper bound starts.
_FAR = 1 << 40


class Range(NamedTuple):
    """The bytes of a slot from `start` to `stop`."""

    start: int
    stop: int


@dataclass(slots=True)
class Motion:
    """The parts of a recording that move with a number.

    Attributes
    ----------
    source
        The source of the number.
    low, high
        The range of values for which the program holds.
    calls
        The outputs, inputs and attributes of the calls that move, by the place of the
        instruction.  `Affine` stands for the integers that depend on the number.
    sizes
        The sizes in bytes of the temporaries that grow.
    values
        The elements of the constants that change.
    ranges
        The bytes of each slot that contain all operands that move.
    """

    source: Any
    low: int
    high: int
    calls: dict[int, tuple[Any, Any, Any]]
    sizes: dict[int, Affine]
    values: dict[int, Any]
    ranges: dict[int, Range]


def motion_of(
    traces: Sequence[Trace], tensors: Sequence[Any]
) -> tuple[Motion | None, Links]:
    """Return the parts of the first recording that move, or None; and the links.

    The other traces are earlier recordings.  Two of them must agree with the first.
    `tensors` are the arguments of the first recording.
    """
    last, *others = traces
    for source in last.spans:
        if not isinstance(source, int) or last.numbers[source].__class__ is not int:
            continue  # only integers among the arguments move operands
        varied = [t for t in others if t.numbers.get(source) != last.numbers[source]]
        for pair in combinations(varied, 2):
            if pair[0].numbers.get(source) != pair[1].numbers.get(source):
                try:
                    return _motion(source, last, pair, tensors)
                except DifferError:
                    continue
    return None, {}


def _motion(
    source: Any, last: Trace, pair: tuple[Trace, Trace], tensors: Sequence[Any]
) -> tuple[Motion, Links]:
    numbers = Numbers(last)
    calls, slots = _picture(source, pair[0], numbers)
    if (calls, slots) != _picture(source, pair[1], numbers):
        raise DifferError
    found = dict(zip(numbers.order, slots, strict=True))
    motion = Motion(
        source,
        *(0, 0),
        _moving_calls(last, calls, numbers.order),
        {slot: what.fit for slot, what in found.items() if what.kind == "size"},
        {slot: what.fit for slot, what in found.items() if what.kind == "values"},
        {},
    )
    _bound(motion, (last, *pair), tensors)
    return motion, {s: what.fit for s, what in found.items() if what.kind == "number"}


class _Slot(NamedTuple):
    """How a slot differs: in its "size", its "values", its "number", or not at all."""

    kind: str = ""
    fit: Any = None


def _picture(source: Any, other: Trace, mine: Numbers) -> tuple[Any, list[_Slot]]:
    """Return the calls and slots of two recordings as functions of a number."""
    last, theirs = mine.trace, Numbers(other)
    if other.sizes != last.sizes or len(other.instructions) != len(last.instructions):
        raise DifferError
    # Both traces become trees of tuples: names, views and attributes. `fitted` raises
    # as soon as a part differs that is not an integer.
    s, t = other.numbers[source], last.numbers[source]
    calls = fitted(theirs.calls(), mine.calls(), s, t)
    if theirs.result() != mine.result():
        raise DifferError
    if len(theirs.order) != len(mine.order):
        raise DifferError
    pairs = zip(theirs.order, mine.order, strict=True)
    return calls, [_slot(theirs, a, mine, b, (s, t)) for a, b in pairs]


def _slot(
    theirs: Numbers, slot: int, mine: Numbers, own: int, values: tuple[int, int]
) -> _Slot:
    before, now = theirs.role(slot), mine.role(own)
    if before == now and not is_followed(mine.trace, own):
        return _Slot()
    # A slot may differ in three ways: a temporary grows, a number that the program
    # reads from memory is a formula of t, or the elements of a small constant array
    # depend on t.
    if before[0] == now[0] == "a temporary":
        return _Slot("size", fitted(before[1], now[1], *values))
    number = link(theirs.trace, slot, mine.trace, own)
    if number is not None:
        return _Slot("number", number)
    elements = _integers(theirs.trace, slot), _integers(mine.trace, own)
    if None in elements or before[:3] != now[:3]:
        raise DifferError
    return _Slot("values", fitted(*elements, *values))


def _integers(trace: Trace, slot: int) -> tuple[int, ...] | None:
    """Return the elements of a small constant array of integers."""
    binding = trace.bindings.get(slot)
    if not isinstance(binding, Constant):
        return None
    array = binding.array
    if array.dtype.kind not in "iu" or array.size > MAX_VALUES:
        return None
    return tuple(array.reshape(-1).tolist())


def _moving_calls(
    trace: Trace, calls: Any, order: list[int]
) -> dict[int, tuple[Any, Any, Any]]:
    """Return the calls that move, with the slots of the recording itself."""
    found = {}
    for i, (_, _, outputs, inputs, attributes) in enumerate(calls):
        if moves((outputs, inputs, attributes)):
            if not _can_move(trace.instructions[i]):
                raise DifferError
            found[i] = (*_numbered((outputs, inputs), order), attributes)
    return found


def _can_move(i: Instruction) -> bool:
    """Return whether a call's kernel can be chosen again for other shapes."""
    if i.spec is None:
        return False
    return i.spec.key != "shapes" or not (i.spec.writes or i.accumulated)


def _numbered(tree: Any, order: list[int]) -> Any:
    if isinstance(tree, View):
        return tree._replace(slot=order[tree.slot])
    if isinstance(tree, tuple):
        return tuple([_numbered(one, order) for one in tree])
    return tree


# ---- the bounds ----------------------------------------------------------------------


def _bound(motion: Motion, traces: Sequence[Trace], tensors: Sequence[Any]) -> None:
    """Find the range of values for which the program holds, and operands' ranges."""
    source, last = motion.source, traces[0]
    spans = [trace.spans[source] for trace in traces if source in trace.spans]
    seen = [trace.numbers[source] for trace in traces]
    first, most = min(seen), max(seen)
    if not all(map(last.spans[source].answers_alike, seen)):
        raise DifferError
    # 1. Python's decisions: in each recording's span of t, all of its comparisons have
    # the same outcome. A first recording, made before t was known to vary, has no span.
    low = max(min(first, 0), *(known.low for known in spans))
    high = min(_FAR, *(known.high for known in spans))
    # 2. The memory: each operand must stay inside the bytes that are known to exist in
    # every call.
    views = [v for i in motion.calls for v in last.instructions[i].views()]
    for slot in {view.slot for view in views}:
        mine = [view for view in views if view.slot == slot]
        motion.ranges[slot] = _range(last, slot, mine, tensors)
    moving = [v for o, i, _ in motion.calls.values() for v in views_of((*o, *i))]

    def fits(value: int) -> bool:
        inside = (_is_inside(v, motion, value) for v in moving)
        return low <= value <= high and all(inside)

    if not all(map(fits, seen)):
        raise DifferError
    # 3. Search outwards from the values seen. Offsets and sizes are linear in t, so the
    # values that fit form one interval, and bisection finds its ends.
    motion.low = _furthest(fits, first, math.floor(low))
    motion.high = _furthest(fits, most, _FAR)
    if motion.high == _FAR:
        motion.high = 2 * most + FURTHER


def _range(
    trace: Trace, slot: int, views: Sequence[View], tensors: Sequence[Any]
) -> Range:
    """Return the bytes of a slot that are known to exist in each call."""
    binding = trace.bindings.get(slot)
    whole = Range(0, trace.memory.slots[slot].nbytes)
    if isinstance(binding, Argument):
        start, array = binding.offset, tensors[binding.number]._array
    elif isinstance(binding, Owned):
        array = binding.tensor._array
        start = trace.offset_of(slot, array)
    else:
        return whole
    own = Range(start, start + span(array))
    inside = all(own.start <= v.offset and v.stop <= own.stop for v in views)
    return own if inside else whole


def _is_inside(view: View, motion: Motion, value: int) -> bool:
    """Return whether an operand is in its memory, with moving sizes of 2 or more."""
    now = at(view, value)
    if any(n.at(value) < 2 for n in affines(view.shape)):
        return False
    size = motion.sizes.get(view.slot)
    room = motion.ranges[view.slot]
    stop = room.stop if size is None else size.at(value)
    return bool(room.start <= now.offset and now.stop <= stop)


def _furthest(fits: Callable[[int], bool], begin: int, end: int) -> int:
    """Return the value closest to `end` such that all values from `begin` to it fit."""
    if fits(end):
        return end
    good, bad = begin, end
    while abs(bad - good) > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def most_bytes(motion: Motion, slot: int, size: int) -> int:
    """Return the largest number of bytes that a slot of `size` needs."""
    grows = motion.sizes.get(slot)
    return size if grows is None else max(map(grows.at, (motion.low, motion.high)))
