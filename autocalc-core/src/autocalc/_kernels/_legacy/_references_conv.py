# SPDX-License-Identifier: MIT
"""The references of convolutions; `conv` has the formulas."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels.accumulate import plus
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.spec import Array
from autocalc._kernels.windows import Ints, Windows, added, columns


def conv(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    windows = Windows(weight.shape[2:], stride, padding, dilation)
    counts = windows.counts("conv", x.shape[2:])
    taps = columns(xp, x, windows, counts)
    out = xp.matmul(_rows(weight, groups), _grouped(taps, groups, len(stride)))
    out = out.reshape(x.shape[0], weight.shape[0], *counts)
    return out if bias is None else out + by_channel(bias, x)


def conv_dx(
    xp: Any,
    g: Array,
    weight: Array,
    bias: Array | None,
    sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    *,
    dx: Array | None = None,
) -> Array:
    kernel, counts = weight.shape[2:], g.shape[2:]
    windows = Windows(kernel, stride, padding, dilation)
    rows = xp.swapaxes(_rows(weight, groups), 1, 2)
    taps = xp.matmul(rows, _grouped(g, groups, 0))
    channels = weight.shape[1] * groups
    taps = taps.reshape(g.shape[0], channels, *kernel, *counts)
    out = added(xp, taps, sizes, windows)
    return plus(dx, out if bias is None else out + by_channel(bias, g))


def conv_dweight(
    xp: Any,
    g: Array,
    x: Array,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    *,
    want: int = -1,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array, Array]:
    taps = columns(xp, x, Windows(kernel, stride, padding, dilation), g.shape[2:])
    read, given = _grouped(taps, groups, len(stride)), _grouped(g, groups, 0)
    ins, outs, n = read.shape[2], given.shape[2], g.shape[0] * given.shape[3]
    given = xp.transpose(given, (1, 2, 0, 3)).reshape(groups, outs, n)
    read = xp.transpose(read, (1, 0, 3, 2)).reshape(groups, n, ins)
    product = xp.matmul(given, read)
    product = product.reshape(g.shape[1], x.shape[1] // groups, *kernel)
    total = xp.sum(wide(xp, g), axis=(0, *range(2, g.ndim)))
    return plus(dweight, product), narrow(plus(dbias, total), g)


def _rows(weight: Array, groups: int) -> Array:
    """Return a weight as one matrix for each group: [groups, outs, ins * taps]."""
    outs = weight.shape[0] // groups
    return weight.reshape(groups, outs, math.prod(weight.shape[1:]))


def _grouped(a: Array, groups: int, taps: int) -> Array:
    """Return [N, C, *taps, *counts] as [N, groups, C / groups * taps, counts]."""
    batch, channels, *rest = a.shape
    inner = channels // groups * math.prod(rest[:taps])
    return a.reshape(batch, groups, inner, math.prod(rest[taps:]))


def by_channel(bias: Array, like: Array) -> Array:
    return bias.reshape(-1, *(1,) * (like.ndim - 2))
