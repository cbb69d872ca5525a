# SPDX-License-Identifier: MIT
"""Maxima and means over windows."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._ops import _spatial, reduction
from autocalc._ops._checks import check_float
from autocalc._ops._op import nary
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import FLAG, check_flag
from autocalc.errors import ArgumentError

# Attributes of the forward operators are those of their kernels.
max_pool_op = nary("max_pool", saves="indices:x")


max_pool_backward = nary("max_pool_backward", saves="indices:g")


@max_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Read where the operator wrote."""
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
    """Spread each mean's gradient; of a mean of everything without writing it out."""
    sizes = n.shapes[0][2:]
    if math.prod(k.shape(g)[2:]) > 1:
        return k.adaptive_avg_pool_backward(g, sizes)
    return k.expand(k.mul(g, k.constant(1 / math.prod(sizes), g)), n.shapes[0])


adaptive_avg_pool_backward = nary("adaptive_avg_pool_backward")


@adaptive_avg_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.adaptive_avg_pool(g, n.shapes[0][2:])


def places(forward: Any, x: Tensor, *attributes: Any) -> Tensor:
    """Return where the largest elements lie that `forward` finds."""
    kernel = getattr(arrays, forward.op.name)
    return make(kernel(x._array, *attributes, want=0b10)[1], None)


Sizes = int | tuple[int, ...]


Result = Tensor | tuple[Tensor, Tensor]


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
        (N, C, L) or (C, L).
    kernel_size
        The size of a window.
    stride
        From one window to the next; by default their size.
    padding
        Elements of -inf at both ends.
    dilation
        The step within a window.
    ceil_mode
        Whether a last window may reach beyond the end.
    return_indices
        Also return where the maxima are.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.max_pool1d(ac.tensor([[1.0, 4.0, 2.0, 3.0]]), 2)
    tensor([[4., 3.]])
    """
    if ceil_mode.__class__ is not FLAG:
        ceil_mode = check_flag("max_pool1d", "ceil_mode", ceil_mode)
    if return_indices.__class__ is not FLAG:
        return_indices = check_flag("max_pool1d", "return_indices", return_indices)
    lie = kernel_size, stride, padding, dilation
    return _max_pool("max_pool1d", 1, input, lie, ceil_mode, return_indices)


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

    A window with a NaN gives NaN.  The gradient goes to the largest element, the first
    of several.

    Parameters
    ----------
    input
        (N, C, H, W) or (C, H, W), float32 or float64.
    kernel_size
        Of a window: one number, or height and width.
    stride
        Steps between windows, by default `kernel_size`.
    padding
        Elements around the input, none of which is ever the largest; at most half a
        window.
    dilation
        Steps between the elements of one window.
    ceil_mode
        Whether a last window may reach over the end.
    return_indices
        Also return where the elements lie in their planes, counted row by row.

    Raises
    ------
    ShapeError
        If the input has other dimensions, or a window is larger than it.
    ArgumentError
        If an argument is no integer in its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0], [4.0, 3.0]]])
    >>> ac.nn.functional.max_pool2d(x, 2, return_indices=True)
    (tensor([[[4.]]]), tensor([[[2]]]))
    """
    if ceil_mode.__class__ is not FLAG:
        ceil_mode = check_flag("max_pool2d", "ceil_mode", ceil_mode)
    if return_indices.__class__ is not FLAG:
        return_indices = check_flag("max_pool2d", "return_indices", return_indices)
    lie = kernel_size, stride, padding, dilation
    return _max_pool("max_pool2d", 2, input, lie, ceil_mode, return_indices)


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
        (N, C, L) or (C, L).
    kernel_size
        The size of a window.
    stride
        From one window to the next; by default their size.
    padding
        Zeros at both ends.
    ceil_mode
        Whether a last window may reach beyond the end.
    count_include_pad
        Whether zeros of the padding count in the mean.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.avg_pool1d(ac.tensor([[1.0, 3.0, 2.0, 6.0]]), 2)
    tensor([[2., 4.]])
    """
    if ceil_mode.__class__ is not FLAG:
        ceil_mode = check_flag("avg_pool1d", "ceil_mode", ceil_mode)
    if count_include_pad.__class__ is not FLAG:
        count_include_pad = check_flag(
            "avg_pool1d", "count_include_pad", count_include_pad
        )
    lie = kernel_size, stride, padding
    return _avg_pool("avg_pool1d", 1, input, lie, ceil_mode, count_include_pad, None)


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
        (N, C, H, W) or (C, H, W), float32 or float64.
    kernel_size
        Of a window: one number, or height and width.
    stride
        Steps between windows, by default `kernel_size`.
    padding
        Zeros around the input; at most half a window.
    ceil_mode
        Whether a last window may reach over the end; what lies there does not count.
    count_include_pad
        Whether zeros of the padding count in a mean.
    divisor_override
        Divide sums by this instead of by the number of elements.

    Raises
    ------
    ShapeError
        If the input has other dimensions, or a window is larger than it.
    ArgumentError
        If an argument is no integer in its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0], [4.0, 5.0]]])
    >>> ac.nn.functional.avg_pool2d(x, 2)
    tensor([[[3.]]])
    """
    if ceil_mode.__class__ is not FLAG:
        ceil_mode = check_flag("avg_pool2d", "ceil_mode", ceil_mode)
    if count_include_pad.__class__ is not FLAG:
        count_include_pad = check_flag(
            "avg_pool2d", "count_include_pad", count_include_pad
        )
    lie = kernel_size, stride, padding
    return _avg_pool(
        "avg_pool2d", 2, input, lie, ceil_mode, count_include_pad, divisor_override
    )


