# SPDX-License-Identifier: MIT
"""Tensors from numbers of Python, NumPy and other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import index
from typing import Any

import numpy as np

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import recorder
from autocalc._kernels.rules import check_ndim
from autocalc._ops._operator.declared import declared
from autocalc._ops.creation.constants import (
    finished,
    full,
    placed,
)
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import as_int
from autocalc._tensor.device import Device, host_array
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def array_from(data: Any, dtype: DType | None) -> Any:
    """Copy `data` into a new array: native byte order, C-contiguous."""
    if isinstance(data, Tensor):
        data = host_array(data._array)
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    exact = _is_typed(data)
    if not isinstance(data, (list, tuple)):
        found = np.asarray(_plain(data))
    else:
        if dtype is None and not _holds_numbers(data):
            kinds = list(_dtypes(data))
            dtype = reduce(dtypes.promote, kinds) if kinds else None
        found = _nested(data)
    if dtype is None:
        dtype = dtypes.of(found.dtype.newbyteorder("=")) if exact else _infer(found)
    elif found.dtype.kind not in "biuf" and found.dtype != dtypes.bfloat16.numpy:
        raise dtypes._unsupported(found.dtype)
    if not exact and dtype.category == 1 and found.dtype is not dtype.numpy:
        _check_range(found, dtype)
    out = arrays.empty(found.shape, dtype.numpy)
    out[...] = found
    recording = recorder()
    if recording is not None:
        recording.memory.slot_of(out).filled = True
    return out


def _check_range(found: Any, dtype: DType) -> None:
    """Raise if a number of Python's has no place in an integer dtype."""
    limits = np.iinfo(dtype.numpy)
    wrong = ~((found >= limits.min) & (found <= limits.max))
    if wrong.any():
        message = (
            f"tensor: the number {found[wrong].flat[0]} does not fit into "
            f"{dtype.name}, which holds {limits.min} to {limits.max}."
        )
        raise ArgumentError(message)


def _is_typed(data: Any) -> bool:
    """Return whether all that `data` holds has a dtype of its own."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(map(_is_typed, data))
    return isinstance(data, (np.ndarray, np.generic, Tensor))


_NUMBERS = {bool, int, float}
_LISTS = {list, tuple}


def _nested(data: Any) -> Any:
    """Turn tensors in nested lists into arrays; ragged lists are an error.

    Where the first is a tensor or a number, all are numbers: tensors of one element.
    Where it is a list, a tensor is taken for one, too.
    """
    if not _holds_numbers(data):  # a million in half the time
        numbers = isinstance(data[0], Tensor) or not hasattr(data[0], "__len__")
        data = [_member(x, numbers) for x in data]
    try:
        return np.array(data)
    except ValueError:
        check_ndim(_depth(data))
        message = (
            "tensor: the nested lists are ragged; all lists of one level must have one "
            "length."
        )
        raise ShapeError(message) from None


def _member(x: Any, number: bool) -> Any:
    """Return a member of a list as NumPy takes it; a number for a tensor of one."""
    if isinstance(x, (list, tuple)):
        return _nested(x)
    if not isinstance(x, Tensor):
        return _plain(x)
    if number and x.numel() != 1:
        message = (
            f"tensor: a list has a tensor of shape {tuple(x.shape)}, where one number "
            f"is needed; use ac.stack or ac.cat to join tensors."
        )
        raise ShapeError(message)
    array = host_array(x._array)
    array = array.astype(np.float32) if x.dtype is dtypes.bfloat16 else array
    return array.reshape(()) if number else array


def _dtypes(data: Any) -> Iterator[DType]:
    """Yield the dtype of all that nested lists hold."""
    for x in data:
        if isinstance(x, Tensor):
            yield x.dtype
        elif isinstance(x, (np.ndarray, np.generic)):
            yield dtypes.of(x.dtype.newbyteorder("="))
        elif isinstance(x, (list, tuple)):
            yield from _dtypes(x)
        else:
            yield _infer(np.asarray(_plain(x)))


def _depth(data: Any) -> int:
    """Return how many lists the first number is in."""
    depth = 0
    while isinstance(data, (list, tuple)):
        depth, data = depth + 1, data[0] if len(data) else None
    return depth + np.ndim(data)


def _holds_numbers(data: Any) -> bool:
    """Return whether nested lists hold Python's numbers alone."""
    kinds = set(map(type, data))
    return kinds <= _NUMBERS or (kinds <= _LISTS and all(map(_holds_numbers, data)))


