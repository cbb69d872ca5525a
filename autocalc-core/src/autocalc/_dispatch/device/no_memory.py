# SPDX-License-Identifier: MIT
"""The device "meta": arrays with a shape, strides and a dtype, but no elements.

The rules of specs give results their shapes and dtypes.  The kernels do nothing.  A
model of any size can therefore be built, moved and called without its memory.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autocalc._dispatch.device.without_work import WithoutWork
from autocalc.errors import AbsentError

META = "meta"

#: The address where the arrays seem to be. No process can have memory there, so a stray
#: read ends the process and never gives a value.
_FIRST = 1 << 60


class _Span:
    """Bytes that do not exist, in the form in which NumPy asks for memory."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (count,),
            "typestr": "|u1",
            "version": 3,
        }


class NoElements(np.ndarray):
    """A NumPy array over such bytes; writing into it does nothing."""

    def __setitem__(self, index: Any, value: Any) -> None:
        pass


class NoMemory(WithoutWork):
    """The array library of the device."""

    def __init__(self) -> None:
        self._next = _FIRST

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Return a new array, which takes no memory."""
        count = prod(shape) * dtype.itemsize
        span = np.asarray(_Span(self._next, count))
        self._next += max(-(-count // 64), 1) * 64
        return NoElements(shape, dtype, span)

    def from_host(self, array: Any) -> Any:
        """Return an array of the same shape and dtype."""
        return self.empty(array.shape, array.dtype)

    def to_host(self, array: Any) -> Any:
        """Raise an error, because there is nothing to copy.

        Raises
        ------
        AbsentError
            Always.
        """
        raise AbsentError(
            f"a tensor on the device 'meta' of shape {array.shape} has no values. "
            f"Cannot copy out of meta tensor; no data! Please use "
            f"torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
            f"module from meta to a different device. Or give a module memory by "
            f"load_state_dict(..., assign=True)."
        )

    def strided(self, array: Any, shape: Any, strides: Any, offset: int) -> Any:
        """Return a view `offset` bytes after the first element."""
        owner = self.whole(array)
        start = self.address(array) - self.address(owner) + offset
        return NoElements(shape, array.dtype, owner, start, strides)

    def whole(self, array: Any) -> Any:
        """Return all bytes of the memory to which an array belongs."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return owner.view(NoElements)

    def address(self, array: Any) -> int:
        """Return the address where the first element seems to be."""
        address: int = array.__array_interface__["data"][0]
        return address

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Return whether the arrays are views of one array."""
        return np.may_share_memory(a, b)


LIBRARY = NoMemory()


def nothing(*operands: Any) -> None:
    """Do nothing, like every kernel of this device."""
