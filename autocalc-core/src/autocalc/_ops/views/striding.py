# SPDX-License-Identifier: MIT
"""Views given by sizes and strides in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._ops._operator.arguments import as_int, check_tensor, integers, min_of
from autocalc._ops._operator.factories import view_operator
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops._operator.view_tracker import base_of
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import ArgumentError, GradError, ShapeError

Places = tuple[tuple[int, ...], tuple[int, ...], int]  # sizes, strides, offset


@view_operator("as_strided")
def as_strided_op(a: Any, size: Any, stride: Any, offset: Any, layout: Any) -> Any:
    """Return a view of the memory of `a` as if `a` had the strides `layout`."""
    return _seen(_laid_out(a, layout), size, stride, offset)


@as_strided_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Add the gradient of each element at its position in the input."""
    size, stride, offset, layout = n.attributes
    shape = n.shapes[0]
    find = _kept_positions if prod(shape) <= _KEPT else _positions
    places = find(shape, layout, (size, stride, offset))
    total = k.zeros((prod(shape),), k.dtype(g))
    places = arrays.near(total._array if k.records else total, places)
    index = make(places, None) if k.records else places
    rows = k.reshape(k.contiguous(g), (prod(size),))
    return k.reshape(k.index_add(total, index, rows, 0), shape)


def _seen(a: Any, size: Any, stride: Any, offset: int) -> Any:
    return arrays.strided(a, size, [step * a.itemsize for step in stride], offset)


def _laid_out(a: Any, layout: tuple[int, ...]) -> Any:
    """Return `a` itself, or a copy if its strides are not those of `layout`."""
    wanted = [step * a.itemsize for step in layout]
    if all(
        n == 1 or here == step
        for n, here, step in zip(a.shape, a.strides, wanted, strict=True)
    ):
        return a
    memory = arrays.empty((_span(a.shape, layout),), a.dtype)
    out = arrays.strided(memory, a.shape, wanted)
    arrays.copy(a, into=out)
    return out


def _positions(shape: Any, layout: Any, seen: Places) -> Any:
    """Return for each element of the view its index in the input, -1 for none."""
    size, stride, offset = seen
    memory = arrays.arange(prod(shape), arrays.empty((), dtypes.int64.numpy))
    numbers = memory.reshape(shape)
    if numbers.strides != tuple([step * numbers.itemsize for step in layout]):
        memory = arrays.full((_span(shape, layout),), -1, dtypes.int64.numpy)
        arrays.copy(numbers, into=_seen(memory, shape, layout, 0))
    return arrays.copy(_seen(memory, size, stride, offset)).reshape(-1)


#: Positions for up to this many elements are cached: finding them takes longer than
#: using them.
_KEPT = 4096


@lru_cache(64)
def _kept_positions(shape: Any, layout: Any, seen: Places) -> Any:
    return arrays.frozen(_positions(shape, layout, seen))


def _span(shape: Sequence[int], stride: Sequence[int]) -> int:
    """Return the number of elements of memory from the first to the last one."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))


@method("as_strided")
def as_strided(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a view of the memory of `input` with the given sizes and strides.

    The element ``out[i, j]`` is at ``storage_offset + i * stride[0] + j * stride[1]``.
    If `input` is a view, this position is counted in the memory of the base tensor.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    size, stride
        The sizes of the view, and for each dimension the distance in memory between two
        neighbouring indices, counted in elements. None is negative.
    storage_offset
        The position of the first element; by default ``input.storage_offset()``.

    Raises
    ------
    ShapeError
        If the numbers of strides and sizes differ, or one of them is negative.
    ArgumentError
        If the view would extend beyond the memory.
    GradError
        If gradients are recorded, and an element of the view is not in `input`, or
        stands for several elements of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.as_strided(ac.arange(5), (3, 2), (1, 2))
    tensor([[0, 2],
            [1, 3],
            [2, 4]])
    """
    x = check_tensor("as_strided", input)
    seen = _seen_of_whole if base_of(x) is x else _seen_of_view
    return seen(x, size, stride, storage_offset)


def _seen_of_view(x: Tensor, size: Any, stride: Any, storage_offset: Any) -> Tensor:
    sizes = integers("as_strided", "size", size)
    steps = integers("as_strided", "stride", stride)
    if len(sizes) != len(steps):
        raise ShapeError(
            f"as_strided: mismatch in length of strides and shape: `size`={sizes}, "
            f"`stride`={steps}; size and stride "
            "must have the same length."
        )
    if min_of((*sizes, *steps, 0)) < 0:
        raise ShapeError(
            "as_strided: Negative strides are not supported at the moment, got "
            f"strides: {[*steps]} for `size`={sizes}; no size may be negative either."
        )
    base = base_of(x)
    begin = 0 if base is x else x.storage_offset()
    place = begin
    if storage_offset is not None:
        place = as_int("as_strided", "storage_offset", storage_offset)
    layout = x.stride()
    span, held = _span(sizes, steps), _span(x._array.shape, layout)
    if base is not x or place + span > held or place < 0:
        _check_bounds(base, sizes, steps, place)
    place = begin if span == 0 else place
    if place < begin or place - begin + span > held:
        return _beyond(x, sizes, steps, place)
    if x._edge is not None and current().grad:
        _check_gradient(x, (sizes, steps, place - begin))
    return as_strided_op(x, sizes, steps, place - begin, layout)


#: For a tensor that is not a view, its own strides determine what its memory holds.
_seen_of_whole = traced(_seen_of_view)


def _check_bounds(base: Tensor, size: Any, stride: Any, offset: int) -> None:
    span, held = _span(size, stride), _span(base.shape, base.stride())
    if offset < 0 or (span and offset + span > held):
        raise ArgumentError(
            f"as_strided: `size`={size}, `stride`={stride} and "
            f"`storage_offset`={offset} need the elements {offset} to "
            f"{offset + span - 1} of a memory that holds {held} elements."
        )


def _beyond(x: Tensor, size: Any, stride: Any, offset: int) -> Tensor:
    """Return a view of memory outside of `x`, which has no gradient."""
    base = base_of(x)
    if current().grad and (x._edge is not None or base._edge is not None):
        raise _no_gradient(x, "has elements that are not in the tensor")
    return as_strided_op(base, size, stride, offset, base.stride())


def _check_gradient(x: Tensor, seen: Places) -> None:
    what = _wrong(x._array.shape, x.stride(), seen)
    if what:
        raise _no_gradient(x, what)


@lru_cache(64)
def _wrong(shape: Any, layout: Any, seen: Places) -> str:
    """Return why a view of a tensor with these strides has no gradient, or ""."""
    if prod(shape) and _repeated(shape, layout):
        return "is of a tensor whose elements share their memory"
    places = make(_positions(shape, layout, seen), None)
    if places.numel() and int(places.min().item()) < 0:
        return "has elements that are not in the tensor"
    return ""


def _repeated(shape: Any, layout: Any) -> bool:
    """Return whether some elements share a place in memory."""
    found = _positions(shape, layout, (shape, layout, 0))
    numbers = arrays.arange(prod(shape), found)
    return bool(make(arrays.compare(found, numbers, "ne"), None).any())


def _no_gradient(x: Tensor, what: str) -> GradError:
    return GradError(
        f"as_strided: the view {what}; the tensor has shape {x.shape}. Such a view "
        "cannot have a gradient: call clone() first, or use ac.no_grad()."
    )
