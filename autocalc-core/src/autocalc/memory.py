# SPDX-License-Identifier: MIT
"""Counters of the memory that results live in, and a way to give it back."""

from __future__ import annotations

from autocalc._dispatch._select import allocator
from autocalc._dispatch._state import current
from autocalc._graph._node import live_node_count

__all__ = ["live_node_count", "stats", "trim"]


def stats() -> dict[str, int]:
    """Return the allocator's counters; empty if NumPy allocates.

    That of the SIMD package counts bytes `in_use`, their `peak`, `cached` of freed blocks
    that wait to be handed out again, and `workspace`: of those in use, what threads keep
    for kernels to work in, as packed operands. `blocks` are alive, of `allocations` so
    far, `reused` of them from the cache.

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
