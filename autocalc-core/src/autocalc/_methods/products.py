# SPDX-License-Identifier: MIT
"""Methods that multiply vectors and matrices."""

from __future__ import annotations

from typing import Any

from autocalc._ops import _inplace as inplace
from autocalc._ops import linear_systems, products, vector_norms
from autocalc._tensor import Tensor


class Products:
    """Products beyond matmul, and norms."""

    __slots__ = ()

    def norm(
        self: Tensor,
        p: Any = "fro",
        dim: Any = None,
        keepdim: bool = False,
        dtype: Any = None,
    ) -> Tensor:
        """Return (sum abs(x_i)^p)^(1 / p) over `dim`."""
        return vector_norms.norm(self, p, dim, keepdim, dtype)

    def det(self: Tensor) -> Tensor:
        """Return the determinant of each matrix."""
        return linear_systems.det(self)

    def slogdet(self: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sign of each determinant and the log of its size."""
        return linear_systems.slogdet(self)

    def logdet(self: Tensor) -> Tensor:
        """Return log(det) of each matrix: NaN where it is negative."""
        return linear_systems.logdet(self)

    def inverse(self: Tensor) -> Tensor:
        """Return the inverse of each matrix."""
        return linear_systems.inverse(self)

    def matrix_power(self: Tensor, n: int) -> Tensor:
        """Return the product of `n` times the same matrix."""
        return linear_systems.matrix_power(self, n)

    def dot(self: Tensor, tensor: Tensor) -> Tensor:
        """Return the sum of x_i y_i."""
        return products.dot(self, tensor)

    def mv(self: Tensor, vec: Tensor) -> Tensor:
        """Return the product of a matrix and a vector."""
        return products.mv(self, vec)

    def outer(self: Tensor, vec2: Tensor) -> Tensor:
        """Return x_i y_j, as a matrix."""
        return products.outer(self, vec2)

    def inner(self: Tensor, other: Tensor) -> Tensor:
        """Return the sums of products over the last dimension."""
        return products.inner(self, other)

    def addmm(
        self: Tensor,
        mat1: Tensor,
        mat2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Return beta * x + alpha * mat1 @ mat2."""
        return products.addmm(self, mat1, mat2, beta=beta, alpha=alpha)

    def addmm_(
        self: Tensor,
        mat1: Tensor,
        mat2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Become beta * x + alpha * mat1 @ mat2; return x."""
        return inplace.apply_("addmm", self, mat1, mat2, beta=beta, alpha=alpha)

    def addmv(
        self: Tensor,
        mat: Tensor,
        vec: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Return beta * x + alpha * mat @ vec."""
        return products.addmv(self, mat, vec, beta=beta, alpha=alpha)

    def addmv_(
        self: Tensor,
        mat: Tensor,
        vec: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Become beta * x + alpha * mat @ vec; return x."""
        return inplace.apply_("addmv", self, mat, vec, beta=beta, alpha=alpha)

    def addr(
        self: Tensor,
        vec1: Tensor,
        vec2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Return beta * x + alpha * outer(vec1, vec2)."""
        return products.addr(self, vec1, vec2, beta=beta, alpha=alpha)

    def addr_(
        self: Tensor,
        vec1: Tensor,
        vec2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Become beta * x + alpha * outer(vec1, vec2); return x."""
        return inplace.apply_("addr", self, vec1, vec2, beta=beta, alpha=alpha)

    def baddbmm(
        self: Tensor,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Return beta * x + alpha * batch1 @ batch2."""
        return products.baddbmm(self, batch1, batch2, beta=beta, alpha=alpha)

    def baddbmm_(
        self: Tensor,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Become beta * x + alpha * batch1 @ batch2; return x."""
        return inplace.apply_("baddbmm", self, batch1, batch2, beta=beta, alpha=alpha)

    def addbmm(
        self: Tensor,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Return beta * x + alpha * the sum of batch1[i] @ batch2[i]."""
        return products.addbmm(self, batch1, batch2, beta=beta, alpha=alpha)

    def addbmm_(
        self: Tensor,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: float = 1,
        alpha: float = 1,
    ) -> Tensor:
        """Become beta * x + alpha * the sum of batch1[i] @ batch2[i]; return x."""
        return inplace.apply_("addbmm", self, batch1, batch2, beta=beta, alpha=alpha)
