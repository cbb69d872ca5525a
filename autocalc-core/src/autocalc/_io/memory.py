# SPDX-License-Identifier: MIT
"""The memory of saved tensors: their strides, and which of them overlap.

A file holds the elements of each tensor in row-major order.  A tensor that has other
strides, or that overlaps another tensor, also has a place in a *block* of memory.  Its
record then gives the number and the size of the block, the tensor's offset in it, and
its strides.  Sizes, offsets and strides count elements.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from autocalc._dispatch.device.addresses import address, repeats, span
from autocalc._graph._node import Version

Array: TypeAlias = npt.NDArray[Any]

#: The key of the place in a record.
KEY = "memory"


def add_places(records: list[tuple[dict[str, Any], Array]]) -> None:
    """Add the places of tensors to their records, where they say something new."""
    for number, block in enumerate(_blocks(records)):
        start = min(address(array) for _, array in block)
        end = max(address(array) + span(array) for _, array in block)
        if _is_plain(block):
            continue
        for record, array in block:
            width = array.itemsize
            offset, size = address(array) - start, end - start
            record[KEY] = {
                "block": number,
                "size": size // width,
                "offset": offset // width,
                "strides": [step // width for step in array.strides],
            }


def _blocks(records: list[tuple[dict[str, Any], Array]]) -> list[list[Any]]:
    """Return groups of records of one dtype whose tensors overlap in memory."""
    made: list[list[Any]] = []
    ends: dict[Any, tuple[int, list[Any]]] = {}
    filled = [pair for pair in records if pair[1].size]
    for record, array in sorted(filled, key=lambda pair: address(pair[1])):
        kind = array.dtype, address(array) % array.itemsize
        end, block = ends.get(kind, (0, []))
        if address(array) >= end:
            made.append(block := [])
        block.append((record, array))
        ends[kind] = max(end, address(array) + span(array)), block
    return made


def _is_plain(block: list[Any]) -> bool:
    """Return whether the tensors are one, with its elements in row-major order."""
    _, first = block[0]
    same = all(record["name"] == block[0][0]["name"] for record, _ in block)
    return same and bool(first.flags.c_contiguous)


class Blocks:
    """The blocks of a file that is being read."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, Any], tuple[Array, Version]] = {}

    def placed(self, array: Array, place: Any) -> tuple[Array, Version]:
        """Return the elements at their place, and the cell that counts the writes.

        Raises
        ------
        ValueError
            If the place is not within its block.
        """
        number, size, offset = (_whole(place[k]) for k in ("block", "size", "offset"))
        strides = [_whole(step) for step in place["strides"]]
        key = number, array.dtype
        if key not in self._made:
            self._made[key] = np.zeros(size, array.dtype), Version()
        block, version = self._made[key]
        if size != block.size:
            raise ValueError(f"block {number} has two sizes")
        width = array.itemsize
        steps = [step * width for step in strides]
        view: Array = np.ndarray(array.shape, array.dtype, block, offset * width, steps)
        view[...] = array
        if repeats(view):  # as `expand` does
            view.flags.writeable = False
        return view, version


def _whole(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(f"{number!r} is no size or offset")
    return number
