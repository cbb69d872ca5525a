# SPDX-License-Identifier: MIT
"""Helpers that make tensors, and tensors of constants."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.choice import FILLING
from autocalc._dispatch.selection.state import recorder
from autocalc._ops._operator.coerce import check_tensor
from autocalc._ops._operator.layouts import laid_out
from autocalc._ops._operator.out import copy_to_out
from autocalc._ops._operator.short_calls import leave_undefined
from autocalc._ops._operator.traced import traced
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor import device as places
from autocalc._tensor.checks import FLAG, check_flag
from autocalc._tensor.device import Device, dtype_at
from autocalc._tensor.dtypes import DType
from autocalc._tensor.layouts import check_layout
from autocalc._tensor.layouts import layout as Layout
from autocalc._tensor.memory_format import MemoryFormat
from autocalc._tensor.size import Size as Sizes
from autocalc.errors import ArgumentError, DTypeError, ShapeError

Size = Any  # an int or a sequence of ints


def shape_of(where: str, sizes: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """Return the shape given as numbers, as one sequence, or by keyword."""
    given = sizes[0] if len(sizes) == 1 and sizes[0].__class__ in _SHAPES else sizes
    total = 1
    for n in given:
        if n.__class__ is not int or n <= 0:
            break
        total *= n
    else:
        if size is None and sizes and total < _TOO_LARGE:
            return given
    return _checked_shape(where, sizes, size)


_SHAPES = frozenset({tuple, Sizes})

#: No memory holds this many elements.
_TOO_LARGE = 2**60


def _checked_shape(where: str, sizes: tuple[Any, ...], size: Any) -> tuple[int, ...]:
    """Return a shape of any kind, also an empty one; raise if it is not a shape."""
    if size is not None:
        if sizes:
            message = (
                f"{where}: both the sizes {sizes!r} and `size`={size!r} are given; "
                "give only one of them."
            )
            raise ArgumentError(message)
        sizes = (size,)
    elif not sizes:
        raise ArgumentError(
            f"{where}: no sizes were given; give () for a tensor without dimensions."
        )
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    try:
        shape = tuple([index(n) for n in sizes])
    except TypeError:
        message = f"{where}: the sizes {sizes!r} are not all integers."
        raise DTypeError(message) from None
    if any(n < 0 for n in shape):
        raise ShapeError(
            f"{where}: the shape {shape} has a negative size; each must be greater or "
            "equal to 0."
        )
    if math.prod(shape) >= _TOO_LARGE or max(shape, default=0) >= _TOO_LARGE:
        what = "Stride" if 0 in shape else "Storage size"
        raise ShapeError(
            f"{where}: {what} calculation overflowed: the shape {shape} is larger "
            "than any memory."
        )
    return shape


def count_of(where: str, n: Any) -> int:
    """Return a number of things, which must not be negative."""
    if isinstance(n, (tuple, list)):
        raise DTypeError(f"{where}: needs one number, not {n!r}.")
    return shape_of(where, (n,))[0]


def placed(array: Any, device: str | Device | None) -> Any:
    """Return an array on a device; copy it if it is elsewhere."""
    if device is None and places._host is places.cpu:  # saves a call: 50 ns
        return array
    kind = dtype_at(device, array.dtype)
    return array if kind is array.dtype else arrays.move(array, kind)


def finished(where: str, array: Any, out: Tensor | None, requires_grad: Any) -> Tensor:
    """Return a new array as a tensor, or copy it into `out`."""
    if requires_grad is False and out is None:
        return make(array, None)
    if requires_grad.__class__ is not FLAG and requires_grad is not None:
        check_flag(where, "requires_grad", requires_grad)
    result = make(array, None)
    if out is not None:
        return copy_to_out(where, result, out)
    return result.requires_grad_() if requires_grad else result


def _fill_with_most(array: Any) -> None:
    """Write NaN into a new array, or the largest number of an integer dtype."""
    kind = dtypes.of(array.dtype)
    most: Any = math.nan
    if not (kind.is_floating_point or kind.is_complex):
        most = True if kind is dtypes.bool_ else np.iinfo(kind.numpy).max
    number = arrays.constant(most, array)
    arrays.copy(arrays.expand(number, array.shape), into=array)


def undefined(shape: Any, dtype: Any) -> Any:
    """Return a new array that the caller fills, or partly fills."""
    return noted_undefined(arrays.empty(shape, dtype))


def noted_undefined(array: Any) -> Any:
    """Return a new array, and tell recorders that nothing has filled it.

    If a program asked for deterministic algorithms, fill it.
    """
    if FILLING["asked"] and FILLING["memory"] and array.size:
        _fill_with_most(array)
        return array
    leave_undefined(array)
    recording = recorder()
    if recording is not None:
        recording.memory.slot_of(array).undefined = True
    return array


def float_or(dtype: Any, default: DType | None = None) -> DType:
    """Return an optional dtype; the default is the default float dtype."""
    if dtype is None:
        return default or dtypes.get_default_dtype()
    return dtypes.as_dtype(dtype)


def number(where: str, name: str, value: Any) -> Any:
    """Return a plain real number; a tensor of one element counts as a number."""
    value = any_number(where, name, value)
    if isinstance(value, (complex, np.complexfloating)):
        raise DTypeError(
            f"{where}: `{name}` is {value!r}, a {type(value).__name__}; it must be a "
            f"real number."
        )
    return value


def any_number(where: str, name: str, value: Any) -> Any:
    """Return a plain number, which may be complex; a tensor of one element is one."""
    if value.__class__ is int or value.__class__ is float:
        return value
    value = value.item() if isinstance(value, Tensor) else value
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise DTypeError(
            f"{where}: `{name}` is {value!r}, a {type(value).__name__}; it must be a "
            f"number."
        )
    return value


#: An argument that must be a tensor, such as the `input` of `zeros_like`.
like = check_tensor


@traced(light=True, declares=False)
def zeros(
    *sizes: Size,
    size: Size = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor of zeros.

    Parameters
    ----------
    *sizes
        The sizes of the result, as separate arguments or as one sequence.
    size
        The sizes as a keyword argument.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(2, 3).shape
    autocalc.Size([2, 3])
    """
    if layout is not None or pin_memory is not False:
        check_layout("zeros", layout, pin_memory)
    return filled("zeros", 0, sizes, size, dtype, out, device, requires_grad)


