# SPDX-License-Identifier: MIT
"""Methods that convert dense tensors to sparse ones, or ask for parts of them.

`autocalc.sparse` is imported late: most programs have no sparse tensors.
"""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.kinds import is_of_kind, wrong_layout
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError


def _part(name: str, x: Tensor) -> Any:
    """Return a part of a sparse tensor by its own method; a dense tensor has none."""
    method = getattr(type(x), name)
    if method is getattr(Tensor, name):
        raise wrong_layout(name, x)
    return method(x)


class Sparse:
    """Conversions to sparse layouts, and the names of the parts of sparse tensors."""

    __slots__ = ()

    def to_sparse(
        self: Tensor,
        sparse_dim: int | None = None,
        *,
        layout: Any = None,
        blocksize: Any = None,
        dense_dim: int | None = None,
    ) -> Tensor:
        """Return the elements that are not zero as a sparse tensor.

        Parameters
        ----------
        sparse_dim
            The number of sparse dimensions, the first ones; by default all.
        layout
            ``sparse_coo``, which is the default, ``sparse_csr`` or ``sparse_csc``.
        blocksize
            It must be None: blocks are not supported.
        dense_dim
            It must be None or 0.

        Raises
        ------
        ArgumentError
            If the number of dimensions does not fit the layout.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([0.0, 3.0]).to_sparse()
        tensor(indices=tensor([[1]]),
               values=tensor([3.]),
               size=(2,), nnz=1, layout=autocalc.sparse_coo)
        """
        from autocalc.sparse._conversion import relaid

        if blocksize is not None or dense_dim not in (None, 0):
            raise ArgumentError(
                "to_sparse: `blocksize` and `dense_dim` are not supported; leave them "
                "out."
            )
        given = () if sparse_dim is None else (sparse_dim,)
        made: Tensor = relaid(check_tensor("to_sparse", self), given, layout, {})
        return made

    def to_sparse_coo(self: Tensor) -> Tensor:
        """Return the elements that are not zero as a sparse COO tensor.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.eye(2).to_sparse_coo().indices()
        tensor([[0, 1],
                [0, 1]])
        """
        return self.to_sparse()

    def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
        """Return the elements that are not zero as a sparse CSR matrix.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.eye(2).to_sparse_csr().crow_indices()
        tensor([0, 1, 2])
        """
        from autocalc._tensor.layouts import sparse_csr

        return self.to_sparse(layout=sparse_csr, dense_dim=dense_dim)

    def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
        """Return the elements that are not zero as a sparse CSC matrix.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.eye(2).to_sparse_csc().ccol_indices()
        tensor([0, 1, 2])
        """
        from autocalc._tensor.layouts import sparse_csc

        return self.to_sparse(layout=sparse_csc, dense_dim=dense_dim)

    def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
        """Return the elements at the places of a sparse tensor.

        Examples
        --------
        >>> import autocalc as ac
        >>> mask = ac.tensor([0.0, 1.0]).to_sparse()
        >>> ac.tensor([5.0, 6.0]).sparse_mask(mask).values()
        tensor([6.])
        """
        from autocalc.sparse._arithmetic import sparse_mask

        made: Tensor = sparse_mask(check_tensor("sparse_mask", self), mask)
        return made

    def smm(self: Tensor, mat2: Tensor) -> Tensor:
        """Return the product of a sparse matrix and another matrix.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.eye(2).to_sparse().smm(ac.ones(2, 1))
        tensor([[1.],
                [1.]])
        """
        from autocalc.sparse._functions import mm

        return mm(self, mat2)

    def sparse_dim(self: Tensor) -> int:
        """Return the number of sparse dimensions: 0."""
        check_tensor("sparse_dim", self)
        return _part("sparse_dim", self) if is_of_kind(self) else 0

    def dense_dim(self: Tensor) -> int:
        """Return the number of dense dimensions: all."""
        x = check_tensor("dense_dim", self)
        return _part("dense_dim", x) if is_of_kind(x) else x.ndim

    def to_padded_tensor(self: Tensor, padding: float, output_size: Any = None) -> Any:
        """Raise an error, because the tensor is not nested."""
        from autocalc.nested import to_padded_tensor

        return to_padded_tensor(self, padding, output_size)

    def coalesce(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("coalesce", self)

    def is_coalesced(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("is_coalesced", self)

    def indices(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("indices", self)

    def values(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("values", self)

    def crow_indices(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("crow_indices", self)

    def col_indices(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("col_indices", self)

    def ccol_indices(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("ccol_indices", self)

    def row_indices(self: Tensor) -> Any:
        """Raise an error, because the tensor is dense."""
        return _part("row_indices", self)
