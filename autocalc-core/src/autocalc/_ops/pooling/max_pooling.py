# SPDX-License-Identifier: MIT
"""Maxima over windows."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.traced import traced
from autocalc._ops.convolutions import _spatial
from autocalc._ops.indexing import indexing
from autocalc._ops.pooling import _windows
from autocalc._ops.sequences import searching
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes, make

# The attributes of the forward operators are those of their kernels.
max_pool_op = nary("max_pool", saves="indices:x")


max_pool_backward = nary("max_pool_backward", saves="indices:g")


@max_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Read the places that the operator wrote."""
    (indices,) = n.saved
    shape = n.shapes[0]
    planes = shape[0] * shape[1]
    rows = k.reshape(g, (planes, math.prod(n.attributes[0])))
    index = k.reshape(indices, (planes, math.prod(shape[2:])))
    return k.reshape(k.gather(rows, index, 1), shape), None


adaptive_max_pool_op = nary("adaptive_max_pool", saves="indices:x")


def _largest_rule(k: Any, n: Any, g: Any) -> Any:
    (indices,) = n.saved
    return k.max_pool_backward(g, indices, n.shapes[0][2:])


max_pool_op.vjp(_largest_rule)


adaptive_max_pool_op.vjp(_largest_rule)


def places(forward: Any, x: Tensor, *attributes: Any) -> Tensor:
    """Return the positions of the largest elements that `forward` finds."""
    kernel = getattr(arrays, forward.op.name)
    return make(kernel(x._array, *attributes, want=0b10)[1], None)


Sizes = int | tuple[int, ...]


Result = Tensor | tuple[Tensor, Tensor]


