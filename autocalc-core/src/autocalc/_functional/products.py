# SPDX-License-Identifier: MIT
"""Matrix products and the linear layer."""

from __future__ import annotations

from autocalc._functional._arguments import checked
from autocalc._functional.shapes import squeeze
from autocalc._ops import linalg
from autocalc._ops import shape as shapes
from autocalc._ops._coerce import coerce
from autocalc._tensor import Tensor
from autocalc.errors import DTypeError, ShapeError


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the matrix product; leading dimensions are batches and broadcast.

    A 1-d operand counts as a row (left) or a column (right), which then disappears.

    Raises
    ------
    ShapeError
        If the inner dimensions differ or an operand is 0-d.
    """
    a, b = coerce("matmul", checked("matmul", input), checked("matmul", other))
    if a.ndim == 0 or b.ndim == 0:
        message = (
            f"matmul: shapes {a.shape} and {b.shape}: both operands need at least one "
            f"dimension; use * for scalars."
        )
        raise ShapeError(message)
    inner_b = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner_b:
        message = (
            f"matmul: shapes {a.shape} and {b.shape} do not fit: `input`.shape[-1] is "
            f"{a.shape[-1]}, `other`.shape[{-2 if b.ndim > 1 else 0}] is {inner_b}; "
            f"they must be equal."
        )
        raise ShapeError(message)
    row, column = a.ndim == 1, b.ndim == 1
    a = shapes.reshape(a, (1, *a.shape)) if row else a
    b = shapes.reshape(b, (*b.shape, 1)) if column else b
    out = linalg.gemm(a, b, None, 1.0, 0.0, "none")
    out = squeeze(out, -1) if column else out
    return squeeze(out, -1 if column else -2) if row else out


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices."""
    if input.ndim != 2 or mat2.ndim != 2:
        message = (
            f"mm: shapes {input.shape} and {mat2.shape}: both operands must be "
            f"matrices; use matmul for batches."
        )
        raise ShapeError(message)
    return matmul(input, mat2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of two batches of matrices, [B, M, K] and [B, K, N]."""
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        message = (
            f"bmm: shapes {input.shape} and {mat2.shape}: both operands must be "
            f"[B, M, K] and [B, K, N] with one B; use matmul to broadcast."
        )
        raise ShapeError(message)
    return matmul(input, mat2)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b for x [..., in], W [out, in], b [out]."""
    operands = [t for t in (input, weight, bias) if t is not None]
    if any(t._array.dtype is not operands[0]._array.dtype for t in operands):
        given = ", ".join(t.dtype.name for t in operands)
        message = f"linear: the operands have dtypes {given}; they must be the same."
        raise DTypeError(message)
    if input.ndim == 0 or weight.ndim != 2 or input.shape[-1] != weight.shape[1]:
        message = (
            f"linear: `input` has shape {input.shape}, `weight` {weight.shape}; the "
            f"last dimension of `input` must equal `weight`.shape[1]."
        )
        raise ShapeError(message)
    if bias is not None and bias.shape != weight.shape[:1]:
        message = (
            f"linear: `bias` has shape {bias.shape}; it must be ({weight.shape[0]},), "
            f"one for each row of `weight`."
        )
        raise ShapeError(message)
    return linalg.linear(input, weight, bias, "none")
