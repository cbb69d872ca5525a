# SPDX-License-Identifier: MIT
"""Checks that slots, dicts and entries still hold the identical objects.

This check is fast and almost always true.  Only where it fails are the conditions of a
replay checked one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

from autocalc._dispatch.engine.eager import accelerated

#: An object, the name of one of its `__slots__`, and the recorded value.
Attribute = tuple[Any, str, Any]

#: A dict, and the recorded copy of it.
Copied = tuple[dict[Any, Any], dict[Any, Any]]

#: A dict, one of its keys, and the recorded value.
Entry = tuple[dict[Any, Any], Any, Any]

_MISSING = object()


class Unchanged:
    """The recorded values of objects and dicts that may change.

    Parameters
    ----------
    slots
        Objects, with the names of slots and their recorded values.
    dicts
        Dicts, with recorded copies.
    entries
        Dicts in which only one key matters.
    """

    def __init__(
        self,
        slots: list[Attribute],
        dicts: list[Copied],
        entries: list[Entry] | None = None,
    ) -> None:
        self._things = [thing for thing, _, _ in slots]
        self._names = [name for _, name, _ in slots]
        self._values = [value for _, _, value in slots]
        self._dicts = dicts
        self._entries = entries or []

    def holds(self) -> bool:
        """Return whether slots, entries and dicts hold the recorded objects."""
        now = map(getattr, self._things, self._names)
        if not all(map(is_, now, self._values)):
            return False
        if not all(now.get(key, _MISSING) is was for now, key, was in self._entries):
            return False
        return all(_same(now, copy) for now, copy in self._dicts)


def _same(now: dict[Any, Any], copy: dict[Any, Any]) -> bool:
    """Return whether two dicts have the same keys and values in the same order."""
    return (
        len(now) == len(copy)
        and all(map(is_, now, copy))
        and all(map(is_, now.values(), copy.values()))
    )


#: `Unchanged`, or the native engine's class in its place.
unchanged: Callable[..., Unchanged] = accelerated("unchanged", Unchanged)
