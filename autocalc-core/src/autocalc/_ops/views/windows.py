# SPDX-License-Identifier: MIT
"""Windows of one dimension, which may overlap, as a view."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.arguments import as_int, axis_of, check_tensor
from autocalc._ops._operator.factories import view_operator
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.views import slicing, view
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError


@view_operator("windows")
def windows_op(a: Any, axis: Any, size: Any, step: Any) -> Any:
    """Return a view of the windows of a dimension; the last dimension is the window."""
    count = (a.shape[axis] - size) // step + 1
    shape = (*a.shape[:axis], count, *a.shape[axis + 1 :], size)
    stride = a.strides[axis]
    strides = (*a.strides[:axis], stride * step, *a.strides[axis + 1 :], stride)
    return arrays.strided(a, shape, strides)


@windows_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Add the gradient of each window to the elements of the window."""
    axis, size, step = n.attributes
    shape, count = n.shapes[0], k.shape(g)[axis]
    dims = range(len(shape))
    order = (*dims[: axis + 1], len(shape), *dims[axis + 1 :])
    lines = (*shape[:axis], count * size, *shape[axis + 1 :])
    rows = k.contiguous(k.reshape(k.permute(g, order), lines))
    zeros = k.zeros(shape, k.dtype(g))
    return k.index_add(zeros, _places(k, g, count, size, step), rows, axis)


def _places(k: Any, g: Any, count: int, size: int, step: int) -> Any:
    """Return the positions of the elements of all windows: i * step + j."""
    numbers = k.arange(count, g)
    starts = k.reshape(k.mul(numbers, k.constant(step, numbers)), (count, 1))
    return k.reshape(k.add(starts, k.arange(size, g)), (count * size,))


@method("unfold")
@traced(light=True)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return a view of the windows along a dimension, as a new last dimension.

    ``out[..., i, ..., j] = input[..., i * step + j, ...]``.  If windows overlap, they
    share elements, and a write into the view raises an error.

    Parameters
    ----------
    input
        The input, a tensor of shape `(*, n, *)`.
    dimension
        The dimension of size n; a negative one counts from the end.
    size
        The number of elements in a window.
    step
        The distance between the starts of two windows.

    Returns
    -------
    Tensor
        A tensor of shape `(*, (n - size) // step + 1, *, size)`.

    Raises
    ------
    ArgumentError
        If `size` is negative or larger than n, or `step` is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    x = check_tensor("unfold", input)
    axis = axis_of("unfold", dimension, x.ndim)
    width, stride = as_int("unfold", "size", size), as_int("unfold", "step", step)
    n = x.shape[axis] if x.ndim else 1
    if width < 0:
        raise ArgumentError(f"unfold: size is {width} but must be >= 0.")
    if stride < 1:
        raise ArgumentError(f"unfold: step is {stride} but must be > 0.")
    if width > n:
        raise ArgumentError(
            f"unfold: `size`={width} for dimension {axis} of size {n}; `size` must be "
            f"between 0 and {n}."
        )
    if x.ndim == 0:
        return slicing.slice_op(view.reshape_op(x, (1,)), slice(0, width))
    return windows_op(x, axis, width, stride)
