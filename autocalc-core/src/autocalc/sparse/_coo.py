# SPDX-License-Identifier: MIT
"""`CooTensor`: the coordinates of the entries, and their values."""

from __future__ import annotations

import math
from typing import Any, cast

from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.ranges import arange
from autocalc._ops.sequences.searching import unique
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.layouts import sparse_coo
from autocalc.errors import ArgumentError, DimensionError
from autocalc.sparse._products import Places
from autocalc.sparse._tensor import SparseTensor, register, without_part


@register
class CooTensor(SparseTensor):
    """A sparse tensor of coordinates: indices ``[sparse_dim, nnz]`` and values.

    Several entries may have the same coordinates; the element is their sum.  `coalesce`
    adds them and sorts the entries.
    """

    is_sparse = True
    layout = sparse_coo

    _idx: Tensor
    _is_coalesced: bool

    def __init__(
        self, indices: Tensor, values: Tensor, shape: Any, coalesced: bool = False
    ) -> None:
        self._idx = indices
        self._is_coalesced = coalesced or values.shape[0] < 2
        self._fill(values, shape)

    def _with(self, values: Tensor) -> CooTensor:
        shape = (*self.shape[: self.sparse_dim()], *values.shape[1:])
        return CooTensor(self._idx, values, shape, self._is_coalesced)

    def _state(self) -> tuple[Any, ...]:
        return self._idx, self._vals, tuple(self.shape), self._is_coalesced

    def _parts(self) -> dict[str, Tensor]:
        return {"indices": self._idx, "values": self._vals}

    def _as_gradient(self, values: Tensor) -> SparseTensor:
        """Return the gradient; of entries at one place, the first one has it."""
        if self._is_coalesced:
            return self._with(values)
        key, order, first = self._firsts()
        del key
        where = order.index_select(0, first)
        return CooTensor(
            self._idx.index_select(1, where),
            values.index_select(0, where),
            self.shape,
            True,
        )

    # ---- its parts -------------------------------------------------------------------

    def is_coalesced(self) -> bool:
        """Return whether the entries are sorted and at different places."""
        return self._is_coalesced

    def _coalesced_(self, coalesced: bool) -> CooTensor:
        self._is_coalesced = bool(coalesced)
        return self

    def _check_coalesced(self, where: str) -> None:
        if not self._is_coalesced:
            raise ArgumentError(
                f"{where}: Cannot get {where} on an uncoalesced tensor, please call "
                f".coalesce() first. `_{where}()` returns those of the entries as "
                "they are."
            )

    crow_indices = without_part("crow_indices")
    col_indices = without_part("col_indices")
    ccol_indices = without_part("ccol_indices")
    row_indices = without_part("row_indices")

    def indices(self) -> Tensor:
        """Return the coordinates, ``[sparse_dim, nnz]``, of a coalesced tensor."""
        self._check_coalesced("indices")
        return self._idx

    def values(self) -> Tensor:
        """Return the values, ``[nnz, *dense]``, of a coalesced tensor."""
        self._check_coalesced("values")
        return self._vals

    def _indices(self) -> Tensor:
        return self._idx

    def sparse_dim(self) -> int:
        """Return the number of sparse dimensions."""
        return int(self._idx.shape[0])

    # ---- order -----------------------------------------------------------------------

    def _key(self) -> Tensor:
        """Return the place of each entry among all elements, counted in rows."""
        sizes = self.shape[: self.sparse_dim()]
        if not sizes:
            return zeros(self._nnz(), dtype=dtypes.int64)
        key = self._idx[0]
        for d in range(1, len(sizes)):
            key = key * sizes[d] + self._idx[d]
        return key

    def _firsts(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the distinct keys, the sorted order, and where each key begins."""
        key = self._key()
        order = key.argsort(stable=True)
        found, counts = cast("Any", unique(key, return_counts=True))
        return found, order, counts.cumsum(0) - counts

    def coalesce(self) -> CooTensor:
        """Return the tensor with the entries of each place added, and sorted."""
        if self._is_coalesced:
            return self
        if self._nnz() < 2:
            return CooTensor(self._idx, self._vals, self.shape, True)
        found, inverse = cast("Any", unique(self._key(), return_inverse=True))
        values = added_at(self._vals, inverse, found.shape[0])
        indices = coordinates(found, self.shape[: self.sparse_dim()])
        return CooTensor(indices, values, self.shape, True)

    def _places(self) -> Places:
        """Return the rows and columns of a matrix."""
        if self.sparse_dim() != 2 or self.dense_dim():
            raise DimensionError(
                f"a sparse matrix is needed, with two sparse dimensions; this tensor "
                f"has {self.sparse_dim()} and {self.dense_dim()} dense ones."
            )
        row, col = (self._idx[d].contiguous()._array for d in (0, 1))
        return Places(row, col, *self.shape)

    # ---- other forms -----------------------------------------------------------------

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
        """Return the dense tensor."""
        del masked_grad
        sizes = self.shape[: self.sparse_dim()]
        flat = added_at(self._vals, self._key(), math.prod(sizes))
        dense = flat.reshape(self.shape)
        return dense if dtype is None else dense.to(dtype)

    def to_sparse_coo(self) -> CooTensor:
        """Return the tensor itself."""
        return self

    def transpose(self, dim0: int, dim1: int) -> CooTensor:
        """Return the tensor with two sparse or two dense dimensions exchanged."""
        i = self._positive_dim("transpose", dim0)
        j = self._positive_dim("transpose", dim1)
        order = list(range(self.ndim))
        if order:
            order[i], order[j] = j, i
        return self.permute(order)

    def permute(self, *dims: Any, **named: Any) -> CooTensor:
        """Return the tensor with its sparse and its dense dimensions reordered."""
        dims = (named["dims"],) if "dims" in named else dims
        given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
        order = [self._positive_dim("permute", d) for d in given]
        if sorted(order) != list(range(self.ndim)):
            raise ArgumentError(
                f"permute: `dims`={tuple(given)} must name each of the {self.ndim} "
                "dimensions once."
            )
        n = self.sparse_dim()
        if any((d < n) != (place < n) for place, d in enumerate(order)):
            raise ArgumentError(
                f"permute: a sparse and a dense dimension cannot be exchanged; the "
                f"first {n} dimensions of {self.ndim} are sparse."
            )
        if order == list(range(self.ndim)):
            return self
        indices = self._idx
        if order[:n] != list(range(n)):
            indices = indices.index_select(0, index_of(order[:n]))
        dense = [0, *[d - n + 1 for d in order[n:]]]
        shape = [self.shape[d] for d in order]
        is_same = self._is_coalesced and (indices is self._idx or not self._nnz())
        return CooTensor(indices, self._vals.permute(dense), shape, is_same)

    def t(self) -> CooTensor:
        """Return the transpose of a matrix."""
        if self.ndim > 2:
            raise ArgumentError(
                f"t: expects a tensor with <= 2 dimensions, but this one has "
                f"{self.ndim}."
            )
        return self.transpose(0, 1) if self.ndim == 2 else self

    @property
    def T(self) -> CooTensor:
        """The transpose of a matrix."""
        return self.t()

    @property
    def mT(self) -> CooTensor:
        """The transpose of a matrix."""
        return self.transpose(-2, -1)

    def clone(self, *, memory_format: Any = None) -> CooTensor:
        """Return a copy, through which gradients flow."""
        copy: CooTensor = super().clone(memory_format=memory_format)
        copy._idx = self._idx.clone()
        return copy


def index_of(numbers: list[int]) -> Tensor:
    """Return integers as a tensor."""
    from autocalc._ops.creation.from_data import tensor

    return tensor(numbers, dtype=dtypes.int64)


def added_at(values: Tensor, places: Tensor, count: int) -> Tensor:
    """Return `count` rows, to which the values at each place were added in order."""
    if values.dtype is dtypes.bool_:
        return added_at(values.to(dtypes.int32), places, count).to(dtypes.bool_)
    rows = zeros((count, *values.shape[1:]), dtype=values.dtype)
    return rows.index_add(0, places, values)


def coordinates(key: Tensor, sizes: Any) -> Tensor:
    """Return the coordinates ``[len(sizes), n]`` of places counted in rows."""
    from autocalc._ops.arranging.joining import stack

    rows = []
    for size in reversed(sizes[1:]):
        whole = key.div(size, rounding_mode="floor")
        rows.append(key - whole * size)
        key = whole
    if not sizes:
        return zeros((0, key.shape[0]), dtype=dtypes.int64)
    return stack([key, *reversed(rows)])


def arange_of(n: int) -> Tensor:
    """Return the integers 0 to n - 1."""
    return arange(n, dtype=dtypes.int64)
