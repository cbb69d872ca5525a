# SPDX-License-Identifier: MIT
"""Convolutions of one and two dimensions, and their transposes."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._kernels.conv._checks import check_conv, check_conv_transpose
from autocalc._ops import _spatial, slicing
from autocalc._ops._checks import check_float
from autocalc._ops._op import nary
from autocalc._tensor import Tensor
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


# Inputs g, weight, bias; attributes sizes, and those of `conv`.
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


# Inputs g, x; attributes kernel, and those of `conv`.
conv_dweight = nary("conv_dweight", saves="g:x x:g")


@conv_dweight.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    given, x = n.saved
    geometry, sizes = n.attributes[1:], n.shapes[1][2:]
    return (
        k.conv(x, g, None, *geometry) if n.needs(0) else None,
        k.conv_dx(given, g, None, sizes, *geometry) if n.needs(1) else None,
    )


def over_channels(k: Any, g: Any) -> Any:
    """Return the sum over all dimensions but the channels'."""
    return k.sum(g, (0, *range(2, len(k.shape(g)))), False)


Sizes = int | tuple[int, ...]


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of signals: bias[o] + sum of weight[o, c, i] x[c, t + i].

    As in `conv2d`, with one dimension of positions: `input` is (N, C, L) or (C, L),
    `weight` (O, C / groups, K).

    Parameters
    ----------
    input
        (N, C, L) or (C, L).
    weight
        (O, C / groups, K).
    bias
        (O,).
    stride
        The step between windows.
    padding
        Zeros at both ends; also "valid" or "same".
    dilation
        The step within a window.
    groups
        Into how many groups channels fall.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0, 4.0, 8.0]]])
    >>> ac.nn.functional.conv1d(x, ac.tensor([[[-1.0, 1.0]]]))
    tensor([[[1., 2., 4.]]])
    """
    where = "conv1d"
    return _conv(where, 1, input, weight, bias, stride, padding, dilation, groups)


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

    Strictly the correlation, in each dimension of positions::

        out[n, o, t] = bias[o] + sum over c, i of
                       weight[o, c, i] * x[n, c, t * stride - padding + i * dilation]

    LeCun and others: Gradient-based learning applied to document recognition (1998).

    Parameters
    ----------
    input
        (N, C, H, W) or (C, H, W), float32 or float64.
    weight
        (O, C / groups, kH, kW).
    bias
        (O,).
    stride, dilation
        Steps between windows, and between the elements that one window reads: one
        number or two.
    padding
        Zeros around the input: one number or two; ``"valid"`` for none, ``"same"`` for
        as many as keep the size (with stride 1).
    groups
        Into how many groups channels fall; an output reads those of its own group.

    Returns
    -------
    Tensor
        (N, O, H', W') with H' = floor((H + 2 padding - dilation (kH - 1) - 1) / stride)
        + 1.

    Raises
    ------
    ShapeError
        If channels and weight do not fit, or a window is larger than the padded input.
    ArgumentError
        If an argument is no integer in its range.

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
        (N, C, L) or (C, L).
    weight
        (C, O / groups, K).
    bias
        (O,).
    stride
        The step between windows.
    padding
        What is cut off at both ends.
    output_padding
        What is added at the end.
    groups
        Into how many groups channels fall.
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
    """Return the gradient of a convolution's input, as an operator of its own.

    Each element of `input` adds the filter, times its value, to the output: where
    `conv2d` with the same `weight`, `stride`, `padding` and `dilation` reads, this
    writes.  Zeiler and others: Deconvolutional networks (CVPR 2010).

    Parameters
    ----------
    input
        (N, C, H, W) or (C, H, W), float32 or float64.
    weight
        (C, O / groups, kH, kW): channels in first.
    bias
        (O,).
    stride, padding, dilation, groups
        Those of the convolution whose gradient this is; larger strides give larger
        outputs, padding smaller ones.
    output_padding
        What is added at the ends of the output; below `stride` or `dilation`.

    Returns
    -------
    Tensor
        (N, O, H', W') with H' = (H - 1) stride - 2 padding + dilation (kH - 1) +
        output_padding + 1.

    Raises
    ------
    ShapeError
        If channels and weight do not fit, or nothing would be left.
    ArgumentError
        If an argument is no integer in its range.

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
    _check_weight(where, x, weight, bias)
    check_conv(where, x.shape, weight.shape, _shape(bias), groups, "input")
    steps = _spatial.sizes_of(where, "stride", stride, dims)
    gaps = _spatial.sizes_of(where, "dilation", dilation, dims)
    ends = _paddings(where, padding, weight.shape[2:], steps, gaps)
    if ends.more:
        x = _longer(x, ends.more)
    out = conv_op(x, weight, bias, steps, ends.both, gaps, groups)
    return _spatial.unbatched(out, had_batch)


class _Paddings(NamedTuple):
    """Zeros on both sides, and those that follow on the right side alone."""

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
        message = (
            f"{where}: padding='same' with `stride`={stride}; it needs stride 1. Give "
            f"the padding in numbers."
        )
        raise ArgumentError(message)
    whole = [d * (n - 1) for n, d in zip(kernel, dilation, strict=True)]
    more = tuple(n % 2 for n in whole)
    return _Paddings(tuple(n // 2 for n in whole), more if any(more) else None)


def _longer(x: Tensor, more: tuple[int, ...]) -> Tensor:
    """Return `x` with so many zeros at the ends of its last dimensions."""
    sizes = x.shape[-len(more) :]
    shape = tuple(n + m for n, m in zip(sizes, more, strict=True))
    place = tuple(slice(0, n) for n in sizes)
    return slicing.placed(x, (*x.shape[: -len(more)], *shape), (..., *place))


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
    _check_weight(where, x, weight, bias)
    check_conv_transpose(where, x.shape, weight.shape, _shape(bias), groups, "input")
    stride, padding, output_padding, dilation = geometry
    steps = _spatial.sizes_of(where, "stride", stride, dims)
    ends = _spatial.sizes_of(where, "padding", padding, dims, 0)
    extra = _spatial.sizes_of(where, "output_padding", output_padding, dims, 0)
    gaps = _spatial.sizes_of(where, "dilation", dilation, dims)
    if any(e >= max(s, d) for e, s, d in zip(extra, steps, gaps, strict=True)):
        message = (
            f"{where}: `output_padding` is {extra}; it must be below `stride` {steps} "
            f"or `dilation` {gaps}."
        )
        raise ArgumentError(message)
    each = zip(x.shape[2:], weight.shape[2:], steps, ends, extra, gaps, strict=True)
    sizes = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, e, d in each
    )
    if min(sizes) < 1:
        message = (
            f"{where}: the output would have the size {sizes}; give a larger input or "
            f"less padding."
        )
        raise ShapeError(message)
    if any(e >= s for e, s in zip(extra, steps, strict=True)):
        # A convolution of that output has more windows: zeros stand for what they gave.
        x = _longer(x, tuple(e // s for e, s in zip(extra, steps, strict=True)))
    out = conv_dx(x, weight, bias, sizes, steps, ends, gaps, groups)
    return _spatial.unbatched(out, had_batch)


def _shape(bias: Tensor | None) -> tuple[int, ...] | None:
    return None if bias is None else bias.shape


def _check_weight(where: str, x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    check_float(where, x, weight, *(() if bias is None else (bias,)))
    if 0 in weight.shape:
        message = f"{where}: `weight` has shape {weight.shape}; it must not be empty."
        raise ShapeError(message)
