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
        self.attributes: list[tuple[Any, str, Any]] = []
        self.absent: list[tuple[Mapping[Any, Any], Any]] = []

    def close(self) -> None:
        """Get ready to compare; nothing is added from now on."""
        self._unchanged = unchanged(self.slots, self.dicts, self.entries)
        self._things = [thing for thing, _, _ in self.attributes]
        self._names = [name for _, name, _ in self.attributes]
        self._values = [value for _, _, value in self.attributes]
        self._lists = [now for now, _ in self.lists]
        self._sizes = list(map(len, self._lists))
        self._elements = [x for _, copy in self.lists for x in copy]

    def holds(self) -> bool:
        """Return whether everything is the same object that it was."""
        if not self._unchanged.holds():
            return False
        try:
            return (
                all(map(is_, map(getattr, self._things, self._names), self._values))
                and not any(starmap(contains, self.absent))
                and list(map(len, self._lists)) == self._sizes
                and all(map(is_, chain.from_iterable(self._lists), self._elements))
            )
        except (AttributeError, ValueError):
            return False
