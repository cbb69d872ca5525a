# SPDX-License-Identifier: MIT
"""Images sampled at positions between pixels: spatial transformers.

A grid holds positions from -1 to 1.  Its last dimension is (x, y) or (x, y, z), with x
first, while an image is [N, C, H, W] or [N, C, D, H, W].  Jaderberg and others: Spatial
transformer networks (NeurIPS 2015).
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._callers import warn
from autocalc._ops._operator.arguments import check_tensor, integers
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.arranging import joining
from autocalc._ops.creation.constants import ones
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.matrices import matmul
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import (
    ArgumentError,
    AutocalcWarning,
    DTypeError,
    NoFormulaError,
    ShapeError,
)

grid_sample_op = nary("grid_sample", saves="x grid")


@grid_sample_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    x, grid = n.saved
    if k.records:
        return k.through_decomposition("grid_sample", (x, grid), n.attributes, g)
    want = n.needs(0) | n.needs(1) << 1
    return k.grid_sample_backward(g, x, grid, *n.attributes, want=want)


@declared
@rounded_once
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Return the sampling grid of an affine map, for `grid_sample`.

    At each pixel (x, y) of the output, ``grid[n, ..., :] = theta[n] @ (x, y, 1)``.

    Parameters
    ----------
    theta
        The affine maps: a tensor of shape [N, 2, 3] for images, or [N, 3, 4] for
        volumes.
    size
        The shape of the output, (N, C, H, W) or (N, C, D, H, W).
    align_corners
        If True, -1 and 1 are the centres of the first and last pixels.  If False, the
        default, -1 and 1 are the outer edges of these pixels.

    Returns
    -------
    Tensor
        A tensor of shape [N, H, W, 2] or [N, D, H, W, 3].

    Raises
    ------
    ShapeError
        If the shape of `theta` does not fit `size`, or if a size is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> same = ac.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> ac.nn.functional.affine_grid(same, (1, 1, 1, 2))
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    where = "affine_grid"
    if not check_tensor(where, theta).is_floating_point():
        raise DTypeError(
            f"{where}: Expected theta to have floating point type, but it is "
            f"{theta.dtype.name}. Convert it with .float()."
        )
    sizes = integers(where, "size", size)
    dims = len(sizes) - 2
    if dims not in (2, 3):
        raise NoFormulaError(
            f"{where}: affine_grid only supports 4D and 5D sizes, (N, C, H, W) and (N, "
            f"C, D, H, W), but `size`={sizes}."
        )
    if theta.shape != (sizes[0], dims, dims + 1):
        raise ShapeError(
            f"{where}: Expected a batch of {dims}D affine matrices of shape "
            f"Nx{dims}x{dims + 1} for `size`={sizes}, but `theta` has shape "
            f"{theta.shape}."
        )
    if min(sizes) < 1:
        raise ShapeError(f"{where}: `size`={sizes}; no size may be below 1.")
    if align_corners and 1 in sizes[2:]:
        warn(
            f"{where}: `size`={sizes} holds 1 with align_corners=True; the only "
            "position is then the middle, 0, and not a corner. See the documentation "
            "of affine_grid for details.",
            AutocalcWarning,
        )
    places = _pixels(sizes[2:], bool(align_corners), theta)
    mapped = matmul.matmul(places, view.transpose(theta, 1, 2))
    return view.reshape(mapped, (sizes[0], *sizes[2:], dims))


def _pixels(planes: tuple[int, ...], align_corners: bool, like: Tensor) -> Tensor:
    """Return (x, y, ..., 1) for all pixels of the output, [H W, dims + 1]."""
    columns = []
    for axis in reversed(range(len(planes))):
        n = planes[axis]
        shape = [n if i == axis else 1 for i in range(len(planes))]
        steps = arange(n, dtype=like.dtype, device=place_of_tensor(like))
        last = max(n - 1, 1) if align_corners else n
        shift = (n - 1) / last
        line = arithmetic.sub(arithmetic.mul(steps, 2 / last), shift)
        columns.append(broadcasting.expand(view.reshape(line, shape), planes))
    columns.append(ones(planes, dtype=like.dtype, device=place_of_tensor(like)))
    return view.reshape(joining.stack(columns, -1), (-1, len(planes) + 1))


@autocasts("float32")
@traced
@declared
@rounded_once
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Return images sampled at the positions of a grid.

    Parameters
    ----------
    input
        A tensor of float32 or float64 with the shape [N, C, H, W] or [N, C, D, H, W].
    grid
        The positions.  Numbers between -1 and 1 are within the image; at other
        positions, `padding_mode` determines the values.  The shape is [N, H_out, W_out,
        2], where x comes before y, or [N, D_out, H_out, W_out, 3].
    mode
        ``"bilinear"`` interpolates between the 4 nearest pixels (8 in a volume),
        ``"nearest"`` takes the nearest pixel, and ``"bicubic"`` interpolates between 16
        pixels, for images only.
    padding_mode
        The values outside of the image: ``"zeros"``; ``"border"``, the nearest pixel of
        the image; or ``"reflection"``, the mirrored image.
    align_corners
        If True, -1 and 1 are the centres of the first and last pixels.  If False, the
        default, -1 and 1 are the outer edges of these pixels.

    Returns
    -------
    Tensor
        A tensor of shape [N, C, H_out, W_out] or [N, C, D_out, H_out, W_out].

    Raises
    ------
    ShapeError
        If the shapes of `input` and `grid` do not fit together, or if the images are
        empty.
    ArgumentError
        If a mode is unknown, or ``"bicubic"`` is given for volumes.
    DTypeError
        If `input` and `grid` have different dtypes.

    Examples
    --------
    >>> import autocalc as ac
    >>> image = ac.tensor([[[[1.0, 3.0]]]])
    >>> grid = ac.tensor([[[[0.0, 0.0], [0.5, 0.0]]]])  # the middle, and the right one
    >>> ac.nn.functional.grid_sample(image, grid)
    tensor([[[[2., 3.]]]])
    """
    where = "grid_sample"
    for name, given, known in (
        ("mode", mode, ("bilinear", "nearest", "bicubic")),
        ("padding_mode", padding_mode, ("zeros", "border", "reflection")),
    ):
        if given not in known:
            raise ArgumentError(
                f"{where}: expected {name} to be one of {', '.join(known)}, but got: "
                f"{given!r}."
            )
    check_float(where, input, grid)
    _check_shapes(where, input, grid, mode)
    return grid_sample_op(input, grid, mode, padding_mode, bool(align_corners))


