# SPDX-License-Identifier: MIT
"""Methods that make new tensors with this tensor's dtype, and its NumPy form."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.traced import traced
from autocalc._ops.creation import constants, from_data
from autocalc._ops.creation.constants import filled
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import plain, short
from autocalc._tensor.device import Device, near
from autocalc._tensor.dtypes import DType
from autocalc._tensor.layouts import check_layout
from autocalc._tensor.layouts import layout as Layout
from autocalc._tensor.size import Size
from autocalc.errors import ArgumentError, DTypeError


class Creation:
    """New tensors of the same dtype."""

    __slots__ = ()

    def _array_of(self: Tensor, data: tuple[Any, ...], dtype: DType | None) -> Any:
        """Return the array of ``Tensor(*data)``: of data, or of undefined values."""
        kind = dtype or dtypes.get_default_dtype()
        if len(data) == 1 and isinstance(data[0], Size):  # another tensor's shape
            return constants.empty(data[0], dtype=kind)._array
        if data and all(type(plain(one)) is int for one in data):
            return constants.empty(*data, dtype=kind)._array
        if len(data) > 1:
            raise ArgumentError(
                f"Tensor: got {len(data)} arguments that are not all integers; give "
                "sizes, as in Tensor(2, 3), or one argument with data, as in "
                "Tensor([2.0, 3.0])."
            )
        return from_data.array_from(data[0] if data else (), kind)

    @traced(light=True)
    def new_zeros(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool | None = False,
        layout: Layout | None = None,
        pin_memory: bool | None = False,
    ) -> Tensor:
        """Return a tensor of zeros with the dtype of this tensor."""
        if layout is not None or pin_memory is not False:
            check_layout("new_zeros", layout, pin_memory)
        kind = self.dtype if dtype is None else dtype
        return filled(
            "zeros", 0, sizes, size, kind, None, near(self, device), requires_grad
        )

    @traced(light=True)
    def new_ones(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool | None = False,
        layout: Layout | None = None,
        pin_memory: bool | None = False,
    ) -> Tensor:
        """Return a tensor of ones with the dtype of this tensor."""
        if layout is not None or pin_memory is not False:
            check_layout("new_ones", layout, pin_memory)
        kind = self.dtype if dtype is None else dtype
        return filled(
            "ones", 1, sizes, size, kind, None, near(self, device), requires_grad
        )

    def new_empty(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool | None = False,
        layout: Layout | None = None,
        pin_memory: bool | None = False,
    ) -> Tensor:
        """Return a tensor with the dtype of this tensor, whose elements are undefined.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2, dtype=ac.int8).new_empty(2, 3).dtype
        autocalc.int8
        """
        if layout is not None or pin_memory is not False:
            check_layout("new_empty", layout, pin_memory)
        return constants.empty(
            *sizes,
            size=size,
            dtype=self.dtype if dtype is None else dtype,
            device=near(self, device),
            requires_grad=requires_grad,
        )

    @traced(light=True)
    def new_full(
        self: Tensor,
        size: Any,
        fill_value: Any,
        *,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool | None = False,
        layout: Layout | None = None,
        pin_memory: bool | None = False,
    ) -> Tensor:
        """Return a tensor with the dtype of this tensor, filled with one number.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2, dtype=ac.int8).new_full((3,), 7)
        tensor([7, 7, 7], dtype=autocalc.int8)
        """
        if layout is not None or pin_memory is not False:
            check_layout("new_full", layout, pin_memory)
        return constants.full(
            size,
            fill_value,
            dtype=self.dtype if dtype is None else dtype,
            device=near(self, device),
            requires_grad=requires_grad,
        )

    def new(self: Tensor, *data: Any, device: str | Device | None = None) -> Tensor:
        """Return a tensor of this dtype, with the given sizes or a copy of given data.

        It is PyTorch's old name for `new_empty` and `new_tensor`.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([1, 2]).new([3.5, 4.0])
        tensor([3, 4])
        """
        there = near(self, device)
        sizes = data[0] if len(data) == 1 and data[0].__class__ is Size else data
        if all(type(one) is int for one in sizes):
            return constants.empty(
                tuple(sizes) if data else 0, dtype=self.dtype, device=there
            )
        if len(data) > 1 or isinstance(data[0], (str, float, bool)):
            raise ArgumentError(
                f"new: got {short(data)}; give sizes, as in x.new(2, 3), or one "
                "argument with data, as in x.new([2.0, 3.0])."
            )
        if isinstance(data[0], Tensor) and data[0].dtype is not self.dtype:
            raise DTypeError(
                f"new: the tensors are {self.dtype.name} and {data[0].dtype.name}; "
                "they must have the same dtype."
            )
        return from_data.tensor(data[0], dtype=self.dtype, device=there)

    def new_tensor(
        self: Tensor,
        data: Any,
        *,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool | None = False,
    ) -> Tensor:
        """Return a copy of numbers, lists or an array, with the dtype of this tensor.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2, dtype=ac.float64).new_tensor([1, 2])
        tensor([1., 2.], dtype=autocalc.float64)
        """
        kind = self.dtype if dtype is None else dtype
        return from_data.tensor(
            data, dtype=kind, device=near(self, device), requires_grad=requires_grad
        )

    def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
        return from_data.to_numpy(self.numpy(), dtype, copy)

    def __array_wrap__(
        self: Tensor, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Tensor:
        """Convert the result of a NumPy function; NumPy calls this method."""
        return from_data.from_numpy(array)
