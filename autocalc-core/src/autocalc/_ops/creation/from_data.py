# SPDX-License-Identifier: MIT
"""Make tensors from numbers of Python, NumPy and other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import index
from typing import Any

import numpy as np

from autocalc._dispatch._callers import warn
from autocalc._dispatch.selection.arrays import arrays
from autocalc._kernels.rules import check_ndim
from autocalc._ops._operator.declared import declared
from autocalc._ops.creation.constants import finished, full, placed
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import as_int, check_flags, short
from autocalc._tensor.device import Device, host_array, present
from autocalc._tensor.dlpack import borrow, is_lender
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError, ShapeError


def array_from(data: Any, dtype: DType | None) -> Any:
    """Copy `data` into a new C-contiguous array with native byte order."""
    if isinstance(data, Tensor):
        data = host_array(data._array)
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if hasattr(data, "untyped"):
        data = _of_storage(data, dtype)
    if hasattr(data, "cell"):  # a varying number, while `compile` records
        return arrays.full((), data, (dtype or dtypes.of_scalar(data)).numpy)
    exact = _is_typed(data)
    if not isinstance(data, (list, tuple)):
        found = np.asarray(_plain(data))
    else:
        if dtype is None and not _holds_numbers(data):
            kinds = _dtypes_of(data)
            dtype = reduce(dtypes.promote, kinds) if kinds else None
        found = _nested(data)
        if dtype is dtypes.uint64 and found.dtype.kind == "f" and _holds_numbers(data):
            return arrays.filled(_of_64_bits(data), dtype.numpy)
    if found.dtype.kind == "O":
        exact = is_lender(data) and not isinstance(data, (np.ndarray, np.generic))
        found = from_dlpack(data).numpy() if exact else _rounded(found, dtype)
    if found.dtype.kind in "OSU":
        raise _no_numbers(found)
    if dtype is None:
        dtype = dtypes.of(found.dtype.newbyteorder("=")) if exact else _infer(found)
    else:
        _check_kind(found, dtype)
    if not exact and dtype.category == 1 and found.dtype is not dtype.numpy:
        _check_range(found, dtype)
    return arrays.filled(found, dtype.numpy)


def _of_64_bits(data: Any) -> Any:
    """Return numbers as exact integers; NumPy makes floats of them from 2**63."""
    found = np.array(data, object)
    _check_range(found, dtypes.uint64)
    return found


def _rounded(found: Any, dtype: DType | None) -> Any:
    """Return integers of more than 64 bits as floats if the dtype is one.

    Other objects remain as they are.
    """
    if dtype is None or not dtype.is_floating_point:
        return found
    if not all(
        isinstance(x, (int, float, complex)) for x in found.reshape(-1).tolist()
    ):
        return found
    try:
        return found.astype(np.float64)
    except OverflowError:  # beyond the largest float
        return found


def _check_kind(found: Any, dtype: DType) -> None:
    """Raise unless the elements are numbers that a dtype can hold."""
    if found.dtype.kind == "c" and not dtype.is_complex:
        raise _no_imaginary(dtype)
    if found.dtype.kind not in "biufc" and found.dtype != dtypes.bfloat16.numpy:
        raise dtypes._unsupported(found.dtype)


def _no_imaginary(dtype: DType) -> DTypeError:
    return DTypeError(
        f"tensor: complex numbers do not fit into {dtype.name}; use dtype=ac.complex64 "
        "or ac.complex128, or the real parts of the numbers."
    )


def _no_numbers(found: Any) -> DTypeError:
    """Make the error for objects, strings and integers of more than 64 bits."""
    for one in found.reshape(-1).tolist():
        if not isinstance(one, (int, float, complex)):
            return DTypeError(
                f"tensor: invalid data type: {short(one)}, of type "
                f"{type(one).__name__}, is not a number. Give numbers, lists of "
                "numbers, or an array of numbers; array.astype('float32') converts "
                "an array of objects."
            )
    return DTypeError(
        "tensor: got an array of objects, or an integer of more than 64 bits; convert "
        "it with np.asarray(values, dtype='float32')."
    )


def _of_storage(storage: Any, dtype: DType | None) -> Any:
    """Return the elements of a storage; the bytes of an untyped one as elements."""
    own = getattr(storage, "dtype", None)
    if own is not None and dtype not in (None, own):
        raise DTypeError(
            f"tensor: Expected a Storage of type {dtype} or an UntypedStorage, but got "
            f"type {own}."
        )
    kind = own or dtype or dtypes.uint8
    memory = storage.untyped()._bytes
    return memory[: memory.size // kind.itemsize * kind.itemsize].view(kind.numpy)


def _check_range(found: Any, dtype: DType) -> None:
    """Raise if a Python number does not fit into an integer dtype."""
    limits = np.iinfo(dtype.numpy)
    wrong = ~((found >= limits.min) & (found <= limits.max))
    if wrong.any():
        raise ArgumentError(
            f"tensor: the number {found[wrong].flat[0]} does not fit into "
            f"{dtype.name}, which holds {limits.min} to {limits.max}."
        )


def _is_typed(data: Any) -> bool:
    """Return whether everything that `data` holds has a dtype of its own."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(map(_is_typed, data))
    return isinstance(data, (np.ndarray, np.generic, Tensor))


