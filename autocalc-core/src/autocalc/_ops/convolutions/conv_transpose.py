# SPDX-License-Identifier: MIT
"""Transposed convolutions: the input gradients of convolutions."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.conv._checks import check_conv_transpose
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.traced import traced
from autocalc._ops.convolutions import _spatial, conv
from autocalc._ops.convolutions.integer_conv import integer_conv_transpose
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, ShapeError

Sizes = int | tuple[int, ...]


@autocasts("lower")
@traced
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution of signals; see `conv_transpose2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L).
    weight
        A tensor of shape (C, O / groups, K).
    bias
        A vector of shape (O,), added to each output channel; None adds nothing.
    stride
        The step between windows.
    padding
        The number of elements that are removed at both ends of the output.
    output_padding
        The number of elements that are added at the end of the output.
    groups
        The number of groups of channels.
    dilation
        The step within a window.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, weight = ac.tensor([[[1.0, 2.0]]]), ac.tensor([[[1.0, 1.0, 3.0]]])
    >>> ac.nn.functional.conv_transpose1d(x, weight, stride=2)
    tensor([[[1., 1., 5., 2., 6.]]])
    """
    geometry = stride, padding, output_padding, dilation
    return _conv_transpose("conv_transpose1d", 1, input, weight, bias, geometry, groups)


@autocasts("lower")
@traced
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution, `conv2d`'s gradient with respect to its input.

    Each element of `input` multiplies the filter, and the product is added to the
    output.  It is added at the positions that `conv2d` reads with the same `weight`,
    `stride`, `padding` and `dilation`.  Zeiler and others: Deconvolutional networks
    (CVPR 2010).

    Parameters
    ----------
    input
        A tensor of shape (N, C, H, W) or (C, H, W), float32 or float64.
    weight
        A tensor of shape (C, O / groups, kH, kW): input channels come first.
    bias
        A vector of shape (O,), added to each output channel; None adds nothing.
    stride, padding, dilation, groups
        The parameters of the convolution whose gradient is computed. A larger stride
        gives a larger output; padding makes the output smaller.
    output_padding
        The number of elements that are added at the end of each spatial dimension of
        the output; less than `stride` or `dilation`.

    Returns
    -------
    Tensor
        A tensor of shape (N, O, H', W') with H' = (H - 1) stride - 2 padding + dilation
        (kH - 1) + output_padding + 1.

    Raises
    ------
    ShapeError
        If the channels of `input` and `weight` do not fit, or the output is empty.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, weight = ac.ones(1, 1, 2, 2), ac.ones(1, 1, 2, 2)
    >>> ac.nn.functional.conv_transpose2d(x, weight)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    geometry = stride, padding, output_padding, dilation
    return _conv_transpose("conv_transpose2d", 2, input, weight, bias, geometry, groups)


@autocasts("lower")
@traced
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution of volumes; see `conv_transpose2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W), float32 or float64.
    weight
        A tensor of shape (C, O / groups, kD, kH, kW): input channels come first.
    bias
        A vector of shape (O,), added to each output channel; None adds nothing.
    stride, padding, dilation, groups
        The parameters of the convolution whose gradient is computed: each is one number
        or (depth, height, width).
    output_padding
        The number of elements that are added at the end of each dimension of the
        output; less than `stride` or `dilation`.

    Returns
    -------
    Tensor
        A tensor of shape (N, O, D', H', W'), with the sizes of the formula in
        `conv_transpose2d`.

    Raises
    ------
    ShapeError
        If the channels of `input` and `weight` do not fit, or the output is empty.
    ArgumentError
        If an argument is not an integer, or is out of its range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, weight = ac.ones(1, 1, 1, 1, 2), ac.ones(1, 1, 1, 1, 2)
    >>> ac.nn.functional.conv_transpose3d(x, weight)
    tensor([[[[[1., 2., 1.]]]]])
    """
    geometry = stride, padding, output_padding, dilation
    return _conv_transpose("conv_transpose3d", 3, input, weight, bias, geometry, groups)


def _conv_transpose(
    where: str,
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    geometry: tuple[Any, Any, Any, Any],
    groups: int,
) -> Tensor:
    x, had_batch = _spatial.batched(where, input, dims)
    whole = x.dtype is dtypes.int64 and conv.of_integers(where, x, weight, bias)
    if not whole:
        conv.check_weight(where, x, weight, bias)
    check_conv_transpose(
        where, x.shape, weight.shape, conv.shape_of(bias), groups, "input"
    )
    stride, padding, output_padding, dilation = geometry
    steps = _spatial.sizes_of(where, "stride", stride, dims)
    ends = _spatial.sizes_of(where, "padding", padding, dims, 0)
    extra = _spatial.sizes_of(where, "output_padding", output_padding, dims, 0)
    gaps = _spatial.sizes_of(where, "dilation", dilation, dims)
    if any(e >= max(s, d) for e, s, d in zip(extra, steps, gaps, strict=True)):
        raise ArgumentError(
            f"{where}: `output_padding` is {extra}; it must be below `stride` {steps} "
            f"or `dilation` {gaps}."
        )
    each = zip(x.shape[2:], weight.shape[2:], steps, ends, extra, gaps, strict=True)
    sizes = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, e, d in each
    )
    if min(sizes) < 1:
        raise ShapeError(
            f"{where}: the output would have size {sizes}; give a larger input or less "
            "padding."
        )
    if whole:
        out = integer_conv_transpose(x, weight, bias, sizes, steps, ends, gaps, groups)
        return _spatial.unbatched(out, had_batch)
    if any(e >= s for e, s in zip(extra, steps, strict=True)):
        # A convolution of an output of that size has more windows, so pad the input
        # with zeros for them.
        x = conv.longer(x, tuple(e // s for e, s in zip(extra, steps, strict=True)))
    out = conv.conv_dx(x, weight, bias, sizes, steps, ends, gaps, groups)
    return _spatial.unbatched(out, had_batch)
