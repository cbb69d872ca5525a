# SPDX-License-Identifier: MIT
"""Compares many guards at once: usually nothing has changed, which is fast to see.

A group is fast where every object is identical to the recorded one.  Otherwise the
guards are checked one by one, because an equal number is sufficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, starmap
from operator import contains, is_
from typing import Any

from autocalc._compile._unchanged import Attribute, Copied, Entry, unchanged


class Together:
    """The values that a group of guards compares.

    Attributes
    ----------
    slots, dicts, entries
        Values as `Unchanged` takes them.
    lists
        Lists, and copies of them.
    classes
        Objects and their classes.
    attributes
        Objects, the names of attributes, and their values.
    absent
        Mappings, and keys that they do not contain.
    """

    def __init__(self) -> None:
        self.slots: list[Attribute] = []
        self.dicts: list[Copied] = []
        self.entries: list[Entry] = []
        self.lists: list[tuple[list[Any], list[Any]]] = []
        self.classes: list[tuple[Any, type]] = []
        self.attributes: list[tuple[Any, str, Any]] = []
        self.absent: list[tuple[Mapping[Any, Any], Any]] = []

    def close(self) -> None:
        """Prepare the comparison; nothing may be added afterwards."""
        self._unchanged = unchanged(self.slots, self.dicts, self.entries)
        self._objects = [thing for thing, _ in self.classes]
        self._things = [thing for thing, _, _ in self.attributes]
        self._names = [name for _, name, _ in self.attributes]
        # All values form one sequence, in which `_END` follows the elements of each
        # list.
        self._lists = [part for now, _ in self.lists for part in (now, (_END,))]
        self._values = [kind for _, kind in self.classes]
        self._values += [value for _, _, value in self.attributes]
        self._values += [x for _, copy in self.lists for x in (*copy, _END)]

    def holds(self) -> bool:
        """Return whether everything is identical to the recorded objects."""
        if not self._unchanged.holds() or any(starmap(contains, self.absent)):
            return False
        attributes = map(getattr, self._things, self._names)
        now = chain(map(type, self._objects), attributes, *self._lists)
        try:
            return all(map(is_, now, self._values))
        except (AttributeError, ValueError):
            return False


#: Follows the elements of a list, so that lists of other lengths compare as different.
_END = object()
