# SPDX-License-Identifier: MIT
"""Products and arrangements of several tensors, and less common orders of one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from autocalc._kernels.rules import broadcast_shapes as broadcast
from autocalc._ops import elementwise
from autocalc._ops._arguments import as_int, axis_of, check_tensor
from autocalc._ops._coerce import as_operand, coerce
from autocalc._ops._out import apply_out
from autocalc._ops.creation import zeros
from autocalc._ops.functional._index import wrapped
from autocalc._ops.functional.arranging import meshgrid
from autocalc._ops.functional.contractions import dot
from autocalc._ops.functional.diagonals import diag
from autocalc._ops.functional.indexing import as_positions, index_select
from autocalc._ops.functional.joining import cat, stack
from autocalc._ops.functional.matrices import multi_dot
from autocalc._ops.functional.repeating import flip, roll
from autocalc._ops.functional.scattering import index_add, index_copy
from autocalc._ops.functional.shapes import clone, reshape, transpose
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers
from autocalc.errors import ArgumentError, DimensionError, ShapeError

__all__ = [
    "block_diag",
    "broadcast_shapes",
    "cartesian_prod",
    "chain_matmul",
    "combinations",
    "cross",
    "diagflat",
    "kron",
    "put",
    "rot90",
    "take",
    "vdot",
]


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Return the shape that tensors of these shapes have together.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.broadcast_shapes((2, 1), (3,), 1)
    (2, 3)
    """
    sizes = [integers("broadcast_shapes", "shapes", shape) for shape in shapes]
    return broadcast("broadcast_shapes", *sizes) if sizes else ()


def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the sum of x_i y_i of two vectors; the numbers are real."""
    return apply_out("vdot", dot(input, other), out)


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Return the product of matrices, in the cheapest order."""
    return apply_out("chain_matmul", multi_dot(list(matrices)), out)


