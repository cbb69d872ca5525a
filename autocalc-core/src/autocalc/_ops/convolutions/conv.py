# SPDX-License-Identifier: MIT
"""Convolutions of signals, images and volumes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from autocalc._kernels.conv._checks import check_conv
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import check_alike
from autocalc._ops._operator.traced import traced
from autocalc._ops.convolutions import _spatial
from autocalc._ops.convolutions.integer_conv import integer_conv
from autocalc._ops.views import slicing
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, ShapeError

conv_op = nary("conv", saves="x:weight weight:x")


@conv_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    x, weight = n.saved
    sizes, kernel = n.shapes[0][2:], n.shapes[1][2:]
    dx = dweight = dbias = None
    if n.needs(0):
        dx = k.conv_dx(g, weight, None, sizes, *n.attributes)
    if n.needs(1):
        together = n.needs(2) and not k.records
        dweight, dbias = k.conv_dweight(g, x, kernel, *n.attributes, want=together << 1)
    if n.needs(2) and dbias is None:
        dbias = over_channels(k, g)
    return dx, dweight, dbias


# The inputs are g, weight and bias; the attributes are the sizes and those of `conv`.
conv_dx = nary("conv_dx", saves="g:weight weight:g")


@conv_dx.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    given, weight = n.saved
    geometry, kernel = n.attributes[1:], n.shapes[1][2:]
    return (
        k.conv(g, weight, None, *geometry) if n.needs(0) else None,
        k.conv_dweight(given, g, kernel, *geometry)[0] if n.needs(1) else None,
        over_channels(k, g) if n.needs(2) else None,
    )


# The inputs are g and x; the attributes are the kernel sizes and those of `conv`.
conv_dweight = nary("conv_dweight", saves="g:x x:g")


@conv_dweight.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    given, x = n.saved
    geometry, sizes = n.attributes[1:], n.shapes[1][2:]
    return (
        k.conv(x, g, None, *geometry) if n.needs(0) else None,
        k.conv_dx(given, g, None, sizes, *geometry) if n.needs(1) else None,
    )


def _has_kernels(n: Any) -> bool:
    """Return True: one kernel computes each gradient of these rules."""
    return True


conv_op.op.rounds_once = _has_kernels
conv_dx.op.rounds_once = _has_kernels
conv_dweight.op.rounds_once = _has_kernels


def over_channels(k: Any, g: Any) -> Any:
    """Return the sum over all dimensions but that of the channels."""
    return k.sum(g, (0, *range(2, len(k.shape(g)))), False)


Sizes = int | tuple[int, ...]


@autocasts("lower")
@traced
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of signals with filters.

    It is the cross-correlation, as usual in machine learning::

        out[n, o, t] = bias[o] + sum over c, i of
                       weight[o, c, i] * x[n, c, t * stride - padding + i * dilation]

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L).
    weight
        A tensor of shape (O, C / groups, K).
    bias
        A vector of shape (O,) that is added to the output channels, or None.
    stride
        The number of positions from one window to the next.
    padding
        The number of zeros at both ends; or "valid" for none, or "same" for as many as
        keep the length.
    dilation
        The distance between two elements that one window reads.
    groups
        The number of groups of channels; an output channel reads only the input
        channels of its own group.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0, 4.0, 8.0]]])
    >>> ac.nn.functional.conv1d(x, ac.tensor([[[-1.0, 1.0]]]))
    tensor([[[1., 2., 4.]]])
    """
    where = "conv1d"
    return _conv(where, 1, input, weight, bias, stride, padding, dilation, groups)


@autocasts("lower")
@traced
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    r"""Return the convolution of images with filters.

    It is the cross-correlation, as usual in machine learning.  In each spatial
    dimension::

        out[n, o, t] = bias[o] + sum over c, i of
                       weight[o, c, i] * x[n, c, t * stride - padding + i * dilation]

    LeCun and others: Gradient-based learning applied to document recognition (1998).

    Parameters
    ----------
    input
        A tensor of float32 or float64 with the shape (N, C, H, W) or (C, H, W).
    weight
        A tensor of shape (O, C / groups, kH, kW).
    bias
        A vector of shape (O,) that is added to the output channels, or None.
    stride, dilation
        The number of positions from one window to the next, and the distance between
        two elements that one window reads.  Each is one number or (height, width).
    padding
        The number of zeros on each side of the input: one number or (height, width); or
        ``"valid"`` for none, or ``"same"`` for as many as keep the size
        (with stride 1).
    groups
        The number of groups of channels; an output channel reads only the input
        channels of its own group.

    Returns
    -------
    Tensor
        A tensor of shape (N, O, H', W') with H' = floor((H + 2 padding - dilation (kH -
        1) - 1) / stride) + 1.

    Raises
    ------
    ShapeError
        If the channels of `input` and `weight` do not fit, or a window is larger than
        the padded input.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, weight = ac.ones(1, 1, 3, 3), ac.ones(1, 1, 3, 3)
    >>> ac.nn.functional.conv2d(x, weight, padding=1)
    tensor([[[[4., 6., 4.],
              [6., 9., 6.],
              [4., 6., 4.]]]])
    """
    where = "conv2d"
    return _conv(where, 2, input, weight, bias, stride, padding, dilation, groups)


