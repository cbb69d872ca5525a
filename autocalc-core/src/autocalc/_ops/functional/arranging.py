# SPDX-License-Identifier: MIT
"""Dimensions moved, joined and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import (
    axis_of,
    check_tensor,
    integers,
)
from autocalc._ops._out import apply_out
from autocalc._ops.functional.joining import cat
from autocalc._ops.functional.shapes import (
    expand,
    flatten,
    permute,
    reshape,
    transpose,
    view,
)
from autocalc._ops.reduce import sum as total
from autocalc._tensor import Tensor
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
    "hstack",
    "meshgrid",
    "moveaxis",
    "movedim",
    "ravel",
    "reshape_as",
    "sum_to_size",
    "swapaxes",
    "swapdims",
    "unflatten",
    "view_as",
    "vstack",
]


# ---- views ---------------------------------------------------------------------------


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Return `input` repeated to `size` without a copy, as `expand`."""
    return expand(check_tensor("broadcast_to", input), size)


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
    return tuple(check_tensor(where, x) for x in tensors)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` repeated to the shape of `other`, without a copy."""
    return expand(
        check_tensor("expand_as", input), check_tensor("expand_as", other).shape
    )


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the shape of `other`, sharing its memory."""
    return view(check_tensor("view_as", input), check_tensor("view_as", other).shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the shape of `other`."""
    return reshape(
        check_tensor("reshape_as", input), check_tensor("reshape_as", other).shape
    )


def ravel(input: Tensor) -> Tensor:
    """Return `input` with one dimension."""
    return flatten(check_tensor("ravel", input))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return `input` with one dimension in several of `sizes`; one may be -1: a view.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ones(2, 6).unflatten(1, (3, -1)).shape
    (2, 3, 2)
    """
    x = check_tensor("unflatten", input)
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
    x = check_tensor("movedim", input)
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
    x = check_tensor("sum_to_size", input)
    sizes = sizes_of("sum_to_size", size)
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
    return shapes.detach_from_base(shapes.reshape(total(x, axes, True), sizes))


def sizes_of(where: str, size: Sequence[Any]) -> tuple[int, ...]:
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


def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the second dimension; vectors along the only one."""
    many = [atleast_1d(x) for x in _given("hstack", (tensors,))]
    return apply_out("hstack", cat(many, 0 if many[0].ndim == 1 else 1), out)


def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the first dimension; vectors are rows."""
    return apply_out(
        "vstack", cat([atleast_2d(x) for x in _given("vstack", (tensors,))], 0), out
    )


def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the third dimension."""
    return apply_out(
        "dstack", cat([atleast_3d(x) for x in _given("dstack", (tensors,))], 2), out
    )


def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors along the second dimension; vectors are columns."""
    many = _given("column_stack", (tensors,))
    return apply_out(
        "column_stack",
        hstack([shapes.reshape(x, (x.numel(), 1)) if x.ndim < 2 else x for x in many]),
        out,
    )