_NUMBERS = {bool, int, float, complex}
_LISTS = {list, tuple}


def _nested(data: Any) -> Any:
    """Convert nested lists with tensors to an array; ragged lists are an error.

    If the first member is a tensor or a number, every member must be a number or a
    tensor of one element.  If the first member is a list, a tensor counts as a list,
    too.
    """
    if not _holds_numbers(data):  # takes half the time for a million
        numbers = isinstance(data[0], Tensor) or not hasattr(data[0], "__len__")
        data = [_member(x, numbers) for x in data]
    try:
        return np.array(data)
    except ValueError:
        check_ndim(_depth(data))
        raise ShapeError(
            "tensor: the nested lists have different lengths; all lists of one level "
            "must have the same length."
        ) from None


def _member(x: Any, number: bool) -> Any:
    """Return a member of a list as NumPy takes it; a tensor of one as a number."""
    if isinstance(x, (list, tuple)):
        return _nested(x)
    if not isinstance(x, Tensor):
        return _plain(x)
    if number and x.numel() != 1:
        raise ShapeError(
            f"tensor: a list contains a tensor of shape {tuple(x.shape)}, but only "
            "tensors of one element count as numbers; use ac.stack or ac.cat to join "
            "tensors."
        )
    array = host_array(x._array)
    array = array.astype(np.float32) if x.dtype is dtypes.bfloat16 else array
    return array.reshape(()) if number else array


def _dtypes_of(data: Any) -> list[DType]:
    """Return the dtypes of all that nested lists hold."""
    try:
        return list(_dtypes(data))
    except RecursionError:
        raise DTypeError(
            "tensor: self-referential lists are incompatible with tensors: a list is "
            "an element of itself."
        ) from None


def _dtypes(data: Any) -> Iterator[DType]:
    """Yield the dtypes of all that nested lists hold."""
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
    """Return the number of lists around the first number."""
    depth = 0
    while isinstance(data, (list, tuple)):
        depth, data = depth + 1, data[0] if len(data) else None
    return depth + np.ndim(data)


def _holds_numbers(data: Any) -> bool:
    """Return whether nested lists hold only Python numbers."""
    kinds = set(map(type, data))
    return kinds <= _NUMBERS or (kinds <= _LISTS and all(map(_holds_numbers, data)))


def _plain(x: Any) -> Any:
    if isinstance(x, int) and x.__class__ not in _NUMBERS:
        return index(x)
    return host_array(x._array) if isinstance(x, Tensor) else x


def _infer(found: Any) -> DType:
    """Return the dtype of Python data: bool, int64 or the default float dtype."""
    kind = found.dtype.kind
    if kind == "f" or found.size == 0:
        return dtypes.get_default_dtype()
    if kind == "c":
        return dtypes.get_default_dtype().to_complex()
    if kind == "b":
        return dtypes.bool_
    if kind in "iu":
        return dtypes.int64
    raise _no_numbers(found) if kind in "OSU" else dtypes._unsupported(found.dtype)


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a new tensor with a copy of numbers, nested lists or an array.

    Parameters
    ----------
    data
        Numbers, nested lists of numbers, an array, or an object that shares its memory
        through DLPack.  Python floats get the default dtype, and Python integers int64.
        Arrays keep their dtype, and a list of several dtypes gets the dtype that holds
        all of them.  In a list of numbers, a tensor of one element counts as a number.
    dtype
        The dtype of the result; by default it is found from `data`.
    requires_grad
        True to record operations on the result, so that `backward` gives it a gradient.
    device
        The device of the result; by default the CPU.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If nested lists have different lengths.
    DTypeError
        If a dtype is not supported.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if pin_memory is not False:
        check_flags("tensor", pin_memory=pin_memory)
    if device is not None:
        present(device)
    array = placed(array_from(data, dtype), device)
    return finished("tensor", array, None, requires_grad)


