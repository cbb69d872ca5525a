# SPDX-License-Identifier: MIT
"""Indices that are out of range: which ones there are, in the error's words."""

from __future__ import annotations

from autocalc.errors import KernelIndexError


def with_range(
    error: KernelIndexError,
    size: int,
    *,
    least: int = 0,
    where: str = "",
    also: str = "",
) -> KernelIndexError:
    """Return the error of a kernel with what a caller knows: which indices there are.

    Parameters
    ----------
    size
        How many things the indices select from.
    least
        The least index.
    where
        The name of the caller, if it is not that of the kernel.
    also
        A clause that names further possibilities.
    """
    kernel, operand, index, value = error.found
    if not kernel:  # of a kernel package that says it in its own words
        return error
    there = f"{least} to {size - 1} are possible{also}" if size else "none is possible"
    ranged = KernelIndexError(
        f"{where or kernel}: `{operand}` holds {value} at element {index}, which is "
        f"out of range: it selects from {size}, so {there}. Check the values, or the "
        f"size of what they select from."
    )
    ranged.found = error.found
    return ranged


def or_skipped(ignore_index: int) -> str:
    """Return the clause about the label of rows that count for nothing."""
    return f", and {ignore_index} (`ignore_index`) for rows that count for nothing"


def index_error(
    kernel: str, operand: str, index: int, value: int, possible: range, also: str = ""
) -> KernelIndexError:
    """Make the error for element `index` of `operand` holding an impossible `value`."""
    found = KernelIndexError()
    found.found = kernel, operand, index, value
    return with_range(found, possible.stop, least=possible.start, also=also)
