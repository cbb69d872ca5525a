# SPDX-License-Identifier: MIT
"""Images read at places between pixels: spatial transformers.

A grid holds places from -1 to 1, x first: its last dimension is (x, y) or (x, y, z),
while an image is [N, C, H, W] or [N, C, D, H, W].  Jaderberg and others: Spatial
transformer networks (NeurIPS 2015).
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from autocalc._ops import (
    arithmetic,
    broadcasting,
    clamping,
    comparison,
    indexing,
    joining,
    masking,
    matmul,
    rounding,
    splitting,
    view,
)
from autocalc._ops._arguments import integers
from autocalc._ops._checks import check_float
from autocalc._ops._coerce import cast, in_float32
from autocalc._ops.cubic import cubic_weights
from autocalc._ops.filled import ones
from autocalc._ops.ranges import arange
from autocalc._ops.rectifiers import hardtanh_op
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flags, one_of
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Return the grid that an affine map reads images at, for `grid_sample`.

    ``grid[n, ..., :] = theta[n] @ (x, y, 1)`` at each pixel of the output.

    Parameters
    ----------
    theta
        The maps, [N, 2, 3] for images, [N, 3, 4] for volumes.
    size
        The shape of the output, (N, C, H, W) or (N, C, D, H, W).
    align_corners
        Whether -1 and 1 are the centres of the first and last pixels, or, by default,
        their outer edges.

    Returns
    -------
    Tensor
        [N, H, W, 2] or [N, D, H, W, 3].

    Raises
    ------
    ShapeError
        If shapes do not fit, or a size is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> same = ac.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> ac.nn.functional.affine_grid(same, (1, 1, 1, 2))
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    where = "affine_grid"
    check_flags(where, align_corners=align_corners)
    check_float(where, theta)
    sizes = integers(where, "size", size)
    dims = len(sizes) - 2
    if dims not in (2, 3) or theta.shape != (sizes[0], dims, dims + 1):
        message = (
            f"{where}: `theta` has shape {theta.shape} for `size`={sizes}; for (N, C, "
            f"H, W) it must be [N, 2, 3], for (N, C, D, H, W) [N, 3, 4]."
        )
        raise ShapeError(message)
    if min(sizes) < 1:
        message = f"{where}: `size`={sizes}; no size may be below 1."
        raise ShapeError(message)
    places = _pixels(sizes[2:], bool(align_corners), theta)
    mapped = matmul.matmul(places, view.transpose(theta, 1, 2))
    return view.reshape(mapped, (sizes[0], *sizes[2:], dims))


def _pixels(planes: tuple[int, ...], align_corners: bool, like: Tensor) -> Tensor:
    """Return (x, y, ..., 1) of all pixels of the output, [H W, dims + 1]."""
    columns = []
    for axis in reversed(range(len(planes))):
        n = planes[axis]
        shape = [n if i == axis else 1 for i in range(len(planes))]
        steps = arange(n, dtype=like.dtype)
        last = max(n - 1, 1) if align_corners else n
        shift = (n - 1) / last
        line = arithmetic.sub(arithmetic.mul(steps, 2 / last), shift)
        columns.append(broadcasting.expand(view.reshape(line, shape), planes))
    columns.append(ones(planes, dtype=like.dtype))
    return view.reshape(joining.stack(columns, -1), (-1, len(planes) + 1))


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Return images read at the places of a grid.

    Parameters
    ----------
    input
        [N, C, H, W] or [N, C, D, H, W], float32 or float64.
    grid
        Places from -1 to 1, [N, H_out, W_out, 2], x before y, or [N, D_out, H_out,
        W_out, 3]; beyond them lies the padding.
    mode
        ``"bilinear"``: means of the 4 pixels around a place (of 8 in a volume);
        ``"nearest"``; ``"bicubic"``: of 16 pixels, images only.
    padding_mode
        Beyond the image ``"zeros"``, ``"border"``: its nearest pixel, or
        ``"reflection"``: the image mirrored.
    align_corners
        Whether -1 and 1 are the centres of the first and last pixels, or, by default,
        their outer edges.

    Returns
    -------
    Tensor
        [N, C, H_out, W_out] or [N, C, D_out, H_out, W_out].

    Raises
    ------
    ShapeError
        If shapes do not fit, or the images are empty.
    ArgumentError
        If a mode is unknown, or bicubic for volumes.
    DTypeError
        If input and grid have different dtypes.

    Examples
    --------
    >>> import autocalc as ac
    >>> image = ac.tensor([[[[1.0, 3.0]]]])
    >>> grid = ac.tensor([[[[0.0, 0.0], [0.5, 0.0]]]])  # the middle, and the right one
    >>> ac.nn.functional.grid_sample(image, grid)
    tensor([[[[2., 3.]]]])
    """
    where = "grid_sample"
    check_flags(where, align_corners=align_corners)
    one_of(where, "mode", mode, ("bilinear", "nearest", "bicubic"))
    one_of(where, "padding_mode", padding_mode, ("zeros", "border", "reflection"))
    check_float(where, input, grid)
    _check_shapes(where, input, grid, mode)
    if input.dtype.is_half:
        options = mode, padding_mode, align_corners
        return in_float32(lambda x, at: grid_sample(x, at, *options), input, grid)
    lies = _Edges(input.shape[2:], padding_mode, bool(align_corners))
    read = {"bilinear": _linear, "nearest": _nearest, "bicubic": _cubic}[mode]
    out = read(lies, _Image(input), _in_pixels(grid, lies))
    return view.reshape(out, (*input.shape[:2], *grid.shape[1:-1]))


