# SPDX-License-Identifier: MIT
"""Maxima over windows with random steps, for any requested output size.

Graham: Fractional max-pooling (2014).
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops.arranging.joining import cat
from autocalc._ops.convolutions import _spatial
from autocalc._ops.creation.ranges import arange
from autocalc._ops.indexing import indexing
from autocalc._ops.random.random_draws import rand
from autocalc._ops.reductions import extrema
from autocalc._ops.views import view
from autocalc._ops.views.splitting import narrow
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.dtypes import float32, float64, int64
from autocalc.errors import ArgumentError, ShapeError

Sizes = int | tuple[int, ...]
Ratios = float | tuple[float, ...]

Result = Tensor | tuple[Tensor, Tensor]


@autocasts("float32")
@declared
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Ratios | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the largest element of each window of images, at random positions.

    With n rows, windows of k rows and m results, window i begins at row floor(a
    (i + u)) - floor(a u), where a = (n - k) / (m - 1).  The last window begins at row n
    - k. The number u is drawn from 0 to 1 for each plane.  Columns are treated in the
    same way.  Graham: Fractional max-pooling (2014).

    Parameters
    ----------
    input
        A tensor of shape (N, C, H, W) or (C, H, W), of a floating-point dtype.
    kernel_size
        The size of a window: one number, or (height, width).
    output_size
        The size of the result: one number, or (height, width).
    output_ratio
        The height and width of the result as a share of those of `input`, between 0 and
        1; give this or `output_size`.
    return_indices
        True to also return the positions of the elements, counted in row-major order in
        each plane.
    _random_samples
        The numbers u, a tensor of shape (N, C, 2): first those of the columns, then
        those of the rows.  The first dimension may be larger than N.  By default they
        are drawn from the default generator.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if it is too small for the
        windows and the result.
    ArgumentError
        If `output_size` and `output_ratio` are both given or both missing, or an
        argument is out of range.
    DTypeError
        If `input` is not a floating-point tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.randn(20, 16, 50, 32)
    >>> ac.nn.functional.fractional_max_pool2d(x, 3, output_ratio=0.5).shape
    autocalc.Size([20, 16, 25, 16])
    """
    asked = output_size, output_ratio
    return _fractional(
        "fractional_max_pool2d", 2, input, kernel_size, asked, return_indices,
        _random_samples,
    )  # fmt: skip