def adaptive_max_pool1d(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> Any:
    """Return the largest elements of signals, as many as asked for.

    As in `adaptive_max_pool2d`, with one dimension of positions.

    Parameters
    ----------
    input
        (N, C, L) or (C, L).
    output_size
        How many results.
    return_indices
        Also return where the maxima are.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.adaptive_max_pool1d(ac.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
    tensor([[3., 7.]])
    """
    if return_indices.__class__ is not FLAG:
        return_indices = check_flag(
            "adaptive_max_pool1d", "return_indices", return_indices
        )
    return _adaptive_max("adaptive_max_pool1d", 1, input, output_size, return_indices)


def adaptive_max_pool2d(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> Any:
    """Return the largest element of each of so many boxes of images.

    Parameters
    ----------
    input
        (N, C, H, W) or (C, H, W), float32 or float64.
    output_size
        One number, or height and width; None keeps that of the input.  Box i of s takes
        the rows from floor(i H / s) up to ceil((i + 1) H / s), and so the columns.
    return_indices
        Also return where the elements lie in their planes, counted row by row.

    Raises
    ------
    ShapeError
        If the input has other dimensions or is empty.
    ArgumentError
        If a size is not an integer of 1 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]]])
    >>> ac.nn.functional.adaptive_max_pool2d(x, (1, 2))
    tensor([[[6., 5.]]])
    """
    if return_indices.__class__ is not FLAG:
        return_indices = check_flag(
            "adaptive_max_pool2d", "return_indices", return_indices
        )
    return _adaptive_max("adaptive_max_pool2d", 2, input, output_size, return_indices)


def adaptive_avg_pool1d(input: Tensor, output_size: Sizes) -> Tensor:
    """Return so many means of signals; see `adaptive_avg_pool2d`.

    Parameters
    ----------
    input
        (N, C, L) or (C, L).
    output_size
        How many results.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.adaptive_avg_pool1d(ac.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
    tensor([[2., 6.]])
    """
    return _adaptive_avg("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the mean of each of so many boxes of images.

    Parameters
    ----------
    input
        (N, C, H, W) or (C, H, W), float32 or float64.
    output_size
        One number, or height and width; None keeps that of the input.  Boxes lie as in
        `adaptive_max_pool2d`.

    Raises
    ------
    ShapeError
        If the input has other dimensions or is empty.
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


def steps_of(
    where: str, dims: int, kernel_size: Any, stride: Any, padding: Any
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of windows, the steps between them, and what surrounds them."""
    kernel = _spatial.sizes_of(where, "kernel_size", kernel_size, dims)
    # An empty tuple stands for "as large as the window", as None does.
    empty = isinstance(stride, (tuple, list)) and not stride
    stride = kernel if stride is None or empty else stride
    steps = _spatial.sizes_of(where, "stride", stride, dims)
    return kernel, steps, _spatial.sizes_of(where, "padding", padding, dims, 0)


def _max_pool(
    where: str,
    dims: int,
    input: Tensor,
    lie: tuple[Any, Any, Any, Any],
    ceil_mode: bool,
    return_indices: bool,
) -> Result:
    x, had_batch = _spatial.batched(where, input, dims)
    check_float(where, x)
    check_flag(where, "ceil_mode", ceil_mode)
    kernel_size, stride, padding, dilation = lie
    steps = steps_of(where, dims, kernel_size, stride, padding)
    gaps = _spatial.sizes_of(where, "dilation", dilation, dims)
    attributes = (*steps, gaps, ceil_mode)
    return _with_places(max_pool_op, x, attributes, return_indices, had_batch)


def _with_places(
    pool: Any,
    x: Tensor,
    attributes: tuple[Any, ...],
    return_indices: bool,
    had_batch: bool,
) -> Result:
    out = _spatial.unbatched(pool(x, *attributes), had_batch)
    if not return_indices:
        return out
    return out, _spatial.unbatched(places(pool, x, *attributes), had_batch)


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
    check_flag(where, "ceil_mode", ceil_mode)
    check_flag(where, "count_include_pad", count_include_pad)
    if divisor is not None and (
        isinstance(divisor, bool) or not isinstance(divisor, int) or divisor == 0
    ):
        message = (
            f"{where}: `divisor_override` is {divisor!r}; it must be an integer other "
            f"than 0, or None."
        )
        raise ArgumentError(message)
    steps = steps_of(where, dims, *lie)
    out = avg_pool_op(x, *steps, ceil_mode, count_include_pad, divisor or 0)
    return _spatial.unbatched(out, had_batch)


def avg_pool(
    where: str, dims: int, x: Tensor, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Tensor:
    """Return the mean of each window over `dims` dimensions."""
    lie = kernel_size, stride, 0
    return _avg_pool(where, dims, x, lie, ceil_mode, True, None)


def _boxes(where: str, x: Tensor, output_size: Any, dims: int) -> tuple[int, ...]:
    """Return the sizes asked for, None being those of `x`."""
    given = output_size if isinstance(output_size, (tuple, list)) else [output_size]
    given = list(given) * (dims if len(given) == 1 else 1)
    if len(given) == dims:
        planes = zip(given, x.shape[2:], strict=True)
        given = [n if size is None else size for size, n in planes]
    return _spatial.sizes_of(where, "output_size", tuple(given), dims)


def _even(x: Tensor, sizes: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Return the windows that are the boxes, if these divide the input evenly."""
    planes = x.shape[2:]
    if min(planes) < 1 or any(n % s for n, s in zip(planes, sizes, strict=True)):
        return None
    kernel = tuple(n // s for n, s in zip(planes, sizes, strict=True))
    return kernel, kernel, (0,) * len(sizes)


def _adaptive_max(
    where: str, dims: int, input: Tensor, output_size: Any, return_indices: bool
) -> Result:
    x, had_batch = _spatial.batched(where, input, dims)
    check_float(where, x)
    sizes = _boxes(where, x, output_size, dims)
    windows = _even(x, sizes)
    if windows is not None:
        attributes = (*windows, (1,) * dims, False)
        return _with_places(max_pool_op, x, attributes, return_indices, had_batch)
    return _with_places(adaptive_max_pool_op, x, (sizes,), return_indices, had_batch)


def _adaptive_avg(where: str, dims: int, input: Tensor, output_size: Any) -> Tensor:
    x, had_batch = _spatial.batched(where, input, dims)
    check_float(where, x)
    sizes = _boxes(where, x, output_size, dims)
    return _spatial.unbatched(adaptive_mean(x, sizes), had_batch)


def adaptive_mean(x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Return the mean of each of so many boxes of (N, C, ...)."""
    windows = _even(x, sizes)
    if windows is None:
        return adaptive_avg_pool_op(x, sizes)
    if max(sizes) == 1:
        return reduction.mean_op(x, tuple(range(2, x.ndim)), True)
    return avg_pool_op(x, *windows, False, True, 0)
