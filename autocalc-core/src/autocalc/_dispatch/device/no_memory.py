# SPDX-License-Identifier: MIT
"""The device "meta": arrays with a shape, strides and a dtype, and without elements.

Results have the shapes and dtypes of the specs' rules, and its kernels do nothing, so
that a model of any size is built, moved and called without its memory.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autocalc.errors import AbsentError

META = "meta"

#: Where its arrays seem to be: no process can have memory there, so that a stray read
#: ends it and never gives a value.
_FIRST = 1 << 60


class _Span:
    """Bytes that are nowhere, as NumPy asks for memory."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (count,),
            "typestr": "|u1",
            "version": 3,
        }


class NoElements(np.ndarray):
    """An array of NumPy over such bytes; to write into it does nothing."""

    def __setitem__(self, index: Any, value: Any) -> None:
        pass


class NoMemory:
    """The library of the device: what makes its arrays."""

    xp: Any = None

    def __init__(self) -> None:
        self._next = _FIRST

    def count(self) -> int:
        """Return 1."""
        return 1

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Return a new array, which takes no memory."""
        count = max(prod(shape) * dtype.itemsize, 1)
        span = np.asarray(_Span(self._next, count))
        self._next += -(-count // 64) * 64
        return NoElements(shape, dtype, span)

    def from_host(self, array: Any) -> Any:
        """Return an array of that shape and dtype."""
        return self.empty(array.shape, array.dtype)

    def to_host(self, array: Any) -> Any:
        """Raise: there is nothing to copy.

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
        """Return the bytes that an array is part of."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return owner.view(NoElements)

    def address(self, array: Any) -> int:
        """Return where the first element seems to be."""
        address: int = array.__array_interface__["data"][0]
        return address

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Return whether the arrays are views of one."""
        return np.may_share_memory(a, b)

    def pin(self, array: Any) -> Any:
        """Return the array itself."""
        return array

    def is_pinned(self, array: Any) -> bool:  # noqa: ARG002  nothing is
        """Return False."""
        return False

    def synchronize(self) -> None:
        """Do nothing: there is no work."""

    def stats(self) -> dict[str, int]:
        """Return that no memory is used."""
        return {"in_use": 0, "peak": 0, "cached": 0}

    def trim(self) -> None:
        """Do nothing."""


LIBRARY = NoMemory()


def nothing(*operands: Any) -> None:
    """Do what every kernel does there."""
