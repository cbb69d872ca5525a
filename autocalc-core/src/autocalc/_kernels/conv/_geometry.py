# SPDX-License-Identifier: MIT
"""Columns, error budgets and samples that convolution kernels share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, Tolerance, magnitude
from autocalc._kernels.spec import Array, Attributes, Meta, Shape, Work
from autocalc._kernels.windows import Ints, Windows
from autocalc._kernels.work import nbytes


class Winograd(NamedTuple):
    """The transforms of a tile's elements, of taps and of products, in one dimension.

    A. Lavin, S. Gray: Fast algorithms for convolutional neural networks, 2016.
    """

    data: Any
    taps: Any
    results: Any

    @property
    def out(self) -> int:
        """The number of results of a tile."""
        return len(self.results)

    @property
    def size(self) -> int:
        """The number of elements that a tile reads, and of its products."""
        return len(self.data)


#: Interpolation at 0, +-a, +-b and infinity, with a = 1 / b = sqrt(1 / 2).
A, B = math.sqrt(0.5), math.sqrt(2.0)


POINTS = (0.0, A, -A, B, -B)


SCALES = (1.0, -1 / 1.5, -1 / 1.5, 1 / 6, 1 / 6)


WINOGRAD_4 = Winograd(
    np.array(
        [
            [1, 0, -2.5, 0, 1, 0],
            [0, -2 * A, -2, A, 1, 0],
            [0, 2 * A, -2, -A, 1, 0],
            [0, -B / 2, -0.5, B, 1, 0],
            [0, B / 2, -0.5, -B, 1, 0],
            [0, 1, 0, -2.5, 0, 1],
        ]
    ),
    np.array(
        [[s, s * p, s * p * p] for p, s in zip(POINTS, SCALES, strict=True)]
        + [[0, 0, 1]]
    ),
    np.array([[p**i for p in POINTS] + [float(i == 3)] for i in range(4)]),
)


#: Interpolation at 0, 1, -1 and infinity.
WINOGRAD_2 = Winograd(
    np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, 0, 1]]),
    np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]),
    np.array([[1, 1, 1, 0], [0, 1, -1, 1]]),
)


#: The number of roundings of a number in the transforms, forward and inverse.
ROUNDINGS = 32


def both(matrix: Any, tiles: Any) -> Any:
    """Return |matrix| tiles |matrix|^T."""
    matrix = np.abs(matrix)
    return matrix @ tiles @ matrix.T


def winograd_tiles(
    w: Winograd, x: Any, counts: tuple[int, int], padding: tuple[int, ...]
) -> Any:
    """Return the elements of every tile: [N, C, tiles, tiles, size, size]."""
    rows, columns = (-(-n // w.out) for n in counts)
    more = [
        (p, max(0, w.out * tiles + 2 - n - p))
        for p, tiles, n in zip(padding, (rows, columns), x.shape[2:], strict=True)
    ]
    padded = np.pad(x, [(0, 0), (0, 0), *more])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (w.size, w.size), (2, 3))
    return windows[:, :, : w.out * rows : w.out, : w.out * columns : w.out]


def sizes(
    w: Winograd, x: Any, taps: Any, groups: int, padding: tuple[int, ...], shape: Any
) -> Any:
    """Return the absolute values of the elements after both transforms."""
    n, channels = x.shape[:2]
    outs, ins = taps.shape[:2]
    tiles = both(w.data, winograd_tiles(w, x, shape[2:], padding))
    tiles = tiles.reshape(n, groups, channels // groups, *tiles.shape[2:])
    filters = both(w.taps, taps).reshape(groups, outs // groups, ins, w.size, w.size)
    rows, columns = tiles.shape[3:5]
    read = tiles.transpose(5, 6, 1, 2, 0, 3, 4).reshape(w.size, w.size, groups, ins, -1)
    products = filters.transpose(3, 4, 0, 1, 2) @ read
    products = products.reshape(w.size, w.size, outs, n, rows, columns)
    sizes = both(w.results, products.transpose(3, 2, 4, 5, 0, 1))
    sizes = np.moveaxis(sizes, 4, 3)
    sizes = sizes.reshape(n, outs, w.out * rows, w.out * columns)
    return sizes[:, :, : shape[2], : shape[3]]


def winograd(
    x: Any, taps: Any, groups: int, padding: tuple[int, ...], expected: Any, eps: float
) -> Any:
    """Bound the errors: transformed absolute values times the number of roundings."""
    four, two = (
        sizes(w, x, taps, groups, padding, expected.shape)
        for w in (WINOGRAD_4, WINOGRAD_2)
    )
    return (taps.shape[1] + ROUNDINGS) * eps * np.maximum(four, two)


WINOGRAD = (
    "(n + 32) * eps * (the transforms of the n channels' sizes, over a tile of 4 x 4 "
    "or 2 x 2 results)"
)


FLUSHED = " + 2**-125 * (the sums of either operand's sizes, and 6 n)"


def flushed(
    tolerance: Tolerance, sums: Callable[[Any, Any, Attributes], Any]
) -> Tolerance:
    """Allow for the loss if a bfloat16 tile treats numbers below 2**-126 as zero.

    ``sums(a, b, attributes)`` returns the first output for the first two inputs.
    """

    def flushing(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
        a, b = map(magnitude, inputs[:2])
        lost = sums(a + 3, np.ones_like(b), attributes)
        lost = lost + sums(np.ones_like(a), b + 3, attributes)
        first, *rest = tolerance(inputs, attributes, expected, eps)
        return [first + 2 * float(np.finfo(np.float32).tiny) * lost, *rest]

    return flushing


def rows_in(k: Any, weight: Array, groups: int) -> Array:
    outs, *rest = k.shape(weight)
    return k.reshape(weight, (groups, outs // groups, math.prod(rest)))


def grouped_in(k: Any, a: Array, groups: int, taps: int) -> Array:
    batch, channels, *rest = k.shape(a)
    inner = channels // groups * math.prod(rest[:taps])
    return k.reshape(a, (batch, groups, inner, math.prod(rest[taps:])))


def with_bias(k: Any, out: Array, bias: Array | None) -> Array:
    if bias is None:
        return out
    _, channels, *rest = k.shape(out)
    return k.add(out, k.reshape(bias, (channels, *(1 for _ in rest))))


def weight_matrices(weight: Array, groups: int) -> Array:
    """Return a weight as one matrix for each group: [groups, outs, ins * taps]."""
    outs = weight.shape[0] // groups
    return weight.reshape(groups, outs, math.prod(weight.shape[1:]))


def grouped(a: Array, groups: int, taps: int) -> Array:
    """Return [N, C, *taps, *counts] as [N, groups, C / groups * taps, counts]."""
    batch, channels, *rest = a.shape
    inner = channels // groups * math.prod(rest[:taps])
    return a.reshape(batch, groups, inner, math.prod(rest[taps:]))


def by_channel(bias: Array, like: Array) -> Array:
    return bias.reshape(-1, *(1,) * (like.ndim - 2))


class Convolution(NamedTuple):
    """A convolution: the shapes of x and weight, and the geometry of the windows."""

    x: Shape
    weight: Shape
    stride: Ints
    padding: Ints
    dilation: Ints
    groups: int

    @property
    def label(self) -> str:
        """The label of the sample, with all parameters."""
        large = "large, " if math.prod(self.x) > 10_000 else ""
        return (
            f"{large}{self.x} * {self.weight}, stride {self.stride}, padding "
            f"{self.padding}, dilation {self.dilation}, groups {self.groups}"
        )

    @property
    def counts(self) -> Shape:
        """Return the number of windows in each dimension."""
        windows = Windows(self.weight[2:], *self[2:5])
        return windows.counts("sample", self.x[2:])


def call(
    x: Shape,
    weight: Shape,
    stride: int | Ints = 1,
    padding: int | Ints = 0,
    dilation: int | Ints = 1,
    groups: int = 1,
) -> Convolution:
    dims = len(x) - 2
    geometry = (
        (given,) * dims if isinstance(given, int) else given
        for given in (stride, padding, dilation)
    )
    return Convolution._make((x, weight, *geometry, groups))


CALLS = (
    # one dimension
    call((2, 3, 9), (4, 3, 3)),
    call((1, 1, 33), (1, 1, 5), 2, 2),
    call((2, 4, 11), (6, 2, 3), 1, 3, 2, 2),
    call((3, 5, 1), (2, 5, 1)),
    # two dimensions: kernels of 1, 3, 5, 7; strides; tails of the vector widths
    call((2, 3, 5, 6), (4, 3, 1, 1)),
    call((1, 17, 4, 4), (33, 17, 1, 1)),
    call((2, 4, 7, 8), (3, 4, 1, 1), 2),
    call((2, 3, 7, 5), (4, 3, 3, 3), 1, 1),
    call((1, 16, 6, 17), (16, 16, 3, 3), 1, 1),
    call((1, 5, 8, 9), (17, 5, 3, 3), 2, 1),
    call((1, 3, 15, 14), (5, 3, 7, 7), 2, 3),
    call((1, 2, 9, 7), (3, 2, 5, 2), (3, 1), (0, 1)),
    call((2, 2, 9, 9), (3, 2, 3, 3), 1, 2, 2),
    call((1, 2, 8, 10), (2, 2, 2, 3), (2, 3), (1, 2), (3, 1)),
    # groups: several, and one for each channel
    call((2, 4, 5, 5), (6, 2, 3, 3), 1, 1, 1, 2),
    call((1, 17, 6, 5), (17, 1, 3, 3), 1, 1, 1, 17),
    call((1, 3, 7, 7), (6, 1, 3, 3), 2, 1, 1, 3),
    # enough channels to compute a stride by matrix products; one product for each image
    call((3, 17, 15, 12), (35, 17, 3, 2), (2, 3), (1, 0), (1, 2)),
    call((2, 5, 17, 16), (7, 5, 1, 1)),
    # a window as large as the input; empty operands; three dimensions
    call((2, 3, 4, 4), (5, 3, 4, 4)),
    call((0, 3, 5, 5), (4, 3, 3, 3), 1, 1),
    call((1, 2, 4, 3, 5), (3, 2, 2, 3, 2), (1, 1, 2), (1, 0, 1)),
    call((2, 4, 5, 6, 7), (6, 2, 3, 3, 3), (2, 1, 1), 1, (1, 1, 2), 2),
    call((5, 12, 13, 13), (20, 12, 3, 3), 1, 1),
    call((3, 40, 9, 14), (36, 20, 3, 3), 1, (0, 2), 1, 2),
)


def one_nan(a: Array) -> Array:
    a[1, 1, 2, 3] = np.nan
    return a


def checked_windows(
    where: str, kernel: Shape, stride: Ints, padding: Ints, dilation: Ints, dims: int
) -> Windows:
    windows = Windows(kernel, stride, padding, dilation)
    windows.check(where, dims)
    return windows


def work(rule: Callable[..., Any], pairs: Callable[..., float]) -> Callable[..., Work]:
    """Count two operations for each product; `pairs(*metas)` returns their number."""

    def work(*args: Any) -> Work:
        outs = rule(*args)
        outs = (outs,) if isinstance(outs, Meta) else outs
        metas = [x for x in args if isinstance(x, Meta)]
        return Work(2.0 * pairs(outs[0], *args), nbytes(*metas, outs[0]))

    return work


GEOMETRY = "stride:ints padding:ints dilation:ints groups:int"


class Layer(NamedTuple):
    """A layer of a residual network, with padding 1 and one group."""

    label: str
    images: Shape
    weights: Shape
    stride: int

    @property
    def gradient(self) -> Shape:
        """The shape of the layer's output."""
        side = (self.images[2] - 1) // self.stride + 1
        return (self.images[0], self.weights[0], side, side)

    @property
    def attributes(self) -> tuple[Any, ...]:
        """The stride, padding, dilation and groups."""
        return (self.stride, self.stride), (1, 1), (1, 1), 1


#: The layers for timing convolutions.
LAYERS = (
    Layer("128x32x28x28, 32 of 3x3", (128, 32, 28, 28), (32, 32, 3, 3), 1),
    Layer("128x64x14x14, 64 of 3x3", (128, 64, 14, 14), (64, 64, 3, 3), 1),
    Layer("128x128x7x7, 128 of 3x3", (128, 128, 7, 7), (128, 128, 3, 3), 1),
    Layer("128x32x28x28, 64 of 3x3 by 2", (128, 32, 28, 28), (64, 32, 3, 3), 2),
)
