# SPDX-License-Identifier: MIT
"""The memory layout of new tensors, as `memory_format` requests it."""

from __future__ import annotations

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.layout import (
    PIXELS,
    empty_in_order,
    is_channels_last,
    memory_order,
)
from autocalc._tensor import Tensor, make
from autocalc._tensor.memory_format import MemoryFormat, order_asked, preserve_format


def laid_out(
    where: str,
    made: Tensor,
    memory_format: MemoryFormat | None,
    like: Tensor,
    *,
    is_empty: bool = False,
) -> Tensor:
    """Return a new tensor in the requested layout; the default is that of `like`.

    Values are copied, unless `is_empty` is true.
    """
    given = preserve_format if memory_format is None else memory_format
    array, kept = made._array, given is preserve_format
    order = order_asked(where, given, array.shape)
    if kept and is_channels_last(like._array):
        order = PIXELS
    if order:
        laid = empty_in_order(arrays.empty, array.shape, array.dtype, order)
    elif kept and memory_order(like._array):
        laid = arrays.empty_like(like._array, array.shape, array.dtype)
    else:
        return made
    return make(laid if is_empty else arrays.copy(array, into=laid), None)
