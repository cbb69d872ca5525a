# SPDX-License-Identifier: MIT
"""Power means over windows, and the inverse of max pooling."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.activations import rectifiers
from autocalc._ops.convolutions import _spatial
from autocalc._ops.creation.constants import zeros
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.indexing import scattering
from autocalc._ops.pooling import _windows, avg_pooling
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number, require
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError

Sizes = int | tuple[int, ...]


@declared
def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return sum(x^p)^(1 / p) over each window of signals; see `lp_pool2d`.

    Parameters
    ----------
    input
        The tensor x of shape (N, C, L) or (C, L).
    norm_type
        The exponent p, above 0.
    kernel_size
        The size of a window.
    stride
        The distance between two windows; by default `kernel_size`.
    ceil_mode
        True to allow a last window that extends beyond the end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.lp_pool1d(ac.tensor([[3.0, 4.0, 6.0, 8.0]]), 2, 2)
    tensor([[ 5., 10.]])
    """
    return _lp_pool("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


@declared
def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return sum(x^p)^(1 / p) over each window of images.

    With p = 1 it is the sum.  The larger p is, the closer the result is to the largest
    element.  Where the sum is 0, the gradient is 0.

    Parameters
    ----------
    input
        The tensor x of shape (N, C, H, W) or (C, H, W), float32 or float64.
    norm_type
        The exponent p, above 0.
    kernel_size
        The size of a window: one number, or (height, width).
    stride
        The distance between two windows; by default `kernel_size`.
    ceil_mode
        True to allow a last window that extends beyond the end.

    Raises
    ------
    ArgumentError
        If `norm_type` is not a finite number above 0, or a size is out of its range.
    ShapeError
        If `input` has a wrong number of dimensions, or if a window is larger than the
        input.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 1.0], [1.0, 1.0]]])
    >>> ac.nn.functional.lp_pool2d(x, 2, 2)
    tensor([[[2.]]])
    """
    return _lp_pool("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


@declared
def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return sum(x^p)^(1 / p) over each window of volumes; see `lp_pool2d`.

    Parameters
    ----------
    input
        The tensor x of shape (N, C, D, H, W) or (C, D, H, W).
    norm_type
        The exponent p, above 0.
    kernel_size
        The size of a window: one number, or (depth, height, width).
    stride
        The distance between two windows; by default `kernel_size`.
    ceil_mode
        True to allow a last window that extends beyond the end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.lp_pool3d(ac.ones(1, 2, 2, 2), 3, 2)
    tensor([[[[2.]]]])
    """
    return _lp_pool("lp_pool3d", 3, input, norm_type, kernel_size, stride, ceil_mode)


def check_norm_type(where: str, norm_type: Any) -> float:
    """Return the power of a power mean as a number."""
    p = number(where, "norm_type", norm_type)
    require(where, "norm_type", p, 0 < p < math.inf, "a finite number above 0")
    return p


@rounded_once
def _lp_pool(
    where: str,
    dims: int,
    input: Tensor,
    norm_type: Any,
    kernel_size: Any,
    stride: Any,
    ceil_mode: bool,
) -> Tensor:
    check_float(where, input)
    p = check_norm_type(where, norm_type)
    count = math.prod(_spatial.sizes_of(where, "kernel_size", kernel_size, dims))
    powers = arithmetic.pow(input, p)
    mean = avg_pooling.avg_pool(where, dims, powers, kernel_size, stride, ceil_mode)
    # Odd powers can give negative sums, which keep their sign as in PyTorch.
    size = rectifiers.relu(arithmetic.abs(mean))
    total = arithmetic.mul(arithmetic.mul(arithmetic.sign(mean), size), count)
    return arithmetic.pow(total, 1 / p)


# ---- the way back from maxima --------------------------------------------------------


@autocasts("float32")
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Any = None,
) -> Tensor:
    """Put the maxima of signals back at their positions; see `max_unpool2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L).
    indices
        The positions of the maxima, as returned by `max_pool1d`.
    kernel_size, stride, padding
        The parameters of the pooling that is reversed.
    output_size
        The size before the pooling.  It is needed if the pooling gives the same size
        for several input sizes.

    Examples
    --------
    >>> import autocalc as ac
    >>> F = ac.nn.functional
    >>> x, where = F.max_pool1d(ac.tensor([[1.0, 4, 2, 3]]), 2, return_indices=True)
    >>> F.max_unpool1d(x, where, 2)
    tensor([[0., 4., 0., 3.]])
    """
    lie = kernel_size, stride, padding
    return _max_unpool("max_unpool1d", 1, input, indices, lie, output_size)