def cross(
    input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the vector products of 3-vectors along `dim`.

    By default along the first dimension of size 3.
    """
    a, b = coerce("cross", check_tensor("cross", input), check_tensor("cross", other))
    shape = broadcast("cross", a.shape, b.shape)
    if dim is None:
        found = [i for i, n in enumerate(a.shape) if n == 3]
        if not found:
            message = f"cross: no dimension of shape {a.shape} has size 3."
            raise DimensionError(message)
        axis = found[0]
    else:
        axis = axis_of("cross", dim, len(shape))
    if a.ndim != b.ndim or not shape or a.shape[axis] != 3 or b.shape[axis] != 3:
        message = (
            f"cross: shapes {a.shape} and {b.shape}; they must have as many "
            f"dimensions, and size 3 along dimension {axis}."
        )
        raise ShapeError(message)
    left = elementwise.mul(roll(a, -1, axis), roll(b, -2, axis))
    right = elementwise.mul(roll(a, -2, axis), roll(b, -1, axis))
    return apply_out("cross", elementwise.sub(left, right), out)


def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Kronecker product: each element of x times all of y.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kron(ac.tensor([1, 2]), ac.tensor([1, 10]))
    tensor([ 1, 10,  2, 20])
    """
    a, b = check_tensor("kron", input), check_tensor("kron", other)
    ndim = max(a.ndim, b.ndim)
    sizes = [(1,) * (ndim - x.ndim) + x.shape for x in (a, b)]
    wide = [n for size in sizes[0] for n in (size, 1)]
    narrow = [n for size in sizes[1] for n in (1, size)]
    product = elementwise.mul(reshape(a, wide), reshape(b, narrow))
    shape = [n * m for n, m in zip(*sizes, strict=True)]
    return apply_out("kron", reshape(product, shape), out)


def block_diag(*tensors: Tensor) -> Tensor:
    """Return matrices along the diagonal of a matrix, with 0 elsewhere.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.block_diag(ac.tensor([[1, 2]]), ac.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    many = [check_tensor("block_diag", x) for x in tensors]
    if any(x.ndim > 2 for x in many):
        found = ", ".join(str(x.shape) for x in many)
        message = f"block_diag: shapes {found}; all must be matrices, vectors or less."
        raise ShapeError(message)
    parts = [reshape(x, (1, -1)) if x.ndim < 2 else x for x in many]
    if not parts:
        return zeros(1, 0)
    parts = list(coerce("block_diag", *parts))
    width, rows, start = sum(x.shape[1] for x in parts), [], 0
    for x in parts:
        n, m = x.shape
        rest = width - start - m
        row = [x.new_zeros((n, start)), x, x.new_zeros((n, rest))]
        rows.append(cat(row, 1))
        start += m
    return cat(rows, 0)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all choices of one element of each vector, as rows.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cartesian_prod(ac.tensor([1, 2]), ac.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    many = [check_tensor("cartesian_prod", x) for x in tensors]
    if not many or any(x.ndim != 1 for x in many):
        found = ", ".join(str(x.shape) for x in many) or "nothing"
        message = f"cartesian_prod: got {found}; give vectors, one at least."
        raise ShapeError(message)
    if len(many) == 1:
        return clone(many[0])
    grids = meshgrid(*many, indexing="ij")
    return stack([reshape(grid, (-1,)) for grid in grids], 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all choices of `r` elements of a vector, as rows.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.combinations(ac.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    x = check_tensor("combinations", input)
    if x.ndim != 1 or as_int("combinations", "r", r) < 0:
        message = (
            f"combinations: shape {x.shape} and `r`={r}; it takes a vector and a "
            f"number of 0 or more."
        )
        raise ShapeError(message)
    if r == 0:
        return x.new_empty((0,))
    choose = (
        itertools.combinations_with_replacement
        if with_replacement
        else (itertools.combinations)
    )
    chosen = list(choose(range(x.shape[0]), r))
    flat = x.new_tensor([i for row in chosen for i in row], dtype=_int64())
    return reshape(index_select(x, 0, flat), (len(chosen), r))


def _int64() -> Any:
    from autocalc._tensor import dtypes as _dtypes

    return _dtypes.int64


# ---- of one --------------------------------------------------------------------------


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with the elements of `input` on a diagonal, and 0 elsewhere."""
    return diag(reshape(check_tensor("diagflat", input), (-1,)), offset)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Return `input` turned `k` times by 90 degrees, from dims[0] towards dims[1].

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.rot90(ac.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    x, plane = check_tensor("rot90", input), integers("rot90", "dims", dims)
    axes = [axis_of("rot90", d, x.ndim) for d in plane]
    if len(axes) != 2 or axes[0] == axes[1] or x.ndim < 2:
        message = (
            f"rot90: `dims`={plane} of shape {x.shape}; they must be two different "
            f"dimensions."
        )
        raise DimensionError(message)
    turns = as_int("rot90", "k", k) % 4
    if turns == 2:
        return flip(x, axes)
    if turns == 0:
        return clone(x)
    turned = transpose(x, *axes)
    return flip(turned, [axes[0 if turns == 1 else 1]])


def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the elements at places of the flattened `input`, shaped as `index`."""
    x, places = check_tensor("take", input), as_positions("take", index)
    flat = wrapped(reshape(places, (-1,)), x.numel())
    found = index_select(reshape(x, (-1,)), 0, flat)
    return apply_out("take", reshape(found, places.shape), out)


def put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
) -> Tensor:
    """Return `input` with `source` at, or added to, places of it flattened."""
    x, places = check_tensor("put", input), as_positions("put", index)
    values = as_operand(check_tensor("put", source), x.dtype)
    if values.numel() != places.numel():
        message = (
            f"put: `source` has {values.numel()} elements for {places.numel()} places; "
            f"there must be one for each."
        )
        raise ArgumentError(message)
    flat = wrapped(reshape(places, (-1,)), x.numel())
    write = index_add if accumulate else index_copy
    found = write(reshape(x, (-1,)), 0, flat, reshape(values, (-1,)))
    return reshape(found, x.shape)
