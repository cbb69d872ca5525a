# SPDX-License-Identifier: MIT
"""Operators that copy the windows of an image into columns, and add columns back."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.traced import traced
from autocalc._ops.convolutions import _spatial
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ShapeError

unfold_op = nary("unfold")


@unfold_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.fold(g, n.shapes[0][2:], *n.attributes)


fold_op = nary("fold")


@fold_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.unfold(g, *n.attributes[1:])


Sizes = int | tuple[int, ...]


@traced
def unfold(
    input: Tensor,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Return the windows of images as columns.

    With these columns, a convolution becomes a matrix product (im2col).

    Parameters
    ----------
    input
        A tensor of floats or booleans with the shape (N, C, H, W) or (C, H, W).
    kernel_size
        The size of a window: one number, or (height, width).
    dilation, padding, stride
        The parameters of the windows, as in `conv2d`.

    Returns
    -------
    Tensor
        A tensor of shape (N, C kH kW, windows).

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if a window is larger than the
        padded input.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0, 3.0]]])
    >>> ac.nn.functional.unfold(x, (1, 2))
    tensor([[1., 2.],
            [2., 3.]])
    """
    where = "unfold"
    x, had_batch = _spatial.batched(where, input, 2)
    windows = _windows(where, kernel_size, stride, padding, dilation)
    floats = _floats(where, x)
    found = unfold_op(floats, *windows)
    if floats is not x:
        found = cast(found, dtypes.bool_)
    return found if had_batch else _spatial.unbatched(found, False)


@traced
def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Return sums of columns as images; each column is added where `unfold` reads it.

    Parameters
    ----------
    input
        A tensor of floats or booleans with the shape (N, C kH kW, windows) or
        (C kH kW, windows).  A sum of booleans is True if one of them is True.
    output_size
        The height and width of the images: one number, or (height, width).
    kernel_size, dilation, padding, stride
        The parameters of the windows, as in `unfold`.

    Returns
    -------
    Tensor
        A tensor of shape (N, C, H, W).

    Raises
    ------
    ShapeError
        If the number of columns is not the number of windows, or the number of rows is
        not a multiple of the number of elements of a window.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[1.0, 2.0], [2.0, 3.0]])
    >>> ac.nn.functional.fold(x, (1, 3), (1, 2))
    tensor([[[1., 4., 3.]]])
    """
    where = "fold"
    check_shape(where, "input", input, "(N, rows, windows) or (rows, windows)")
    had_batch = input.ndim == 3
    x = input if had_batch else view.unsqueeze(input, 0)
    sizes = _spatial.sizes_of(where, "output_size", output_size, 2)
    windows = _windows(where, kernel_size, stride, padding, dilation)
    taps = math.prod(windows[0])
    if x.shape[1] % taps:
        raise ShapeError(
            f"{where}: `input` of shape {input.shape} has {x.shape[1]} rows; their "
            f"number must be divisible by the product of kernel_size, {taps}."
        )
    found = fold_op(_floats(where, x), sizes, *windows)
    return _spatial.unbatched(cast(found, x.dtype), had_batch)


def _floats(where: str, x: Tensor) -> Tensor:
    """Return floats unchanged, and booleans as 0 and 1."""
    if x._array.dtype.kind == "b":
        return cast(x, dtypes.float32)
    check_float(where, x)
    return x


def _windows(
    where: str, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> tuple[tuple[int, ...], ...]:
    """Return the window sizes in the form that the kernels take."""
    return (
        _spatial.sizes_of(where, "kernel_size", kernel_size, 2),
        _spatial.sizes_of(where, "stride", stride, 2),
        _spatial.sizes_of(where, "padding", padding, 2, 0),
        _spatial.sizes_of(where, "dilation", dilation, 2),
    )
