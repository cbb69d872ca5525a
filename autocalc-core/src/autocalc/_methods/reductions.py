# SPDX-License-Identifier: MIT
"""Methods that reduce dimensions, softmax, and matrix products."""

from __future__ import annotations

from typing import Any

from autocalc._ops import functional
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType


class Reductions:
    """Many values to one."""

    __slots__ = ()

    def sum(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the sum over `dim`."""
        return functional.sum(self, dim, keepdim, dtype=dtype)

    def mean(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the mean over `dim`."""
        return functional.mean(self, dim, keepdim, dtype=dtype)

    def var(
        self: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        """Return the variance over `dim`."""
        return functional.var(self, dim, unbiased, keepdim, correction=correction)

    def std(
        self: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        """Return the standard deviation over `dim`."""
        return functional.std(self, dim, unbiased, keepdim, correction=correction)

    def max(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the largest element; with `dim`, (values, indices)."""
        return functional.max(self, dim, keepdim)

    def min(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the smallest element; with `dim`, (values, indices)."""
        return functional.min(self, dim, keepdim)

    def amax(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the largest elements over `dim`."""
        return functional.amax(self, dim, keepdim)

    def amin(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the smallest elements over `dim`."""
        return functional.amin(self, dim, keepdim)

    def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the largest element."""
        return functional.argmax(self, dim, keepdim)

    def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the smallest element."""
        return functional.argmin(self, dim, keepdim)

    def all(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether all elements are true."""
        return functional.all(self, dim, keepdim)

    def any(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether any element is true."""
        return functional.any(self, dim, keepdim)

    def logsumexp(self: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
        """Return log(sum(exp(x))) over `dim`."""
        return functional.logsumexp(self, dim, keepdim)

    def softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
        """Return exp(x_i) / sum(exp(x)) along `dim`."""
        return functional.softmax(self, dim, dtype)

    def log_softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
        """Return log(softmax(x)) along `dim`."""
        return functional.log_softmax(self, dim, dtype)

    def matmul(self: Tensor, other: Tensor) -> Tensor:
        """Return the matrix product."""
        return functional.matmul(self, other)

    def mm(self: Tensor, mat2: Tensor) -> Tensor:
        """Return the product of two matrices."""
        return functional.mm(self, mat2)

    def bmm(self: Tensor, mat2: Tensor) -> Tensor:
        """Return the products of two batches of matrices."""
        return functional.bmm(self, mat2)