@autocasts("float32")
@declared
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Ratios | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the largest element of each window of volumes, at random positions.

    It works as `fractional_max_pool2d` does, with three spatial dimensions.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W), of a floating-point dtype.
    kernel_size
        The size of a window: one number, or (depth, height, width).
    output_size
        The size of the result: one number, or (depth, height, width).
    output_ratio
        The sizes of the result as a share of those of `input`, between 0 and 1; give
        this or `output_size`.
    return_indices
        True to also return the positions of the elements, counted in row-major order in
        each volume.
    _random_samples
        The numbers u, a tensor of shape (N, C, 3), for depth, height and width.  The
        first dimension may be larger than N.  By default they are drawn from the
        default generator.

    Raises
    ------
    ShapeError
        If `input` has a wrong number of dimensions, or if it is too small for the
        windows and the result.
    ArgumentError
        If `output_size` and `output_ratio` are both given or both missing, or an
        argument is out of range.
    DTypeError
        If the input is not a floating-point tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.randn(2, 16, 10, 8, 8)
    >>> ac.nn.functional.fractional_max_pool3d(x, 2, output_size=(5, 4, 4)).shape
    autocalc.Size([2, 16, 5, 4, 4])
    """
    asked = output_size, output_ratio
    return _fractional(
        "fractional_max_pool3d", 3, input, kernel_size, asked, return_indices,
        _random_samples,
    )  # fmt: skip


def _fractional(
    where: str,
    dims: int,
    input: Tensor,
    kernel_size: Any,
    asked: tuple[Any, Any],
    return_indices: bool,
    samples: Tensor | None,
) -> Result:
    x, had_batch = _spatial.batched(where, input, dims)
    check_float(where, x)
    kernel = _sizes(where, "kernel_size", kernel_size, dims)
    sizes = _sizes_asked(where, x, dims, *asked)
    _check_fit(where, x, kernel, sizes)
    draws = _draws(where, x, dims, samples)
    if 0 in sizes:
        nothing: Tensor | tuple[Tensor, Tensor] = _empty(
            x, sizes, had_batch, return_indices
        )
        return nothing
    found = _places(x.detach(), kernel, sizes, draws)
    planes = x.shape[:2]
    lines = view.reshape(x, (*planes, math.prod(x.shape[2:])))
    flat = view.reshape(found, (*planes, math.prod(sizes)))
    out = view.detach_from_base(
        view.reshape(indexing.gather(lines, 2, flat), found.shape)
    )
    out = _spatial.unbatched(out, had_batch)
    return (out, _spatial.unbatched(found, had_batch)) if return_indices else out


def _sizes(
    where: str, name: str, given: Any, dims: int, least: int = 1
) -> tuple[int, ...]:
    """Return one integer for each dimension, from as many or from a single one."""
    if isinstance(given, (tuple, list)) and len(given) != dims:
        raise ArgumentError(
            f"{where}: {name} must either be one integer or {dims} of them, not "
            f"{given!r}."
        )
    return _spatial.sizes_of(where, name, given, dims, least)


def checked_sizes(where: str, dims: int, output_size: Any, output_ratio: Any) -> Any:
    """Return sizes and ratios, one for each dimension; one of the two is None."""
    if (output_size is None) == (output_ratio is None):
        given = "neither" if output_size is None else "both"
        raise ArgumentError(
            f"{where}: {given} of `output_size` and `output_ratio` are given; give "
            "exactly one."
        )
    if output_size is not None:
        return _sizes(where, "output_size", output_size, dims, 0), None
    several = isinstance(output_ratio, (tuple, list))
    ratios = tuple(output_ratio) if several else (output_ratio,) * dims
    ratios = tuple(number(where, "output_ratio", ratio) for ratio in ratios)
    if len(ratios) != dims or not all(0 < ratio < 1 for ratio in ratios):
        raise ArgumentError(
            f"{where}: `output_ratio` is {output_ratio!r}; it must be one number "
            f"between 0 and 1, or {dims} such numbers."
        )
    return None, ratios


def _sizes_asked(
    where: str, x: Tensor, dims: int, output_size: Any, output_ratio: Any
) -> tuple[int, ...]:
    sizes, ratios = checked_sizes(where, dims, output_size, output_ratio)
    if sizes is None:
        sizes = tuple(int(n * r) for n, r in zip(x.shape[2:], ratios, strict=True))
        if 0 in sizes:
            raise ShapeError(
                f"{where}: `output_ratio` is {output_ratio}, which gives a result of "
                f"size {sizes} for `input` of shape {x.shape}; it must have 1 element "
                "or more."
            )
    result: tuple[int, ...] = sizes
    return result


def _check_fit(
    where: str, x: Tensor, kernel: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    names = ("time", "height", "width")[-len(kernel) :]
    planes = zip(names, x.shape[2:], kernel, sizes, strict=True)
    for name, n, k, m in planes:
        if m and m + k - 1 > n:
            raise ShapeError(
                f"{where}: windows of {k} and a result of {m} are too large relative "
                f"to input {name}, {n}: it must be {k + m - 1} or more."
            )


def _draws(where: str, x: Tensor, dims: int, samples: Tensor | None) -> list[Tensor]:
    """Return draws from 0 to 1, (N, C, 1), for each dimension."""
    shape = (*x.shape[:2], dims)
    if samples is None:
        samples = rand(shape, dtype=x.dtype, device=place_of_tensor(x))
    check_float(where, check_tensor(where, samples))
    if samples.ndim != 3 or samples.shape[1:] != shape[1:] or len(samples) < shape[0]:
        raise ShapeError(
            f"{where}: Expect _random_samples of shape {shape}, or with more in the "
            f"first dimension, but they have shape {samples.shape}."
        )
    samples = samples[: shape[0]]
    samples = cast(samples.detach(), float64 if x.dtype is float64 else float32)
    each = [samples[..., i : i + 1] for i in range(dims)]
    return each[::-1] if dims == 2 else each


def _empty(
    x: Tensor, sizes: tuple[int, ...], had_batch: bool, return_indices: bool
) -> Any:
    """Return a result without elements, which depends on the input."""
    nothing = narrow(view.reshape(x, (*x.shape[:2], -1)), 2, 0, 0)
    out = view.reshape(nothing, (*x.shape[:2], *sizes))
    out = view.detach_from_base(_spatial.unbatched(out, had_batch))
    return (out, cast(out.detach(), int64)) if return_indices else out


def _places(
    x: Tensor, kernel: tuple[int, ...], sizes: tuple[int, ...], draws: list[Tensor]
) -> Tensor:
    """Return the positions of the largest elements, (N, C, *sizes)."""
    dims, planes = len(kernel), x.shape[:2]
    inside: Any = 0
    for d, (n, k, m) in enumerate(zip(x.shape[2:], kernel, sizes, strict=True)):
        rows = view.unsqueeze(_starts(draws[d], n, k, m), -1)
        rows = rows + arange(k, device=place_of_tensor(x))
        shape = [1] * (2 * dims)
        shape[d], shape[dims + d] = m, k
        inside = inside * n + view.reshape(rows, (*planes, *shape))
    count, taps_of = math.prod(sizes), math.prod(kernel)
    lines = view.reshape(x, (*planes, math.prod(x.shape[2:])))
    flat = view.reshape(inside, (*planes, count * taps_of))
    inside = view.reshape(inside, (*planes, count, taps_of))
    taps = indexing.gather(lines, 2, flat)
    first = extrema.argmax(view.reshape(taps, inside.shape), -1, True)
    return view.reshape(indexing.gather(inside, 3, first), (*planes, *sizes))


def _starts(draw: Tensor, n: int, k: int, m: int) -> Tensor:
    """Return where the windows along one dimension begin, (N, C, m)."""
    last = cast(draw * 0, int64) + (n - k)
    if m == 1:
        return last
    step = (n - k) / (m - 1)
    before = cast(
        (arange(m - 1, dtype=draw.dtype, device=place_of_tensor(draw)) + draw) * step,
        int64,
    )
    return cat([before - cast(draw * step, int64), last], 2)
