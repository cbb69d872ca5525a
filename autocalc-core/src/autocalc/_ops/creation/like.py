# SPDX-License-Identifier: MIT
"""Making tensors of the shape, dtype and layout of others."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import dtype_near
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.coerce import not_a_tensor
from autocalc._ops._operator.layouts import laid_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import finished, number, undefined
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.device import Device, dtype_at
from autocalc._tensor.dtypes import DType
from autocalc._tensor.memory_format import MemoryFormat


def kind_of(where: str, input: Any, dtype: Any, device: str | Device | None) -> Any:
    """Return NumPy's dtype of what is made like `input`; check all that tells it."""
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
    if memory_format is not None or array.ndim == 4:
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
) -> Tensor:
    """Return zeros of the shape and dtype of `input`.

    Parameters
    ----------
    input
        The tensor whose shape is taken, and its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether the result takes part in gradients.
    memory_format
        The layout of the elements in memory; by default that of `input`.

    Raises
    ------
    ShapeError
        If `channels_last` is asked for another number of dimensions than four.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros_like(ac.tensor([1, 2]))
    tensor([0, 0])
    """
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
) -> Tensor:
    """Return ones of the shape and dtype of `input`.

    Parameters
    ----------
    input
        The tensor whose shape is taken, and its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether the result takes part in gradients.
    memory_format
        The layout of the elements in memory; by default that of `input`.

    Raises
    ------
    ShapeError
        If `channels_last` is asked for another number of dimensions than four.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ones_like(ac.tensor([1, 2]))
    tensor([1, 1])
    """
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
) -> Tensor:
    """Return a tensor of the shape and dtype of `input`, its values undefined.

    Parameters
    ----------
    input
        The tensor whose shape is taken, and its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether the result takes part in gradients.
    memory_format
        The layout of the elements in memory; by default that of `input`.

    Raises
    ------
    ShapeError
        If `channels_last` is asked for another number of dimensions than four.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.empty_like(ac.ones(2, 3)).shape
    autocalc.Size([2, 3])
    """
    kind = kind_of("empty_like", input, dtype, device)
    array = undefined(input.shape, kind)
    return finished_like("empty_like", array, input, memory_format, requires_grad)


@traced
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Return a tensor of the shape and dtype of `input`, filled with one number.

    Parameters
    ----------
    input
        The tensor whose shape is taken, and its dtype.
    fill_value
        The number everywhere.
    dtype
        The dtype of the result.
    device
        The device of the result; by default that of `input`.
    requires_grad
        Whether the result takes part in gradients.
    memory_format
        The layout of the elements in memory; by default that of `input`.

    Raises
    ------
    ShapeError
        If `channels_last` is asked for another number of dimensions than four.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.full_like(ac.ones(2), 7.0)
    tensor([7., 7.])
    """
    kind = kind_of("full_like", input, dtype, device)
    array = arrays.full(input.shape, number("full", "fill_value", fill_value), kind)
    return finished_like("full_like", array, input, memory_format, requires_grad)
