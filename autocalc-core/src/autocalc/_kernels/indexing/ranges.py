# SPDX-License-Identifier: MIT
"""Errors for indices out of range, which name the valid range."""

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
    """Return the error of a kernel, extended by the valid range of indices.

    Parameters
    ----------
    size
        The number of elements that the indices select from.
    least
        The smallest valid index.
    where
        The name of the caller, if it differs from the name of the kernel.
    also
        A clause that names further possibilities.
    """
    kernel, operand, index, value = error.found
    if not kernel:  # a kernel package's own message
        return error
    there = f"{least} to {size - 1} are possible{also}" if size else "none is possible"
    ranged = KernelIndexError(
        f"{where or kernel}: `{operand}` holds {value} at element {index}, which is "
        f"out of range for dimension with size {size}, so {there}. Check the values, "
        "or the size of what they select from."
    )
    ranged.found = error.found
    return ranged


def or_skipped(ignore_index: int) -> str:
    """Return the clause about the label of ignored rows."""
    return f", and {ignore_index} (`ignore_index`) for rows that count for nothing"


def index_error(
    kernel: str, operand: str, index: int, value: int, possible: range, also: str = ""
) -> KernelIndexError:
    """Make the error for an invalid `value` in element `index` of `operand`."""
    found = KernelIndexError()
    found.found = kernel, operand, index, value
    return with_range(found, possible.stop, least=possible.start, also=also)
