# SPDX-License-Identifier: MIT
"""The public functions of `autocalc.sparse` that take sparse or dense operands."""

from __future__ import annotations

from typing import Any

from autocalc._ops.matrices import product_sums
from autocalc._ops.matrices.matmul import mm as dense_mm
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError
from autocalc.sparse import _matrices, _reductions
from autocalc.sparse._tensor import SparseTensor


def _any_sparse(*operands: Any) -> bool:
    return any(isinstance(x, SparseTensor) for x in operands)


def mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """Return the product of a sparse matrix and a dense or sparse one.

    Parameters
    ----------
    mat1
        A matrix of shape ``[M, K]``.
    mat2
        A matrix of shape ``[K, N]``, of the dtype of `mat1`.
    reduce
        It must be "sum".

    Returns
    -------
    Tensor
        A dense matrix of shape ``[M, N]``, or a sparse one if both are sparse.

    Raises
    ------
    ShapeError, DTypeError
        If the matrices do not fit together.
    ArgumentError
        If `reduce` is not "sum".

    Examples
    --------
    >>> import autocalc as ac
    >>> adjacency = ac.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
    >>> ac.sparse.mm(adjacency, ac.tensor([[1.0], [3.0]]))
    tensor([[3.],
            [2.]])
    """
    if reduce != "sum":
        raise ArgumentError(f"sparse.mm: `reduce` is {reduce!r}; it must be 'sum'.")
    if _any_sparse(mat1, mat2):
        return _matrices.mm(mat1, mat2)  # type: ignore[no-any-return]  # a tensor
    return dense_mm(mat1, mat2)


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of a sparse and a dense matrix, as `sparse.mm` does.

    Parameters
    ----------
    input
        A matrix of shape ``[M, K]``.
    mat2
        A matrix of shape ``[K, N]``, of the dtype of `input`.

    Returns
    -------
    Tensor
        A dense matrix of shape ``[M, N]``, or a sparse one if both are sparse.

    Raises
    ------
    ShapeError, DTypeError
        If the matrices do not fit together.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.spmm(ac.eye(2).to_sparse(), ac.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return mm(input, mat2)


#: PyTorch's other names.
dsmm = smm = spmm


def addmm(
    mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Return beta * mat + alpha * (mat1 @ mat2), where `mat1` is sparse.

    Parameters
    ----------
    mat
        A matrix of shape ``[M, N]``.
    mat1
        A matrix of shape ``[M, K]``.
    mat2
        A matrix of shape ``[K, N]``.
    beta, alpha
        The factors of `mat` and of the product.

    Returns
    -------
    Tensor
        A dense matrix of shape ``[M, N]``, or a sparse one if all are sparse.

    Raises
    ------
    ShapeError, DTypeError
        If the matrices do not fit together.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sparse.addmm(ac.ones(2, 1), ac.eye(2).to_sparse(), ac.ones(2, 1))
    tensor([[2.],
            [2.]])
    """
    if _any_sparse(mat, mat1, mat2):
        return _matrices.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]  # a tensor
    return product_sums.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Tensor, dim: Any = None, dtype: DType | None = None) -> Tensor:
    """Return the sum over dimensions of a sparse tensor.

    Parameters
    ----------
    input
        A sparse tensor.
    dim
        The dimensions that are summed; all by default.
    dtype
        The dtype of the result; the values are converted to it first.

    Returns
    -------
    Tensor
        A sparse tensor; or a dense one if all sparse dimensions are summed.

    Raises
    ------
    DTypeError
        If `input` is dense.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.sparse_coo_tensor([[0, 1], [2, 2]], [3.0, 4.0], (2, 3))
    >>> ac.sparse.sum(x, 0).to_dense()
    tensor([0., 0., 7.])
    """
    if not isinstance(input, SparseTensor):
        raise DTypeError("sparse.sum: `input` is dense; use ac.sum.")
    return _reductions.sum_of(input, dim, dtype=dtype)  # type: ignore[no-any-return]  # a tensor
