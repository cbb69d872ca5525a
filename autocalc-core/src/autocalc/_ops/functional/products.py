# SPDX-License-Identifier: MIT
"""Matrix products and the linear layer."""

from __future__ import annotations

from autocalc._ops import linalg
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import check_tensor
from autocalc._ops._coerce import coerce
from autocalc._ops._out import apply_out
from autocalc._ops.functional.shapes import squeeze
from autocalc._tensor import Tensor
from autocalc.errors import ShapeError


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the matrix product; leading dimensions are batches and broadcast.

    A 1-d operand counts as a row (left) or a column (right), which then disappears.

    Raises
    ------
    ShapeError
        If the inner dimensions differ or an operand is 0-d.
    """
    result = linalg.product(input, other)
    if result is None:
        result = _matmul(input, other)
    return result if out is None else apply_out("matmul", result, out)


def _matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the product of operands that are not yet matrices of one dtype."""
    check_tensor("matmul", input)
    check_tensor("matmul", other)
    a, b = coerce("matmul", input, other)
    if a.ndim > 1 and b.ndim > 1:
        return matmul(a, b)
    return _with_vectors(a, b)


def _with_vectors(a: Tensor, b: Tensor) -> Tensor:
    """Return the product where an operand is 1-d: a row on the left, else a column."""
    if a.ndim == 0 or b.ndim == 0:
        message = (
            f"matmul: shapes {a.shape} and {b.shape}: both operands need at least one "
            f"dimension; use * for scalars."
        )
        raise ShapeError(message)
    row, column = a.ndim == 1, b.ndim == 1
    if a.shape[-1] != b.shape[0 if column else -2]:
        raise linalg.unequal(a.shape, b.shape)
    a = shapes.reshape(a, (1, *a.shape)) if row else a
    b = shapes.reshape(b, (*b.shape, 1)) if column else b
    out = linalg.product(a, b)
    assert out is not None  # both are matrices now
    out = squeeze(out, -1) if column else out
    out = squeeze(out, -1 if column else -2) if row else out
    return shapes.detach_from_base(out)


def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the product of two matrices."""
    if (check_tensor("mm", input).ndim, check_tensor("mm", mat2).ndim) != (2, 2):
        message = (
            f"mm: shapes {input.shape} and {mat2.shape}: both operands must be "
            f"matrices; use matmul for batches."
        )
        raise ShapeError(message)
    return apply_out("mm", matmul(input, mat2), out)


def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the products of two batches of matrices, [B, M, K] and [B, K, N]."""
    both = check_tensor("bmm", input).ndim, check_tensor("bmm", mat2).ndim
    if both != (3, 3) or input.shape[0] != mat2.shape[0]:
        message = (
            f"bmm: shapes {input.shape} and {mat2.shape}: both operands must be "
            f"[B, M, K] and [B, K, N] with one B; use matmul to broadcast."
        )
        raise ShapeError(message)
    return apply_out("bmm", matmul(input, mat2), out)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b for x [..., in], W [out, in], b [out].

    Raises
    ------
    ShapeError, DTypeError
        If the operands do not fit (the kernel's rule says how).
    """
    return linalg.linear(input, weight, bias, "none")
