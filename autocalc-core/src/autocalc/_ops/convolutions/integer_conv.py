# SPDX-License-Identifier: MIT
"""Convolutions of integers, as exact as integer matrix products."""

from __future__ import annotations

import math

from autocalc._ops.arranging import rearranging
from autocalc._ops.convolutions import padding as padding_ops
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.indexing import indexing
from autocalc._ops.matrices import matmul
from autocalc._ops.views import slicing, view, windows
from autocalc._tensor import Tensor

Sizes = tuple[int, ...]
Borders = tuple[tuple[int, int], ...]


def integer_conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    """Return the convolution of (N, C, ...) by (O, C / groups, ...)."""
    borders = tuple((n, n) for n in padding)
    return _conv(x, weight, bias, stride, borders, dilation, groups)


def integer_conv_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    sizes: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    """Return the transposed convolution of (N, C, ...) by (C, O / groups, ...).

    The result is a convolution of x, with its elements `stride` apart, by flipped
    filters.
    """
    kernel = weight.shape[2:]
    apart = _apart(x, stride)
    each = zip(sizes, apart.shape[2:], kernel, padding, dilation, strict=True)
    borders = []
    for size, n, k, p, gap in each:
        before = gap * (k - 1) - p
        borders.append((before, size - n - before + gap * (k - 1)))
    inner, outer = weight.shape[0] // groups, weight.shape[1]
    filters = view.transpose(
        view.reshape(weight, (groups, inner, outer, *kernel)), 1, 2
    )
    filters = view.reshape(filters, (groups * outer, inner, *kernel))
    filters = rearranging.flip(filters, tuple(range(2, weight.ndim)))
    ones = (1,) * len(stride)
    return _conv(apart, filters, bias, ones, tuple(borders), dilation, groups)


def _apart(x: Tensor, stride: Sizes) -> Tensor:
    """Return x with stride - 1 zeros between its elements."""
    sizes = [(n - 1) * s + 1 for n, s in zip(x.shape[2:], stride, strict=True)]
    place = tuple(slice(None, None, s) for s in stride)
    return slicing.placed(x, (*x.shape[:2], *sizes), (..., *place))


def _conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    borders: Borders,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    """Return a convolution of x with zeros around it.

    For each group, the windows are the rows of one matrix and the filters are the
    columns of another.
    """
    batch, outputs = x.shape[0], weight.shape[0]
    seen = _windows(x, weight.shape[2:], stride, borders, dilation)
    dims = len(stride)
    sizes = seen.shape[2 : 2 + dims]
    inner = math.prod(weight.shape[1:])
    # (N, C, *sizes, *kernel) -> (N, groups, places, inner)
    rows = view.reshape(seen, (batch, groups, weight.shape[1], *seen.shape[2:]))
    places = range(3, 3 + dims)
    order = (0, 1, *places, 2, *range(3 + dims, 3 + 2 * dims))
    rows = view.reshape(
        view.permute(rows, order), (batch, groups, math.prod(sizes), inner)
    )
    columns = view.reshape(weight, (groups, outputs // groups, inner))
    found = matmul.matmul(rows, view.transpose(columns, 1, 2))
    out = view.reshape(view.transpose(found, 2, 3), (batch, outputs, *sizes))
    if bias is None:
        return out
    return arithmetic.add_op(out, view.reshape(bias, (-1, *[1] * dims)))


def _windows(
    x: Tensor, kernel: Sizes, stride: Sizes, borders: Borders, dilation: Sizes
) -> Tensor:
    """Return the window of each place of the result: (N, C, *sizes, *kernel)."""
    x = padding_ops.pad(x, tuple(n for border in reversed(borders) for n in border))
    each = zip(kernel, stride, dilation, strict=True)
    for axis, (size, step, gap) in enumerate(each, 2):
        x = windows.unfold(x, axis, (size - 1) * gap + 1, step)
        x = indexing.getitem(x, (..., slice(None, None, gap)))
    return x
