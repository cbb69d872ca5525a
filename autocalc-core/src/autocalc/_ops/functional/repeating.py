# SPDX-License-Identifier: MIT
"""Tensors repeated, rolled and turned round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import (
    Dims,
    as_int,
    axes_of,
    axis_of,
    check_tensor,
    integers,
)
from autocalc._ops.functional.arranging import sizes_of
from autocalc._ops.functional.indexing import as_positions
from autocalc._ops.functional.shapes import flatten
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import ArgumentError, ShapeError

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "repeat",
    "repeat_interleave",
    "roll",
    "tile",
]


def repeat(input: Tensor, *repeats: Any) -> Tensor:
    """Return copies of `input` side by side: repeats[i] along dimension i.

    There may be more repeats than dimensions; new dimensions stand in front.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    x, times = check_tensor("repeat", input), sizes_of("repeat", repeats)
    if len(times) < x.ndim:
        message = (
            f"repeat: {len(times)} repeats {times} for a tensor of shape {x.shape}; "
            f"there must be one for each dimension at least."
        )
        raise ShapeError(message)
    sizes = (*(1,) * (len(times) - x.ndim), *x.shape)
    single = tuple(m for n in sizes for m in (1, n))
    many = tuple(m for pair in zip(times, sizes, strict=True) for m in pair)
    spread = shapes.clone(shapes.expand(shapes.reshape(x, single), many))
    final = tuple(r * n for r, n in zip(times, sizes, strict=True))
    return shapes.detach_from_base(shapes.reshape(spread, final))


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return copies of `input` side by side; missing repeats are 1."""
    x, times = (
        check_tensor("tile", input),
        sizes_of("tile", integers("tile", "dims", dims)),
    )
    return repeat(x, (*(1,) * (x.ndim - len(times)), *times))


def repeat_interleave(
    input: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Return each element repeated, one behind the other.

    Parameters
    ----------
    input
        Of any shape; without `dim` it is flattened.  Alone, it is `repeats`, and the
        index of each repetition is returned.
    repeats
        How often: a number, or one for each slice along `dim`.
    dim
        Whose slices to repeat.
    output_size
        What `repeats` adds up to; checked.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.repeat_interleave(ac.tensor([7, 8, 9]), ac.tensor([2, 0, 1]))
    tensor([7, 7, 9])
    """
    x = check_tensor("repeat_interleave", input)
    if repeats is None:
        return _repetitions(as_positions("repeat_interleave", x), output_size)
    if dim is None:
        x, dim = flatten(x), 0
    axis = axis_of("repeat_interleave", dim, x.ndim)
    n = x.shape[axis]
    if isinstance(repeats, Tensor) and repeats.numel() != 1:
        counts = as_positions("repeat_interleave", repeats)
        if counts.shape != (n,):
            message = (
                f"repeat_interleave: `repeats` has shape {counts.shape} for dimension "
                f"{axis} of size {n}; it must be ({n},)."
            )
            raise ShapeError(message)
        return shapes.index_select(x, _repetitions(counts, output_size), axis)
    times = as_int(
        "repeat_interleave",
        "repeats",
        repeats.item() if isinstance(repeats, Tensor) else repeats,
    )
    sizes_of("repeat_interleave", (times,))
    sizes = x.shape
    apart = shapes.reshape(x, (*sizes[: axis + 1], 1, *sizes[axis + 1 :]))
    spread = shapes.expand(apart, (*sizes[: axis + 1], times, *sizes[axis + 1 :]))
    together = (*sizes[:axis], n * times, *sizes[axis + 1 :])
    return shapes.detach_from_base(shapes.reshape(shapes.clone(spread), together))


def _repetitions(counts: Tensor, size: int | None) -> Tensor:
    """Return i, counts[i] times, for each i."""
    if counts.ndim != 1:
        message = (
            f"repeat_interleave: `repeats` has shape {counts.shape}; it must be a "
            f"vector."
        )
        raise ShapeError(message)
    a = counts._array
    n = a.shape[0]
    ends = arrays.cumsum(a, 0)
    length = int(ends[-1]) if n else 0
    if n and int(arrays.min(a, (0,))) < 0:
        message = f"repeat_interleave: `repeats` holds {int(arrays.min(a, (0,)))}."
        raise ArgumentError(message)
    if size is not None and size != length:
        message = (
            f"repeat_interleave: `output_size`={size}, but `repeats` adds up to "
            f"{length}."
        )
        raise ArgumentError(message)
    # A step up wherever the next one begins; some begin behind the last.
    steps = arrays.zeros((length + 1,), a.dtype)
    if n > 1:
        ones = arrays.full((n - 1,), 1, a.dtype)
        steps = arrays.scatter_add(steps, arrays.slice(ends, (slice(0, -1),)), ones, 0)
    return make(arrays.cumsum(arrays.slice(steps, (slice(0, length),)), 0), None)


def roll(input: Tensor, shifts: Dims, dims: Dims = None) -> Tensor:
    """Return `input` shifted along dimensions; what leaves comes in at the other end.

    Without `dims`, as if it had one dimension.
    """
    x = check_tensor("roll", input)
    by = integers("roll", "shifts", shifts)
    axes = () if dims is None else integers("roll", "dims", dims)
    if not axes:
        if len(by) != 1:
            message = f"roll: `shifts`={by} without `dims`; give one number."
            raise ArgumentError(message)
        flat = _rolled(shapes.reshape(x, (-1,)), by[0], 0)
        return shapes.detach_from_base(shapes.reshape(flat, x.shape))
    if len(axes) != len(by):
        message = f"roll: `shifts`={by} and `dims`={axes} must be as many."
        raise ArgumentError(message)
    if x.ndim == 0:
        return shapes.clone(x)
    for shift, dim in zip(by, axes, strict=True):
        x = _rolled(x, shift, axis_of("roll", dim, x.ndim))
    return x


def _rolled(x: Tensor, shift: int, axis: int) -> Tensor:
    n = x.shape[axis]
    cut = -as_int("roll", "shifts", shift) % n if n else 0
    if cut == 0:
        return shapes.clone(x)
    lead = (slice(None),) * axis
    head = shapes.slice(x, (*lead, slice(cut, None)))
    return shapes.cat((head, shapes.slice(x, (*lead, slice(0, cut)))), axis)


def flip(input: Tensor, dims: Dims) -> Tensor:
    """Return `input` with the order along `dims` reversed: a copy."""
    x = check_tensor("flip", input)
    dims = integers("flip", "dims", dims)
    axes = axes_of("flip", x, dims) if dims else ()
    if not axes:
        return shapes.clone(x)
    like = arrays.empty((), dtypes.int64.numpy)
    for axis in axes:
        n = x.shape[axis]
        back = arrays.sub(arrays.full((n,), n - 1, like.dtype), arrays.arange(n, like))
        x = shapes.index_select(x, make(back, None), axis)
    return x


def fliplr(input: Tensor) -> Tensor:
    """Return `input` with the order along the second dimension reversed."""
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """Return `input` with the order along the first dimension reversed."""
    return flip(input, 0)