@traced
def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of signals; see `max_pool2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L).
    kernel_size
        The size of a window.
    stride
        The distance between two windows; by default `kernel_size`.
    padding
        The number of elements of -infinity that are added at both ends.
    dilation
        The distance between two elements of a window.
    ceil_mode
        True to allow a last window that extends beyond the end.
    return_indices
        True to also return the positions of the largest elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.max_pool1d(ac.tensor([[1.0, 4.0, 2.0, 3.0]]), 2)
    tensor([[4., 3.]])
    """
    lie = kernel_size, stride, padding, dilation
    return _max_pool("max_pool1d", 1, input, lie, ceil_mode, return_indices)


@traced
def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of images.

    A window that contains NaN gives NaN. The gradient goes to the largest element of a
    window.  If several elements are the largest, it goes to the first of them.

    Parameters
    ----------
    input
        A tensor of shape (N, C, H, W) or (C, H, W), float32 or float64.
    kernel_size
        The size of a window: one number, or (height, width).
    stride
        The distance between two windows; by default `kernel_size`.
    padding
        The number of elements added on each side, at most half a window; they are never
        the maximum.
    dilation
        The distance between two elements of a window.
    ceil_mode
        True to allow a last window that extends beyond the end.
    return_indices
        True to also return the positions of the elements in their planes, counted row
        by row.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if a window is larger than the
        input.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0], [4.0, 3.0]]])
    >>> ac.nn.functional.max_pool2d(x, 2, return_indices=True)
    (tensor([[[4.]]]), tensor([[[2]]]))
    """
    lie = kernel_size, stride, padding, dilation
    return _max_pool("max_pool2d", 2, input, lie, ceil_mode, return_indices)


@traced
def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of volumes; see `max_pool2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W), float32 or float64.
    kernel_size
        The size of a window: one number, or (depth, height, width).
    stride
        The distance between two windows; by default `kernel_size`.
    padding
        The number of elements added on each side; they are never the maximum.
    dilation
        The distance between two elements of a window.
    ceil_mode
        True to allow a last window that extends beyond the end.
    return_indices
        True to also return the positions of the elements in their volumes, counted row
        by row.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if a window is larger than the
        input.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[[1.0, 2.0]], [[4.0, 3.0]]]])
    >>> ac.nn.functional.max_pool3d(x, (2, 1, 2), return_indices=True)
    (tensor([[[[4.]]]]), tensor([[[[2]]]]))
    """
    lie = kernel_size, stride, padding, dilation
    return _max_pool("max_pool3d", 3, input, lie, ceil_mode, return_indices)


@declared
def adaptive_max_pool1d(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> Any:
    """Return the largest elements of a fixed number of parts of a signal.

    It works as `adaptive_max_pool2d` does, with one spatial dimension.

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L).
    output_size
        The number of results.
    return_indices
        True to also return the positions of the maxima.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.adaptive_max_pool1d(ac.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
    tensor([[3., 7.]])
    """
    return _adaptive_max("adaptive_max_pool1d", 1, input, output_size, return_indices)


@declared
def adaptive_max_pool2d(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """Return the largest elements of a fixed number of boxes of images.

    Parameters
    ----------
    input
        A tensor of shape (N, C, H, W) or (C, H, W), float32 or float64.
    output_size
        The size of the result: one number, or (height, width); None keeps the size of
        the input.  With H rows and s boxes, box i has the rows from floor(i H / s) up
        to ceil((i + 1) H / s), not included; its columns are computed in the same way.
    return_indices
        True to also return the positions of the elements in their planes, counted row
        by row.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if it is empty.
    ArgumentError
        If a size is not an integer of 1 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]]])
    >>> ac.nn.functional.adaptive_max_pool2d(x, (1, 2))
    tensor([[[6., 5.]]])
    """
    return _adaptive_max("adaptive_max_pool2d", 2, input, output_size, return_indices)


@autocasts("float32")
@declared
def adaptive_max_pool3d(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """Return the largest elements of a fixed number of boxes of volumes.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W), float32 or float64.
    output_size
        The size of the result: one number, or (depth, height, width); None keeps the
        size of the input.  The boxes are the same as in `adaptive_max_pool2d`.
    return_indices
        True to also return the positions of the elements in their volumes, counted row
        by row.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if it is empty.
    ArgumentError
        If a size is not an integer of 1 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[[1.0, 2.0, 3.0]], [[6.0, 5.0, 4.0]]]])
    >>> ac.nn.functional.adaptive_max_pool3d(x, (1, 1, 2))
    tensor([[[[6., 5.]]]])
    """
    return _adaptive_max("adaptive_max_pool3d", 3, input, output_size, return_indices)


def _max_pool(
    where: str,
    dims: int,
    input: Tensor,
    lie: tuple[Any, Any, Any, Any],
    ceil_mode: bool,
    return_indices: bool,
) -> Result:
    x, had_batch = _spatial.batched(where, input, dims)
    kind = x._array.dtype.kind
    if kind == "b":
        refuse_booleans(where, x)
    kernel_size, stride, padding, dilation = lie
    steps = _windows.steps_of(where, dims, kernel_size, stride, padding)
    gaps = _spatial.sizes_of(where, "dilation", dilation, dims)
    attributes = (*steps, gaps, ceil_mode)
    if kind not in FLOAT_KINDS:
        return _max_of_integers(x, attributes, return_indices, had_batch)
    return _with_places(max_pool_op, x, attributes, return_indices, had_batch)


def _max_of_integers(
    x: Tensor, attributes: tuple[Any, ...], return_indices: bool, had_batch: bool
) -> Result:
    """Find the largest elements by floats in the same order; take them from `x`."""
    exact = x if x.itemsize < 8 else searching.ranks(x)
    found = places(max_pool_op, cast(exact, dtypes.float64), *attributes)
    lines = (
        view.reshape(t, (*x.shape[:2], math.prod(t.shape[2:]))) for t in (x, found)
    )
    out = view.reshape(indexing.gather(next(lines), 2, next(lines)), found.shape)
    out = _spatial.unbatched(out, had_batch)
    return (out, _spatial.unbatched(found, had_batch)) if return_indices else out


def _with_places(
    pool: Any,
    x: Tensor,
    attributes: tuple[Any, ...],
    return_indices: bool,
    had_batch: bool,
) -> Result:
    out = pool(x, *attributes)
    out = out if had_batch else _spatial.unbatched(out, False)
    if not return_indices:
        return out
    return out, _spatial.unbatched(places(pool, x, *attributes), had_batch)


def _adaptive_max(
    where: str, dims: int, input: Tensor, output_size: Any, return_indices: bool
) -> Result:
    x, had_batch = _spatial.batched(where, input, dims)
    check_float(where, x)
    sizes = _windows.boxes(where, x, output_size, dims)
    windows = _windows.even(x, sizes)
    if windows is not None:
        attributes = (*windows, (1,) * dims, False)
        return _with_places(max_pool_op, x, attributes, return_indices, had_batch)
    return _with_places(adaptive_max_pool_op, x, (sizes,), return_indices, had_batch)
