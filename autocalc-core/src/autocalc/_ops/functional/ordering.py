# SPDX-License-Identifier: MIT
"""Sorting and what follows from the order: medians, the largest k, distinct values.

Each finds indices, without a gradient, and gathers: the gradient goes to the element
that was found.
"""

from __future__ import annotations

from typing import NamedTuple

from autocalc._dispatch._arrays import arrays
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops import elementwise, scans
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import as_int, axis_of, check_tensor
from autocalc._ops._coerce import as_operand, cast
from autocalc._ops._out import apply_out
from autocalc._ops.functional._index import true_positions, unraveled
from autocalc._ops.functional.arranging import movedim
from autocalc._ops.functional.elementwise_composites import isnan, truth
from autocalc._ops.functional.reductions import any, sum
from autocalc._ops.functional.shapes import clone, expand, squeeze
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = [
    "argsort",
    "masked_select",
    "median",
    "msort",
    "nonzero",
    "sort",
    "topk",
    "unique",
]


class Ordered(NamedTuple):
    """Values along a dimension, and where they were found."""

    values: Tensor
    indices: Tensor


def argsort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the indices that sort `input` along `dim`; always stable.

    NaN counts as the largest.
    """
    x = check_tensor("argsort", input)
    axis = axis_of("argsort", dim, x.ndim)
    if x.ndim == 0:
        return apply_out(
            "argsort", elementwise.mul(cast(truth(x), dtypes.int64), 0), out
        )
    return apply_out("argsort", scans.argsort(x.detach(), axis, bool(descending)), out)


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> Ordered:
    """Return (values, indices) in rising order along `dim`; always stable.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sort(ac.tensor([3, 1, 2])).values
    tensor([1, 2, 3])
    """
    indices = argsort(input, dim, descending)
    if input.ndim == 0:
        return apply_out("sort", Ordered(clone(input), indices), out)
    axis = axis_of("sort", dim, input.ndim)
    return apply_out("sort", Ordered(shapes.gather(input, indices, axis), indices), out)


def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return `input` sorted along its first dimension."""
    return apply_out("msort", sort(input, 0).values, out)


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> Ordered:
    """Return the (values, indices) of the `k` largest or smallest, in order.

    Raises
    ------
    ArgumentError
        If there are fewer than `k` elements along `dim`.
    """
    x = check_tensor("topk", input)
    axis = axis_of("topk", dim, x.ndim)
    size = x.shape[axis] if x.ndim else 1
    k = as_int("topk", "k", k)
    if not 0 <= k <= size:
        message = (
            f"topk: `k`={k} of {size} elements along dimension {axis} of shape "
            f"{x.shape}; it must lie in 0 to {size}."
        )
        raise ArgumentError(message)
    if x.ndim == 0:
        return apply_out("topk", Ordered(clone(x), argsort(x)), out)
    order = argsort(x, axis, largest)
    first = (*[slice(None)] * axis, slice(0, k), ...)
    indices = shapes.clone(shapes.slice(order, first))
    return apply_out("topk", Ordered(shapes.gather(x, indices, axis), indices), out)


def median(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | tuple[Tensor, Tensor] | None = None,
) -> Tensor | Ordered:
    """Return the median, the lower of two; with `dim`, (values, indices) along it.

    NaN if an element is NaN.
    """
    x = check_tensor("median", input)
    if x.numel() == 0:
        message = f"median: a tensor of shape {x.shape} has no elements, so no median."
        raise ShapeError(message)
    if dim is None:
        flat = _median_along(shapes.reshape(x, (-1,)), 0)
        return apply_out(
            "median", shapes.detach_from_base(shapes.reshape(flat.values, ())), out
        )
    axis = axis_of("median", dim, x.ndim)
    if x.ndim == 0:
        return apply_out("median", Ordered(clone(x), argsort(x)), out)
    found = _median_along(x, axis)
    if keepdim:
        return apply_out("median", found, out)
    return apply_out(
        "median",
        Ordered(*(shapes.detach_from_base(squeeze(part, axis)) for part in found)),
        out,
    )


