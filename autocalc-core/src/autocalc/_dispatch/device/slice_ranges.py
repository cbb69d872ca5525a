# SPDX-License-Identifier: MIT
"""Parts of an array that together form all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._dispatch.device.addresses import address
from autocalc._kernels.spec import Array, Shape

#: A dimension, and the start and stop of a part along it.
SliceRange = tuple[int, int, int]


def slice_ranges(shape: Shape, indices: Sequence[Any]) -> list[SliceRange] | None:
    """Return the range of each index along one dimension, if they partition it.

    None if they leave a gap, overlap, or differ in more than one dimension.
    """
    found = [_slice_range(shape, index) for index in indices]
    places = [place for place in found if place is not None]
    if len(places) < len(found):
        return None
    end = 0
    for axis, start, stop in sorted(places):
        if axis != places[0][0] or start != end:
            return None
        end = stop
    return places if end == shape[places[0][0]] else None


def _slice_range(shape: Shape, index: Any) -> SliceRange | None:
    """Return the range of a basic index that is full in all other dimensions."""
    parts = index if index.__class__ is tuple else (index,)
    if parts and parts[-1] is Ellipsis:
        parts = parts[:-1]
    found = None
    for axis, part in enumerate(parts):
        if part.__class__ is slice:
            start, stop, step = part.indices(shape[axis])
            if step != 1 or stop < start:
                return None
            if stop - start == shape[axis]:
                continue
        elif part.__class__ is int:
            start = part % shape[axis]
            stop = start + 1
        else:
            return None
        if found is not None:
            return None
        found = axis, start, stop
    return found


def common_storage(
    shape: Shape, places: Sequence[SliceRange], values: Sequence[Array]
) -> Array | None:
    """Return the array of `shape` in whose memory all `values` are in place."""
    base = values[0].base
    strides = values[0].strides
    dtype = values[0].dtype
    if base.__class__ is not np.ndarray or base.dtype is not dtype:
        return None
    if not _fills(shape, strides, base):
        return None
    begin = address(base)
    for (axis, start, _), value in zip(places, values, strict=True):
        same = value.base is base and value.strides == strides
        if not same or address(value) != begin + start * strides[axis]:
            return None
    return np.ndarray(shape, dtype, base, 0, strides)


def _fills(shape: Shape, strides: Sequence[int], base: Any) -> bool:
    """Return whether these strides fill `base`, in some order of the dimensions."""
    if len(shape) != len(strides) or not base.flags.c_contiguous:
        return False
    step = base.itemsize
    for expected, size in sorted(zip(strides, shape, strict=True)):
        if size != 1:
            if expected != step:
                return False
            step *= size
    return bool(step == base.nbytes)
