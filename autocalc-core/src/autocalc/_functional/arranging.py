# SPDX-License-Identifier: MIT
"""Dimensions moved, joined and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autocalc import _dtypes as dtypes
from autocalc._dispatch._arrays import arrays
from autocalc._functional._arguments import (
    Dims,
    axes_of,
    axis_of,
    checked,
    integers,
    whole,
)
from autocalc._functional.indexing import as_positions
from autocalc._functional.joins import cat
from autocalc._functional.shapes import (
    expand,
    flatten,
    permute,
    reshape,
    transpose,
    view,
)
from autocalc._kernels._rules import broadcast_shapes
from autocalc._ops import shape as shapes
from autocalc._ops.reduce import sum as total
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, DimensionError, ShapeError

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "broadcast_to",
    "column_stack",
    "dstack",
    "expand_as",
    "flip",
    "fliplr",
    "flipud",
    "hstack",
    "meshgrid",
    "moveaxis",
    "movedim",
    "ravel",
    "repeat",
    "repeat_interleave",
    "reshape_as",
    "roll",
    "sum_to_size",
    "swapaxes",
    "swapdims",
    "tile",
    "unflatten",
    "view_as",
    "vstack",
]


# ---- views ---------------------------------------------------------------------------


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Return `input` repeated to `size` without a copy, as `expand`."""
    return expand(checked("broadcast_to", input), size)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return views of all tensors in the shape that they broadcast to."""
    many = _given("broadcast_tensors", tensors)
    shape = broadcast_shapes("broadcast_tensors", *(x.shape for x in many))
    return tuple(expand(x, shape) for x in many)


def _given(where: str, tensors: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return tensors given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    if not tensors:
        message = f"{where}: needs at least one tensor."
        raise ArgumentError(message)
    return tuple(checked(where, x) for x in tensors)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` repeated to the shape of `other`, without a copy."""
    return expand(checked("expand_as", input), checked("expand_as", other).shape)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the shape of `other`, sharing its memory."""
    return view(checked("view_as", input), checked("view_as", other).shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the shape of `other`."""
    return reshape(checked("reshape_as", input), checked("reshape_as", other).shape)


def ravel(input: Tensor) -> Tensor:
    """Return `input` with one dimension."""
    return flatten(checked("ravel", input))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return `input` with one dimension in several of `sizes`; one may be -1: a view.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ones(2, 6).unflatten(1, (3, -1)).shape
    (2, 3, 2)
    """
    x = checked("unflatten", input)
    axis = axis_of("unflatten", dim, x.ndim)
    parts = integers("unflatten", "sizes", sizes)
    known, n = prod(m for m in parts if m != -1), x.shape[axis] if x.ndim else 1
    fits = known == n if -1 not in parts else known > 0 and n % known == 0
    if not parts or not fits or parts.count(-1) > 1 or min(parts) < -1:
        message = (
            f"unflatten: dimension {axis} of size {n} in shape {x.shape} cannot be "
            f"split into {parts}; they must multiply to {n}, one may be -1."
        )
        raise ShapeError(message)
    parts = tuple(n // known if m == -1 else m for m in parts)
    return shapes.reshape(x, (*x.shape[:axis], *parts, *x.shape[axis + 1 :]))


def movedim(
    input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """Return `input` with dimensions moved, the others in their order: a view."""
    x = checked("movedim", input)
    origin, goal = (
        [axis_of("movedim", d, x.ndim) for d in integers("movedim", name, v)]
        for name, v in (("source", source), ("destination", destination))
    )
    if len(origin) != len(goal) or any(len(set(v)) < len(v) for v in (origin, goal)):
        message = (
            f"movedim: `source`={source} to `destination`={destination}; each must "
            f"name as many dimensions, none twice."
        )
        raise DimensionError(message)
    if x.ndim == 0:
        return x
    rest = iter([d for d in range(x.ndim) if d not in origin])
    places = dict(zip(goal, origin, strict=True))
    order = [places[d] if d in places else next(rest) for d in range(x.ndim)]
    return permute(x, order)


moveaxis = movedim
swapaxes = transpose
swapdims = transpose


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid: tensor i repeated along all other dimensions.

    With ``indexing="xy"`` the first two dimensions change places.

    Examples
    --------
    >>> import autocalc as ac
    >>> rows, columns = ac.meshgrid(ac.arange(2), ac.arange(3))
    >>> columns
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    many = _given("meshgrid", tensors)
    if indexing not in ("ij", "xy"):
        message = f"meshgrid: `indexing`={indexing!r}; it must be 'ij' or 'xy'."
        raise ArgumentError(message)
    if any(x.ndim > 1 for x in many) or len({x.dtype for x in many}) > 1:
        given = ", ".join(f"{x.dtype.name} {x.shape}" for x in many)
        message = f"meshgrid: got {given}; all must be vectors or numbers of one dtype."
        raise ShapeError(message)
    order = list(range(len(many)))
    if indexing == "xy" and len(many) > 1:
        order[:2] = 1, 0
    sizes = [many[i].numel() for i in order]
    grids = []
    for i, x in enumerate(many):
        line = [x.numel() if place == i else 1 for place in order]
        grids.append(expand(shapes.reshape(x, tuple(line)), sizes))
    return tuple(grids)


# ---- sums and joins ------------------------------------------------------------------


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Return `input` summed over the dimensions in which `size` broadcasts to it."""
    x = checked("sum_to_size", input)
    sizes = _sizes("sum_to_size", size)
    lead = x.ndim - len(sizes)
    if lead < 0 or any(
        n not in (1, m) for n, m in zip(sizes, x.shape[lead:], strict=True)
    ):
        message = (
            f"sum_to_size: {sizes} does not broadcast to the shape {x.shape}, so there "
            f"is no sum of that size."
        )
        raise ShapeError(message)
    ones = (lead + i for i, n in enumerate(sizes) if n == 1 and x.shape[lead + i] != 1)
    axes = (*range(lead), *ones)
    if not axes:
        return x
    return shapes.unshared(shapes.reshape(total(x, axes, True), sizes))