@autocasts("lower")
@traced
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of volumes, such as videos, with filters.

    The formula is that of `conv2d`, with three spatial dimensions.  Ji and others: 3D
    convolutional neural networks for human action recognition (ICML 2010).

    Parameters
    ----------
    input
        A tensor of float32 or float64 with the shape (N, C, D, H, W) or (C, D, H, W).
    weight
        A tensor of shape (O, C / groups, kD, kH, kW).
    bias
        A vector of shape (O,) that is added to the output channels, or None.
    stride, dilation
        The number of positions from one window to the next, and the distance between
        two elements that one window reads.  Each is one number or
        (depth, height, width).
    padding
        The number of zeros on each side of the input: one number or
        (depth, height, width); also "valid" or "same", as in `conv2d`.
    groups
        The number of groups of channels; an output channel reads only the input
        channels of its own group.

    Returns
    -------
    Tensor
        A tensor of shape (N, O, D', H', W'), with the sizes of the formula in `conv2d`.

    Raises
    ------
    ShapeError
        If the channels of `input` and `weight` do not fit, or a window is larger than
        the padded input.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, weight = ac.ones(1, 1, 2, 2, 2), ac.ones(1, 1, 2, 2, 2)
    >>> ac.nn.functional.conv3d(x, weight).item()
    8.0
    """
    where = "conv3d"
    return _conv(where, 3, input, weight, bias, stride, padding, dilation, groups)


def _conv(
    where: str,
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    x, had_batch = _spatial.batched(where, input, dims)
    whole = of_integers(where, x, weight, bias)
    x_shape, w_shape = x._array.shape, weight._array.shape
    if x._array.dtype is not weight._array.dtype:
        check_alike(where, (x, weight, bias))
    check = _checked if groups.__class__ is int else check_conv
    check(where, x_shape, w_shape, shape_of(bias), groups, "input")
    steps = _spatial.sizes_of(where, "stride", stride, dims)
    gaps = _spatial.sizes_of(where, "dilation", dilation, dims)
    ends = _paddings(where, padding, w_shape[2:], steps, gaps)
    if ends.more:
        x = longer(x, ends.more)
    convolve = integer_conv if whole else conv_op
    out = convolve(x, weight, bias, steps, ends.both, gaps, groups)
    return _spatial.unbatched(out, had_batch)


#: Valid shapes are cached from the first call on; errors are not cached.
_checked = lru_cache(1024)(check_conv)


class _Paddings(NamedTuple):
    """Zeros on both sides, and further zeros on the right side only."""

    both: tuple[int, ...]
    more: tuple[int, ...] | None = None


def _paddings(
    where: str,
    padding: Any,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> _Paddings:
    dims = len(kernel)
    if not isinstance(padding, str):
        return _Paddings(_spatial.sizes_of(where, "padding", padding, dims, 0))
    if padding == "valid":
        return _Paddings((0,) * dims)
    if padding != "same":
        message = f"{where}: `padding`={padding!r}; use integers, 'valid' or 'same'."
        raise ArgumentError(message)
    if any(step != 1 for step in stride):
        raise ArgumentError(
            f"{where}: padding='same' was given with `stride`={stride}, but it needs "
            "stride 1. Give the padding as numbers."
        )
    whole = [d * (n - 1) for n, d in zip(kernel, dilation, strict=True)]
    more = tuple(n % 2 for n in whole)
    return _Paddings(tuple(n // 2 for n in whole), more if any(more) else None)


def longer(x: Tensor, more: tuple[int, ...]) -> Tensor:
    """Return `x` with this many zeros at the ends of its last dimensions."""
    sizes = x.shape[-len(more) :]
    shape = tuple(n + m for n, m in zip(sizes, more, strict=True))
    place = tuple(slice(0, n) for n in sizes)
    return slicing.placed(x, (*x.shape[: -len(more)], *shape), (..., *place))


def shape_of(bias: Tensor | None) -> tuple[int, ...] | None:
    return None if bias is None else bias._array.shape


def of_integers(where: str, x: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Return whether all have one integer dtype; otherwise they must be floats."""
    if x.is_floating_point() or x.dtype is dtypes.bool_:
        check_weight(where, x, weight, bias)
        return False
    for other in (weight, *(() if bias is None else (bias,))):
        same_dtype(where, x, other)
    _check_not_empty(where, weight)
    return True


def check_weight(where: str, x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    check_float(where, x, weight, *(() if bias is None else (bias,)))
    _check_not_empty(where, weight)


def _check_not_empty(where: str, weight: Tensor) -> None:
    if 0 in weight._array.shape:
        message = f"{where}: `weight` has shape {weight.shape}; it must not be empty."
        raise ShapeError(message)
