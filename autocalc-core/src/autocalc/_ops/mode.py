# SPDX-License-Identifier: MIT
"""The most frequent elements."""

from __future__ import annotations

from typing import Any

from autocalc._ops import (
    arithmetic,
    comparison,
    extrema,
    indexing,
    rearranging,
    scans,
    sorting,
    view,
)
from autocalc._ops._arguments import axis_of, check_tensor
from autocalc._ops._method import method
from autocalc._ops._numpy_names import dim_or_axis, keepdim_or_keepdims
from autocalc._ops._out import apply_out
from autocalc._ops.ranges import arange
from autocalc._ops.sorting import Ordered
from autocalc._tensor import Tensor
from autocalc._tensor.checks import FLAG, check_flag
from autocalc.errors import ShapeError


@method("mode")
def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Ordered:
    """Return the (values, indices) of the most frequent elements along `dim`.

    Of several that are as frequent, the smallest; the index is that of the last one
    that equals it.  NaN equals nothing.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimension; a negative one counts from the end.
    keepdim
        Keep the reduced dimension, with size 1.
    out
        Two tensors that take the result, converted to their dtypes.
    axis, keepdims
        `dim` and `keepdim` by NumPy's names.

    Raises
    ------
    ShapeError
        If the dimension has no elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> value, index = ac.mode(ac.tensor([3, 1, 3, 2]))
    >>> value.item(), index.item()
    (3, 2)
    """
    if axis is not None:
        dim = dim_or_axis("mode", dim, axis, -1)
    if keepdims is not None:
        keepdim = keepdim_or_keepdims("mode", keepdim, keepdims)
    if keepdim.__class__ is not FLAG:
        keepdim = check_flag("mode", "keepdim", keepdim)
    x = check_tensor("mode", input)
    axis = axis_of("mode", dim, x.ndim)
    if x.ndim == 0:
        zero = sorting.argsort_op(view.reshape_op(x, (1,)), 0, False)
        place = view.detach_from_base(view.reshape_op(zero, ()))
        return apply_out("mode", Ordered(view.clone(x), place), out)
    if x.shape[axis] == 0:
        message = f"mode: dimension {axis} of shape {x.shape} has no elements."
        raise ShapeError(message)
    found = _mode_along(x, axis)
    if not keepdim:
        found = Ordered(
            *(view.detach_from_base(view.squeeze(part, axis)) for part in found)
        )
    return apply_out("mode", found, out)


def _mode_along(x: Tensor, axis: int) -> Ordered:
    """Find the end of the longest run of equal elements in their order."""
    order = sorting.argsort_op(x, axis, False)
    lengths = run_lengths(indexing.gather_op(x.detach(), order, axis), axis)
    end = extrema.argmax(lengths, axis, keepdim=True)
    indices = indexing.gather_op(order, end, axis)
    return Ordered(indexing.gather_op(x, indices, axis), indices)


def run_lengths(ordered: Tensor, axis: int) -> Tensor:
    """Return for each element how many before it, and itself, are equal."""
    n = ordered.shape[axis]
    line = tuple(n if d == axis else 1 for d in range(ordered.ndim))
    places = view.reshape_op(arange(n), line)
    differs = comparison.ne(ordered, rearranging.roll(ordered, 1, axis))
    starts = scans.cummax(comparison.choose(differs, places, 0), axis).values
    return arithmetic.add_op(arithmetic.sub_op(places, starts), 1)
