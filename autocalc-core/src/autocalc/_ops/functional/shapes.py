# SPDX-License-Identifier: MIT
"""Shapes, views and copies."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._dispatch._arrays import reshaped_view
from autocalc._dispatch._layout import is_channels_last
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import (
    Dims,
    axes_of,
    axis_of,
    check_tensor,
    full_shape,
    integers,
    min_of,
)
from autocalc._tensor import Tensor
from autocalc._tensor.memory_format import (
    MemoryFormat,
    asks_channels_last,
    preserve_format,
)
from autocalc.errors import DimensionError, ShapeError


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `input` in another shape; one size may be -1."""
    return shapes.reshape(
        check_tensor("reshape", input), full_shape("reshape", input, shape)
    )


def view(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `input` in another shape, sharing its memory.

    A result that an operator has stored channels-last is first stored row by row; what
    `detach` and `numpy` gave of it before keeps the memory that it has.

    Raises
    ------
    ShapeError
        If no strides give that shape without a copy; also of what is stored
        channels-last, where other views of it are alive.
    """
    sizes = full_shape("view", check_tensor("view", input), shape)
    seen = reshaped_view(input._array, sizes) is not None
    if not (seen or shapes.store_in_rows(input)):
        message = (
            f"view: a tensor of shape {input.shape} with strides {input.stride()} "
            f"cannot be seen as {sizes} without a copy; use reshape()."
        )
        raise ShapeError(message)
    return shapes.reshape_view(input, sizes)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return `input` with the dimensions start_dim to end_dim merged."""
    start = axis_of("flatten", start_dim, check_tensor("flatten", input).ndim)
    end = axis_of("flatten", end_dim, input.ndim)
    if start > end:
        message = (
            f"flatten: start_dim={start_dim} lies behind end_dim={end_dim} in a tensor "
            f"of {input.ndim} dimensions."
        )
        raise DimensionError(message)
    sizes = input.shape
    merged = 1
    for n in sizes[start : end + 1]:
        merged *= n
    return shapes.reshape(input, (*sizes[:start], merged, *sizes[end + 1 :]))


def squeeze(input: Tensor, dim: Dims = None) -> Tensor:
    """Return `input` without its dimensions of size 1, or without those in `dim`."""
    x = check_tensor("squeeze", input)
    none = isinstance(dim, (list, tuple)) and len(dim) == 0
    axes = () if none else axes_of("squeeze", x, dim)
    sizes = tuple(n for i, n in enumerate(input.shape) if n != 1 or i not in axes)
    return shapes.reshape(input, sizes)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Return `input` with a dimension of size 1 inserted before `dim`."""
    axis = axis_of("unsqueeze", dim, check_tensor("unsqueeze", input).ndim + 1)
    sizes = input.shape
    return shapes.reshape(input, (*sizes[:axis], 1, *sizes[axis:]))


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return `input` with its dimensions in the order `dims`: a view."""
    ndim = check_tensor("permute", input).ndim
    order = integers("permute", "dims", dims)
    axes, each = order, list(range(ndim))
    if sorted(order) != each:
        axes = tuple([axis_of("permute", d, ndim) for d in order])
    if sorted(axes) != each:
        message = (
            f"permute: `dims`={order} is no order of the {input.ndim} dimensions "
            f"of shape {input.shape}; name each once."
        )
        raise DimensionError(message)
    return shapes.permute(input, axes)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return `input` with two dimensions exchanged: a view."""
    if check_tensor("transpose", input).ndim == 0:
        axis_of("transpose", dim0, 0), axis_of("transpose", dim1, 0)
        return input
    axes = list(range(input.ndim))
    i = axis_of("transpose", dim0, input.ndim)
    j = axis_of("transpose", dim1, input.ndim)
    axes[i], axes[j] = axes[j], axes[i]
    return shapes.permute(input, tuple(axes))


def t(input: Tensor) -> Tensor:
    """Return the transpose of a matrix; vectors stay as they are."""
    if check_tensor("t", input).ndim > 2:
        message = f"t: takes matrices, not shape {input.shape}; use transpose()."
        raise ShapeError(message)
    return transpose(input, 0, 1) if input.ndim == 2 else input


def expand(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `input` repeated to `shape` without a copy; -1 keeps a size."""
    shape = integers("expand", "shape", shape)
    lead = len(shape) - check_tensor("expand", input).ndim
    sizes = tuple(
        [
            input.shape[i - lead] if n == -1 and i >= lead else n
            for i, n in enumerate(shape)
        ]
    )
    fits = lead >= 0 and all(
        old in (1, new) for old, new in zip(input.shape, sizes[lead:], strict=True)
    )
    if not fits or min_of(sizes) < 0:
        message = (
            f"expand: a tensor of shape {input.shape} cannot be expanded to "
            f"{tuple(shape)}: only dimensions of size 1 grow, new ones stand in front."
        )
        raise ShapeError(message)
    return shapes.expand(input, sizes)


def clone(
    input: Tensor, *, memory_format: MemoryFormat | None = preserve_format
) -> Tensor:
    """Return a copy with the same history, in the same layout if none is named.

    Raises
    ------
    ShapeError
        For `channels_last` of what has not four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(2, 3, 4, 5).to(memory_format=ac.channels_last)
    >>> ac.clone(x).stride()
    (60, 1, 15, 3)
    >>> ac.clone(x, memory_format=ac.contiguous_format).stride()
    (60, 20, 5, 1)
    """
    a = check_tensor("clone", input)._array
    given = preserve_format if memory_format is None else memory_format
    last = asks_channels_last("clone", given)
    if last and a.ndim != 4:
        message = (
            f"clone: channels_last is a layout of (N, C, H, W); this tensor has shape "
            f"{a.shape}. Use unsqueeze() first, or another layout."
        )
        raise ShapeError(message)
    if last or (given is preserve_format and is_channels_last(a)):
        return shapes.channels_last(input)
    return shapes.clone(input)


def detach(input: Tensor) -> Tensor:
    """Return a tensor on the same storage that has no history."""
    return check_tensor("detach", input).detach()
