# SPDX-License-Identifier: MIT
"""Operators that resize images, and that shuffle pixels between channels and space."""

from __future__ import annotations

import functools
import math
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.layout import follows_pixels
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.cast import astype
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.convolutions import _spatial
from autocalc._ops.images import byte_resizing, resampling
from autocalc._ops.pooling import avg_pooling
from autocalc._ops.views import view
from autocalc._ops.views.conversion import laid_as
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import plain, require
from autocalc._tensor.dtypes import float32, uint8
from autocalc.errors import ArgumentError, NoFormulaError, ShapeError

# The attributes are axis, size, scale, mode and align_corners.
resample_op = nary("resample")


@resample_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axis, _, *rest = n.attributes
    return k.resample_backward(g, axis, n.shapes[0][axis], *rest)


resample_backward = nary("resample_backward")


@resample_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axis, _, *rest = n.attributes
    return k.resample(g, axis, n.shapes[0][axis], *rest)


#: Maps a mode to the number of dimensions after (N, C) that it takes.
_DIMS = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "trilinear": (3,),
    "bicubic": (2,),
    "area": (1, 2, 3),
}

#: With fewer channels, it is faster to copy channels-last images than to read them in
#: their order: twice as fast for 3 channels, but half as fast for 64.
_FEW = 8

#: The modes that also take bytes.
_OF_BYTES = ("nearest", "nearest-exact", "bilinear", "bicubic")

#: The modes that have the option `align_corners`.
_LINES = ("linear", "bilinear", "trilinear", "bicubic")