def _check_shapes(where: str, input: Tensor, grid: Tensor, mode: str) -> None:
    dims = input.ndim - 2
    fits = dims in (2, 3) and grid.ndim == input.ndim
    if not fits or grid.shape[0] != input.shape[0] or grid.shape[-1] != dims:
        message = (
            f"{where}: `input` has shape {input.shape}, `grid` {grid.shape}; they must "
            f"be [N, C, H, W] and [N, H_out, W_out, 2], or [N, C, D, H, W] and [N, "
            f"D_out, H_out, W_out, 3]."
        )
        raise ShapeError(message)
    if min(input.shape[1:]) < 1:
        message = f"{where}: `input` has shape {input.shape}; its images are empty."
        raise ShapeError(message)
    if input.dtype is not grid.dtype:
        message = (
            f"{where}: `input` is {input.dtype.name}, `grid` {grid.dtype.name}; "
            f"convert one of them."
        )
        raise DTypeError(message)
    if mode == "bicubic" and dims == 3:
        message = f"{where}: mode 'bicubic' takes images, not volumes; use 'bilinear'."
        raise ArgumentError(message)


class _Edges(NamedTuple):
    """The sizes of an image, and what lies beyond them."""

    planes: tuple[int, ...]
    padding: str
    align_corners: bool


class _Image:
    """An image whose pixels are read at integer places."""

    def __init__(self, image: Tensor) -> None:
        self._planes = image.shape[2:]
        flat = (*image.shape[:2], math.prod(self._planes))
        self._pixels = view.reshape(image, flat)

    def at(self, places: list[Tensor]) -> Tensor:
        """Return the pixels [N, C, P] at places [N, P], 0 outside the image."""
        index: Any = 0
        outside: Any = False
        for place, n in zip(places, self._planes, strict=True):
            whole = cast(place.detach(), dtypes.int64)
            index = index * n + clamping.clamp(whole, 0, n - 1)
            outside = (whole < 0) | (whole >= n) | outside
        shape = (*self._pixels.shape[:2], index.shape[-1])
        index = broadcasting.expand(view.unsqueeze(index, 1), shape)
        read = indexing.gather(self._pixels, 2, index)
        return masking.masked_fill(read, view.unsqueeze(outside, 1), 0.0)


