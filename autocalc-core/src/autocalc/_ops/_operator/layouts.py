# SPDX-License-Identifier: MIT
"""The layout in memory of tensors that are made, as `memory_format` asks for it."""

from __future__ import annotations

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.layout import empty_channels_last, is_channels_last
from autocalc._tensor import Tensor, make
from autocalc._tensor.memory_format import (
    MemoryFormat,
    asks_channels_last,
    preserve_format,
)
from autocalc.errors import ShapeError


def laid_out(
    where: str, made: Tensor, memory_format: MemoryFormat | None, like: Tensor
) -> Tensor:
    """Return a new tensor in the layout asked for; by default that of `like`."""
    given = preserve_format if memory_format is None else memory_format
    last = asks_channels_last(where, given)
    if last and made.ndim != 4:
        message = (
            f"{where}: channels_last is a layout of (N, C, H, W); the shape is "
            f"{made.shape}. Give four sizes, or another layout."
        )
        raise ShapeError(message)
    if last or (given is preserve_format and is_channels_last(like._array)):
        array = made._array
        made = make(empty_channels_last(arrays.empty, array.shape, array.dtype), None)
        arrays.copy(array, into=made._array)
    return made