def _plain(x: Any) -> Any:
    if isinstance(x, int) and x.__class__ not in _NUMBERS:
        return index(x)
    return host_array(x._array) if isinstance(x, Tensor) else x


def _infer(found: Any) -> DType:
    """Return the dtype of Python data: bool, int64 or the default float."""
    kind = found.dtype.kind
    if kind == "f" or found.size == 0:
        return dtypes.get_default_dtype()
    if kind == "b":
        return dtypes.bool_
    if kind in "iu":
        return dtypes.int64
    raise dtypes._unsupported(found.dtype)


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Copy numbers, nested lists or an array into a new tensor.

    Parameters
    ----------
    data
        Python floats become the default dtype, integers int64; arrays keep theirs, and
        a list of several dtypes has the one that holds them all.  In a list of numbers
        a tensor of one element is a number.
    dtype
        The dtype to have instead.
    requires_grad
        Whether `backward` shall give this leaf a gradient.
    device
        The device of the result; by default the CPU.

    Raises
    ------
    ShapeError
        If nested lists are ragged.
    DTypeError
        If a dtype is not supported.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if device is not None:
        Device(device)
    array = placed(array_from(data, dtype), device)
    return finished("tensor", array, None, requires_grad)


def as_tensor(
    data: Any, dtype: DType | None = None, device: str | Device | None = None
) -> Tensor:
    """Return `data` as a tensor, sharing memory where that is possible.

    Parameters
    ----------
    data
        A tensor, an array, numbers or lists of them.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.as_tensor([1.0, 2.0])
    tensor([1., 2.])
    """
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if isinstance(data, np.ndarray) and not _obstacle(data):
        return from_numpy(data).to(device=device, dtype=dtype)
    return tensor(data, dtype=dtype, device=device)


