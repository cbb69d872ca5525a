# SPDX-License-Identifier: MIT
"""Make tensors with the shape, dtype and layout of other tensors."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import dtype_near
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.coerce import not_a_tensor
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.layouts import laid_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import (
    any_number,
    finished,
    noted_undefined,
    undefined,
)
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.device import Device, dtype_at
from autocalc._tensor.dtypes import DType
from autocalc._tensor.layouts import check_layout
from autocalc._tensor.layouts import layout as Layout
from autocalc._tensor.memory_format import MemoryFormat


def kind_of(where: str, input: Any, dtype: Any, device: str | Device | None) -> Any:
    """Return the NumPy dtype of a tensor like `input`; check the arguments for it."""
    try:
        kind = input._array.dtype
    except AttributeError:
        raise not_a_tensor(where, input) from None
    if dtype is not None:
        kind = dtype_near(input._array, dtypes.as_dtype(dtype).numpy)
    return kind if device is None else dtype_at(device, kind)


def finished_like(
    where: str,
    array: Any,
    input: Tensor,
    memory_format: MemoryFormat | None,
    requires_grad: Any,
) -> Tensor:
    """Return a new array as a tensor in the given layout, or in that of `input`."""
    if memory_format is not None or not input._array.flags.c_contiguous:
        made = laid_out(where, make(array, None), memory_format, input)
        array = made._array
    return finished(where, array, None, requires_grad)


@traced(light=True)
def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor of zeros with the shape and dtype of `input`.

    Parameters
    ----------
    input
        The tensor whose shape and dtype the result has.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The order of the elements in memory; by default that of `input`.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros_like(ac.tensor([1, 2]))
    tensor([0, 0])
    """
    if KINDS and (own := elsewhere("zeros_like", input)) is not None:
        return own(input, dtype=dtype, requires_grad=requires_grad)  # type: ignore[no-any-return]
    if layout is not None or pin_memory is not False:
        check_layout("zeros_like", layout, pin_memory)
    kind = kind_of("zeros_like", input, dtype, device)
    array = arrays.full(input.shape, 0, kind)
    return finished_like("zeros_like", array, input, memory_format, requires_grad)


@traced(light=True)
def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor of ones with the shape and dtype of `input`.

    Parameters
    ----------
    input
        The tensor whose shape and dtype the result has.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The order of the elements in memory; by default that of `input`.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ones_like(ac.tensor([1, 2]))
    tensor([1, 1])
    """
    if layout is not None or pin_memory is not False:
        check_layout("ones_like", layout, pin_memory)
    kind = kind_of("ones_like", input, dtype, device)
    array = arrays.full(input.shape, 1, kind)
    return finished_like("ones_like", array, input, memory_format, requires_grad)


@traced(light=True)
def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor with the shape and dtype of `input` and undefined elements.

    Parameters
    ----------
    input
        The tensor whose shape and dtype the result has.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The order of the elements in memory; by default that of `input`.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.empty_like(ac.ones(2, 3)).shape
    autocalc.Size([2, 3])
    """
    if KINDS and (own := elsewhere("empty_like", input)) is not None:
        return own(input, dtype=dtype, requires_grad=requires_grad)  # type: ignore[no-any-return]
    if layout is not None or pin_memory is not False:
        check_layout("empty_like", layout, pin_memory)
    kind = kind_of("empty_like", input, dtype, device)
    made = make(undefined(input.shape, kind), None)
    if memory_format is not None or not input._array.flags.c_contiguous:
        made = laid_out("empty_like", made, memory_format, input, is_empty=True)
        noted_undefined(made._array)
    return finished("empty_like", made._array, None, requires_grad)


@traced
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor with the shape and dtype of `input`, filled with one number.

    Parameters
    ----------
    input
        The tensor whose shape and dtype the result has.
    fill_value
        The value of all elements.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The order of the elements in memory; by default that of `input`.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.full_like(ac.ones(2), 7.0)
    tensor([7., 7.])
    """
    if layout is not None or pin_memory is not False:
        check_layout("full_like", layout, pin_memory)
    kind = kind_of("full_like", input, dtype, device)
    array = arrays.full(input.shape, any_number("full", "fill_value", fill_value), kind)
    return finished_like("full_like", array, input, memory_format, requires_grad)
