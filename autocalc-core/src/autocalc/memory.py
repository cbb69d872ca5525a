# SPDX-License-Identifier: MIT
"""The memory that results live in: counters, what is alive, how to give it back."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._dispatch.selection.select import allocator
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import live_node_count

if _TYPE_CHECKING:
    from autocalc.diagnostics._live import Snapshot
    from autocalc.diagnostics._origins import Trace

__all__ = ["live_node_count", "snapshot", "stats", "trace", "trim"]


def stats() -> dict[str, int]:
    """Return the counters of the allocator, as a dict.

    The dict is empty if NumPy allocates the memory.

    The counters in bytes are `in_use`, its `peak`, and `cached`, the memory of freed
    blocks.  `workspace` is the part of `in_use` that threads keep for kernels, for
    example for packed operands, and `peak_results` is the peak of the rest of `in_use`.
    `blocks` is the number of blocks in use, and `allocations` the number of blocks
    requested so far; `reused` of these were taken from the cache.

    Examples
    --------
    >>> import autocalc as ac
    >>> isinstance(ac.memory.stats(), dict)
    True
    """
    found = allocator(current().selection)
    return {} if found is None else dict(found.stats())


def trim() -> None:
    """Return the cached memory to the operating system.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(1000, 1000)
    >>> del x
    >>> ac.memory.trim()
    >>> ac.memory.stats().get("cached", 0)
    0
    """
    found = allocator(current().selection)
    if found is not None:
        found.trim()


def snapshot(limit: int = 10) -> Snapshot:
    """Return the tensors that exist in this process, the largest first.

    Each array counts once, regardless of its views.  Arrays that the graph keeps for
    the backward pass count as well.  The memory of kernels, compiled programs and the
    allocator does not count; see `stats`, and `program.memory` of a compiled function.

    Parameters
    ----------
    limit
        The number of rows to return.

    Returns
    -------
    diagnostics.Snapshot

    Raises
    ------
    DTypeError
        If `limit` is not an integer.
    ArgumentError
        If `limit` is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2000, 1000, requires_grad=True)
    >>> row = ac.memory.snapshot(limit=1).rows[0]
    >>> row.bytes, row.shape
    (8000000, (2000, 1000))
    """
    from autocalc.diagnostics import _live  # late: `import autocalc` stays quick

    return _live.snapshot(limit)


def trace() -> Trace:
    """Record the origin of each array in a ``with`` block.

    For each tensor made in the block, `snapshot` then names the operator, the layer and
    the line of the user's program.  In the block, compiled functions run eagerly, and
    every operator takes longer.

    Raises
    ------
    CompileError
        If the block begins inside a function that `autocalc.compile` is recording.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.memory.trace(), ac.no_grad():
    ...     y = ac.ones(3000, 1000).exp()
    >>> ac.memory.snapshot(limit=1).rows[0].operator
    'exp'
    """
    from autocalc.diagnostics import _origins  # late: `import autocalc` stays quick

    return _origins.Trace()
