# SPDX-License-Identifier: MIT
"""Making tensors of the shape, dtype and layout of others."""

from __future__ import annotations

from typing import Any

from autocalc._ops._layouts import laid_out
from autocalc._ops.filled import empty, finished, float_or, full, like, ones, zeros
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.memory_format import MemoryFormat


def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool = False,
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
        "cpu", or None for it: the only device.
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
    kind = float_or(dtype, like("zeros_like", input).dtype)
    made = zeros(input.shape, dtype=kind, device=device)
    made = laid_out("zeros_like", made, memory_format, input)
    return finished("zeros_like", made._array, None, requires_grad)


def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool = False,
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
        "cpu", or None for it: the only device.
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
    kind = float_or(dtype, like("ones_like", input).dtype)
    made = ones(input.shape, dtype=kind, device=device)
    made = laid_out("ones_like", made, memory_format, input)
    return finished("ones_like", made._array, None, requires_grad)


def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool = False,
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
        "cpu", or None for it: the only device.
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
    kind = float_or(dtype, like("empty_like", input).dtype)
    made = empty(input.shape, dtype=kind, device=device)
    made = laid_out("empty_like", made, memory_format, input)
    return finished("empty_like", made._array, None, requires_grad)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool = False,
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
        "cpu", or None for it: the only device.
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
    made = full(
        like("full_like", input).shape,
        fill_value,
        dtype=float_or(dtype, input.dtype),
        device=device,
    )
    made = laid_out("full_like", made, memory_format, input)
    return finished("full_like", made._array, None, requires_grad)
