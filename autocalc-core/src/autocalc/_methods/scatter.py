# SPDX-License-Identifier: MIT
"""Methods that read and write at indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops import _inplace as inplace
from autocalc._ops import _inplace_indices as inplace_indices
from autocalc._ops import indexing, masking, scattering
from autocalc._tensor import Tensor


class Placing:
    """By index and mask: read, a new tensor with something written, and in place."""

    __slots__ = ()

    def gather(
        self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False
    ) -> Tensor:
        """Return the elements that `index` names along `dim`."""
        return indexing.gather(self, dim, index)

    def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
        """Return the slices that `index` names along `dim`."""
        return indexing.index_select(self, dim, index)

    def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
        """Return the elements that `indices` names along `dim`, broadcast."""
        return indexing.take_along_dim(self, indices, dim)

    def index_put(
        self: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
    ) -> Tensor:
        """Return x with `values` written at, or added to, index tensors."""
        return scattering.index_put(self, indices, values, accumulate)

    def index_put_(
        self: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
    ) -> Tensor:
        """Write `values` at index tensors, or add them, in place; return x."""
        return inplace.apply_("index_put", self, indices, values, accumulate)

    def index_add(
        self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
    ) -> Tensor:
        """Return x with alpha * source added at `index` along `dim`."""
        return scattering.index_add(self, dim, index, source, alpha=alpha)

    def index_add_(
        self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
    ) -> Tensor:
        """Add alpha * source at `index` along `dim`, in place; return x."""
        scaled = source if alpha == 1 else source * alpha
        return inplace_indices.by_index_("index_add", self, dim, index, scaled)

    def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """Return x with `source` written at `index` along `dim`."""
        return scattering.index_copy(self, dim, index, source)

    def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """Write `source` at `index` along `dim`, in place; return x."""
        return inplace_indices.by_index_("index_copy", self, dim, index, source)

    def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
        """Return x with a number at `index` along `dim`."""
        return scattering.index_fill(self, dim, index, value)

    def index_fill_(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
        """Write a number at `index` along `dim`, in place; return x."""
        return inplace.apply_("index_fill", self, dim, index, value)

    def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
        """Return x with a number where `mask` holds."""
        return masking.masked_fill(self, mask, value)

    def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
        """Write a number where `mask` holds, in place; return x."""
        return inplace_indices.masked_fill_(self, mask, value)

    def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
        """Return x with the elements of `source`, in order, where `mask` holds."""
        return masking.masked_scatter(self, mask, source)

    def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
        """Write the elements of `source` where `mask` holds, in place; return x."""
        return inplace.apply_("masked_scatter", self, mask, source)

    def scatter(
        self: Tensor,
        dim: int,
        index: Tensor,
        src: Any = None,
        *,
        value: Any = None,
        reduce: str | None = None,
    ) -> Tensor:
        """Return x with `src` written where `index` says along `dim`."""
        return scattering.scatter(self, dim, index, src, value=value, reduce=reduce)

    def scatter_(
        self: Tensor,
        dim: int,
        index: Tensor,
        src: Any = None,
        *,
        value: Any = None,
        reduce: str | None = None,
    ) -> Tensor:
        """Write `src` where `index` says along `dim`, in place; return x."""
        given = value if src is None else src
        if reduce is None:
            return inplace_indices.along_("scatter", self, dim, index, given)
        return inplace.apply_("scatter", self, dim, index, given, reduce=reduce)

    def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """Return x with `src` added where `index` says along `dim`."""
        return scattering.scatter_add(self, dim, index, src)

    def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """Add `src` where `index` says along `dim`, in place; return x."""
        return inplace_indices.along_("scatter_add", self, dim, index, src)
