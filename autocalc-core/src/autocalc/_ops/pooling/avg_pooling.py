# SPDX-License-Identifier: MIT
"""Means over windows."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.traced import traced
from autocalc._ops.convolutions import _spatial
from autocalc._ops.pooling import _windows
from autocalc._ops.reductions import reduction
from autocalc._tensor import Tensor
from autocalc._tensor.checks import plain
from autocalc.errors import ArgumentError

Sizes = int | tuple[int, ...]

# The attributes of the forward operators are those of their kernels.
avg_pool_op = nary("avg_pool")


@avg_pool_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.avg_pool_backward(g, n.shapes[0][2:], *n.attributes)


avg_pool_backward = nary("avg_pool_backward")


@avg_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.avg_pool(g, *n.attributes[1:])


adaptive_avg_pool_op = nary("adaptive_avg_pool")


@adaptive_avg_pool_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Spread the gradient of each mean; expand it if there is only one mean."""
    sizes = n.shapes[0][2:]
    if math.prod(k.shape(g)[2:]) > 1:
        return k.adaptive_avg_pool_backward(g, sizes)
    return k.expand(k.mul(g, k.constant(1 / math.prod(sizes), g)), n.shapes[0])


adaptive_avg_pool_backward = nary("adaptive_avg_pool_backward")


@adaptive_avg_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.adaptive_avg_pool(g, n.shapes[0][2:])


@traced
def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of signals; see `avg_pool2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L).
    kernel_size
        The size of a window.
    stride
        The distance between two windows; by default the size of a window.
    padding
        The number of zeros that are added at both ends.
    ceil_mode
        True to allow a last window that extends beyond the end.
    count_include_pad
        True to count the zeros of the padding in the mean.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.avg_pool1d(ac.tensor([[1.0, 3.0, 2.0, 6.0]]), 2)
    tensor([[2., 4.]])
    """
    lie = kernel_size, stride, padding
    return _avg_pool("avg_pool1d", 1, input, lie, ceil_mode, count_include_pad, None)


@traced
def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of images.

    Parameters
    ----------
    input
        A tensor of shape (N, C, H, W) or (C, H, W), float32 or float64.
    kernel_size
        The size of a window: one number, or (height, width).
    stride
        The distance between two windows; by default `kernel_size`.
    padding
        The number of zeros that are added on each side, at most half a window.
    ceil_mode
        True to allow a last window that extends beyond the end; positions beyond the
        end do not count.
    count_include_pad
        True to count the zeros of the padding in the mean.
    divisor_override
        The number by which sums are divided, instead of the number of elements.

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
    >>> x = ac.tensor([[[1.0, 2.0], [4.0, 5.0]]])
    >>> ac.nn.functional.avg_pool2d(x, 2)
    tensor([[[3.]]])
    """
    lie = kernel_size, stride, padding
    return _avg_pool(
        "avg_pool2d", 2, input, lie, ceil_mode, count_include_pad, divisor_override
    )


@autocasts("float32")
@traced
def avg_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of volumes; see `avg_pool2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W), float32 or float64.
    kernel_size
        The size of a window: one number, or (depth, height, width).
    stride
        The distance between two windows; by default `kernel_size`.
    padding
        The number of zeros that are added on each side, at most half a window.
    ceil_mode
        True to allow a last window that extends beyond the end; positions beyond the
        end do not count.
    count_include_pad
        True to count the zeros of the padding in the mean.
    divisor_override
        The number by which sums are divided, instead of the number of elements.

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
    >>> x = ac.tensor([[[[1.0, 2.0]], [[4.0, 5.0]]]])
    >>> ac.nn.functional.avg_pool3d(x, (2, 1, 2))
    tensor([[[[3.]]]])
    """
    lie = kernel_size, stride, padding
    return _avg_pool(
        "avg_pool3d", 3, input, lie, ceil_mode, count_include_pad, divisor_override
    )


@traced
def adaptive_avg_pool1d(input: Tensor, output_size: Sizes) -> Tensor:
    """Return `output_size` means of a signal; see `adaptive_avg_pool2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L).
    output_size
        The length of the result.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.adaptive_avg_pool1d(ac.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
    tensor([[2., 6.]])
    """
    return _adaptive_avg("adaptive_avg_pool1d", 1, input, output_size)


@traced
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of a fixed number of boxes of images.

    Parameters
    ----------
    input
        A tensor of shape (N, C, H, W) or (C, H, W), float32 or float64.
    output_size
        The size of the result: one number, or (height, width); None keeps the size of
        the input.  The boxes are those of `adaptive_max_pool2d`.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if it is empty.
    ArgumentError
        If a size is not an integer of 1 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]])
    >>> ac.nn.functional.adaptive_avg_pool2d(x, 1)
    tensor([[[3.]]])
    """
    return _adaptive_avg("adaptive_avg_pool2d", 2, input, output_size)


@autocasts("float32")
@traced
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of a fixed number of boxes of volumes.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W), float32 or float64.
    output_size
        The size of the result: one number, or (depth, height, width); None keeps the
        size of the input.  The boxes are those of `adaptive_max_pool2d`.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if it is empty.
    ArgumentError
        If a size is not an integer of 1 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[[1.0, 2.0, 3.0]], [[3.0, 4.0, 5.0]]]])
    >>> ac.nn.functional.adaptive_avg_pool3d(x, 1)
    tensor([[[[3.]]]])
    """
    return _adaptive_avg("adaptive_avg_pool3d", 3, input, output_size)


def _avg_pool(
    where: str,
    dims: int,
    input: Tensor,
    lie: tuple[Any, Any, Any],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: Any,
) -> Tensor:
    x, had_batch = _spatial.batched(where, input, dims)
    check_float(where, x)
    divisor = plain(divisor)
    if divisor is not None and (
        isinstance(divisor, bool) or not isinstance(divisor, int) or divisor == 0
    ):
        raise ArgumentError(
            f"{where}: `divisor_override` is {divisor!r}; it must be an integer other "
            f"than 0, or None."
        )
    steps = _windows.steps_of(where, dims, *lie)
    out = avg_pool_op(x, *steps, ceil_mode, count_include_pad, divisor or 0)
    return out if had_batch else _spatial.unbatched(out, False)


def avg_pool(
    where: str, dims: int, x: Tensor, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Tensor:
    """Return the mean of each window over `dims` dimensions."""
    lie = kernel_size, stride, 0
    return _avg_pool(where, dims, x, lie, ceil_mode, True, None)


def _adaptive_avg(where: str, dims: int, input: Tensor, output_size: Any) -> Tensor:
    x, had_batch = _spatial.batched(where, input, dims)
    check_float(where, x)
    sizes = _windows.boxes(where, x, output_size, dims)
    out = adaptive_mean(x, sizes)
    return out if had_batch else _spatial.unbatched(out, False)


def adaptive_mean(x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Return the mean of each box of (N, C, ...); `sizes` says how many there are."""
    windows = _windows.even(x, sizes)
    if windows is None:
        return adaptive_avg_pool_op(x, sizes)
    if max(sizes) == 1:
        return reduction.mean_op(x, tuple(range(2, x._array.ndim)), True)
    return avg_pool_op(x, *windows, False, True, 0)
