# SPDX-License-Identifier: MIT
"""Counters of the memory that results live in, and a way to give it back."""

from __future__ import annotations

from autocalc._dispatch._select import allocator
from autocalc._dispatch._state import current
from autocalc._graph._node import live_node_count

__all__ = ["live_node_count", "stats", "trim"]


def stats() -> dict[str, int]:
    """Return the allocator's counters; empty if NumPy allocates.

    Examples
    --------
    >>> import autocalc as ac
    >>> isinstance(ac.memory.stats(), dict)
    True
    """
    found = allocator(current().selection)
    return {} if found is None else dict(found.stats())


def trim() -> None:
    """Give memory that is cached for reuse back to the system."""
    found = allocator(current().selection)
    if found is not None:
        found.trim()
