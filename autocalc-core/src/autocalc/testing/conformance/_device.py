# SPDX-License-Identifier: MIT
"""Run kernels of a device on operands of the host, with copies there and back.

The whole memory of an operand is copied, including guards and gaps.  Writes outside of
the operands are therefore detected on the device, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autocalc._dispatch.device.addresses import address
from autocalc._dispatch.device.device import dtype_on, library_of
from autocalc._kernels.kernel_set import KernelSet
from autocalc._kernels.spec import Array, DType


def on_host(kernel_set: KernelSet, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel of a set, wrapped so that it accepts operands on the host."""
    if kernel_set.device == "cpu":
        return function
    library = library_of(kernel_set.device)

    def kernel(*operands: Any) -> Any:
        memory = _There(library)
        result = function(*[memory.placed(x) for x in operands])
        memory.bring_back()
        return result

    return kernel


def placed(kernel_set: KernelSet, operand: Any) -> Any:
    """Return the dispatcher's operand on the device of the set."""
    if kernel_set.device == "cpu" or operand is None:
        return operand
    if isinstance(operand, (list, tuple)):
        return [placed(kernel_set, one) for one in operand]
    return dtype_on(kernel_set.device, operand.dtype).copied(operand)


def dtype_of_set(kernel_set: KernelSet, dtype: DType) -> Any:
    """Return the dtype object of the results of a set's kernels."""
    if kernel_set.device == "cpu":
        return dtype
    return dtype_on(kernel_set.device, dtype)


class _There:
    """The memory of one call on a device."""

    def __init__(self, library: Any) -> None:
        self._library = library
        #: The owners of memory and their copies, by the ids of the owners.
        self._blocks: dict[int, tuple[Array, Any]] = {}

    def placed(self, operand: Any) -> Any:
        """Return an operand in a copy of its memory; keep numbers and strings."""
        if isinstance(operand, (list, tuple)) and _holds_arrays(operand):
            return [self.placed(one) for one in operand]
        if not isinstance(operand, np.ndarray):
            return operand
        owner = _owner(operand)
        if id(owner) not in self._blocks:
            line = np.ndarray((owner.nbytes,), np.uint8, owner)
            self._blocks[id(owner)] = owner, self._library.from_host(line)
        _, there = self._blocks[id(owner)]
        offset = address(operand) - address(owner)
        start = offset % operand.itemsize  # for unaligned operands
        whole = there[start:]
        whole = whole[: whole.size // operand.itemsize * operand.itemsize]
        return self._library.strided(
            whole.view(operand.dtype), operand.shape, operand.strides, offset - start
        )

    def bring_back(self) -> None:
        """Copy all memory to the host; raise errors that the device found."""
        for owner, there in self._blocks.values():
            line = np.ndarray((owner.nbytes,), np.uint8, owner)
            line[...] = self._library.to_host(there)


def _holds_arrays(operands: Sequence[Any]) -> bool:
    return any(isinstance(x, np.ndarray) for x in operands)


def _owner(a: Array) -> Array:
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a
