# SPDX-License-Identifier: MIT
"""Making tensors: from data, from other libraries, of constants, at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc import _dtypes as dtypes
from autocalc._device import Device
from autocalc._dispatch._arrays import arrays
from autocalc._dtypes import DType
from autocalc._random import Generator, default_generator
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, DTypeError, ShapeError

Size = Any  # int or a sequence of ints


def array_from(data: Any, dtype: DType | None) -> Any:
    """Copy `data` into a new array: native byte order, C-contiguous."""
    if isinstance(data, Tensor):
        data = data._array
    exact = _is_typed(data)
    found = _nested(data) if isinstance(data, (list, tuple)) else np.asarray(data)
    if dtype is None:
        dtype = dtypes.of(found.dtype.newbyteorder("=")) if exact else _infer(found)
    elif found.dtype.kind not in "biuf":
        raise dtypes._unsupported(found.dtype)
    out = arrays.empty(found.shape, dtype.numpy)
    out[...] = found
    return out


def _is_typed(data: Any) -> bool:
    """Return whether all that `data` holds has a dtype of its own."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and all(map(_is_typed, data))
    return isinstance(data, (np.ndarray, np.generic, Tensor))


def _nested(data: Any) -> Any:
    """Turn tensors in nested lists into arrays; ragged lists are an error."""
    try:
        return np.array([_nested(x) if isinstance(x, (list, tuple)) else _plain(x)
                         for x in data])  # fmt: skip
    except ValueError:
        message = (
            "tensor: the nested lists are ragged; all lists of one level must have one "
            "length."
        )
        raise ShapeError(message) from None


def _plain(x: Any) -> Any:
    return x._array if isinstance(x, Tensor) else x


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
    device: str | Device = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Copy numbers, nested lists or an array into a new tensor.

    Parameters
    ----------
    data
        Python floats become the default dtype, integers int64; arrays keep theirs.
    dtype
        The dtype to have instead.
    requires_grad
        Whether `backward` shall give this leaf a gradient.

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
    Device(device)
    result = make(array_from(data, dtype), None)
    return result.requires_grad_() if requires_grad else result


def as_tensor(data: Any, dtype: DType | None = None) -> Tensor:
    """Return `data` as a tensor, sharing memory where that is possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and not _obstacle(data):
        shared = from_numpy(data)
        return shared if dtype is None else shared.to(dtype)
    return tensor(data, dtype=dtype)


def from_numpy(array: Any) -> Tensor:
    """Return a tensor on the memory of a NumPy array.

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
    return make(plain if plain.dtype is dtype.numpy else plain.view(dtype.numpy), None)


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
            f"live on the CPU and offer __dlpack__."
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


# ---- constants -----------------------------------------------------------------------


