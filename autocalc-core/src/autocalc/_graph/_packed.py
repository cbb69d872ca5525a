# SPDX-License-Identifier: MIT
"""Saved arrays that a user's hooks store; they are unpacked for each use by a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Packed:
    """The `saved` of a node with hooks: a sequence that unpacks its elements on access.

    Parameters
    ----------
    items
        The results of the hooks for the arrays; None where no array was saved.
    unpack
        ``unpack(item)`` returns the array.
    """

    __slots__ = ("_items", "_unpack")

    def __init__(self, items: tuple[Any, ...], unpack: Callable[[Any], Any]) -> None:
        self._items = items
        self._unpack = unpack

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return map(self._array, self._items)

    def __getitem__(self, i: int) -> Any:
        return self._array(self._items[i])

    def _array(self, item: Any) -> Any:
        return None if item is None else self._unpack(item)