def scalar_tensor(
    s: float,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return a tensor without dimensions, by default of the default float dtype.

    Parameters
    ----------
    s
        The number.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether the result takes part in gradients.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.scalar_tensor(3.0)
    tensor(3.)
    """
    return full((), s, dtype=dtypes.as_dtype(dtype or dtypes.get_default_dtype()),
                device=device, requires_grad=requires_grad)  # fmt: skip


def from_numpy(array: Any) -> Tensor:
    """Return a tensor on the memory of a NumPy array.

    Parameters
    ----------
    array
        The array; its memory is shared.

    Raises
    ------
    DTypeError
        If it is no array or its dtype is not supported.
    ArgumentError
        If the memory cannot be shared: read-only, of foreign byte order, unaligned, or
        with negative strides.  `tensor` copies such arrays.

    Examples
    --------
    >>> import numpy as np, autocalc as ac
    >>> a = np.zeros(2, np.float32)
    >>> t = ac.from_numpy(a)
    >>> a[0] = 7
    >>> t
    tensor([7., 0.])
    """
    if not isinstance(array, np.ndarray):
        message = (
            f"from_numpy: needs a NumPy array, not {type(array).__name__}; use "
            f"ac.tensor(...)."
        )
        raise DTypeError(message)
    obstacle = _obstacle(array)
    if obstacle:
        message = (
            f"from_numpy: the array is {obstacle}, so its memory cannot be shared; use "
            f"ac.tensor(array) to copy it."
        )
        raise ArgumentError(message)
    dtype = dtypes.of(array.dtype)
    plain = array.view(np.ndarray)
    if plain.dtype is not dtype.numpy:
        plain = plain.view(dtype.numpy)
    shared = make(plain, None)
    shared._cell().exported = True
    return shared


@declared
def frombuffer(
    buffer: Any,
    *,
    dtype: DType,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return a tensor of one dimension on the memory of a buffer.

    Parameters
    ----------
    buffer
        An object with Python's buffer interface that can be written to, such as a
        `bytearray`; its memory is shared.
    dtype
        The dtype of the elements.
    count
        How many elements; -1 for all that follow `offset`.
    offset
        How many bytes are left out in front.
    requires_grad
        Whether the tensor takes part in gradients.

    Raises
    ------
    DTypeError
        If `buffer` has no buffer interface, or integers were to require a gradient.
    ArgumentError
        If `buffer` does not hold so many elements, or its memory cannot be shared:
        read-only, or not aligned.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.frombuffer(bytearray([1, 0, 2, 0]), dtype=ac.int16)
    tensor([1, 2], dtype=autocalc.int16)
    """
    kind = dtypes.as_dtype(dtype)
    size, start = (
        as_int("frombuffer", name, given)
        for name, given in (("count", count), ("offset", offset))
    )
    try:
        view = memoryview(buffer)
    except TypeError:
        message = (
            f"frombuffer: `buffer` is a {type(buffer).__name__}; it must be an object "
            f"with a buffer, such as a bytearray or an array."
        )
        raise DTypeError(message) from None
    left = view.nbytes - start
    wanted = size * kind.itemsize if size > 0 else left
    if start < 0 or left <= 0 or size == 0 or size < -1 or wanted > left:
        message = (
            f"frombuffer: `count`={size} elements of {kind.name} from byte {start} on "
            f"do not fit into the {view.nbytes} bytes of `buffer`."
        )
        raise ArgumentError(message)
    if wanted % kind.itemsize:
        message = (
            f"frombuffer: {wanted} bytes are no whole number of elements of "
            f"{kind.name}, which take {kind.itemsize} bytes each; give `count`."
        )
        raise ArgumentError(message)
    if view.readonly or not view.c_contiguous:
        message = (
            "frombuffer: `buffer` is read-only or not in one piece, so its memory "
            "cannot be shared; give a bytearray(...) of it."
        )
        raise ArgumentError(message)
    array = np.frombuffer(view, kind.numpy, wanted // kind.itemsize, start)
    made = from_numpy(array)
    return made.requires_grad_() if requires_grad else made


def _obstacle(array: Any) -> str:
    if not array.dtype.isnative:
        return "of foreign byte order"
    if not array.flags.aligned:
        return "not aligned to its elements"
    if not array.flags.writeable:
        return "read-only"
    if any(stride < 0 for stride in array.strides):
        return "laid out with negative strides"
    return ""


def from_dlpack(source: Any) -> Tensor:
    """Return a tensor on the memory of any object with ``__dlpack__``.

    Parameters
    ----------
    source
        An object with `__dlpack__`.

    Raises
    ------
    ArgumentError
        If `source` has no `__dlpack__`, or lives on another device.

    Examples
    --------
    >>> import numpy as np, autocalc as ac
    >>> ac.from_dlpack(np.ones(2, np.float32))
    tensor([1., 1.])
    """
    try:
        array = np.from_dlpack(source)
    except (TypeError, AttributeError, BufferError, ValueError, RuntimeError) as error:
        message = (
            f"from_dlpack: {type(source).__name__} cannot be shared: {error}. It must "
            f"live on the CPU and offer __dlpack__; of bfloat16, share .view(int16) "
            f"and take .view(ac.bfloat16) of that."
        )
        raise ArgumentError(message) from error
    if not array.flags.writeable:
        return tensor(array)
    return from_numpy(array)


def to_numpy(array: Any, dtype: Any, copy: bool | None) -> Any:
    """Serve ``__array__``: share unless a copy is asked for or needed."""
    wanted = array.dtype if dtype is None else np.dtype(dtype)
    if wanted == array.dtype and not copy:
        return array
    if copy is False:
        message = f"a copy is needed to turn {array.dtype} into {wanted}."
        raise ArgumentError(message)
    return array.astype(wanted)
