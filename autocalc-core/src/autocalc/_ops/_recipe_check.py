# SPDX-License-Identifier: MIT
"""Run a new recipe once and compare it with the function that it was recorded from."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._state import current
from autocalc._ops._replayed import CONSTANT, DRAW, LIST, MAKE, RUN, VIEW
from autocalc._program._opaque import view_at
from autocalc._program._views import owner_of


class UnknownError(Exception):
    """A call that no recipe can say."""


def replay(recipe: Any, inputs: tuple[Any, ...], calls: list[Any]) -> list[Any]:
    """Run a recipe; draws give what they gave among `calls`.  Return all slots."""
    drawn = iter([pair for entry, _, pair, _ in calls if entry is None])
    empty = current().selection.empty
    slots = list(inputs)
    for code, thing, place, sizes, strides, offset, writable in recipe[0]:
        if code == MAKE:
            slots.append(empty(sizes, thing))
        elif code == VIEW:
            seen = view_at(slots[place], thing, sizes, strides, offset)
            if not writable:
                seen.flags.writeable = False
            slots.append(seen)
        elif code == RUN:
            given = zip(sizes, strides, strict=True)
            thing(*[_operand(slots, at, x) for at, x in given])
        elif code == DRAW:
            slots.extend(next(drawn))
        elif code == CONSTANT:
            slots.append(thing)
        else:
            slots[place] = None
    return slots


def _operand(slots: list[Any], place: int, thing: Any) -> Any:
    if place == LIST:
        return [slots[one] for one in thing]
    return thing if place < 0 else slots[place]


def compare(
    expected: list[Any],
    found: list[Any],
    undefined: frozenset[int] | set[int] = frozenset(),
) -> None:
    """Raise unless arrays are the same; of those in undefined memory, their layout."""
    for a, b in zip(expected, found, strict=True):
        same = b is not None and (a.shape, a.strides, a.dtype) == (
            b.shape,
            b.strides,
            b.dtype,
        )
        if not same:
            raise UnknownError
        if id(owner_of(a)) not in undefined and a.tobytes() != b.tobytes():
            raise UnknownError