def _needed(input: Tensor, grid: Tensor) -> str:
    """Return what does not fit in a call of `grid_sample`."""
    dims = input.ndim - 2
    if dims > 0 and grid.ndim and grid.shape[-1] != dims:
        return f"expected grid to have size {dims} in last dimension"
    if input.ndim == grid.ndim:
        return "expected grid and input to have same batch size"
    return "expected grid and input to have the same number of dimensions"


def _check_shapes(where: str, input: Tensor, grid: Tensor, mode: str) -> None:
    dims = input.ndim - 2
    fits = dims in (2, 3) and grid.ndim == input.ndim
    if not fits or grid.shape[0] != input.shape[0] or grid.shape[-1] != dims:
        raise ShapeError(
            f"{where}: `input` has shape {input.shape} and `grid` has shape "
            f"{grid.shape}; they must be [N, C, H, W] and [N, H_out, W_out, 2], or [N, "
            f"C, D, H, W] and [N, D_out, H_out, W_out, 3]: {_needed(input, grid)}."
        )
    if min(input.shape[2:]) < 1:
        message = (
            f"{where}: `input` has shape {input.shape}; expected input to have "
            "non-empty spatial dimensions."
        )
        raise ShapeError(message)
    if input.dtype is not grid.dtype:
        raise DTypeError(
            f"{where}: `input` is {input.dtype.name}, but `grid` is {grid.dtype.name}; "
            "convert one of them."
        )
    if mode == "bicubic" and dims == 3:
        message = (
            f"{where}: bicubic interpolation only supports 4D input, images, not "
            "volumes; use 'bilinear'."
        )
        raise ArgumentError(message)
