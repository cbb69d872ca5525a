# SPDX-License-Identifier: MIT
"""Conversions between dense tensors, the sparse layouts, and SciPy's matrices."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.creation.from_data import as_tensor
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int
from autocalc._tensor.layouts import sparse_coo, sparse_csc, sparse_csr, strided
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.sparse._compressed import Compressed, compressed
from autocalc.sparse._coo import CooTensor, coordinates
from autocalc.sparse._tensor import SparseTensor


def from_dense(x: Tensor, sparse_dim: int | None = None) -> CooTensor:
    """Return the elements of a dense tensor that are not zero, as coordinates."""
    n = x.ndim if sparse_dim is None else as_int("to_sparse", "sparse_dim", sparse_dim)
    if not 0 <= n <= x.ndim or (n == 0 and x.ndim):
        raise ArgumentError(
            f"to_sparse: sparse_dim argument must be in >=0 range and not larger than "
            f"{x.ndim}, the number of dimensions; it is {n}. At least one dimension "
            "must be sparse."
        )
    sizes = tuple(x.shape[:n])
    rows = x.reshape((math.prod(sizes), *x.shape[n:]))
    flat = rows.detach().reshape(
        (rows.shape[0], -1) if x.numel() else (rows.shape[0], 0)
    )
    found: Any = (flat != 0).any(1).nonzero()
    key = found.reshape(-1)
    values = rows.index_select(0, key)
    return CooTensor(coordinates(key, sizes), values, x.shape, True)


def relaid(x: Any, args: Any, layout: Any, words: Any) -> Any:
    """Return a sparse or dense tensor in a sparse layout (`Tensor.to_sparse`)."""
    if words and set(words) - {"sparse_dim", "dense_dim", "blocksize"}:
        raise DTypeError(f"to_sparse: the argument {next(iter(words))!r} is unknown.")
    count = args[0] if args else words.get("sparse_dim")
    if layout is None and not isinstance(x, Compressed):
        layout = sparse_coo
    if layout is None:
        layout = sparse_coo
    if isinstance(x, SparseTensor):
        if count is not None and count != x.sparse_dim():
            raise ArgumentError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                f"!=self.sparse_dim() is not supported: {count} was given, and the "
                f"tensor has {x.sparse_dim()}. Convert with to_dense() first."
            )
        return x if layout is x.layout else as_layout(x, layout)
    if layout is sparse_coo:
        return from_dense(x, count)
    return as_layout(from_dense(x, matrix_dims(x)), layout)


def matrix_dims(x: Tensor) -> int:
    """Return 2, or raise unless `x` has two dimensions or more."""
    if x.ndim < 2:
        raise ArgumentError(
            f"to_sparse: a compressed layout needs a matrix, not shape {x.shape}."
        )
    if x.ndim > 2:
        raise ArgumentError(
            f"to_sparse: batches of compressed matrices are not supported; shape "
            f"{x.shape} has more than two dimensions."
        )
    return 2


def as_layout(x: Any, layout: Any) -> Any:
    """Return a sparse tensor in another layout."""
    if layout is strided:
        return x.to_dense()
    coo = x if isinstance(x, CooTensor) else x.to_sparse_coo()
    if layout is sparse_coo:
        return coo
    if layout not in (sparse_csr, sparse_csc):
        raise ArgumentError(
            f"to_sparse: `layout` is {layout!r}; supported are sparse_coo, sparse_csr "
            "and sparse_csc."
        )
    if coo.sparse_dim() != 2:
        raise ShapeError(
            f"to_sparse: a compressed layout needs two sparse dimensions, and a "
            f"tensor of shape {tuple(x.shape)} has {coo.sparse_dim()}."
        )
    return compressed(coo, 0 if layout is sparse_csr else 1)


def from_scipy(matrix: Any) -> Any:
    """Return a SciPy sparse matrix as a sparse tensor.

    CSR and CSC keep their layout; every other format becomes COO.  The memory of values
    is shared where the dtypes allow it.  SciPy itself is not imported.

    Parameters
    ----------
    matrix
        A matrix or an array of `scipy.sparse`.

    Returns
    -------
    Tensor
        A sparse tensor of the shape of `matrix`.

    Raises
    ------
    DTypeError
        If `matrix` is not one of SciPy's sparse classes.

    Examples
    --------
    >>> import autocalc as ac
    >>> from scipy.sparse import coo_matrix  # doctest: +SKIP
    >>> ac.sparse.from_scipy(coo_matrix([[0.0, 2.0]]))  # doctest: +SKIP
    tensor(indices=tensor([[0],
                           [1]]),
           values=tensor([2.], dtype=autocalc.float64),
           size=(1, 2), nnz=1, dtype=autocalc.float64, layout=autocalc.sparse_coo)
    """
    from autocalc.sparse._creation import (
        sparse_coo_tensor,
        sparse_csc_tensor,
        sparse_csr_tensor,
    )

    if not hasattr(matrix, "tocoo") or not hasattr(matrix, "shape"):
        raise DTypeError(
            f"from_scipy: got a {type(matrix).__name__}; give a matrix of scipy.sparse."
        )
    kind = getattr(matrix, "format", "")
    if kind in ("csr", "csc"):
        make: Any = sparse_csr_tensor if kind == "csr" else sparse_csc_tensor
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        starts, plain = (as_tensor(x) for x in (matrix.indptr, matrix.indices))
        return make(starts, plain, as_tensor(matrix.data), matrix.shape)
    coo = matrix.tocoo()
    rows = [as_tensor(x).to(dtypes.int64) for x in (coo.row, coo.col)]
    from autocalc._ops.arranging.joining import stack

    return sparse_coo_tensor(stack(rows), as_tensor(coo.data), coo.shape)


def to_scipy(x: Any) -> Any:
    """Return a sparse matrix as one of SciPy, which must be installed.

    Parameters
    ----------
    x
        A sparse matrix in the layout COO, CSR or CSC; it must not require a gradient.

    Returns
    -------
    A `coo_array`, `csr_array` or `csc_array` of `scipy.sparse`.

    Raises
    ------
    DTypeError
        If `x` is not a sparse tensor.
    ShapeError
        If `x` is not a matrix.

    Examples
    --------
    >>> import autocalc as ac
    >>> matrix = ac.eye(2).to_sparse_csr()
    >>> ac.sparse.to_scipy(matrix).nnz  # doctest: +SKIP
    2
    """
    if not isinstance(x, SparseTensor):
        message = f"to_scipy: got a {type(x).__name__}; give a sparse tensor."
        raise DTypeError(message)
    if x.ndim != 2 or x.dense_dim():
        raise ShapeError(
            f"to_scipy: shape {tuple(x.shape)} with {x.dense_dim()} dense dimensions; "
            "SciPy has sparse matrices only."
        )
    from importlib import import_module

    scipy = import_module("scipy.sparse")
    values, shape = x._vals.detach().numpy(), tuple(x.shape)
    if isinstance(x, CooTensor):
        row, col = (x._idx[d].numpy() for d in (0, 1))
        return scipy.coo_array((values, (row, col)), shape=shape)
    parts = values, x._plain.numpy(), x._starts.numpy()  # type: ignore[attr-defined]  # compressed
    kind = scipy.csr_array if x.is_sparse_csr else scipy.csc_array
    return kind(parts, shape=shape)
