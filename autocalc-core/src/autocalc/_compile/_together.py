# SPDX-License-Identifier: MIT
"""Many guards compared at once: that all is as it was is soon seen, and usual.

A group is quick where every object is the very object that was there.  Where one is
not, the guards are asked one by one: an equal number is as good.
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
        As `Unchanged` takes them.
    lists
        Lists and copies of them.
    classes
        Objects and their classes.
    attributes
        Objects, names of their attributes, and the values.
    absent
        Mappings and keys that they do not have.
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
        """Get ready to compare; nothing is added from now on."""
        self._unchanged = unchanged(self.slots, self.dicts, self.entries)
        self._objects = [thing for thing, _ in self.classes]
        self._things = [thing for thing, _, _ in self.attributes]
        self._names = [name for _, name, _ in self.attributes]
        # What is compared is one row, in which each list ends with `_END`.
        self._lists = [part for now, _ in self.lists for part in (now, (_END,))]
        self._values = [kind for _, kind in self.classes]
        self._values += [value for _, _, value in self.attributes]
        self._values += [x for _, copy in self.lists for x in (*copy, _END)]

    def holds(self) -> bool:
        """Return whether everything is the same object that it was."""
        if not self._unchanged.holds() or any(starmap(contains, self.absent)):
            return False
        attributes = map(getattr, self._things, self._names)
        now = chain(map(type, self._objects), attributes, *self._lists)
        try:
            return all(map(is_, now, self._values))
        except (AttributeError, ValueError):
            return False


#: Comes after the elements of a list, so that a longer or shorter one is another row.
_END = object()
