# SPDX-License-Identifier: MIT
"""Products of sparse matrices with dense and with sparse ones."""

from __future__ import annotations

from typing import Any

from autocalc._ops.arranging.joining import stack
from autocalc._ops.arranging.rearranging import repeat_interleave
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.sparse._compressed import Compressed, starts_of
from autocalc.sparse._conversion import as_layout
from autocalc.sparse._coo import CooTensor, arange_of
from autocalc.sparse._products import Places, sddmm, spmm
from autocalc.sparse._tensor import SparseTensor, function


def check_matrices(where: str, a: Any, b: Any) -> None:
    """Raise unless both are matrices of one dtype that can be multiplied."""
    for name, x in (("first", a), ("second", b)):
        if not isinstance(x, Tensor):
            raise DTypeError(
                f"{where}: the {name} operand is a {type(x).__name__}; it must be a "
                "Tensor."
            )
        if x.ndim != 2:
            raise ShapeError(
                f"{where}: expected a 2-D matrix as the {name} operand, but it has "
                f"shape {tuple(x.shape)}."
            )
    if a.shape[1] != b.shape[0]:
        raise ShapeError(
            f"{where}: mat1 and mat2 shapes cannot be multiplied "
            f"({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]}); the columns "
            "of the first must be as many as the rows of the second."
        )
    if a.dtype is not b.dtype:
        raise DTypeError(
            f"{where}: expected both matrices to have the same dtype, but got "
            f"{a.dtype.name} and {b.dtype.name}."
        )


def times_dense(a: Any, b: Tensor) -> Tensor:
    """Return the product of a sparse and a dense matrix, which is dense."""
    places: Places = a._places()
    if a._vals.dtype.is_half:
        wide = spmm(a._vals.float(), b.float(), places)
        return wide.to(a._vals.dtype)
    return spmm(a._vals, b, places)


def times_sparse(a: Any, b: Any) -> Any:
    """Return the product of two sparse matrices, which is sparse.

    Each entry (i, k) of `a` meets the entries of row k of `b`.
    """
    left = a if isinstance(a, CooTensor) else a._coo()
    right = (b if isinstance(b, CooTensor) else b._coo()).coalesce()
    left._places(), right._places()  # they are matrices
    starts = starts_of(right._idx[0], right.shape[0])
    k = left._idx[1]
    begin = starts.index_select(0, k)
    counts = starts.index_select(0, k + 1) - begin
    which = repeat_interleave(arange_of(k.shape[0]), counts)
    before = (counts.cumsum(0) - counts).index_select(0, which)
    at = arange_of(which.shape[0]) - before + begin.index_select(0, which)
    values = left._vals.index_select(0, which) * right._vals.index_select(0, at)
    row = left._idx[0].index_select(0, which)
    index = stack([row, right._idx[1].index_select(0, at)])
    made = CooTensor(index, values, (a.shape[0], b.shape[1])).coalesce()
    kept = a.layout if isinstance(a, Compressed) and isinstance(b, Compressed) else None
    return made if kept is None else as_layout(made, kept)


@function("mm", "smm", "spmm", "dsmm")
def mm(a: Any, b: Any) -> Any:
    """Return the product of two matrices, at least one of which is sparse."""
    check_matrices("mm", a, b)
    if isinstance(a, SparseTensor):
        if isinstance(b, SparseTensor):
            return times_sparse(a, b)
        return times_dense(a, b)
    return times_dense(b.t(), a.t()).t()


@function("bmm")
def bmm(a: Any, b: Any) -> Tensor:
    """Return the products of sparse matrices ``[B, M, K]`` and dense ``[B, K, N]``."""
    fits = isinstance(a, CooTensor) and a.sparse_dim() == a.ndim == 3
    if not fits or isinstance(b, SparseTensor):
        raise DTypeError(
            "bmm: the first operand must be a COO tensor of three sparse dimensions, "
            "and the second dense."
        )
    if b.ndim != 3 or (b.shape[0], b.shape[1]) != (a.shape[0], a.shape[2]):
        raise ShapeError(
            f"bmm: shapes {tuple(a.shape)} and {tuple(b.shape)}; they must be [B, M, "
            "K] and [B, K, N]."
        )
    batch, rows, inner = a.shape
    index = stack([a._idx[0] * rows + a._idx[1], a._idx[0] * inner + a._idx[2]])
    flat = CooTensor(index, a._vals, (batch * rows, batch * inner))
    product = times_dense(flat, b.reshape(batch * inner, b.shape[2]))
    return product.reshape(batch, rows, b.shape[2])


