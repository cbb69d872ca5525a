# SPDX-License-Identifier: MIT
"""Methods that give a tensor another size or other memory in place."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._methods.typed_storage import TypedStorage
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.layouts import laid_out
from autocalc._ops._operator.out import spoken
from autocalc._ops.creation.constants import noted_undefined, shape_of
from autocalc._ops.creation.strided import StridedSizes, empty_strided
from autocalc._tensor import Tensor, make
from autocalc._tensor.device import Device, near
from autocalc._tensor.dtypes import DType
from autocalc._tensor.memory_format import MemoryFormat
from autocalc._tensor.storage import UntypedStorage, storage_of
from autocalc.errors import ArgumentError, DTypeError, GradError


class Memory:
    """Methods that change or request memory."""

    __slots__ = ()

    def resize_(
        self: Tensor, *sizes: Any, memory_format: MemoryFormat | None = None
    ) -> Tensor:
        """Change the shape of this tensor in place; return the tensor.

        The elements stay in memory in their present order; additional elements are
        undefined.  Memory that is shared with other tensors does not grow.

        Raises
        ------
        GradError
            If the tensor requires a gradient.
        ArgumentError
            If the tensor needs more memory and shares its memory with other tensors or
            arrays.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.arange(6).resize_(2, 2)
        tensor([[0, 1],
                [2, 3]])
        """
        x = check_tensor("resize_", self)
        shape = shape_of("resize_", sizes)
        if x._edge is not None:
            raise GradError("resize_: cannot resize variables that require grad.")
        if shape != x._array.shape:
            _hold(x, _resized(x, shape))
        if memory_format is not None:
            _hold(x, laid_out("resize_", x, memory_format, x)._array)
        return x

    def resize_as_(
        self: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None
    ) -> Tensor:
        """Give this tensor the shape of another one, in place; return the tensor.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.arange(6).resize_as_(ac.zeros(3))
        tensor([0, 1, 2])
        """
        shape = check_tensor("resize_as_", the_template).shape
        return self.resize_(*shape, memory_format=memory_format)

    def set_(
        self: Tensor,
        source: Tensor | TypedStorage | UntypedStorage | None = None,
        storage_offset: int = 0,
        size: StridedSizes | None = None,
        stride: StridedSizes | None = None,
    ) -> Tensor:
        """Make this tensor use the memory of `source`; return the tensor.

        Parameters
        ----------
        source
            A tensor or a storage, or None for memory without elements.
        storage_offset
            The index of the first element in that memory.
        size, stride
            The sizes and the strides, in elements; by default those of the tensor
            `source`, or one dimension with all elements of the storage `source`.

        Raises
        ------
        DTypeError
            If the elements of `source` have another dtype.

        Examples
        --------
        >>> import autocalc as ac
        >>> x, y = ac.zeros(2), ac.ones(3)
        >>> x.set_(y)
        tensor([1., 1., 1.])
        >>> y.zero_()
        tensor([0., 0., 0.])
        >>> x
        tensor([0., 0., 0.])
        """
        x = check_tensor("set_", self)
        if x.requires_grad and current().grad:
            raise GradError(
                "set_: a leaf Variable that requires grad is being used in an "
                "in-place operation. Call it under ac.no_grad(), or on x.detach()."
            )
        if source is None:
            return _take(x, make(arrays.empty((0,), x._array.dtype), None))
        if not isinstance(source, (Tensor, TypedStorage, UntypedStorage)):
            raise ArgumentError(
                f"set_: `source` is a {type(source).__name__}; it must be a tensor or "
                f"a storage."
            )
        of_tensor = isinstance(source, Tensor)
        kind = x.dtype if isinstance(source, UntypedStorage) else source.dtype
        if kind is not x.dtype:
            raise DTypeError(
                f"set_: Expected a Storage of type {spoken(x.dtype)} or an "
                f"UntypedStorage, but got type {spoken(kind)}."
            )
        whole: Any = source
        if of_tensor and size is None:
            return _take(x, whole)
        memory = whole.untyped_storage() if of_tensor else whole.untyped()
        count = memory.nbytes() // x.itemsize
        row = make(memory._bytes[: count * x.itemsize].view(x._array.dtype), None)
        row._version = memory._version
        shape = (count - storage_offset,) if size is None else shape_of("set_", (size,))
        steps = _steps(shape) if stride is None else shape_of("set_", (stride,))
        return _take(x, row.as_strided(shape, steps, storage_offset))

    def is_set_to(self: Tensor, tensor: Tensor) -> bool:
        """Return whether two tensors have the same memory, offset, sizes and strides.

        Examples
        --------
        >>> import autocalc as ac
        >>> x = ac.ones(2)
        >>> x.is_set_to(x.detach()), x.is_set_to(ac.ones(2))
        (True, False)
        """
        other = check_tensor("is_set_to", tensor)
        same = self.data_ptr() == other.data_ptr() and self.dtype is other.dtype
        return same and (self.shape, self.stride()) == (other.shape, other.stride())

    def new_empty_strided(
        self: Tensor,
        size: StridedSizes,
        stride: StridedSizes,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return a tensor of this dtype with given strides and undefined elements.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2).new_empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
        """
        return empty_strided(
            size,
            stride,
            dtype=self.dtype if dtype is None else dtype,
            device=near(self, device),
            requires_grad=requires_grad,
        )


def _take(x: Tensor, other: Tensor) -> Tensor:
    """Let a tensor use the memory of another one; count this as a write."""
    x._bump()
    x.data = other
    return x


def _hold(x: Tensor, array: Any) -> None:
    """Let a tensor use another array, on its own or on new memory."""
    x._bump()
    x._array, x._view = array, None


def _alone(a: Any) -> bool:
    """Return whether only one tensor uses the memory of an array."""
    owner = a.base
    if owner is None:
        return sys.getrefcount(a) <= 4  # of the tensor, two functions and the call
    owned = owner.__class__ is np.ndarray and owner.base is None
    return owned and sys.getrefcount(owner) <= 3 and sys.getrefcount(a) <= 4


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([prod(shape[d + 1 :]) for d in range(len(shape))])


def _resized(x: Tensor, shape: tuple[int, ...]) -> Any:
    """Return an array of another size that begins with the elements of `x`."""
    a, count = x._array, prod(shape)
    if a.__class__ is DeviceArray and (a.size and not x.is_meta):
        raise ArgumentError("resize_: only tensors on the CPU can change their size.")
    if a.__class__ is DeviceArray or not a.size:
        return noted_undefined(arrays.empty(shape, a.dtype))
    alone = x._version is None or _alone(a)
    memory = storage_of(a)
    row = memory._bytes[x.data_ptr() - memory.data_ptr() :]
    row = row[: row.size // a.itemsize * a.itemsize].view(a.dtype)
    if count <= row.size:
        return row[:count].reshape(shape)
    if not alone:
        raise ArgumentError(
            f"resize_: {count} elements are more than the memory holds, and other "
            "tensors or arrays may share this memory. Make a .clone() and resize it."
        )
    grown = noted_undefined(arrays.empty((count,), a.dtype))
    grown[: row.size] = row
    return grown.reshape(shape)
