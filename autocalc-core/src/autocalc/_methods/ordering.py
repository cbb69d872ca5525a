# SPDX-License-Identifier: MIT
"""Methods that sort, scan and count."""

from __future__ import annotations

from typing import Any

from autocalc._ops import extrema, masking, reduction, scans, searching, sorting
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType


class Ordering:
    """The order of elements, and what runs along a dimension."""

    __slots__ = ()

    def prod(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the product over `dim`."""
        return reduction.prod(self, dim, keepdim, dtype=dtype)

    def cumsum(self: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
        """Return the running sums along `dim`."""
        return scans.cumsum(self, dim, dtype=dtype)

    def cumprod(self: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
        """Return the running products along `dim`."""
        return scans.cumprod(self, dim, dtype=dtype)

    def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
        """Return the smallest and the largest elements."""
        return extrema.aminmax(self, dim=dim, keepdim=keepdim)

    def count_nonzero(self: Tensor, dim: Any = None) -> Tensor:
        """Return how many elements are not zero."""
        return reduction.count_nonzero(self, dim)

    def nansum(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the sum over `dim`, NaN counted as 0."""
        return reduction.nansum(self, dim, keepdim, dtype=dtype)

    def nanmean(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the mean over `dim` of what is not NaN."""
        return reduction.nanmean(self, dim, keepdim, dtype=dtype)

    def argsort(
        self: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
    ) -> Tensor:
        """Return the indices that sort along `dim`."""
        return sorting.argsort(self, dim, descending)

    def sort(
        self: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False
    ) -> Any:
        """Return (values, indices) in order along `dim`."""
        return sorting.sort(self, dim, descending)

    def msort(self: Tensor) -> Tensor:
        """Return x sorted along its first dimension."""
        return sorting.msort(self)

    def topk(
        self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
    ) -> Any:
        """Return the (values, indices) of the k largest."""
        return sorting.topk(self, k, dim, largest, sorted)

    def median(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        """Return the median; with `dim`, (values, indices)."""
        return sorting.median(self, dim, keepdim)

    def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
        """Return the positions of what is not zero."""
        return masking.nonzero(self, as_tuple=as_tuple)

    def masked_select(self: Tensor, mask: Tensor) -> Tensor:
        """Return the elements at which `mask` holds."""
        return masking.masked_select(self, mask)

    def unique(
        self: Tensor,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """Return the distinct elements, in order."""
        return searching.unique(self, sorted, return_inverse, return_counts, dim)
