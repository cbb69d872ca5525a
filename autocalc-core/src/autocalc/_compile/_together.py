# SPDX-License-Identifier: MIT
"""Collects the values of many guards, which one `Unchanged` compares at once.

Usually every object is identical to the recorded one.  Otherwise the guards are checked
one by one, because an equal number is sufficient.
"""

from __future__ import annotations

from autocalc._compile._unchanged import (
    Absent,
    Attribute,
    Copied,
    CopiedList,
    Entry,
    OfClass,
    Unchanged,
    unchanged,
)


class Together:
    """The values that a group of guards compares.

    Attributes
    ----------
    slots, dicts, entries, lists, classes, attributes, absent
        Values as `Unchanged` takes them.
    """

    def __init__(self) -> None:
        self.slots: list[Attribute] = []
        self.dicts: list[Copied] = []
        self.entries: list[Entry] = []
        self.lists: list[CopiedList] = []
        self.classes: list[OfClass] = []
        self.attributes: list[Attribute] = []
        self.absent: list[Absent] = []

    def check(self) -> Unchanged:
        """Return a check of whether all are identical to the recorded objects."""
        return unchanged(
            *(self.slots, self.dicts, self.entries, self.lists),
            *(self.classes, self.attributes, self.absent),
        )
