# SPDX-License-Identifier: MIT
"""Parse an index expression such as ``x[1, 2:, None, mask]``.

The result is a basic index of slices, and the positions that index tensors pick.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from autocalc._dispatch.device.device import host_dtype, is_batched
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import recordings
from autocalc._kernels.indexing.ranges import with_range
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.coerce import cast, not_a_tensor
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.indexing._mask_indices import true_places
from autocalc._ops.views import slicing, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import (
    ArgumentError,
    AutocalcWarning,
    DimensionError,
    IndexDTypeError,
    IndexShapeError,
    KernelIndexError,
    ShapeError,
    VmapError,
)

_PLAIN = frozenset({int, type(None)})
_ALL = (slice(None), slice(None, None, 1))

#: An index tensor, with the first dimension of the view that it indexes.
Picks = list[tuple[int, Tensor]]


def split_index(x: Tensor, index: Any) -> tuple[tuple[Any, ...], Picks]:
    """Return the basic index that makes a view, and the index tensors for that view."""
    try:
        sizes = x._array.shape
    except AttributeError:
        raise not_a_tensor("index", x) from None
    if index.__class__ is int and sizes and -sizes[0] <= index < sizes[0]:
        return (index, ...), []  # the most frequent case
    parts = tuple(index) if _is_several(index) else (index,)
    for part in parts:
        kind = part.__class__
        if not (kind is int or kind is slice or part is None or part is Ellipsis):
            return _split(x, [_index_part(part) for part in parts])
    return _basic(x, list(parts)), []


#: NumPy and PyTorch never read a longer list as a tuple, and neither do we.
_MOST_INDICES = 31


def _is_several(index: Any) -> bool:
    """Return whether `index` holds one index for each of several dimensions.

    A list of integers selects positions in one dimension.  A list that contains a list,
    a tensor, a slice, None or Ellipsis is read as a tuple.
    """
    if not isinstance(index, list) or len(index) > _MOST_INDICES:
        return isinstance(index, tuple)
    return any(
        part is None or part is Ellipsis or isinstance(part, slice)
        or hasattr(part, "__len__")
        for part in index
    )  # fmt: skip


def plain_index(index: Any) -> tuple[Any, ...] | None:
    """Return the basic index of integers, slices, None and Ellipsis, else None.

    Bounds of slices must be integers, and steps must be above 0.

    The function does not check ranges.  NumPy raises an IndexError, and then the caller
    calls `split_index`.
    """
    kind = index.__class__
    if kind is int:
        return (index, ...)
    parts = index if kind is tuple else (index,)
    ends = False
    for part in parts:
        kind = part.__class__
        if kind is slice:
            bounds = part.start.__class__ in _PLAIN and part.stop.__class__ in _PLAIN
            if not bounds or not _plain_step(part.step):
                return None
        elif part is Ellipsis and not ends:
            ends = True
        elif kind is not int and part is not None:
            return None
    return parts if ends else (*parts, ...)


def _plain_step(step: Any) -> bool:
    return step is None or (step.__class__ is int and step > 0)


def sole_pick(x: Tensor, index: Any) -> Picks | None:
    """Return the pick of an index that is one tensor of int64 or one mask, else None.

    This saves the steps that other indices need, which take half of the time of an
    index of two elements.
    """
    if isinstance(index, Tensor):
        i, ndim = index._array, x._array.ndim
        kind = host_dtype(i.dtype)
        if kind is dtypes.int64.numpy and i.ndim and ndim:
            return [(0, index)]
        if kind is dtypes.bool_.numpy and 0 < i.ndim <= ndim:
            return [(0, index)]
    return None


def _index_part(part: Any) -> Any:
    """Return an integer, slice, None, Ellipsis, or a tensor of int64 or bool."""
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if isinstance(part, int) and not isinstance(part, bool):
        return part.__index__()
    if isinstance(part, (list, tuple, range, bool)) or hasattr(part, "__array__"):
        part = part if isinstance(part, Tensor) else _index_tensor(part)
        if part.dtype is dtypes.uint8:
            part = mask_of_bytes("index", part)
        if part.dtype.is_differentiable:
            raise IndexDTypeError(
                f"index: a tensor of {part.dtype.name} cannot be an index; use "
                f"integer positions (.long()) or a mask (.bool())."
            )
        if part.dtype is dtypes.bool_:
            return part
        if part.ndim and part.dtype not in (dtypes.int64, dtypes.int32):
            raise IndexDTypeError(
                f"index: a tensor of {part.dtype.name} cannot be an index; positions "
                f"are int64 or int32, convert it with .long()."
            )
        if part.ndim == 0 and not is_batched(part._array.dtype):
            return int(part)
        return cast(part, dtypes.int64)
    if not hasattr(part, "__index__"):
        raise IndexDTypeError(
            f"index: {part!r} is a {type(part).__name__}; use integers, slices, None, "
            f"Ellipsis, lists of integers, or tensors of integers or booleans."
        )
    return part.__index__()


def mask_of_bytes(where: str, mask: Tensor) -> Tensor:
    """Return a tensor of uint8 as booleans, with a warning."""
    message = (
        f"{where}: a tensor of uint8 is taken for a mask, not for positions; write "
        ".bool() if it is a mask, and .long() if it holds positions."
    )
    warnings.warn(message, AutocalcWarning, stacklevel=3)
    return cast(mask, dtypes.bool_)


def _index_tensor(part: Any) -> Tensor:
    part = list(part) if isinstance(part, range) else part
    result = tensor(part)
    return result if result.numel() else cast(result, dtypes.int64)


def _split(x: Tensor, parts: list[Any]) -> tuple[tuple[Any, ...], Picks]:
    """Replace index tensors by slices; return them with their dimension of the view."""
    basic: list[Any] = []
    tensors: list[Any] = []
    for part in parts:
        if not isinstance(part, Tensor):
            basic.append(part)
            tensors.append(None)
        elif part.ndim == 0 and part.dtype is dtypes.bool_:
            # True or False adds a dimension of size 1 or 0.
            basic.append(None)
            tensors.append(part)
        else:
            n = part.ndim if part.dtype is dtypes.bool_ else 1
            basic += [slice(None)] * n
            tensors += [part, *[None] * (n - 1)]
    checked = _basic(x, basic)
    used = sum(part is not None and part is not Ellipsis for part in basic)
    picks: Picks = []
    axis = 0
    for part, pick in zip(basic, tensors, strict=True):
        if pick is not None:
            picks.append((axis, pick))
        if part is Ellipsis:
            axis += x.ndim - used
        elif not isinstance(part, int):
            axis += 1
    _check_numbers(picks)
    return checked, picks


def _check_numbers(picks: Picks) -> None:
    """Raise if an integer of each example of `vmap` is apart from other indices.

    Without `vmap` it selects first, so it does not move the dimensions of the others.
    """
    axes = [axis for axis, _ in picks]
    if len(axes) > axes[-1] - axes[0] if axes else True:
        return
    if any(pick.ndim == 0 and pick.dtype is not dtypes.bool_ for _, pick in picks):
        raise VmapError(
            "vmap: index: an integer that differs between the examples and another "
            "index tensor have dimensions between them. Index in two steps, such as "
            "x[i][:, j] for x[i, :, j]."
        )


def _basic(x: Tensor, parts: list[Any]) -> tuple[Any, ...]:
    """Return a checked tuple of integers, slices, None and Ellipsis."""
    result = [_slice(part) if isinstance(part, slice) else part for part in parts]
    _check_range(x, result)
    if recordings:
        _compare_bounds(x, result)
    return (*result, ...) if Ellipsis not in result else tuple(result)


def _slice(part: Any) -> Any:
    plain = part.start.__class__ in _PLAIN and part.stop.__class__ in _PLAIN
    if plain and part.step is None:
        return slice(part.start, part.stop, 1)
    step = 1 if part.step is None else _bound(part.step)
    if step < 1:
        raise ArgumentError(
            f"index: a slice has step {step}; steps must be 1 or more. Use ac.flip to "
            f"reverse a dimension."
        )
    start, stop = (None if e is None else _bound(e) for e in (part.start, part.stop))
    return slice(start, stop, step)


def _bound(e: Any) -> int:
    if not hasattr(e, "__index__"):
        raise IndexDTypeError(
            f"index: slice indices must be integers, not {e!r}, a {type(e).__name__}."
        )
    return e.__index__()  # type: ignore[no-any-return]  # an int


def _check_range(x: Tensor, index: list[Any]) -> None:
    used = [part for part in index if part is not None and part is not Ellipsis]
    slices = [part for part in used if part.__class__ is slice]
    if len(slices) == len(index) <= x.ndim:
        return  # the bounds may be out of range
    if len(used) > x.ndim or index.count(Ellipsis) > 1:
        zero = "invalid index of a 0-dim tensor; use item() for its number. "
        raise DimensionError(
            f"index: {'' if x.ndim else zero}{len(used)} indices were given for a "
            f"tensor of shape {x.shape} with {x.ndim} dimensions; Ellipsis may occur "
            "only once."
        )
    axis = 0
    for part in index:
        if part is Ellipsis:
            axis = x.ndim - (len(used) - axis)
        elif part is not None:
            size = x._array.shape[axis]
            if not isinstance(part, slice) and not -size <= part < size:
                raise DimensionError(
                    f"index: index {part} is out of bounds for dimension {axis} with "
                    f"size {size} in shape {x.shape}; index from {-size} to {size - 1}."
                )
            axis += 1


def part_of(x: Tensor, basic: tuple[Any, ...]) -> Tensor:
    """Return the view that a basic index makes, or `x` if the index selects all."""
    if basic[0].__class__ is int:
        return slicing.slice_op(x, basic)
    for part in basic:
        if part is not Ellipsis and part not in _ALL:
            return slicing.slice_op(x, basic)
    return x


def _compare_bounds(x: Tensor, index: list[Any]) -> None:
    """Compare the bounds of slices with sizes, as NumPy does internally.

    So an integer that `autocalc.compile` tracks records the size at which it is cut
    off.
    """
    used = [part for part in index if part is not None]
    axis = 0
    for part in used:
        if part is Ellipsis:
            axis += x.ndim - (len(used) - 1)
            continue
        if isinstance(part, slice):
            bounds = [b for b in (part.start, part.stop) if b is not None]
            size = x._array.shape[axis]
            _ = [(b < 0, b < -size, b <= size) for b in bounds]
            _ = len(bounds) == 2 and bounds[0] <= bounds[1]
        axis += 1


class Picked(NamedTuple):
    """Positions in the merged dimensions `axes`, and the shape that they form."""

    axes: tuple[int, ...]
    positions: Tensor
    shape: tuple[int, ...]


def true_positions(mask: Tensor) -> Tensor:
    """Return the row-major positions at which a mask is true."""
    return make(true_places(mask._array), None)


def picked(x: Tensor, picks: Picks) -> Picked:
    """Return the positions in `x` that index tensors select together.

    Raises
    ------
    ShapeError
        If the shape of a mask does not match, or shapes do not broadcast.
    KernelDataError
        If an index is out of range.
    """
    if len(picks) == 1:
        axis, index = picks[0]
        i = index._array
        if host_dtype(i.dtype) is dtypes.bool_.numpy:
            _check_mask(x, axis, index)
            found = true_positions(index)
            axes = tuple(range(axis, axis + max(i.ndim, 1)))
            return Picked(axes, found, found.shape)
        try:
            flat = arrays.positions([i], (x._array.shape[axis],))
        except KernelIndexError as error:
            raise _out_of(error, (x._array.shape[axis],)) from None
        return Picked((axis,), make(flat.reshape(-1), None), i.shape)
    indices = [one for axis, pick in picks for one in columns(x, axis, pick)]
    axes = tuple(axis for axis, _ in indices)
    try:
        shape = broadcast_shapes("index", *(index.shape for _, index in indices))
    except ShapeError as error:
        raise IndexShapeError(*error.args) from None
    spread = [arrays.expand(index._array, shape) for _, index in indices]
    sizes = tuple(x.shape[axis] for axis in axes)
    try:
        flat = arrays.positions(spread, sizes)
    except KernelIndexError as error:
        raise _out_of(error, sizes) from None
    return Picked(axes, make(flat.reshape(-1), None), shape)


def _out_of(error: KernelIndexError, sizes: tuple[int, ...]) -> KernelIndexError:
    """Return the error of the kernel `positions` with the range of the index."""
    number = error.found[1][len("index[") : -1]
    size = sizes[int(number or 0)]
    return with_range(error, size, least=-size, where="index")


def _check_mask(x: Tensor, axis: int, mask: Tensor) -> None:
    masked = x._array.shape[axis : axis + mask._array.ndim]
    if masked != mask._array.shape and mask.ndim:
        raise IndexShapeError(
            f"index: a mask of shape {mask.shape} is given for the dimensions {axis} "
            f"to {axis + mask.ndim - 1} of shape {x.shape}; it must have the shape "
            f"{masked}."
        )


def columns(x: Tensor, axis: int, pick: Tensor) -> list[tuple[int, Tensor]]:
    """Return an index tensor for each dimension; for a mask, where it is true."""
    if pick.dtype is not dtypes.bool_:
        return [(axis, pick)]
    _check_mask(x, axis, pick)
    flat = true_positions(pick)
    columns = unraveled(flat, pick.shape or (1,))
    return [(axis + i, column) for i, column in enumerate(columns)]


def wrapped(index: Tensor, size: int) -> Tensor:
    """Return an index into `size` elements, with negative values made positive."""
    try:
        return make(arrays.positions([index._array], (size,)), None)
    except KernelIndexError as error:
        raise _out_of(error, (size,)) from None


def unraveled(flat: Tensor, shape: tuple[int, ...]) -> list[Tensor]:
    """Return the row-major positions `flat` as an index for each dimension."""
    columns = []
    for size in reversed(shape):
        columns.append(arithmetic.remainder(flat, max(size, 1)))
        flat = arithmetic.floor_divide(flat, max(size, 1))
    columns.reverse()
    return columns


def merged(x: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, int, tuple[int, ...]]:
    """Return `x` with `axes` merged, the place of the merged axis, the axis order.

    Dimensions that are not adjacent move to the front, as in PyTorch.
    """
    order = tuple(range(x.ndim))
    lead = axes[0]
    if axes != order[lead : lead + len(axes)]:
        lead = 0
        order = (*axes, *(axis for axis in order if axis not in axes))
        x = view.permute_op(x, order)
    if len(axes) > 1:
        sizes = x.shape
        end = lead + len(axes)
        rows = math.prod(sizes[lead:end])
        x = view.reshape_op(x, (*sizes[:lead], rows, *sizes[end:]))
    return x, lead, order


def fitting(where: str, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `values` without leading sizes of 1, if it broadcasts to `shape`."""
    sizes = values.shape
    if sizes == tuple(shape):
        return values
    extra = max(len(sizes) - len(shape), 0)
    short = sizes[extra:]
    tail = shape[len(shape) - len(short) :]
    fits = all(n == 1 for n in sizes[:extra])
    if not fits or any(n not in (1, m) for n, m in zip(short, tail, strict=True)):
        raise ShapeError(
            f"{where}: the values have shape {sizes}, but the selected part has shape "
            f"{tuple(shape)}; the values must broadcast to it."
        )
    return view.reshape_op(values, short) if extra else values
