# SPDX-License-Identifier: MIT
"""Error budgets of convolutions: that of a matrix product of as many terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels import _references_conv as references
from autocalc._kernels import _xp
from autocalc._kernels._budgets import Inputs, budget, log2, magnitude, ulp
from autocalc._kernels._spec import Attributes


@budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, weight, bias = inputs
    sizes = references.conv(_xp, magnitude(x), magnitude(weight), None, *attributes)
    off = (math.prod(weight.shape[1:]) + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * references.by_channel(magnitude(bias), x)
    return [off + ulp(expected[0], eps)]


@budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv_dx(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, weight, bias = inputs
    sizes = references.conv_dx(_xp, magnitude(g), magnitude(weight), None, *attributes)
    terms = weight.shape[0] // attributes[-1] * math.prod(weight.shape[2:])
    off = (terms + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * references.by_channel(magnitude(bias), g)
    return [off + ulp(expected[0], eps)]


# ---- Winograd's F(4 x 4, 3 x 3): a result's error has the size of all that its tile
# reads, not of its own window alone


#: The transforms at 0, +-a, +-b and infinity, a = 1 / b = sqrt(1 / 2): of the elements,
#: the taps and the products (A. Lavin, S. Gray: Fast algorithms for convolutional
#: neural networks, 2016).
_A, _B = math.sqrt(0.5), math.sqrt(2.0)
_POINTS = (0.0, _A, -_A, _B, -_B)
_DATA = np.array(
    [
        [1, 0, -2.5, 0, 1, 0],
        [0, -2 * _A, -2, _A, 1, 0],
        [0, 2 * _A, -2, -_A, 1, 0],
        [0, -_B / 2, -0.5, _B, 1, 0],
        [0, _B / 2, -0.5, -_B, 1, 0],
        [0, 1, 0, -2.5, 0, 1],
    ]
)
_SCALES = (1.0, -1 / 1.5, -1 / 1.5, 1 / 6, 1 / 6)
_TAPS = np.array(
    [[s, s * p, s * p * p] for p, s in zip(_POINTS, _SCALES, strict=True)] + [[0, 0, 1]]
)
_RESULTS = np.array([[p**i for p in _POINTS] + [float(i == 3)] for i in range(4)])
#: Roundings of a number on its way through the transforms, there and back.
_ROUNDINGS = 32


def _both(matrix: Any, tiles: Any) -> Any:
    """Return |matrix| tiles |matrix|^T."""
    matrix = np.abs(matrix)
    return matrix @ tiles @ matrix.T


def _tiles(x: Any, counts: tuple[int, int], padding: tuple[int, ...]) -> Any:
    """Return the 6 x 6 elements of every tile: [N, C, tiles, tiles, 6, 6]."""
    rows, columns = (-(-n // 4) for n in counts)
    more = [
        (p, max(0, 4 * tiles + 2 - n - p))
        for p, tiles, n in zip(padding, (rows, columns), x.shape[2:], strict=True)
    ]
    padded = np.pad(x, [(0, 0), (0, 0), *more])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (6, 6), (2, 3))
    return windows[:, :, : 4 * rows : 4, : 4 * columns : 4]


def _winograd(
    x: Any, taps: Any, groups: int, padding: tuple[int, ...], expected: Any, eps: float
) -> Any:
    """Bound the errors: the transforms of sizes, as many roundings as there are."""
    n, channels = x.shape[:2]
    outs, ins = taps.shape[:2]
    tiles = _both(_DATA, _tiles(x, expected.shape[2:], padding))
    tiles = tiles.reshape(n, groups, channels // groups, *tiles.shape[2:])
    filters = _both(_TAPS, taps).reshape(groups, outs // groups, ins, 6, 6)
    rows, columns = tiles.shape[3:5]
    read = tiles.transpose(5, 6, 1, 2, 0, 3, 4).reshape(6, 6, groups, ins, -1)
    products = filters.transpose(3, 4, 0, 1, 2) @ read
    products = products.reshape(6, 6, outs, n, rows, columns)
    sizes = _both(_RESULTS, products.transpose(3, 2, 4, 5, 0, 1))
    sizes = np.moveaxis(sizes, 4, 3)
    sizes = sizes.reshape(n, outs, 4 * rows, 4 * columns)
    height, width = expected.shape[2:]
    return (ins + _ROUNDINGS) * eps * sizes[:, :, :height, :width]


def _gradient_tiles(g: Any) -> Any:
    """Return the 4 x 4 elements of every tile: [N, O, tiles, tiles, 4, 4]."""
    rows, columns = (-(-n // 4) for n in g.shape[2:])
    more = [(0, 4 * t - n) for t, n in zip((rows, columns), g.shape[2:], strict=True)]
    padded = np.pad(g, [(0, 0), (0, 0), *more])
    return padded.reshape(*g.shape[:2], rows, 4, columns, 4).swapaxes(3, 4)


def _winograd_weights(
    x: Any, g: Any, groups: int, padding: tuple[int, ...], eps: float
) -> Any:
    """Bound the errors of the sums over all tiles."""
    batch, channels = x.shape[:2]
    outs = g.shape[1]
    read = _both(_DATA, _tiles(x, g.shape[2:], padding))
    given = _both(_RESULTS.T, _gradient_tiles(g))
    rows, columns = read.shape[2:4]
    read = read.reshape(batch, groups, channels // groups, rows * columns, 36)
    given = given.reshape(batch, groups, outs // groups, rows * columns, 36)
    sums = np.einsum("nictk,niotk->iock", read, given, optimize=True)
    sizes = _both(_TAPS.T, sums.reshape(outs, channels // groups, 6, 6))
    return (batch * rows * columns + _ROUNDINGS) * eps * sizes


_WINOGRAD = (
    "(n + 32) * eps * (the transforms of the n channels' sizes, over a tile of 4 x 4 "
    "results)"
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
    dweight, dbias = references.conv_dweight(_xp, g, x, *attributes)
    terms = g.shape[0] * math.prod(g.shape[2:])
    return [
        (terms + 2) * eps * dweight + ulp(expected[0], eps),
        2 * eps * log2(terms) * dbias,
    ]


@budget(
    "(n + 32) * eps * (the transforms of the sizes of x and g, over n tiles of 4 x 4 "
    "windows); dbias as sum"
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
