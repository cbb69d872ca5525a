# SPDX-License-Identifier: MIT
"""`CsrTensor` and `CscTensor`: matrices whose entries are stored row by row."""

from __future__ import annotations

from typing import Any, ClassVar

from autocalc._ops._operator.kinds import wrong_layout
from autocalc._ops.arranging.joining import cat, stack
from autocalc._ops.arranging.rearranging import repeat_interleave
from autocalc._ops.creation.constants import zeros
from autocalc._ops.statistics.quantiles import bincount
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.layouts import sparse_csc, sparse_csr
from autocalc.sparse._coo import CooTensor
from autocalc.sparse._products import Places
from autocalc.sparse._tensor import SparseTensor, register, unsupported, without_part


class Compressed(SparseTensor):
    """A matrix with entries in the order of rows (CSR) or of columns (CSC).

    `_starts` holds where each row begins among the entries, and the number of entries;
    `_plain` holds the other coordinate of each entry.
    """

    #: The dimension that is compressed.
    _axis: ClassVar[int]
    _names: ClassVar[tuple[str, str]]

    _starts: Tensor
    _plain: Tensor

    def __init__(
        self, starts: Tensor, plain: Tensor, values: Tensor, shape: Any
    ) -> None:
        self._starts = starts
        self._plain = plain
        self._fill(values, shape)

    def _with(self, values: Tensor) -> Any:
        shape = (*self.shape[:2], *values.shape[1:])
        return type(self)(self._starts, self._plain, values, shape)

    def _state(self) -> tuple[Any, ...]:
        return self._starts, self._plain, self._vals, tuple(self.shape)

    def _parts(self) -> dict[str, Tensor]:
        starts, plain = self._names
        return {starts: self._starts, plain: self._plain, "values": self._vals}

    def dense_dim(self) -> int:
        """Return the number of dense dimensions, which each value has."""
        return self._vals.ndim - 1

    def _compressed_index(self) -> Tensor:
        """Return the row (CSR) or column (CSC) of each entry."""
        lengths = self._starts[1:] - self._starts[:-1]
        return repeat_interleave(lengths, output_size=self._nnz()).to(dtypes.int64)

    def _coo(self) -> CooTensor:
        """Return the same entries as coordinates, in the same order."""
        pair = [self._compressed_index(), self._plain.to(dtypes.int64)]
        indices = stack(pair if self._axis == 0 else pair[::-1])
        return CooTensor(indices, self._vals, self.shape, self._axis == 0)

    def _places(self) -> Places:
        return self._coo()._places()

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
        """Return the dense matrix."""
        return self._coo().to_dense(dtype, masked_grad=masked_grad)

    def to_sparse_coo(self) -> CooTensor:
        """Return the matrix as coordinates."""
        return self._coo().coalesce() if self._axis else self._coo()

    def t(self) -> Any:
        """Return the transpose, with the same entries in the other layout."""
        return self.transpose(0, 1)

    def transpose(self, dim0: int, dim1: int) -> Any:
        """Return the transpose, with the same entries in the other layout."""
        i = self._positive_dim("transpose", dim0)
        j = self._positive_dim("transpose", dim1)
        if i == j:
            return self
        if {i, j} != {0, 1}:
            raise unsupported("transpose", self)
        other = CscTensor if self._axis == 0 else CsrTensor
        shape = (self.shape[1], self.shape[0], *self.shape[2:])
        return other(self._starts, self._plain, self._vals, shape)

    @property
    def T(self) -> Any:
        """The transpose."""
        return self.t()

    @property
    def mT(self) -> Any:
        """The transpose."""
        return self.transpose(-2, -1)

    def clone(self, *, memory_format: Any = None) -> Any:
        """Return a copy, through which gradients flow."""
        copy = super().clone(memory_format=memory_format)
        copy._starts, copy._plain = self._starts.clone(), self._plain.clone()
        return copy

    def coalesce(self) -> Any:
        """Raise: only coordinates can occur more than once."""
        raise wrong_layout("coalesce", self)

    def is_coalesced(self) -> bool:
        """Raise: only coordinates can occur more than once."""
        raise wrong_layout("is_coalesced", self)

    def indices(self) -> Any:
        """Raise: the matrix has no coordinates."""
        raise wrong_layout("indices", self)


@register
class CsrTensor(Compressed):
    """A sparse matrix whose entries are stored row by row."""

    is_sparse_csr = True
    layout = sparse_csr
    _axis = 0
    _names = "crow_indices", "col_indices"

    def crow_indices(self) -> Tensor:
        """Return where each row begins, and the number of entries."""
        return self._starts

    def col_indices(self) -> Tensor:
        """Return the column of each entry."""
        return self._plain

    ccol_indices = without_part("ccol_indices")
    row_indices = without_part("row_indices")

    def to_sparse_csr(self, dense_dim: Any = None) -> CsrTensor:
        """Return the matrix itself."""
        del dense_dim
        return self


@register
class CscTensor(Compressed):
    """A sparse matrix whose entries are stored column by column."""

    layout = sparse_csc
    _axis = 1
    _names = "ccol_indices", "row_indices"

    def ccol_indices(self) -> Tensor:
        """Return where each column begins, and the number of entries."""
        return self._starts

    def row_indices(self) -> Tensor:
        """Return the row of each entry."""
        return self._plain

    crow_indices = without_part("crow_indices")
    col_indices = without_part("col_indices")

    def to_sparse_csc(self, dense_dim: Any = None) -> CscTensor:
        """Return the matrix itself."""
        del dense_dim
        return self


def starts_of(index: Tensor, size: int) -> Tensor:
    """Return where each row begins among entries in the order of their rows."""
    counts = bincount(index, minlength=size)
    return cat([zeros(1, dtype=dtypes.int64), counts.cumsum(0)])


def compressed(x: CooTensor, axis: int) -> Any:
    """Return a coalesced matrix in the layout CSR (0) or CSC (1)."""
    if axis == 1:
        x = x.transpose(0, 1)
    x = x.coalesce()
    kind: Any = CscTensor if axis else CsrTensor
    shape = x.shape if axis == 0 else (x.shape[1], x.shape[0], *x.shape[2:])
    return kind(starts_of(x._idx[0], x.shape[0]), x._idx[1], x._vals, shape)
