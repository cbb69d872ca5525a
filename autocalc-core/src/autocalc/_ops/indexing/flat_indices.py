# SPDX-License-Identifier: MIT
"""Row-major positions of elements, converted to an index for each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autocalc._ops._operator.arguments import check_tensor, integers, min_of
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import cast
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.reductions import reduction
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import DimensionError, DTypeError, ShapeError

__all__ = ["unravel_index"]


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Convert flat indices to one index tensor for each dimension of `shape`.

    Parameters
    ----------
    indices
        Integers: positions in a tensor of `shape` that is flattened in row-major order.
    shape
        The shape of the tensor to which the indices belong.

    Returns
    -------
    tuple of Tensor
        For each dimension, a tensor of int64 with the shape of `indices`.

    Raises
    ------
    DTypeError
        If `indices` does not hold integers.
    ShapeError
        If a size is negative.
    DimensionError
        If an index is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unravel_index(ac.tensor([1, 5]), (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    where = "unravel_index"
    refuse_booleans(where, check_tensor(where, indices))
    if indices.dtype.is_differentiable:
        message = (
            f"{where}: expected 'indices' to be integer, not {indices.dtype.name}."
        )
        raise DTypeError(message)
    _check_sizes(where, shape)
    sizes = integers(where, "shape", shape)
    if min_of(sizes) < 0:
        raise ShapeError(
            f"{where}: 'shape' cannot have negative values, but got {sizes}."
        )
    _check_range(where, indices, sizes)
    found, rest = [], cast(indices, dtypes.int64)
    for size in reversed(sizes):
        found.append(arithmetic.remainder(rest, size))
        rest = arithmetic.floor_divide(rest, size)
    return tuple(reversed(found))


def _check_sizes(where: str, shape: Any) -> None:
    """Raise if `shape` is a tensor or holds floats."""
    if isinstance(shape, Tensor):
        raise DTypeError(
            f"{where}: expected 'shape' to be int or sequence, not Tensor."
        )
    if isinstance(shape, (list, tuple)) and any(isinstance(n, float) for n in shape):
        raise DTypeError(
            f"{where}: expected 'shape' sequence to only contain ints, not {shape}."
        )


def _check_range(where: str, indices: Tensor, sizes: tuple[int, ...]) -> None:
    count = prod(sizes)
    outside = comparison.lt(indices, 0) | comparison.ge(indices, count)
    if reduction.any(outside).item():
        raise DimensionError(
            f"{where}: `indices` contains positions that are out of range for {count} "
            f"elements of shape {sizes}."
        )
