# SPDX-License-Identifier: MIT
"""Checks that objects, dicts and lists still hold the identical objects.

This check is fast and almost always true.  Only where it fails are the conditions of a
replay checked one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, starmap
from operator import contains, is_
from typing import Any

from autocalc._dispatch.engine.eager import accelerated

#: An object, the name of one of its attributes, and the recorded value.
Attribute = tuple[Any, str, Any]

#: A dict, and the recorded copy of it.
Copied = tuple[dict[Any, Any], dict[Any, Any]]

#: A dict, one of its keys, and the recorded value.
Entry = tuple[dict[Any, Any], Any, Any]

#: A list, and the recorded copy of it.
CopiedList = tuple[list[Any], list[Any]]

#: An object, and its class.
OfClass = tuple[Any, type]

#: A mapping, and a key that it did not contain.
Absent = tuple[Mapping[Any, Any], Any]

_MISSING = object()

#: Follows the elements of a list, so that lists of other lengths compare as different.
_END = object()


class Unchanged:
    """The recorded values of objects and containers that may change.

    Parameters
    ----------
    slots
        Objects, with the names of ``__slots__`` and their recorded values.
    dicts
        Dicts, with recorded copies.
    entries
        Dicts in which only one key matters.
    lists
        Lists, with recorded copies.
    classes
        Objects, with their classes.
    attributes
        Objects, with the names of any attributes and their recorded values.
    absent
        Mappings, with keys that they did not contain.
    """

    def __init__(
        self,
        slots: list[Attribute],
        dicts: Sequence[Copied] = (),
        entries: Sequence[Entry] = (),
        lists: Sequence[CopiedList] = (),
        classes: Sequence[OfClass] = (),
        attributes: Sequence[Attribute] = (),
        absent: Sequence[Absent] = (),
    ) -> None:
        read = [*slots, *attributes]
        self._things = [thing for thing, _, _ in read]
        self._names = [name for _, name, _ in read]
        self._objects = [thing for thing, _ in classes]
        self._lists = [part for now, _ in lists for part in (now, (_END,))]
        # All values form one sequence, in which `_END` follows the elements of each
        # list.
        self._values = [value for _, _, value in read]
        self._values += [kind for _, kind in classes]
        self._values += [x for _, copy in lists for x in (*copy, _END)]
        self._dicts, self._entries, self._absent = dicts, entries, absent

    def holds(self) -> bool:
        """Return whether all of them hold the recorded objects."""
        attributes = map(getattr, self._things, self._names)
        now = chain(attributes, map(type, self._objects), *self._lists)
        try:
            if not all(map(is_, now, self._values)):
                return False
        except (AttributeError, ValueError):  # it is gone, or a cell is empty
            return False
        if not all(now.get(key, _MISSING) is was for now, key, was in self._entries):
            return False
        return not any(starmap(contains, self._absent)) and all(
            _same(now, copy) for now, copy in self._dicts
        )


def _same(now: dict[Any, Any], copy: dict[Any, Any]) -> bool:
    """Return whether two dicts have the same keys and values in the same order."""
    return (
        len(now) == len(copy)
        and all(map(is_, now, copy))
        and all(map(is_, now.values(), copy.values()))
    )


#: `Unchanged`, or the native engine's class in its place.
unchanged: Callable[..., Unchanged] = accelerated("unchanged", Unchanged)
