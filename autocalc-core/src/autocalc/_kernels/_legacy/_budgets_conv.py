# SPDX-License-Identifier: MIT
"""Error budgets of convolutions: that of a matrix product of as many terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _references_conv as references
from autocalc._kernels._legacy._budgets import Inputs, budget, log2, magnitude, ulp
from autocalc._kernels.spec import Attributes


@budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias = inputs
    sizes = references.conv(
        numpy_xp, magnitude(x), magnitude(weight), None, *attributes
    )
    off = (math.prod(weight.shape[1:]) + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * references.by_channel(magnitude(bias), x)
    return [off + ulp(expected[0], eps)]


@budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv_dx(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, weight, bias = inputs
    sizes = references.conv_dx(
        numpy_xp, magnitude(g), magnitude(weight), None, *attributes
    )
    terms = weight.shape[0] // attributes[-1] * math.prod(weight.shape[2:])
    off = (terms + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * references.by_channel(magnitude(bias), g)
    return [off + ulp(expected[0], eps)]


# ---- Winograd's F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3), whichever a kernel takes: a
# result's error has the size of all that its tile reads, not of its own window alone


class _Winograd(NamedTuple):
    """The transforms of a tile's elements, of taps and of products, along one line.

    A. Lavin, S. Gray: Fast algorithms for convolutional neural networks, 2016.
    """

    data: Any
    taps: Any
    results: Any

    @property
    def out(self) -> int:
        """Results of a tile."""
        return len(self.results)

    @property
    def size(self) -> int:
        """Elements that they read, and products that they take."""
        return len(self.data)


#: At 0, +-a, +-b and infinity, a = 1 / b = sqrt(1 / 2).
_A, _B = math.sqrt(0.5), math.sqrt(2.0)
_POINTS = (0.0, _A, -_A, _B, -_B)
_SCALES = (1.0, -1 / 1.5, -1 / 1.5, 1 / 6, 1 / 6)
_FOUR = _Winograd(
    np.array(
        [
            [1, 0, -2.5, 0, 1, 0],
            [0, -2 * _A, -2, _A, 1, 0],
            [0, 2 * _A, -2, -_A, 1, 0],
            [0, -_B / 2, -0.5, _B, 1, 0],
            [0, _B / 2, -0.5, -_B, 1, 0],
            [0, 1, 0, -2.5, 0, 1],
        ]
    ),
    np.array(
        [[s, s * p, s * p * p] for p, s in zip(_POINTS, _SCALES, strict=True)]
        + [[0, 0, 1]]
    ),
    np.array([[p**i for p in _POINTS] + [float(i == 3)] for i in range(4)]),
)
#: At 0, 1, -1 and infinity.
_TWO = _Winograd(
    np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, 0, 1]]),
    np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]),
    np.array([[1, 1, 1, 0], [0, 1, -1, 1]]),
)
#: Roundings of a number on its way through the transforms, there and back.
_ROUNDINGS = 32


def _both(matrix: Any, tiles: Any) -> Any:
    """Return |matrix| tiles |matrix|^T."""
    matrix = np.abs(matrix)
    return matrix @ tiles @ matrix.T


def _tiles(
    w: _Winograd, x: Any, counts: tuple[int, int], padding: tuple[int, ...]
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


def _sizes(
    w: _Winograd, x: Any, taps: Any, groups: int, padding: tuple[int, ...], shape: Any
) -> Any:
    """Return the transforms of sizes, there and back."""
    n, channels = x.shape[:2]
    outs, ins = taps.shape[:2]
    tiles = _both(w.data, _tiles(w, x, shape[2:], padding))
    tiles = tiles.reshape(n, groups, channels // groups, *tiles.shape[2:])
    filters = _both(w.taps, taps).reshape(groups, outs // groups, ins, w.size, w.size)
    rows, columns = tiles.shape[3:5]
    read = tiles.transpose(5, 6, 1, 2, 0, 3, 4).reshape(w.size, w.size, groups, ins, -1)
    products = filters.transpose(3, 4, 0, 1, 2) @ read
    products = products.reshape(w.size, w.size, outs, n, rows, columns)
    sizes = _both(w.results, products.transpose(3, 2, 4, 5, 0, 1))
    sizes = np.moveaxis(sizes, 4, 3)
    sizes = sizes.reshape(n, outs, w.out * rows, w.out * columns)
    return sizes[:, :, : shape[2], : shape[3]]


def _winograd(
    x: Any, taps: Any, groups: int, padding: tuple[int, ...], expected: Any, eps: float
) -> Any:
    """Bound the errors: the transforms of sizes, as many roundings as there are."""
    four, two = (
        _sizes(w, x, taps, groups, padding, expected.shape) for w in (_FOUR, _TWO)
    )
    return (taps.shape[1] + _ROUNDINGS) * eps * np.maximum(four, two)


def _gradient_tiles(w: _Winograd, g: Any) -> Any:
    """Return the gradients of every tile: [N, O, tiles, tiles, out, out]."""
    n = w.out
    rows, columns = (-(-count // n) for count in g.shape[2:])
    more = [
        (0, n * t - count)
        for t, count in zip((rows, columns), g.shape[2:], strict=True)
    ]
    padded = np.pad(g, [(0, 0), (0, 0), *more])
    return padded.reshape(*g.shape[:2], rows, n, columns, n).swapaxes(3, 4)


def _weights(
    w: _Winograd, x: Any, g: Any, groups: int, padding: tuple[int, ...]
) -> Any:
    """Bound the errors of the sums over all tiles, in units of the last place."""
    batch, channels = x.shape[:2]
    outs = g.shape[1]
    read = _both(w.data, _tiles(w, x, g.shape[2:], padding))
    given = _both(w.results.T, _gradient_tiles(w, g))
    rows, columns = read.shape[2:4]
    read = read.reshape(batch, groups, channels // groups, rows * columns, -1)
    given = given.reshape(batch, groups, outs // groups, rows * columns, -1)
    sums = np.einsum("nictk,niotk->iock", read, given, optimize=True)
    sums = sums.reshape(outs, channels // groups, w.size, w.size)
    return (batch * rows * columns + _ROUNDINGS) * _both(w.taps.T, sums)


def _winograd_weights(
    x: Any, g: Any, groups: int, padding: tuple[int, ...], eps: float
) -> Any:
    """Bound the errors of weight gradients, whichever tiles they are summed over."""
    four, two = (_weights(w, x, g, groups, padding) for w in (_FOUR, _TWO))
    return eps * np.maximum(four, two)


_WINOGRAD = (
    "(n + 32) * eps * (the transforms of the n channels' sizes, over a tile of 4 x 4 "
    "or 2 x 2 results)"
)


@budget(_WINOGRAD)
def conv_winograd(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias = inputs
    _, padding, _, groups = attributes
    off = _winograd(magnitude(x), magnitude(weight), groups, padding, expected[0], eps)
    if bias is not None:
        off = off + 2 * eps * magnitude(bias)[:, None, None]
    return [off + ulp(expected[0], eps)]


@budget(_WINOGRAD)
def conv_dx_winograd(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, weight, bias = inputs
    groups = attributes[-1]
    outs, ins = weight.shape[:2]
    taps = magnitude(weight)[:, :, ::-1, ::-1].reshape(
        groups, outs // groups, ins, 3, 3
    )
    taps = np.swapaxes(taps, 1, 2).reshape(groups * ins, outs // groups, 3, 3)
    padding = tuple(2 - p for p in attributes[2])
    off = _winograd(magnitude(g), taps, groups, padding, expected[0], eps)
    if bias is not None:
        off = off + 2 * eps * magnitude(bias)[:, None, None]
    return [off + ulp(expected[0], eps)]


@budget("(n + 2) * eps * (the sum of the n terms' sizes); dbias as sum")
def conv_dweight(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x = map(magnitude, inputs)
    dweight, dbias = references.conv_dweight(numpy_xp, g, x, *attributes)
    terms = g.shape[0] * math.prod(g.shape[2:])
    return [
        (terms + 2) * eps * dweight + ulp(expected[0], eps),
        2 * eps * log2(terms) * dbias,
    ]


@budget(
    "(n + 32) * eps * (the transforms of the sizes of x and g, over n tiles of 4 x 4 "
    "or 2 x 2 windows); dbias as sum"
)
def conv_dweight_winograd(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x = map(magnitude, inputs)
    _, _, padding, _, groups = attributes
    off = _winograd_weights(x, g, groups, padding, eps)
    terms = g.shape[0] * math.prod(g.shape[2:])
    sizes = g.sum((0, *range(2, g.ndim)))
    return [off + ulp(expected[0], eps), 2 * eps * log2(terms) * sizes]
