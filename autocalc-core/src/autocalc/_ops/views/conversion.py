# SPDX-License-Identifier: MIT
"""Conversion to another dtype, device or layout; detaching from the history."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.layout import fits_channels_last, follows_pixels
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.cast import move
from autocalc._ops._operator.coerce import cast, result_dtype
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import Device, dtype_at
from autocalc._tensor.dtypes import DType
from autocalc._tensor.memory_format import (
    MemoryFormat,
    contiguous_format,
    preserve_format,
)


def detach(input: Tensor) -> Tensor:
    """Return a tensor that shares the memory of `input` and has no gradient history.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, requires_grad=True)
    >>> (x * 2).detach().requires_grad
    False
    """
    return check_tensor("detach", input).detach()


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """Return the dtype of the result of an operation on two operands.

    A 0-d tensor or a number changes the dtype of a tensor with dimensions only if it is
    of a higher kind.  The kinds, in order, are boolean, integer and floating point.  In
    the same way, a number changes the dtype of a 0-d tensor only if it is of a higher
    kind.

    Parameters
    ----------
    tensor1, tensor2
        Tensors or numbers.

    Raises
    ------
    DTypeError
        If an operand is neither a tensor nor a number.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.result_type(ac.tensor([1, 2], dtype=ac.int32), 1.0)
    autocalc.float32
    """
    return result_dtype("result_type", tensor1, tensor2)


def can_cast(from_: DType, to: DType) -> bool:
    """Return whether operations convert one dtype to another automatically.

    A dtype can be converted to a dtype of the same or of a higher kind.  The kinds, in
    ascending order, are boolean, integer and floating point.  An in-place operation can
    only store a result in a tensor to whose dtype it can be converted.

    Parameters
    ----------
    from_
        The dtype to convert from.
    to
        The dtype to convert to.

    Raises
    ------
    DTypeError
        If an argument is not a dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.can_cast(ac.float64, ac.float32), ac.can_cast(ac.float32, ac.int64)
    (True, False)
    """
    given, wanted = dtypes.as_dtype(from_), dtypes.as_dtype(to)
    return given.category <= wanted.category


@method("to")
@traced(light=True)
def to(
    input: Tensor,
    *args: Any,
    dtype: DType | None = None,
    copy: bool = False,
    device: str | Device | None = None,
    non_blocking: bool = False,  # copies to devices never wait anyway
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Return `input` with another dtype, on another device, or in another layout.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1.5, 2.0]).to(ac.int64)
    tensor([1, 2])
    """
    check_tensor("to", input)
    for arg in args:
        if arg.__class__ is DType:
            dtype = arg
        elif isinstance(arg, Tensor):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, (str, Device)):
            device = arg
        elif not isinstance(arg, bool) and arg is not None:
            dtype = dtypes.as_dtype(arg)
    result = input if dtype is None else cast(input, dtype)
    if result is not input and not input._array.flags.c_contiguous:
        result = laid_as(input, result)
    if device is not None:
        there = dtype_at(device, result._array.dtype)
        result = result if there is result._array.dtype else move(result, there)
    if copy and result is input:
        return view.clone(result, memory_format=memory_format)
    if memory_format is None or memory_format is preserve_format:
        return result
    if result.is_contiguous(memory_format):
        return result
    return view.clone(result, memory_format=memory_format)


@method("type_as")
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` converted to the dtype of `other`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1.5, 2.0]).type_as(ac.tensor([1]))
    tensor([1, 2])
    """
    dtype = check_tensor("type_as", other).dtype
    return to(check_tensor("type_as", input), dtype)


@method("contiguous")
@traced(views=True)
def _contiguous(self: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """Return the tensor if it is stored in `memory_format`, otherwise a copy that is.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(2, 3).t()
    >>> x.is_contiguous(), x.contiguous().is_contiguous()
    (False, True)
    """
    a = check_tensor("to", self)._array
    if memory_format is contiguous_format and a.flags.c_contiguous:
        return self
    return to(self, memory_format=memory_format)


def laid_as(x: Tensor, result: Tensor) -> Tensor:
    """Return `result` channels-last if `x` is, or is a part of such a tensor."""
    a = result._array
    if a.ndim != 4 or not follows_pixels(x._array) or fits_channels_last(a):
        return result
    return view.channels_last(result)