@traced
@rounded_once
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Return images resized to another height and width.

    The same function changes the size of signals and volumes.

    Parameters
    ----------
    input
        A tensor of floats with the shape (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        The modes nearest, bilinear and bicubic also take uint8, and round as PyTorch
        does.
    size
        The new size: one number, or one number for each spatial dimension.
    scale_factor
        The factor by which sizes are multiplied, instead of `size`; the new size is
        rounded down.
    mode
        ``"nearest"`` takes the pixel whose index is rounded down; ``"nearest-exact"``
        takes the pixel with the nearest centre.  ``"linear"``, ``"bilinear"`` and
        ``"trilinear"`` interpolate linearly in 1, 2 and 3 spatial dimensions.
        ``"bicubic"`` interpolates between 4 x 4 pixels of an image, and ``"area"`` is
        the mean of the pixels that a new pixel covers.
    align_corners
        An option of the linear modes and of bicubic.  With True, the centres of the
        first and last pixels stay in place.  With False, the default, the outer edges
        of these pixels stay in place.
    recompute_scale_factor
        True to compute the distance between pixels from the two sizes, instead of using
        `scale_factor` itself.
    antialias
        An option of bilinear and bicubic.  With True, a new pixel of a smaller image is
        the average of all pixels that it covers, which avoids moiré patterns.

    Raises
    ------
    ArgumentError
        If `size` and `scale_factor` are both given or both missing, or an argument is
        out of its range.
    ShapeError
        If the number of dimensions of `input` does not fit `mode`, or `input` is empty.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[0.0, 4.0]]])
    >>> ac.nn.functional.interpolate(x, scale_factor=2)
    tensor([[[0., 0., 4., 4.]]])
    >>> ac.nn.functional.interpolate(x, size=4, mode="linear")
    tensor([[[0., 1., 3., 4.]]])
    """
    where = "interpolate"
    of_bytes = check_tensor(where, input).dtype is uint8 and mode in _OF_BYTES
    if not of_bytes:
        check_float(where, input)
    planes = input._array.shape[2:]
    dims = input._array.ndim - 2
    _check_mode(where, input, mode, align_corners, antialias)
    if (size is None) == (scale_factor is None):
        raise ArgumentError(
            f"{where}: `size` is {size} and `scale_factor` is {scale_factor}; give "
            "exactly one of them."
        )
    factors: tuple[float, ...] | None = None
    if size is None:
        factors = _factors(where, scale_factor, dims)
        sizes = _grown(planes, factors)
    else:
        if recompute_scale_factor:
            message = f"{where}: recompute_scale_factor=True needs `scale_factor`."
            raise ArgumentError(message)
        try:
            sizes = _spatial.sizes_of(where, "size", size, dims)
        except ArgumentError as error:
            message = f"{error} (expected size to be one of int or a tuple of ints)"
            raise ArgumentError(message) from None
    _check_sizes(planes, sizes)
    if recompute_scale_factor:
        factors = None
    if mode == "area":
        return avg_pooling.adaptive_mean(input, sizes)
    lines = bool(align_corners)
    compute = _resampled_bytes if of_bytes else resampled
    if not follows_pixels(input._array):
        return compute(input, sizes, factors, mode, lines, antialias)
    if dims == 2 and input._array.shape[1] < _FEW and input._edge is None:
        return laid_as(input, compute(input, sizes, factors, mode, lines, antialias))
    # In this order of the dimensions, result and gradient are channels-last without a
    # copy.
    pixels = view.permute_op(input, (0, *range(2, dims + 2), 1))
    out = compute(pixels, sizes, factors, mode, lines, antialias, first=1)
    turned = view.permute_op(out, (0, dims + 1, *range(1, dims + 1)))
    return view.detach_from_base(turned)


def _resampled_bytes(
    x: Tensor,
    sizes: tuple[int, ...],
    factors: tuple[float, ...] | None,
    mode: str,
    align_corners: bool,
    antialias: bool,
    first: int = 2,
) -> Tensor:
    """Resample bytes: first columns, then rows, each rounded as in PyTorch."""
    if mode.startswith("nearest"):
        wide = resampled(astype(x, float32), sizes, factors, mode, False, False, first)
        return astype(wide, uint8)
    planes = x._array.shape[first : first + len(sizes)]
    steps = _steps(planes, sizes, factors, mode, align_corners, first)
    form = "smooth" if antialias else "corners" if align_corners else "edges"
    out = x
    for axis, size, scale in sorted(steps, reverse=True):
        out = byte_resizing.resized(out, axis, size, scale, mode == "bicubic", form)
    return view.clone_op(x) if out is x else out


def resampled(
    x: Tensor,
    sizes: tuple[int, ...],
    factors: tuple[float, ...] | None,
    mode: str,
    align_corners: bool,
    antialias: bool,
    first: int = 2,
) -> Tensor:
    """Resample all dimensions that change, one after the other, from `first` on."""
    kind = "linear" if mode.endswith("linear") else mode
    out = x
    planes = x._array.shape[first : first + len(sizes)]
    for axis, size, scale in _steps(planes, sizes, factors, kind, align_corners, first):
        if antialias:
            out = resampling.smoothed(out, axis, size, scale, kind)
        elif kind == "bicubic":
            out = resampling.cubic(out, axis, size, scale, align_corners)
        elif kind == "nearest-exact":
            out = resampling.nearest_exact(out, axis, size, scale)
        else:
            out = resample_op(out, axis, size, scale, kind, align_corners)
    return view.clone_op(x) if out is x else out


# These results depend only on sizes, so they are cached: computing them took 2 us of
# the 10 us of a call.


@functools.lru_cache(maxsize=256)
def _grown(planes: tuple[int, ...], factors: tuple[float, ...]) -> tuple[int, ...]:
    grown = zip(planes, factors, strict=True)
    return tuple([math.floor(n * factor) for n, factor in grown])


@functools.lru_cache(maxsize=256)
def _check_sizes(planes: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    if min(sizes) < 1 or min(planes) < 1 or max(sizes) > _spatial.LARGEST:
        raise ShapeError(
            f"interpolate: the sizes are {planes} before and {sizes} after; neither "
            "may be empty, and no size may be above 2^31."
        )


@functools.lru_cache(maxsize=256)
def _steps(
    planes: tuple[int, ...],
    sizes: tuple[int, ...],
    factors: tuple[float, ...] | None,
    kind: str,
    align_corners: bool,
    first: int,
) -> tuple[tuple[int, int, float], ...]:
    """Return axis, size and scale of each dimension that changes.

    The dimension that shrinks most comes first.  Reads along the last axis are the
    slowest.  So the last axis is resampled before other axes grow, and after they
    shrink (316 x 316 to twice the size takes 190 us, not 255 us).
    """
    steps = []
    for i, (n, size) in enumerate(zip(planes, sizes, strict=True)):
        factor = None if factors is None else factors[i]
        scale = _scale(n, size, factor, kind, align_corners)
        if size != n or scale != 1:
            steps.append((first + i, size, scale))
    steps.sort(key=lambda step: (-step[2], step[0] if step[2] > 1 else -step[0]))
    return tuple(steps)


def _scale(
    n: int, size: int, factor: float | None, kind: str, align_corners: bool
) -> float:
    """Return the distance between two neighbouring output pixels, in input pixels."""
    if align_corners:
        return (n - 1) / (size - 1) if size > 1 else 0.0
    if kind == "nearest" and size in (n, 2 * n):
        return n / size  # as in PyTorch, which ignores the factor here
    return n / size if factor is None else 1 / factor


def _check_mode(
    where: str, x: Tensor, mode: Any, align_corners: Any, antialias: Any
) -> None:
    if not isinstance(mode, str) or mode not in _DIMS:
        message = f"{where}: `mode`={mode!r}; use one of {', '.join(_DIMS)}."
        raise NoFormulaError(message)
    if x._array.ndim - 2 not in _DIMS[mode]:
        dims = " or ".join(str(n + 2) for n in _DIMS[mode])
        raise ShapeError(
            f"{where}: `input` has shape {x.shape}; mode {mode!r} takes {dims} "
            f"dimensions, (N, C, ...)."
        )
    if align_corners is not None and mode not in _LINES:
        raise ArgumentError(
            f"{where}: `align_corners`={align_corners} was given with mode={mode!r}; "
            "it is an option of the linear modes and bicubic only."
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ArgumentError(
            f"{where}: antialias=True was given with mode={mode!r}; it can only be "
            "used with 'bilinear' and 'bicubic'."
        )


def _factors(where: str, given: Any, dims: int) -> tuple[float, ...]:
    if given.__class__ in (int, float) and 0 < given < math.inf:
        return (float(given),) * dims
    values = given if isinstance(given, (tuple, list)) else (given,) * dims
    values = [plain(value) for value in values]
    fits = len(values) == dims and all(
        isinstance(value, (int, float)) and 0 < value < math.inf for value in values
    )
    require(where, "scale_factor", given, fits, f"a number above 0, or {dims} of them")
    return tuple(map(float, values))


@traced(light=True)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange r^2 channels into images that are r times as high and as wide.

    ``out[..., c, h * r + i, w * r + j] = input[..., c * r * r + i * r + j, h, w]``.
    Shi and others: Real-time single image and video super-resolution (CVPR 2016).

    Parameters
    ----------
    input
        A tensor of shape (..., C r^2, H, W), of any dtype.
    upscale_factor
        The factor r, 1 or more.

    Returns
    -------
    Tensor
        A tensor of shape (..., C, H r, W r).

    Raises
    ------
    ShapeError
        If `input` has fewer than three dimensions, or the number of channels is not a
        multiple of r^2.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]])
    >>> ac.nn.functional.pixel_shuffle(x, 2)
    tensor([[[1., 2.],
             [3., 4.]]])
    """
    where = "pixel_shuffle"
    r = _checked_factor(where, "upscale_factor", input, upscale_factor)
    *lead, channels, height, width = input._array.shape
    if channels % (r * r):
        raise ShapeError(
            f"{where}: `input` has shape {input.shape}; its {channels} channels must "
            f"be a multiple of upscale_factor^2 = {r * r}."
        )
    parts = (*lead, channels // (r * r), r, r, height, width)
    shape = (*lead, channels // (r * r), height * r, width * r)
    return laid_as(input, _rearranged(input, parts, (0, 3, 1, 4, 2), shape))


@traced(light=True)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Rearrange images into r^2 times as many channels, with 1 / r of height and width.

    This is the inverse of `pixel_shuffle`.

    Parameters
    ----------
    input
        A tensor of shape (..., C, H r, W r), of any dtype.
    downscale_factor
        The factor r, 1 or more.

    Returns
    -------
    Tensor
        A tensor of shape (..., C r^2, H, W).

    Raises
    ------
    ShapeError
        If `input` has fewer than three dimensions, or its height or width is not a
        multiple of r.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    >>> ac.nn.functional.pixel_unshuffle(x, 2).flatten().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    where = "pixel_unshuffle"
    r = _checked_factor(where, "downscale_factor", input, downscale_factor)
    *lead, channels, height, width = input._array.shape
    if height % r or width % r:
        raise ShapeError(
            f"{where}: `input` has shape {input.shape}; height and width must be "
            f"multiples of downscale_factor = {r}."
        )
    parts = (*lead, channels, height // r, r, width // r, r)
    shape = (*lead, channels * r * r, height // r, width // r)
    return laid_as(input, _rearranged(input, parts, (0, 2, 4, 1, 3), shape))


@traced
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Return images with the channels of all groups interleaved.

    ``out[:, j * groups + i] = input[:, i * C / groups + j]``.  Zhang and others:
    ShuffleNet (CVPR 2018).

    Parameters
    ----------
    input
        A tensor of shape (N, C, ...), with at least one dimension after the channels.
    groups
        The number of groups, which must divide C.

    Raises
    ------
    ShapeError
        If there are fewer than three dimensions, or `groups` does not divide C.
    ArgumentError
        If `groups` is not an integer of 1 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.arange(4).reshape(1, 4, 1)
    >>> ac.nn.functional.channel_shuffle(x, 2).flatten().tolist()
    [0, 2, 1, 3]
    """
    where = "channel_shuffle"
    n = _checked_factor(where, "groups", input, groups)
    batch, channels, *planes = input.shape
    if channels % n:
        raise ShapeError(
            f"{where}: `input` has shape {input.shape}; its {channels} channels must "
            f"be a multiple of groups = {n}."
        )
    parts = view.reshape_op(input, (batch, n, channels // n, *planes))
    order = (0, 2, 1, *range(3, parts.ndim))
    dealt = view.clone_op(view.permute_op(parts, order))
    dealt = view.detach_from_base(view.reshape_op(dealt, input.shape))
    return laid_as(input, dealt)


def _checked_factor(where: str, name: str, input: Tensor, factor: Any) -> int:
    factor = plain(factor)
    if isinstance(factor, bool) or not isinstance(factor, int) or factor < 1:
        message = f"{where}: `{name}` is {factor!r}; it must be an integer, 1 or more."
        raise ArgumentError(message)
    check_shape(where, "input", input, "(..., C, H, W)")
    return factor


def _rearranged(
    x: Tensor, parts: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...]
) -> Tensor:
    """Return a copy: reshape to `parts`, permute the last five axes, then reshape."""
    lead = len(parts) - 5
    axes = (*range(lead), *[lead + axis for axis in order])
    if x._edge is None:
        a = arrays.permute(arrays.reshape(x._array, parts), axes)
        return make(arrays.copy(a).reshape(shape), None)
    turned = view.permute_op(view.reshape_op(x, parts), axes)
    return view.detach_from_base(view.reshape_op(view.clone_op(turned), shape))
