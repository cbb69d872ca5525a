# SPDX-License-Identifier: MIT
"""`torch._utils`: the private helpers of PyTorch that libraries call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autocalc import Tensor, cat
from autocalc.torch import _mentioned


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """Return the elements of all tensors in one vector."""
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(
    flat: Tensor, tensors: Iterable[Tensor]
) -> tuple[Tensor, ...]:
    """Return the parts of `flat`, in the shapes of `tensors`."""
    like = list(tensors)
    parts = flat.split([tensor.numel() for tensor in like])
    return tuple(part.view_as(one) for part, one in zip(parts, like, strict=True))


def _element_size(dtype: Any) -> int:
    """Return the number of bytes of an element."""
    return int(dtype.itemsize)


def _get_device_index(
    device: Any, optional: bool = False, allow_cpu: bool = False
) -> int:
    """Return the index of a device; that of the CPU is -1."""
    if isinstance(device, int):
        return device
    index = getattr(device, "index", None)
    return -1 if index is None else int(index)


__getattr__ = _mentioned.names_of(__name__)
