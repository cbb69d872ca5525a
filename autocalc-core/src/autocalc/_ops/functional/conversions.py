# SPDX-License-Identifier: MIT
"""Other dtypes and devices."""

from __future__ import annotations

from typing import Any

from autocalc._ops._arguments import check_tensor
from autocalc._ops._coerce import cast
from autocalc._ops.functional.shapes import clone
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.memory_format import MemoryFormat, preserve_format


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` with the dtype of `other`."""
    return to(input, check_tensor("type_as", other).dtype)


def to(
    input: Tensor,
    *args: Any,
    dtype: DType | None = None,
    copy: bool = False,
    device: str | Device | None = None,
    non_blocking: bool = False,  # has no effect on a CPU
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Return `input` with another dtype, on another device, or in another layout."""
    for arg in (*args, device):
        if isinstance(arg, Tensor):
            dtype = arg.dtype
        elif isinstance(arg, DType):
            dtype = arg
        elif isinstance(arg, (str, Device)):
            Device(arg)
        elif not isinstance(arg, bool) and arg is not None:
            dtype = dtypes.as_dtype(arg)
    result = input if dtype is None else cast(input, dtype)
    if copy and result is input:
        return clone(result, memory_format=memory_format)
    if memory_format is None or memory_format is preserve_format:
        return result
    if result.is_contiguous(memory_format):
        return result
    return clone(result, memory_format=memory_format)