def _sizes(where: str, size: Sequence[Any]) -> tuple[int, ...]:
    """Return sizes given one by one or as one sequence; none is negative."""
    if len(size) == 1 and isinstance(size[0], (list, tuple)):
        size = size[0]
    sizes = integers(where, "size", tuple(size))
    if min(sizes, default=0) < 0:
        message = f"{where}: {sizes} holds a negative number."
        raise ShapeError(message)
    return sizes


def atleast_1d(*tensors: Any) -> Any:
    """Return tensors with one dimension at least."""
    return _at_least("atleast_1d", tensors, lambda x: (1,) * (1 - x.ndim), None)


def atleast_2d(*tensors: Any) -> Any:
    """Return tensors with two dimensions at least; vectors become rows."""
    return _at_least("atleast_2d", tensors, lambda x: (1,) * (2 - x.ndim), None)


def atleast_3d(*tensors: Any) -> Any:
    """Return tensors with three dimensions at least; matrices get one behind."""
    return _at_least(
        "atleast_3d",
        tensors,
        lambda x: (1,) * min(2 - x.ndim, 1) if x.ndim < 2 else (),
        3,
    )


def _at_least(where: str, tensors: Any, front: Any, ndim: int | None) -> Any:
    many = _given(where, tensors)
    results = []
    for x in many:
        sizes = (*front(x), *x.shape)
        sizes = (*sizes, *(1,) * ((ndim or 0) - len(sizes)))
        results.append(x if sizes == x.shape else shapes.reshape(x, sizes))
    single = len(tensors) == 1 and isinstance(tensors[0], Tensor)
    return results[0] if single else tuple(results)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along the second dimension; vectors along the only one."""
    many = [atleast_1d(x) for x in _given("hstack", (tensors,))]
    return cat(many, 0 if many[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along the first dimension; vectors are rows."""
    return cat([atleast_2d(x) for x in _given("vstack", (tensors,))], 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along the third dimension."""
    return cat([atleast_3d(x) for x in _given("dstack", (tensors,))], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along the second dimension; vectors are columns."""
    many = _given("column_stack", (tensors,))
    return hstack(
        [shapes.reshape(x, (x.numel(), 1)) if x.ndim < 2 else x for x in many]
    )


# ---- repeated and turned -------------------------------------------------------------


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
    x, times = checked("repeat", input), _sizes("repeat", repeats)
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
    return shapes.unshared(shapes.reshape(spread, final))


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return copies of `input` side by side; missing repeats are 1."""
    x, times = checked("tile", input), _sizes("tile", integers("tile", "dims", dims))
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
    x = checked("repeat_interleave", input)
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
    times = whole(
        "repeat_interleave",
        "repeats",
        repeats.item() if isinstance(repeats, Tensor) else repeats,
    )
    _sizes("repeat_interleave", (times,))
    sizes = x.shape
    apart = shapes.reshape(x, (*sizes[: axis + 1], 1, *sizes[axis + 1 :]))
    spread = shapes.expand(apart, (*sizes[: axis + 1], times, *sizes[axis + 1 :]))
    together = (*sizes[:axis], n * times, *sizes[axis + 1 :])
    return shapes.unshared(shapes.reshape(shapes.clone(spread), together))


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
    x = checked("roll", input)
    by = integers("roll", "shifts", shifts)
    axes = () if dims is None else integers("roll", "dims", dims)
    if not axes:
        if len(by) != 1:
            message = f"roll: `shifts`={by} without `dims`; give one number."
            raise ArgumentError(message)
        flat = _rolled(shapes.reshape(x, (-1,)), by[0], 0)
        return shapes.unshared(shapes.reshape(flat, x.shape))
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
    cut = -whole("roll", "shifts", shift) % n if n else 0
    if cut == 0:
        return shapes.clone(x)
    lead = (slice(None),) * axis
    head = shapes.slice(x, (*lead, slice(cut, None)))
    return shapes.cat((head, shapes.slice(x, (*lead, slice(0, cut)))), axis)


def flip(input: Tensor, dims: Dims) -> Tensor:
    """Return `input` with the order along `dims` reversed: a copy."""
    x = checked("flip", input)
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
