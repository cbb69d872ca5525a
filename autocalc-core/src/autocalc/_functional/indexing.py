# SPDX-License-Identifier: MIT
"""Parts of a tensor, by index."""

from __future__ import annotations

from typing import Any

from autocalc import _dtypes as dtypes
from autocalc._functional._arguments import axis_of
from autocalc._ops import elementwise
from autocalc._ops import shape as shapes
from autocalc._ops._coerce import cast
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DimensionError, DTypeError


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements of `input` that `index` names along `dim`."""
    axis = axis_of("gather", dim, input.ndim)
    return shapes.gather(input, cast(index, dtypes.int64), axis)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `input` along `dim` that the 1-d `index` names."""
    axis = axis_of("index_select", dim, input.ndim)
    return shapes.index_select(input, cast(index, dtypes.int64), axis)


def getitem(input: Tensor, index: Any) -> Tensor:
    """Return ``input[index]``: integers, slices, None, Ellipsis, or one index tensor.

    Basic indexing gives a view.  An integer tensor (or list) selects along the first
    dimension.
    """
    if isinstance(index, list):
        from autocalc._creation import tensor

        index = tensor(index)
    if isinstance(index, Tensor):
        return _select(input, index)
    return shapes.slice(input, basic_index(input, index))


def _select(input: Tensor, index: Tensor) -> Tensor:
    """Select along the first dimension by an integer tensor of any shape."""
    if index.dtype in (dtypes.bool_, dtypes.uint8) or index.is_floating_point():
        message = (
            f"index: a tensor of {index.dtype.name} cannot be an index yet; use "
            f"integer positions, or where() for a mask."
        )
        raise DTypeError(message)
    if index.ndim == 0:
        return getitem(input, int(index))
    if input.ndim == 0:
        message = "index: a 0-d tensor cannot be indexed; use item() for its value."
        raise DimensionError(message)
    flat = cast(shapes.reshape(index, (-1,)), dtypes.int64)
    below = elementwise.lt(flat, 0)
    flat = elementwise.choose(below, elementwise.add(flat, input.shape[0]), flat)
    rows = index_select(input, 0, flat)
    return shapes.unshared(shapes.reshape(rows, (*index.shape, *input.shape[1:])))


def basic_index(x: Tensor, index: Any) -> tuple[Any, ...]:
    """Return a checked tuple of integers, slices, None and Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    result: list[Any] = []
    for part in parts:
        if part is None or part is Ellipsis:
            result.append(part)
        elif isinstance(part, slice):
            result.append(_checked_slice(part))
        elif isinstance(part, bool) or not hasattr(part, "__index__"):
            message = (
                f"index: {part!r} is a {type(part).__name__}; use integers, slices, "
                f"None, Ellipsis, or one integer tensor."
            )
            raise DTypeError(message)
        else:
            result.append(part.__index__())
    _check_range(x, result)
    return (*result, ...) if Ellipsis not in result else tuple(result)


def _checked_slice(part: Any) -> Any:
    step = 1 if part.step is None else part.step.__index__()
    if step < 1:
        message = f"index: a slice has step {step}; steps must be 1 or more."
        raise ArgumentError(message)
    start, stop = (
        None if e is None else e.__index__() for e in (part.start, part.stop)
    )
    return slice(start, stop, step)


def _check_range(x: Tensor, index: list[Any]) -> None:
    used = [part for part in index if part is not None and part is not Ellipsis]
    if len(used) > x.ndim or index.count(Ellipsis) > 1:
        message = (
            f"index: {len(used)} indices for a tensor of shape {x.shape}, which has "
            f"{x.ndim} dimensions."
        )
        raise DimensionError(message)
    axis = 0
    for part in index:
        if part is Ellipsis:
            axis = x.ndim - (len(used) - axis)
        elif part is not None:
            size = x.shape[axis]
            if not isinstance(part, slice) and not -size <= part < size:
                message = (
                    f"index: {part} is out of range for dimension {axis} of size "
                    f"{size} in shape {x.shape}."
                )
                raise DimensionError(message)
            axis += 1
