# SPDX-License-Identifier: MIT
"""The interface of a device's kernel set to that device's arrays."""

from __future__ import annotations

from typing import Any, Protocol

from autocalc._kernels.samples import Array, DType, Shape


class DeviceLibrary(Protocol):
    """The functions for arrays of a device, which resemble NumPy's arrays.

    An array has ``shape``, ``strides`` in bytes, ``ndim``, ``size``, ``flags`` with
    ``c_contiguous``, ``reshape``, ``transpose``, ``view(dtype)`` and basic indexing,
    all of which return views.  An assignment to ``a[...]`` copies the values and
    converts them to the dtype of ``a``.  Kernels of the device receive these arrays.
    Operands without dimensions may also be NumPy arrays.  Work may be asynchronous:
    `to_host` and `synchronize` wait for it.  They also raise the errors that kernels
    have found since the last wait.

    Attributes
    ----------
    xp
        The namespace for reference kernels: NumPy's functions for arrays of the device,
        and the additional functions of AutoCalc's own namespace for NumPy.
    """

    xp: Any

    def count(self) -> int:
        """Return the number of devices of this kind in the machine."""

    def empty(self, shape: Shape, dtype: DType, /) -> Array:
        """Return a new C-contiguous array, whose elements are undefined."""

    def from_host(self, array: Array, /) -> Array:
        """Return a C-contiguous copy of a NumPy array on the device."""

    def to_host(self, array: Array, /) -> Array:
        """Return a copy as a NumPy array, after all work on the array has ended."""

    def strided(self, array: Array, shape: Shape, strides: Shape, offset: int) -> Array:
        """Return a view that begins at byte `offset`, with strides in bytes."""

    def address(self, array: Array, /) -> int:
        """Return the address of the first element in the device's memory."""

    def may_share_memory(self, a: Array, b: Array, /) -> bool:
        """Return whether a write to one of the arrays may change the other one."""

    def pin(self, array: Array, /) -> Array:
        """Return a copy in pinned host memory, for the fastest copies to the device."""

    def is_pinned(self, array: Array, /) -> bool:
        """Return whether a NumPy array is in pinned memory; see `pin`."""

    def synchronize(self) -> None:
        """Wait until all work on the device has ended."""

    def stats(self) -> dict[str, int]:
        """Return the counters of the device's memory."""

    def trim(self) -> None:
        """Return cached memory to the device."""