@autocasts("float32")
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Any = None,
) -> Tensor:
    """Put the maxima of images back at their positions; all other elements are 0.

    Parameters
    ----------
    input
        A tensor of shape (N, C, H, W) or (C, H, W).
    indices
        The positions of the maxima as returned by `max_pool2d`, counted in row-major
        order in each plane.
    kernel_size, stride, padding
        The parameters of the pooling that is reversed.
    output_size
        The height and width before the pooling, or the whole shape; by default (H - 1)
        * stride - 2 * padding + kernel_size.  It may differ from the default by less
        than `stride`.

    Raises
    ------
    ShapeError
        If the shapes of the arguments do not fit together.
    ArgumentError
        If `output_size` differs too much from the default, or an argument is out of
        range.
    DTypeError
        If `indices` is not int64.
    KernelDataError
        If a position is outside of the output.

    Examples
    --------
    >>> import autocalc as ac
    >>> F = ac.nn.functional
    >>> image = ac.tensor([[[1.0, 2.0], [4.0, 3.0]]])
    >>> x, where = F.max_pool2d(image, 2, return_indices=True)
    >>> F.max_unpool2d(x, where, 2)
    tensor([[[0., 0.],
             [4., 0.]]])
    """
    lie = kernel_size, stride, padding
    return _max_unpool("max_unpool2d", 2, input, indices, lie, output_size)


@autocasts("float32")
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Any = None,
) -> Tensor:
    """Put the maxima of volumes back at their positions; see `max_unpool2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W).
    indices
        The positions of the maxima, as returned by `max_pool3d`.
    kernel_size, stride, padding
        The parameters of the pooling that is reversed.
    output_size
        The sizes before the pooling.  They are needed if the pooling gives the same
        sizes for several input sizes.

    Examples
    --------
    >>> import autocalc as ac
    >>> F = ac.nn.functional
    >>> x, where = F.max_pool3d(ac.ones(1, 1, 2, 2), (1, 2, 2), return_indices=True)
    >>> F.max_unpool3d(x, where, (1, 2, 2))
    tensor([[[[1., 0.],
              [0., 0.]]]])
    """
    lie = kernel_size, stride, padding
    return _max_unpool("max_unpool3d", 3, input, indices, lie, output_size)


def _max_unpool(
    where: str,
    dims: int,
    input: Tensor,
    indices: Tensor,
    lie: tuple[Any, Any, Any],
    output_size: Any,
) -> Tensor:
    check_float(where, input)
    x, had_batch = _spatial.batched(where, input, dims)
    _check_places(where, input, indices)
    steps = _windows.steps_of(where, dims, *lie)
    if min(x.shape[2:]) < 1:
        message = f"{where}: `input` has shape {input.shape}; its planes are empty."
        raise ShapeError(message)
    sizes = _sizes_before(where, x, steps, output_size)
    planes = x.shape[:2]
    blank = zeros((*planes, math.prod(sizes)), dtype=x.dtype, device=place_of_tensor(x))
    places = view.reshape(indices, (*planes, math.prod(x.shape[2:])))
    filled = scattering.scatter(blank, 2, places, view.reshape(x, places.shape))
    out = view.detach_from_base(view.reshape(filled, (*planes, *sizes)))
    return _spatial.unbatched(out, had_batch)


def _check_places(where: str, input: Tensor, indices: Tensor) -> None:
    if check_tensor(where, indices).dtype is not dtypes.int64:
        raise DTypeError(
            f"{where}: `indices` has dtype {indices.dtype.name}; it must be int64, as "
            "max pooling with return_indices=True returns it."
        )
    if indices.shape != input.shape:
        raise ShapeError(
            f"{where}: `indices` has shape {indices.shape}, but `input` has shape "
            f"{input.shape}; they must be equal."
        )


def _sizes_before(
    where: str, x: Tensor, steps: tuple[tuple[int, ...], ...], output_size: Any
) -> tuple[int, ...]:
    """Return the sizes before pooling, as given or computed from the windows."""
    each = zip(x.shape[2:], *steps, strict=True)
    usual = tuple((n - 1) * s - 2 * p + k for n, k, s, p in each)
    given = usual
    if output_size is not None:
        behind = x.ndim - 2
        sizes = output_size if isinstance(output_size, (tuple, list)) else ()
        whole = len(sizes) in (behind + 1, behind + 2)
        last = output_size[-behind:] if whole else output_size
        given = _spatial.sizes_of(where, "output_size", last, behind)
    fits = zip(given, usual, steps[1], strict=True)
    if min(given) < 1 or not all(abs(n - u) < s for n, u, s in fits):
        raise ArgumentError(
            f"{where}: `output_size` is {given}; with windows of {steps[0]} and a "
            f"stride of {steps[1]}, it must differ from {usual} by less than the "
            "stride."
        )
    return given
