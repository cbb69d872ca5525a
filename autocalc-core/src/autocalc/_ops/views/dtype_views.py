# SPDX-License-Identifier: MIT
"""The bytes of a tensor viewed as elements of another dtype: ``x.view(dtype)``."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.coerce import check_tensor
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, ShapeError


def view_as_dtype(x: Any, dtype: Any) -> Tensor:
    """Return the bytes of `x` as elements of `dtype`, in the same memory.

    A larger element becomes several elements along the last dimension, and several
    smaller elements become one.  The result has no gradient.

    Raises
    ------
    ShapeError
        If sizes or strides do not fit elements of another size.
    ArgumentError
        If the bytes of booleans would be neither 0 nor 1.
    """
    kind = dtypes.as_dtype(dtype)
    seen = check_tensor("view", x).detach()
    if kind is x.dtype:
        return seen
    array = seen._array
    if kind.itemsize != x.itemsize:
        _check_elements(x, kind)
        array = _dense(array)
    array = arrays.reinterpret(array, kind.numpy)
    if kind is dtypes.bool_:
        _check_truth(arrays.reinterpret(array, dtypes.uint8.numpy))
    seen._array = array
    return seen


def _dense(a: Any) -> Any:
    """Return an array whose last dimension has the stride of one element.

    If that dimension has size 1, or there are no elements, the stride could be any
    other.
    """
    if a.strides[-1] == a.itemsize:
        return a
    if a.size == 0:
        return arrays.empty(a.shape, a.dtype)
    return arrays.strided(a, a.shape, (*a.strides[:-1], a.itemsize))


def _check_elements(x: Tensor, kind: DType) -> None:
    """Raise unless the last dimension can be split or merged to the other item size."""
    single = x.numel() == 0 or (x.ndim > 0 and x.shape[-1] == 1)
    if x.ndim == 0 or not (single or x.stride(-1) == 1):
        raise ShapeError(
            f"view: a tensor of shape {x.shape} with strides {x.stride()} cannot be "
            f"viewed as {kind.name}, whose elements have another size than those of "
            f"{x.dtype.name}: its last dimension must have stride 1. Use contiguous()."
        )
    ratio = kind.itemsize // x.itemsize
    moved = [
        n for n, size in zip(x.stride()[:-1], x.shape[:-1], strict=True) if size > 1
    ]
    steps = [x.shape[-1], *([x.data_ptr() // x.itemsize, *moved] if x.numel() else ())]
    if ratio > 1 and any(step % ratio for step in steps):
        names = ["size(-1)", "storage_offset()"]
        names += [f"stride({i})" for i, n in enumerate(x.shape[:-1]) if n > 1]
        named = next(n for n, step in zip(names, steps, strict=False) if step % ratio)
        raise ShapeError(
            f"view: to view the tensor as {kind.name}, self.{named} must be divisible "
            f"by {ratio}, because {ratio} elements of {x.dtype.name} form one. The "
            f"tensor has shape {x.shape} and strides {x.stride()}."
        )


def _check_truth(bytes_: Any) -> None:
    most = arrays.max(bytes_, tuple(range(bytes_.ndim))) if bytes_.size else 0
    if most > 1:
        raise ArgumentError(
            f"view: a byte of {int(most)} is not a boolean, because it is neither 0 "
            "nor 1; compare the tensor with 0 instead."
        )