def _median_along(x: Tensor, axis: int) -> Ordered:
    """Find the middle of the order; or, behind all numbers, the first NaN."""
    n = x.shape[axis]
    bad = sum(isnan(x.detach()), axis, True)
    middle = as_operand((n - 1) // 2, dtypes.int64)
    place = elementwise.choose(elementwise.gt(bad, 0), elementwise.sub(n, bad), middle)
    indices = shapes.gather(argsort(x, axis), place, axis)
    return Ordered(shapes.gather(x, indices, axis), indices)


# ---- results whose size depends on values --------------------------------------------


def nonzero(
    input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Return the positions of what is not zero, [n, ndim], in row-major order.

    With ``as_tuple=True``, one tensor for each dimension.
    """
    x = check_tensor("nonzero", input)
    flat = true_positions(shapes.reshape(truth(x), (-1,)))
    columns = unraveled(flat, x.shape)
    if as_tuple:
        return tuple(columns) if columns else (flat,)
    if not columns:
        return apply_out(
            "nonzero",
            shapes.reshape(shapes.slice(flat, (slice(0, 0),)), (flat.shape[0], 0)),
            out,
        )
    upright = tuple(shapes.reshape(c, (*c.shape, 1)) for c in columns)
    return apply_out("nonzero", shapes.cat(upright, 1), out)


def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the elements at which `mask` holds, as a 1-d tensor.

    Shapes broadcast.
    """
    x, holds = check_tensor("masked_select", input), check_tensor("masked_select", mask)
    if holds.dtype is not dtypes.bool_:
        message = (
            f"masked_select: `mask` has dtype {holds.dtype.name}; it must be bool, as "
            f"comparisons give it."
        )
        raise DTypeError(message)
    shape = broadcast_shapes("masked_select", x.shape, holds.shape)
    flat = shapes.reshape(expand(x, shape), (-1,))
    index = true_positions(shapes.reshape(expand(holds, shape), (-1,)))
    return apply_out("masked_select", shapes.index_select(flat, index, 0), out)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return the distinct elements, in rising order.

    With `return_inverse` also where each element is among them, with `return_counts`
    how often each occurs.  With `dim`, the distinct slices along it, ordered by their
    first elements, then by their second, and so on.
    """
    x = check_tensor("unique", input).detach()
    if dim is None:
        slices = shapes.reshape(x, (-1,))
        order = argsort(slices)
        begins = _begins(shapes.gather(slices, order, 0))
    else:
        axis = axis_of("unique", dim, x.ndim)
        slices = movedim(x, axis, 0) if x.ndim else shapes.reshape(x, (1,))
        n = slices.shape[0]
        rows = shapes.reshape(slices, (n, slices.numel() // max(n, 1)))
        order = _order_of_rows(rows)
        begins = _begins(shapes.index_select(rows, order, 0))
    firsts = true_positions(begins)
    values = shapes.index_select(slices, shapes.index_select(order, firsts, 0), 0)
    if dim is not None and x.ndim:
        values = shapes.detach_from_base(shapes.clone(movedim(values, 0, axis)))
    results = [values]
    if return_inverse:
        group = elementwise.sub(scans.cumsum(begins, 0, False), 1)
        inverse = shapes.gather(group, argsort(order), 0)
        if dim is None:
            inverse = shapes.detach_from_base(shapes.reshape(inverse, x.shape))
        results.append(inverse)
    if return_counts:
        end = make(as_operand(order.shape[0], dtypes.int64)._array.reshape(1), None)
        stops = shapes.cat((shapes.slice(firsts, (slice(1, None),)), end), 0)
        stops = shapes.slice(stops, (slice(0, firsts.shape[0]),))
        results.append(elementwise.sub(stops, firsts))
    return results[0] if len(results) == 1 else tuple(results)


def _order_of_rows(rows: Tensor) -> Tensor:
    """Return the indices that sort rows: stable, from the last column to the first."""
    n, columns = rows.shape
    like = arrays.empty((), dtypes.int64.numpy)
    order = make(arrays.arange(n, like), None)
    for column in reversed(range(columns)):
        values = shapes.slice(rows, (slice(None), column))
        again = argsort(shapes.index_select(values, order, 0))
        order = shapes.index_select(order, again, 0)
    return order


def _begins(ordered: Tensor) -> Tensor:
    """Return where a new value, or row of values, begins in what is sorted."""
    n = ordered.shape[0]
    if n == 0:
        return make(arrays.empty((0,), dtypes.bool_.numpy), None)
    first = make(arrays.full((1,), True, dtypes.bool_.numpy), None)
    new = elementwise.ne(
        shapes.slice(ordered, (slice(1, None),)),
        shapes.slice(ordered, (slice(0, n - 1),)),
    )
    if new.ndim > 1:
        new = any(new, 1)
    return shapes.cat((first, new), 0)
