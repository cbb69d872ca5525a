# SPDX-License-Identifier: MIT
"""Numbers, nested lists, tensors and arrays, read into one new array."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import index
from typing import Any

import numpy as np

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._state import recorder
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import host_array
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, ShapeError


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