@function("mv")
def mv(a: Any, b: Any) -> Any:
    """Return the product of a sparse matrix and a dense vector."""
    if b.ndim != 1 or isinstance(b, SparseTensor):
        message = f"mv: the second operand has shape {tuple(b.shape)}; give a vector."
        raise ShapeError(message)
    if a.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ShapeError(
            f"mv: expected self.size(-1) == vec.size(-1), but the shapes are "
            f"{tuple(a.shape)} and {tuple(b.shape)}."
        )
    return mm(a, b.reshape(-1, 1)).reshape(-1)


@function("matmul", "__matmul__", "__rmatmul__")
def matmul(a: Any, b: Any) -> Any:
    """Return the product of a matrix and a matrix or a vector."""
    if not isinstance(b, Tensor) or not isinstance(a, Tensor):
        raise DTypeError("matmul: both operands must be tensors.")
    if b.ndim == 1:
        return mv(a, b)
    if a.ndim == 1 and not isinstance(a, SparseTensor):
        return mv(b.t(), a)
    return mm(a, b)


@function("addmm", "sspaddmm", "saddmm")
def addmm(input: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * (a @ b)."""
    product = mm(a, b)
    product = product if alpha == 1 and isinstance(alpha, int) else product * alpha
    if beta == 0:
        return product
    scaled = input if beta == 1 and isinstance(beta, int) else input * beta
    if isinstance(scaled, SparseTensor) and not isinstance(product, SparseTensor):
        return scaled.to_dense() + product
    return scaled + product


def sampled_addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: float = 1.0,
    alpha: float = 1.0,
    out: Tensor | None = None,
) -> Tensor:
    """Return alpha (mat1 @ mat2) at the places of `input`, plus beta * input.

    Only these elements of the product are computed.

    Parameters
    ----------
    input
        A sparse matrix of shape ``[M, N]`` in the layout CSR, or COO.
    mat1
        A dense matrix of shape ``[M, K]``.
    mat2
        A dense matrix of shape ``[K, N]``.
    beta, alpha
        The factors of `input` and of the product.
    out
        It must be None: results are new tensors.

    Returns
    -------
    Tensor
        A sparse matrix with the indices of `input`.

    Raises
    ------
    DTypeError
        If `input` is not sparse, `mat1` or `mat2` is sparse, or the dtypes differ.
    ShapeError
        If the shapes do not fit.

    Examples
    --------
    >>> import autocalc as ac
    >>> mask = ac.eye(2).to_sparse_csr()
    >>> product = ac.sparse.sampled_addmm(mask, ac.ones(2, 3), ac.ones(3, 2))
    >>> product.values()
    tensor([4., 4.])
    """
    where = "sampled_addmm"
    if out is not None:
        raise ArgumentError(f"{where}: `out` is not supported; use the result.")
    if not isinstance(input, SparseTensor):
        raise DTypeError(f"{where}: `input` is dense; give a sparse matrix.")
    if isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor):
        raise DTypeError(f"{where}: mat1 and mat2 must be dense; use to_dense().")
    check_matrices(where, mat1, mat2)
    if tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        raise ShapeError(
            f"{where}: `input` has shape {tuple(input.shape)}, and the product "
            f"{(mat1.shape[0], mat2.shape[1])}; they must be equal."
        )
    places: Any = input._places()  # type: ignore[attr-defined]  # each layout has it
    found = sddmm(mat1, mat2.t().contiguous(), places) * alpha
    return input._with(found + input._vals * beta if beta else found)  # type: ignore[no-any-return]  # sparse
