# SPDX-License-Identifier: MIT
"""Integrals and derivatives of sampled values, and powers of the positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops._operator.arguments import as_int, axis_of, check_tensor, integers
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import cast, to_float
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.arranging import joining
from autocalc._ops.arranging.rearranging import flip
from autocalc._ops.creation.constants import ones
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.indexing import masking
from autocalc._ops.sequences import scans
from autocalc._ops.views import moving, splitting, view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number, require
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError

__all__ = ["cumulative_trapezoid", "gradient", "vander"]


@declared
@rounded_once
def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: float | None = None,
    dim: int = -1,
    axis: Any = None,
) -> Tensor:
    """Return the cumulative integral of `y` along `dim`, by the trapezoidal rule.

    Parameters
    ----------
    y
        The values of the function at points along `dim`.
    x
        The points at which `y` was evaluated; by default they are `dx` apart.
    dx
        The distance between two points, 1 by default.
    dim
        The dimension; a negative one counts from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Returns
    -------
    Tensor
        A tensor with one element fewer along `dim` than `y`.

    Raises
    ------
    ArgumentError
        If both `x` and `dx` are given.
    ShapeError
        If `y` is 0-d.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cumulative_trapezoid(ac.tensor([0.0, 1.0, 2.0]))
    tensor([0.5000, 2.0000])
    """
    areas = scans.trapezoids("cumulative_trapezoid", y, x, dx, dim)
    return arithmetic.mul(scans.cumsum(areas, dim), 0.5)


@declared
@rounded_once
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the Vandermonde matrix: each row holds the powers of one element.

    Parameters
    ----------
    x
        A vector; booleans are taken as 0 and 1.
    N
        The number of powers, 0 or more; by default the number of elements.
    increasing
        True to order the powers from 0 upwards, False from the largest downwards.

    Returns
    -------
    Tensor
        A matrix of shape [elements of x, N].

    Raises
    ------
    ShapeError
        If `x` is not a vector.
    ArgumentError
        If `N` is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.vander(ac.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    if check_tensor("vander", x).ndim != 1:
        raise ShapeError(
            f"vander: x must be a one-dimensional tensor. Its shape is {x.shape}."
        )
    count = x.shape[0] if N is None else as_int("vander", "N", N)
    if count < 0:
        raise ArgumentError(f"vander: N must be non-negative. It is {count}.")
    x = cast(x, dtypes.int64) if x.dtype is dtypes.bool_ else x
    powers = arithmetic.pow(
        view.unsqueeze(x, 1), arange(count, device=place_of_tensor(x))
    )
    return powers if increasing else flip(powers, (1,))


@declared
@rounded_once
def gradient(
    input: Tensor,
    *,
    spacing: Any = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
    axis: Any = None,
) -> tuple[Tensor, ...]:
    """Return the numerical derivatives of sampled values along dimensions.

    Inside, a derivative is that of the parabola through a value and its two neighbours,
    which has a second-order error. At the ends, the derivative is that of a straight
    line, or, with ``edge_order=2``, that of a parabola.

    Parameters
    ----------
    input
        The values of the function at the points of a grid.
    spacing
        The distances between the points: one number, one number for each dimension, or
        one vector of coordinates for each dimension.
    dim
        The dimensions along which derivatives are computed; by default all.
    edge_order
        The order of the differences at the ends, 1 or 2.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Returns
    -------
    tuple of Tensor
        For each dimension, a tensor with the shape of `input`.

    Raises
    ------
    ArgumentError
        If `edge_order` is neither 1 nor 2, or the numbers of spacings and dimensions
        differ.
    ShapeError
        If a dimension has at most `edge_order` values, or their number differs from
        that of the coordinates.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.gradient(ac.tensor([1.0, 2.0, 4.0, 8.0]))
    (tensor([1.0000, 1.5000, 3.0000, 4.0000]),)
    """
    refuse_booleans("gradient", check_tensor("gradient", input))
    x = input if input.is_floating_point() else to_float(input)
    dims = range(x.ndim) if dim is None else integers("gradient", "dim", dim)
    axes = [axis_of("gradient", one, x.ndim) for one in dims]
    require("gradient", "edge_order", edge_order, edge_order in (1, 2), "1 or 2")
    widths = [
        _widths(x, axis, one)
        for axis, one in zip(axes, _spacings(spacing, len(axes)), strict=True)
    ]
    return tuple(
        _slopes(x, axis, one, edge_order)
        for axis, one in zip(axes, widths, strict=True)
    )


def _spacings(spacing: Any, count: int) -> list[Any]:
    """Return for each dimension the argument that gives the spacing of the values."""
    if not isinstance(spacing, (list, tuple)):
        return [spacing] * count
    if len(spacing) != count:
        raise ArgumentError(
            f"gradient: expected spacing to be one number, or to have {count} parts, "
            f"one for each dimension; it has {len(spacing)} parts."
        )
    return list(spacing)


def _widths(x: Tensor, axis: int, spacing: Any) -> Tensor:
    """Return a vector: the spacing of the values along a dimension."""
    count = x.shape[axis] if x.ndim else 0
    if isinstance(spacing, Tensor) and spacing.ndim:
        if spacing.shape != (count,):
            raise ShapeError(
                f"gradient: `spacing` has a tensor of shape {spacing.shape} for "
                f"dimension {axis} of size {count}; it must be a vector of {count} "
                "elements."
            )
        refuse_booleans("gradient", spacing)
        known = spacing if spacing.is_floating_point() else cast(spacing, x.dtype)
        return scans.diff(known)
    step = (
        spacing
        if isinstance(spacing, Tensor)
        else number("gradient", "spacing", spacing)
    )
    each = ones(max(count - 1, 0), dtype=x.dtype, device=place_of_tensor(x))
    return arithmetic.mul(each, step)


def _slopes(x: Tensor, axis: int, widths: Tensor, edge_order: int) -> Tensor:
    """Return the derivatives along one dimension."""
    count = x.shape[axis] if x.ndim else 0
    if count <= edge_order:
        raise ShapeError(
            f"gradient: dimension {axis} of shape {x.shape} has {count} values; "
            f"`edge_order`={edge_order} needs at least {edge_order + 1}."
        )
    rows = moving.movedim(x, axis, -1)
    lines = arithmetic.div(scans.diff(rows), widths)
    n = count - 1  # lines
    first, last = _one(lines, 0), _one(lines, n - 1)
    parts = [first, last]
    if n > 1:
        inner, bend = _inner(rows, lines, widths)
        if edge_order == 2:
            first = first - _one(bend, 0) * _one(widths, 0)
            last = last + _one(bend, n - 2) * _one(widths, n - 1)
        parts = [first, inner, last]
    return moving.movedim(joining.cat(parts, -1), -1, axis)


def _inner(rows: Tensor, lines: Tensor, widths: Tensor) -> tuple[Tensor, Tensor]:
    """Return slopes and half the second derivatives of the parabolas inside.

    Where both widths are equal, the slope is that between the two neighbours.  The
    value between them does not matter, even if it is infinite.
    """
    n = widths.shape[0]
    left, right = (splitting.narrow(lines, -1, at, n - 1) for at in (0, 1))
    before, after = (splitting.narrow(widths, 0, at, n - 1) for at in (0, 1))
    low, high = (splitting.narrow(rows, -1, at, n - 1) for at in (0, 2))
    both = arithmetic.add_op(before, after)
    bend = arithmetic.div(arithmetic.sub_op(right, left), both)
    more = arithmetic.sub_op(after, before)
    across = arithmetic.div(arithmetic.sub_op(high, low), both)
    turn = masking.where(comparison.eq(more, 0), 0.0, arithmetic.mul(bend, more))
    return arithmetic.sub_op(across, turn), bend


def _one(x: Tensor, index: int) -> Tensor:
    return splitting.narrow(x, -1, index, 1)
