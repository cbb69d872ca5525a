# SPDX-License-Identifier: MIT
"""Views: where an operand is in a slot, and the arrays that own and view memory.

A *slot* is one piece of memory.  A *view* describes an operand by its slot, its offset
from the beginning of the slot in bytes, its shape, strides and dtype.  It contains no
address, so a program can move a slot to another place.  Consider two columns of a
float32 matrix of 3 rows and 4 columns in slot 5.  Their view is
``View(5, 4, (3, 2), (16, 4), float32)``: it starts one element, 4 bytes, after the
beginning, and the next row is 16 bytes away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.device.addresses import span
from autocalc._kernels.spec import Array, DType, Shape


class View(NamedTuple):
    """The place of an operand: `offset` bytes after the beginning of its slot."""

    slot: int
    offset: int
    shape: Shape
    strides: Shape
    dtype: DType

    @property
    def nbytes(self) -> int:
        """The bytes of its elements, each counted once."""
        size = self.dtype.itemsize
        for n in self.shape:
            size *= n
        return size

    @property
    def stop(self) -> int:
        """The byte after its last element."""
        if 0 in self.shape:
            return self.offset
        pairs = zip(self.shape, self.strides, strict=True)
        last = sum((n - 1) * step for n, step in pairs)
        return self.offset + last + self.dtype.itemsize


#: An operand of an instruction: absent, one array, or a list of them.
Operand = View | None | tuple[View, ...]


def base_of(array: Any) -> Any:
    """Return the array that `array` is a view of; None if it owns its memory."""
    base = array.base
    if base is None or base.__class__ is np.ndarray or isinstance(base, np.ndarray):
        return base
    if hasattr(base, "__array_interface__") and hasattr(base, "base"):
        return base.base  # as_strided of NumPy puts another object in between
    return None


def owner_of(array: Any) -> Any:
    """Return the array that owns the memory of `array`."""
    while (base := base_of(array)) is not None:
        array = base
    return array


def view_at(owner: Array, offset: int, view: View) -> Array:
    """Return the array of a `view` whose slot begins at `offset` bytes of `owner`."""
    if owner.flags.c_contiguous:
        return np.ndarray(view.shape, view.dtype, owner, offset, view.strides)
    whole = np.lib.stride_tricks.as_strided(
        owner, (span(owner) // owner.itemsize,), (owner.itemsize,)
    )
    return np.ndarray(view.shape, view.dtype, whole, offset, view.strides)
