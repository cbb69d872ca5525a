# SPDX-License-Identifier: MIT
"""Methods that reduce dimensions, softmax, and matrix products."""

from __future__ import annotations

from typing import Any

from autocalc._ops import extrema, matmul, reduction, softmax
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
        return reduction.sum(self, dim, keepdim, dtype=dtype)

    def mean(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the mean over `dim`."""
        return reduction.mean(self, dim, keepdim, dtype=dtype)

    def var(
        self: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        """Return the variance over `dim`."""
        return reduction.var(self, dim, unbiased, keepdim, correction=correction)

    def std(
        self: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        """Return the standard deviation over `dim`."""
        return reduction.std(self, dim, unbiased, keepdim, correction=correction)

    def max(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the largest element; with `dim`, (values, indices)."""
        return extrema.max(self, dim, keepdim)

    def min(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the smallest element; with `dim`, (values, indices)."""
        return extrema.min(self, dim, keepdim)

    def amax(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the largest elements over `dim`."""
        return extrema.amax(self, dim, keepdim)

    def amin(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the smallest elements over `dim`."""
        return extrema.amin(self, dim, keepdim)

    def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the largest element."""
        return extrema.argmax(self, dim, keepdim)

    def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the smallest element."""
        return extrema.argmin(self, dim, keepdim)

    def all(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether all elements are true."""
        return reduction.all(self, dim, keepdim)

    def any(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether any element is true."""
        return reduction.any(self, dim, keepdim)

    def logsumexp(self: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
        """Return log(sum(exp(x))) over `dim`."""
        return softmax.logsumexp(self, dim, keepdim)

    def softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
        """Return exp(x_i) / sum(exp(x)) along `dim`."""
        return softmax.softmax(self, dim, dtype)

    def log_softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
        """Return log(softmax(x)) along `dim`."""
        return softmax.log_softmax(self, dim, dtype)

    def matmul(self: Tensor, other: Tensor) -> Tensor:
        """Return the matrix product."""
        return matmul.matmul(self, other)

    def mm(self: Tensor, mat2: Tensor) -> Tensor:
        """Return the product of two matrices."""
        return matmul.mm(self, mat2)

    def bmm(self: Tensor, mat2: Tensor) -> Tensor:
        """Return the products of two batches of matrices."""
        return matmul.bmm(self, mat2)