def _in_pixels(grid: Tensor, lies: _Edges) -> list[Tensor]:
    """Return the places in pixels, [N, P] for each dimension of the image."""
    points = math.prod(grid.shape[1:-1])
    rows = view.reshape(grid, (grid.shape[0], points, grid.shape[-1]))
    columns = [splitting.select(rows, 2, i) for i in range(grid.shape[-1])]
    found = []
    for place, n in zip(reversed(columns), lies.planes, strict=True):
        if lies.align_corners:
            pixel = (place + 1) * ((n - 1) / 2)
        else:
            pixel = ((place + 1) * n - 1) / 2
        found.append(_not_far(pixel, n, lies.padding))
    return found


def _not_far(pixel: Tensor, n: int, padding: str) -> Tensor:
    """Bring places that no integer holds, and NaN, to where nothing else is read."""
    limit = 2.0**30 if padding == "reflection" else n + 4.0
    known = masking.masked_fill(pixel, comparison.ne(pixel, pixel), -limit)
    return hardtanh_op(known, -limit, limit)


def _brought_in(lies: _Edges, places: list[Tensor]) -> list[Tensor]:
    """Bring places beyond the edges into the image, unless zeros are there."""
    if lies.padding == "zeros":
        return places
    if lies.padding == "reflection":
        pairs = zip(places, lies.planes, strict=True)
        places = [_mirrored(place, n, lies.align_corners) for place, n in pairs]
    pairs = zip(places, lies.planes, strict=True)
    return [hardtanh_op(place, 0.0, n - 1.0) for place, n in pairs]


def _mirrored(place: Tensor, n: int, align_corners: bool) -> Tensor:
    """Mirror places at the first and last pixels, or at their outer edges."""
    first, span = (0.0, n - 1) if align_corners else (-0.5, n)
    if not span:
        return place * 0
    distance = arithmetic.abs(place - first)
    rest = arithmetic.fmod(distance, span)
    turns = rounding.floor(distance.detach() / span)
    back = comparison.eq(arithmetic.fmod(turns, 2), 1)
    return masking.where(back, span - rest, rest) + first


def _nearest(lies: _Edges, image: _Image, places: list[Tensor]) -> Tensor:
    return image.at([rounding.round(p) for p in _brought_in(lies, places)])


def _linear(lies: _Edges, image: _Image, places: list[Tensor]) -> Tensor:
    """Sum over the corners around each place, each by its share."""
    lows, shares = _split(_brought_in(lies, places))
    ways = [(1 - share, share) for share in shares]
    total: Any = 0
    for corner in itertools.product((0, 1), repeat=len(lows)):
        at = [low + step for low, step in zip(lows, corner, strict=True)]
        total = total + image.at(at) * _product(ways, corner)
    return total  # type: ignore[no-any-return]  # a sum of tensors


def _cubic(lies: _Edges, image: _Image, places: list[Tensor]) -> Tensor:
    """Sum over the 4 x 4 pixels around each place."""
    lows, shares = _split(places)
    ways = [cubic_weights(share) for share in shares]
    total: Any = 0
    for taps in itertools.product(range(4), repeat=len(lows)):
        at = [low + (tap - 1) for low, tap in zip(lows, taps, strict=True)]
        total = total + image.at(_brought_in(lies, at)) * _product(ways, taps)
    return total  # type: ignore[no-any-return]  # a sum of tensors


def _split(places: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Return the pixels before the places, and how far behind these they are."""
    lows = [rounding.floor(place.detach()) for place in places]
    return lows, [place - low for place, low in zip(places, lows, strict=True)]


def _product(ways: list[Any], taps: tuple[int, ...]) -> Tensor:
    """Return the product of one weight for each dimension, [N, 1, P]."""
    weights = [way[tap] for way, tap in zip(ways, taps, strict=True)]
    return view.unsqueeze(math.prod(weights[1:], start=weights[0]), 1)