def as_tensor(
    data: Any, dtype: DType | None = None, device: str | Device | None = None
) -> Tensor:
    """Return `data` as a tensor that shares its memory where possible.

    Parameters
    ----------
    data
        A tensor, an array, a number, or a list of these.
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
    """Return a 0-d tensor, by default of the default dtype.

    Parameters
    ----------
    s
        The number that becomes a tensor.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.scalar_tensor(3.0)
    tensor(3.)
    """
    return full((), s, dtype=dtypes.as_dtype(dtype or dtypes.get_default_dtype()),
                device=device, requires_grad=requires_grad)  # fmt: skip


def from_numpy(array: Any) -> Tensor:
    """Return a tensor that shares the memory of a NumPy array.

    Parameters
    ----------
    array
        The array; its memory is shared.

    Raises
    ------
    DTypeError
        If `array` is not a NumPy array, or its dtype is not supported.
    ArgumentError
        If the memory cannot be shared: its byte order is foreign, it is not aligned, or
        it has negative strides.  `tensor` copies such arrays.

    Warns
    -----
    AutocalcWarning
        If the array is read-only.  The tensor then has a copy, which may be written.

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
        raise DTypeError(
            f"from_numpy: needs a NumPy array, not {type(array).__name__}; use "
            f"ac.tensor(...)."
        )
    obstacle = _obstacle(array)
    if obstacle == _READ_ONLY:
        warn(
            "from_numpy: the array is read-only; the tensor has a copy of it.",
            AutocalcWarning,
        )
        return tensor(array)
    if obstacle:
        raise ArgumentError(
            f"from_numpy: the array is {obstacle}, so its memory cannot be shared; use "
            f"ac.tensor(array) to copy it."
        )
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
    """Return a 1-d tensor that shares the memory of a buffer.

    Parameters
    ----------
    buffer
        A writable object with Python's buffer interface, such as a `bytearray`.
    dtype
        The dtype of the elements.
    count
        The number of elements; -1 takes all elements after `offset`.
    offset
        The number of bytes to skip at the start of the buffer.
    requires_grad
        True to record operations on the tensor for gradients.

    Raises
    ------
    DTypeError
        If `buffer` does not have the buffer interface, or integers would require a
        gradient.
    ArgumentError
        If `buffer` holds fewer elements than `count`, or its memory cannot be shared
        because it is read-only or not aligned.

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
        raise DTypeError(
            f"frombuffer: `buffer` is a {type(buffer).__name__}; this object does not "
            f"implement Python buffer protocol. Give a bytearray or an array."
        ) from None
    left = view.nbytes - start
    wanted = size * kind.itemsize if size > 0 else left
    if not view.nbytes or not size:
        raise ArgumentError(
            f"frombuffer: both buffer length ({view.nbytes}) and count ({size}) must "
            f"not be 0."
        )
    if not 0 <= start < view.nbytes:
        raise ArgumentError(
            f"frombuffer: offset ({start} bytes) must be non-negative and no greater "
            f"than buffer length ({view.nbytes} bytes) minus 1."
        )
    if size < -1 or wanted > left:
        raise ArgumentError(
            f"frombuffer: requested buffer length ({size} * {kind.itemsize} bytes) "
            f"after offset ({start} bytes) must not be greater than actual buffer "
            f"length ({view.nbytes} bytes), and `count` not below -1."
        )
    if wanted % kind.itemsize:
        raise ArgumentError(
            f"frombuffer: buffer length ({left} bytes) after offset ({start} bytes) "
            f"must be a multiple of the {kind.itemsize} bytes of {kind.name}; or give "
            f"`count`."
        )
    if not view.c_contiguous:
        raise ArgumentError(
            "frombuffer: `buffer` is not in one piece, so its memory cannot be shared; "
            "give a bytearray(...) of it."
        )
    array = np.frombuffer(view, kind.numpy, wanted // kind.itemsize, start)
    if view.readonly:
        warn(
            "The given buffer is not writable. The tensor of frombuffer has a copy of "
            "it.",
            UserWarning,
        )
        array = array.copy()
    made = from_numpy(array)
    return made.requires_grad_() if requires_grad else made


_READ_ONLY = "read-only"


def _obstacle(array: Any) -> str:
    if not array.dtype.isnative:
        return "of foreign byte order"
    if not array.flags.aligned:
        return "not aligned to its elements"
    if not array.flags.writeable:
        return _READ_ONLY
    if any(stride < 0 for stride in array.strides):
        return "laid out with negative strides"
    return ""


def from_dlpack(source: Any) -> Tensor:
    """Return a tensor that shares the memory of an object with ``__dlpack__``.

    Parameters
    ----------
    source
        An object with the method `__dlpack__`; or the capsule that this method returns.
        Read-only memory is copied.

    Raises
    ------
    ArgumentError
        If `source` does not have the method `__dlpack__`, or its memory is on another
        device.

    Examples
    --------
    >>> import numpy as np, autocalc as ac
    >>> ac.from_dlpack(np.ones(2, np.float32))
    tensor([1., 1.])
    """
    try:
        array = borrow(source)
    except (TypeError, AttributeError, BufferError, ValueError, RuntimeError) as error:
        raise ArgumentError(
            f"from_dlpack: {type(source).__name__} cannot be shared: {error}. It must "
            "be on the CPU and have the method __dlpack__."
        ) from error
    if not array.flags.writeable:
        return tensor(array)
    return from_numpy(array)


def to_numpy(array: Any, dtype: Any, copy: bool | None) -> Any:
    """Implement ``__array__``: share memory unless a copy is requested or needed."""
    wanted = array.dtype if dtype is None else np.dtype(dtype)
    if wanted == array.dtype and not copy:
        return array
    if copy is False:
        raise ArgumentError(f"a copy is needed to turn {array.dtype} into {wanted}.")
    return array.astype(wanted)