def filled(
    where: str,
    value: float,
    sizes: tuple[Any, ...],
    size: Size,
    dtype: Any,
    out: Tensor | None,
    device: str | Device | None,
    requires_grad: Any,
) -> Tensor:
    """Return a tensor filled with one number, for `zeros` and `ones`."""
    shape = shape_of(where, sizes, size)
    kind = dtype_at(device, dtype_of(dtype, out).numpy)
    array = arrays.full(shape, value, kind)
    return finished(where, array, out, requires_grad)


def dtype_of(dtype: Any, out: Tensor | None) -> DType:
    """Return the requested dtype, or that of `out`, or the default dtype."""
    if out is None and (dtype is None or dtype.__class__ is DType):
        return dtype or dtypes.get_default_dtype()
    return float_or(dtype, None if out is None else like("out", out).dtype)


@traced(light=True, declares=False)
def ones(
    *sizes: Size,
    size: Size = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor of ones.

    Parameters
    ----------
    *sizes
        The sizes of the result, as separate arguments or as one sequence.
    size
        The sizes as a keyword argument.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    if layout is not None or pin_memory is not False:
        check_layout("ones", layout, pin_memory)
    return filled("ones", 1, sizes, size, dtype, out, device, requires_grad)


@traced(light=True, declares=False)
def full(
    size: Size,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor in which every element is `fill_value`.

    Parameters
    ----------
    size
        The sizes of the result, one for each dimension.
    fill_value
        The value of all elements; it determines the dtype if `dtype` is None.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.full((2,), 7.0)
    tensor([7., 7.])
    """
    if layout is not None or pin_memory is not False:
        check_layout("full", layout, pin_memory)
    value = any_number("full", "fill_value", fill_value)
    if dtype is None and out is None:
        kind = dtypes.of_scalar(value)
    else:
        kind = dtype_of(dtype, out)
    there = dtype_at(device, kind.numpy)
    array = arrays.full(shape_of("full", (size,)), value, there)
    return finished("full", array, out, requires_grad)


@traced(light=True, declares=False)
def empty(
    *sizes: Size,
    size: Size = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor whose elements are undefined.

    Parameters
    ----------
    *sizes
        The sizes of the result, as separate arguments or as one sequence.
    size
        The sizes as a keyword argument.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The order of the elements in memory; by default row-major order.
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
    >>> ac.empty(2, 3).shape
    autocalc.Size([2, 3])
    """
    if layout is not None or pin_memory is not False:
        check_layout("empty", layout, pin_memory)
    there = dtype_at(device, dtype_of(dtype, out).numpy)
    array = undefined(shape_of("empty", sizes, size), there)
    made = make(array, None)
    if memory_format is not None:
        made = laid_out("empty", made, memory_format, made)
    return finished("empty", made._array, out, requires_grad)


@traced(declares=False)
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a matrix of shape [n, m] with ones on its diagonal, and 0 elsewhere.

    Parameters
    ----------
    n
        The number of rows.
    m
        The number of columns; by default `n`.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if layout is not None or pin_memory is not False:
        check_layout("eye", layout, pin_memory)
    rows, columns = shape_of("eye", (n, n if m is None else m))
    kind = dtype_at(device, dtype_of(dtype, out).numpy)
    values = arrays.full((rows, columns), 0, kind)
    if shorter := min(rows, columns):
        step = (columns + 1) * kind.itemsize
        line = arrays.strided(values, (shorter,), (step,))
        arrays.copy(arrays.expand(constant(1, kind), (shorter,)), into=line)
    return finished("eye", values, out, requires_grad)
