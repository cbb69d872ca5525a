# SPDX-License-Identifier: MIT
"""Whether slots, dicts and their entries hold the very objects that they held before.

That is a quick test, and nearly always true: what must hold for a replay is checked
one by one only where it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

from autocalc._dispatch.engine.eager import accelerated

#: An object, the name of one of its `__slots__`, and what it held.
Attribute = tuple[Any, str, Any]

#: A dict, and a copy of what it was.
Copied = tuple[dict[Any, Any], dict[Any, Any]]

#: A dict, one of its keys, and what it held there.
Entry = tuple[dict[Any, Any], Any, Any]

_MISSING = object()


class Unchanged:
    """Objects and dicts that may change.

    Parameters
    ----------
    slots
        Objects with the names of slots and what they held.
    dicts
        Dicts with copies of what they were.
    entries
        Dicts of which one key matters.
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
        """Return whether each slot and entry holds the same object, each dict all."""
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


#: `Unchanged`, or what the native engine has for it.
unchanged: Callable[..., Unchanged] = accelerated("unchanged", Unchanged)
