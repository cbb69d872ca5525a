# SPDX-License-Identifier: MIT
"""The most frequent elements."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.arguments import axis_of, check_tensor
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.reductions._values_and_indices import picked
from autocalc._ops.sequences import sorting
from autocalc._ops.sequences.sorting import Ordered
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc.errors import ShapeError


@method("mode")
@traced
def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Ordered:
    """Return the most frequent elements along `dim`, as (values, indices).

    If several elements are equally frequent, the smallest one is returned.  The
    returned index is that of the last occurrence.  NaN does not equal any element.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    keepdim
        True to keep the reduced dimension, with size 1.
    out
        Two tensors to write the results into, converted to their dtypes.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

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
    a = check_tensor("mode", input)._array
    axis = axis_of("mode", dim, a.ndim)
    if a.ndim == 0:
        zero = sorting.argsort_op(view.reshape_op(input, (1,)), 0, False)
        place = view.detach_from_base(view.reshape_op(zero, ()))
        return Ordered(view.clone(input), place)
    if a.shape[axis] == 0:
        message = f"mode: dimension {axis} of shape {input.shape} has no elements."
        raise ShapeError(message)
    return Ordered(*picked(input, _places(a, axis), axis, keepdim))


def _places(a: Any, axis: int) -> Any:
    """Find the end of the longest run of equal elements in sorted order."""
    order = arrays.argsort(a, axis, False)
    before = places_in_runs(arrays.gather(a, order, axis), axis)
    return arrays.gather(order, arrays.argmax(before, axis, True), axis)


def places_in_runs(ordered: Any, axis: int) -> Any:
    """Return for each element the number of equal elements directly before it."""
    lead = (slice(None),) * axis
    head, tail, body = [
        (*lead, part) for part in (slice(0, 1), slice(1, None), slice(0, -1))
    ]
    first = ordered[head]
    differs = arrays.compare(ordered[tail], ordered[body], "ne")
    begins = arrays.full(first.shape, True, differs.dtype)
    starts = arrays.cumargmax(arrays.cat([begins, differs], axis), axis, False)
    places = arrays.arange(ordered.shape[axis], ordered)
    line = (-1, *(1,) * (ordered.ndim - axis - 1))
    return arrays.sub(places.reshape(line), starts)