def _shape(where: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape given as numbers or as one sequence."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    shape = tuple(int(n) for n in size)
    if any(n < 0 for n in shape):
        message = f"{where}: the shape {shape} has a negative size."
        raise ShapeError(message)
    return shape


def _filled(
    where: str, size: tuple[Any, ...], value: Any, dtype: Any, requires_grad: bool
) -> Tensor:
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    result = make(arrays.full(_shape(where, size), value, kind.numpy), None)
    return result.requires_grad_() if requires_grad else result


def zeros(
    *size: Size,
    dtype: DType | None = None,
    device: str | Device = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of zeros.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(2, 3).shape
    (2, 3)
    """
    Device(device)
    return _filled("zeros", size, 0, dtype, requires_grad)


def ones(
    *size: Size,
    dtype: DType | None = None,
    device: str | Device = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of ones."""
    Device(device)
    return _filled("ones", size, 1, dtype, requires_grad)


def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: str | Device = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor filled with one number; its dtype is the number's by default."""
    Device(device)
    kind = dtypes.of_scalar(fill_value) if dtype is None else dtype
    return _filled("full", (tuple(size),), fill_value, kind, requires_grad)


def empty(
    *size: Size,
    dtype: DType | None = None,
    device: str | Device = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor whose values are undefined."""
    Device(device)
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    result = make(arrays.empty(_shape("empty", size), kind.numpy), None)
    return result.requires_grad_() if requires_grad else result


def zeros_like(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return zeros of the shape and dtype of `input`."""
    return zeros(input.shape, dtype=dtype or input.dtype)


def ones_like(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return ones of the shape and dtype of `input`."""
    return ones(input.shape, dtype=dtype or input.dtype)


def empty_like(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return a tensor of the shape and dtype of `input`, its values undefined."""
    return empty(input.shape, dtype=dtype or input.dtype)


def full_like(input: Tensor, fill_value: Any, *, dtype: DType | None = None) -> Tensor:
    """Return a tensor of the shape and dtype of `input`, filled with one number."""
    return full(input.shape, fill_value, dtype=dtype or input.dtype)


def arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return start, start + step, ... below `end`; of integers, int64."""
    if step == 0:
        message = "arange: `step` is 0; it must move."
        raise ArgumentError(message)
    first, last = (0, start) if end is None else (start, end)
    integers = all(isinstance(x, int) for x in (first, last, step))
    kind = dtype or (dtypes.int64 if integers else dtypes.get_default_dtype())
    values = np.arange(first, last, step)
    return tensor(values, dtype=kind, requires_grad=requires_grad)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return `steps` numbers, evenly spaced from `start` to `end`, both included."""
    values = np.linspace(start, end, steps)
    kind = dtype or dtypes.get_default_dtype()
    return tensor(values, dtype=kind, requires_grad=requires_grad)


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the matrix [n, m] with ones on its diagonal."""
    kind = dtype or dtypes.get_default_dtype()
    return tensor(np.eye(n, m), dtype=kind, requires_grad=requires_grad)


# ---- random numbers ------------------------------------------------------------------


def random_into(kernel: str, out: Any, low: float, high: float, generator: Any) -> None:
    """Fill the float array `out` by a random kernel and move the generator on."""
    words = 2 * out.size * (2 if out.dtype.itemsize == 8 else 1)
    seed, offset = (generator or default_generator).draw(words)
    getattr(arrays, kernel)(seed, offset, float(low), float(high), into=out)


def _random(
    kernel: str,
    size: tuple[Any, ...],
    dtype: DType | None,
    generator: Generator | None,
    requires_grad: bool,
) -> Tensor:
    kind = dtype or dtypes.get_default_dtype()
    if not kind.is_floating_point:
        message = f"random numbers of {kind.name} are made by randint, not here."
        raise DTypeError(message)
    out = arrays.empty(_shape(kernel, size), kind.numpy)
    random_into(kernel, out, 0.0, 1.0, generator)
    result = make(out, None)
    return result.requires_grad_() if requires_grad else result


def rand(
    *size: Size,
    dtype: DType | None = None,
    device: str | Device = "cpu",
    generator: Generator | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers drawn evenly from [0, 1)."""
    Device(device)
    return _random("uniform", size, dtype, generator, requires_grad)


def randn(
    *size: Size,
    dtype: DType | None = None,
    device: str | Device = "cpu",
    generator: Generator | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers drawn from the normal distribution of mean 0 and deviation 1."""
    Device(device)
    return _random("normal", size, dtype, generator, requires_grad)


def rand_like(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return numbers drawn from [0, 1), of the shape and dtype of `input`."""
    return rand(input.shape, dtype=dtype or input.dtype)


def randn_like(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return normal numbers of the shape and dtype of `input`."""
    return randn(input.shape, dtype=dtype or input.dtype)


def randint(
    low: int,
    high: int | Sequence[int] | None = None,
    size: Sequence[int] | None = None,
    *,
    dtype: DType = dtypes.int64,
    generator: Generator | None = None,
) -> Tensor:
    """Return integers drawn evenly from low to high - 1; or ``randint(high, size)``."""
    if size is None:
        low, high, size = 0, low, high  # type: ignore[assignment]  # PyTorch's short form
    if not isinstance(high, int) or high <= low or size is None:
        message = f"randint: low={low}, high={high}, size={size}: high must exceed low."
        raise ArgumentError(message)
    shape = _shape("randint", (tuple(size),))
    words = arrays.empty(shape, dtypes.int64.numpy)
    seed, offset = (generator or default_generator).draw(2 * words.size)
    arrays.random_bits(seed, offset, 62, into=words)
    return tensor(low + words % (high - low), dtype=dtype)


def randperm(n: int, *, generator: Generator | None = None) -> Tensor:
    """Return the integers 0 to n - 1 in random order."""
    words = arrays.empty((n,), dtypes.int64.numpy)
    seed, offset = (generator or default_generator).draw(2 * n)
    arrays.random_bits(seed, offset, 62, into=words)
    return tensor(np.argsort(words, kind="stable"))
