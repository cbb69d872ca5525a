# SPDX-License-Identifier: MIT
"""The interface of a device's kernel set to that device's arrays."""

from __future__ import annotations

from typing import Any, Protocol

from autocalc._kernels.samples import Array, DType, Shape


class DeviceLibrary(Protocol):
    """The arrays of a device, in the form of NumPy's.

    An array has ``shape``, ``strides`` in bytes, ``ndim``, ``size``, ``flags`` with
    ``c_contiguous``, ``reshape``, ``transpose``, ``view(dtype)`` and basic indexing,
    all of which give views; assigning to ``a[...]`` converts and copies.  Kernels of
    the device get such arrays; numbers of a call that have no dimensions may be arrays
    of NumPy.  Work may be asynchronous: `to_host` and `synchronize` wait, and raise
    what kernels found wrong since the last time.

    Attributes
    ----------
    xp
        The namespace of references: NumPy's functions on the device's arrays, and the
        few more of AutoCalc's own namespace for NumPy.
    """

    xp: Any

    def count(self) -> int:
        """Return how many such devices this machine has."""

    def empty(self, shape: Shape, dtype: DType, /) -> Array:
        """Return a new C-contiguous array, its values undefined."""

    def from_host(self, array: Array, /) -> Array:
        """Return a copy of an array of NumPy, C-contiguous."""

    def to_host(self, array: Array, /) -> Array:
        """Return a copy as an array of NumPy, when all work on it is done."""

    def strided(self, array: Array, shape: Shape, strides: Shape, offset: int) -> Array:
        """Return a view `offset` bytes after the first element, strides in bytes."""

    def address(self, array: Array, /) -> int:
        """Return the address of the first element in the device's memory."""

    def may_share_memory(self, a: Array, b: Array, /) -> bool:
        """Return whether writing one of two arrays may change the other."""

    def pin(self, array: Array, /) -> Array:
        """Return a copy in host memory from which the device copies fastest."""

    def is_pinned(self, array: Array, /) -> bool:
        """Return whether an array of NumPy is in such memory."""

    def synchronize(self) -> None:
        """Wait until all work is done."""

    def stats(self) -> dict[str, int]:
        """Return the counters of the device's memory."""

    def trim(self) -> None:
        """Return cached memory to the device."""
