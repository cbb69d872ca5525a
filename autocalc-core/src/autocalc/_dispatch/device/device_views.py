# SPDX-License-Identifier: MIT
"""Views of arrays on devices for which the device's library has no function."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import DeviceArray
from autocalc._kernels.spec import Shape
from autocalc.errors import ShapeError


def expand(a: DeviceArray, shape: Shape) -> DeviceArray:
    """Return a view of `a`, repeated to `shape` by strides of 0."""
    lead = len(shape) - a.ndim
    fits = lead >= 0 and all(
        n in {1, m} for n, m in zip(a.shape, shape[lead:], strict=True)
    )
    if not fits:
        raise ShapeError(
            f"expand: shape {a.shape} cannot be repeated to {shape}; sizes must be "
            f"equal or 1."
        )
    steps = zip(a.shape, a.strides, strict=True)
    return a.strided(shape, (*(0,) * lead, *(0 if n == 1 else s for n, s in steps)))


def may_share_memory(a: Any, b: Any) -> bool:
    """Return whether two arrays may share memory; at least one is on a device."""
    if a.__class__ is not DeviceArray or b.__class__ is not DeviceArray:
        return False
    if a.dtype.place != b.dtype.place:
        return False
    return bool(a.dtype.library.may_share_memory(a.raw, b.raw))
