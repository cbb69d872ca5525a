# SPDX-License-Identifier: MIT
"""Weights with orthogonal columns or rows of length 1."""

from __future__ import annotations

import math
from typing import TypeVar

from autocalc._ops.arranging import joining
from autocalc._ops.arranging.diagonal import diagonal, tril
from autocalc._ops.creation.constants import eye, zeros
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.matrices import matmul
from autocalc._ops.matrices.factorizations import qr
from autocalc._ops.matrices.linear_systems import solve
from autocalc._ops.random.random_draws import randn
from autocalc._ops.views import view
from autocalc._ops.views.splitting import narrow
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag, short
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn._module.module import Module
from autocalc.nn.utils._parametrizations import weight_of
from autocalc.nn.utils._parametrize import register_parametrization

M = TypeVar("M", bound=Module)

#: For a matrix of norm 1/2, the terms after this one are below 1e-16 of the sum.
_TERMS = 14


def matrix_exp(a: Tensor) -> Tensor:
    """Return exp(A) = 1 + A + A^2 / 2 + ..., summed for A / 2^s and squared s times."""
    size = float(a.detach().abs().sum(-1).max()) if a.numel() else 0.0
    halvings = max(0, math.ceil(math.log2(size)) + 1) if size > 0 else 0
    small = a / 2.0**halvings
    one = eye(a.shape[-1], dtype=a.dtype, device=place_of_tensor(a))
    total = one
    for n in range(_TERMS, 0, -1):  # Horner's method
        total = one + matmul.matmul(small, total) / n
    for _ in range(halvings):
        total = matmul.matmul(total, total)
    return total


def householder_product(vectors: Tensor, tau: Tensor) -> Tensor:
    """Return the first columns of the product of all (1 - tau v v^T)."""
    n, k = vectors.shape[-2:]
    total = narrow(
        eye(n, dtype=vectors.dtype, device=place_of_tensor(vectors)), -1, 0, k
    )
    for i in reversed(range(k)):
        v = narrow(vectors, -1, i, 1)
        factor = view.unsqueeze(narrow(tau, -1, i, 1), -1)
        turned = matmul.matmul(v, matmul.matmul(v.mT, total))
        total = total - factor * turned
    return total


def householder_vectors(q: Tensor) -> Tensor:
    """Return an orthogonal Q as reflections: vectors below, signs on the diagonal."""
    n, k = q.shape[-2:]
    rest, columns = q, []
    for j in range(k):
        x = narrow(narrow(rest, -1, j, 1), -2, j, n - j)
        first, below = narrow(x, -2, 0, 1), narrow(x, -2, 1, n - j - 1)
        length = (x * x).sum(-2, keepdim=True).sqrt()
        there = (below * below).sum(-2, keepdim=True) > 0
        sign = (first >= 0).to(q.dtype) * 2 - 1
        # If all elements below are 0, the reflection only inverts the axis itself.
        v = (below / (first + sign * length)).masked_fill(~there, 0.0)
        above = q.new_zeros((*q.shape[:-2], j, 1))
        v = joining.cat([above, first.new_ones(first.shape), v], -2)
        tau = view.unsqueeze((v * v).sum(-2), -1)
        rest = rest - v * (2 / tau) * matmul.matmul(v.mT, rest)
        above = zeros((*q.shape[:-2], j, 1), dtype=q.dtype, device=place_of_tensor(q))
        after = narrow(v, -2, j + 1, n - j - 1)
        signs = narrow(narrow(rest, -1, j, 1), -2, j, 1).sign()
        columns.append(joining.cat([above, signs, after], -2))
    return joining.cat(columns, -1)


def positive_qr(a: Tensor) -> Tensor:
    """Return Q of A = Q R with a positive diagonal of R."""
    q, r = qr(a)
    return q * view.unsqueeze(diagonal(r, 0, -2, -1).sign(), -2)


class _Orthogonal(Module):
    """A map from any matrix to an orthogonal matrix."""

    base: Tensor | None

    def __init__(self, kind: str, weight: Tensor, use_trivialization: bool) -> None:
        super().__init__()
        self.orthogonal_map = kind
        self.shape = weight.shape
        self._based = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        read = self._householder if self.orthogonal_map == "householder" else self._skew
        q = read(x)
        if self._based and self.base is not None:
            q = matmul.matmul(self.base, q)
        return q.mT if wide else q

    def _skew(self, x: Tensor) -> Tensor:
        """Return exp(A), or (1 - A / 2)^-1 (1 + A / 2), for A = X - X^T."""
        n, k = x.shape[-2:]
        x = tril(x)
        if n != k:
            x = joining.cat(
                [
                    x,
                    zeros(
                        (*x.shape[:-1], n - k), dtype=x.dtype, device=place_of_tensor(x)
                    ),
                ],
                -1,
            )
        a = x - x.mT
        if self.orthogonal_map == "matrix_exp":
            q = matrix_exp(a)
        else:
            one = eye(n, dtype=x.dtype, device=place_of_tensor(x))
            q = solve(one - a / 2, one + a / 2)
        return narrow(q, -1, 0, k)

    def _householder(self, x: Tensor) -> Tensor:
        """Return the product of the reflections that the lower triangle holds."""
        below = tril(x, -1)
        tau = 2.0 / (1.0 + (below * below).sum(-2))
        n, k = x.shape[-2:]
        vectors = below + narrow(
            eye(n, dtype=x.dtype, device=place_of_tensor(x)), -1, 0, k
        )
        signs = diagonal(x.detach(), 0, -2, -1).trunc()
        return householder_product(vectors, tau) * view.unsqueeze(signs, -2)

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return a matrix that the map takes to `value`, made orthogonal if needed."""
        if value.shape != self.shape:
            raise ShapeError(
                "orthogonal: Expected a matrix or batch of matrices of shape "
                f"{self.shape}, but a weight of shape {value.shape} is assigned."
            )
        wide = value.shape[-2] < value.shape[-1]
        q = value.mT if wide else value
        if self._based:
            self.base = self._basis(q)
            return _minus_one(value)
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "orthogonal: it is not possible to assign to the matrix exponential or "
                "the Cayley parametrizations with use_trivialization=False; use "
                "'householder'."
            )
        found = householder_vectors(q)
        return found.mT if wide else found

    def _basis(self, q: Tensor) -> Tensor:
        """Return an orthogonal square matrix whose first columns are those of q."""
        n, k = q.shape[-2:]
        if n == k:
            return q.clone() if _is_orthogonal(q) else positive_qr(q)
        more = randn(
            (*q.shape[:-2], n, n - k), dtype=q.dtype, device=place_of_tensor(q)
        )
        return positive_qr(joining.cat([q, more], -1))


def _minus_one(like: Tensor) -> Tensor:
    """Return -1 on the diagonal, 0 elsewhere: each map takes it to the base itself."""
    n, k = like.shape[-2:]
    one = narrow(
        eye(max(n, k), dtype=like.dtype, device=place_of_tensor(like)), -1, 0, min(n, k)
    )
    one = one.mT if n < k else one
    return arithmetic.neg(one.expand(like.shape)).clone()


def _is_orthogonal(q: Tensor) -> bool:
    n = q.shape[-1]
    off = matmul.matmul(q.mT, q) - eye(n, dtype=q.dtype, device=place_of_tensor(q))
    eps = 10 * n * (2.0**-52 if q.itemsize == 8 else 2.0**-23)
    return float(off.abs().max()) <= eps if q.numel() else True


def orthogonal(
    module: M,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> M:
    """Parametrize a weight so that it stays orthogonal.

    The rows of the weight are orthonormal.  If it has fewer columns than rows, its
    columns are orthonormal instead of its rows.

    Lezcano-Casado: Trivializations for gradient-based optimization on manifolds
    (NeurIPS 2019).

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    name
        The name of the parameter.  It has two or more dimensions.  A parameter of more
        than two dimensions is a batch of matrices.
    orthogonal_map
        The function that computes the orthogonal matrix from a matrix X without
        constraints.  With A = X - X^T, ``"matrix_exp"`` computes exp(A), and
        ``"cayley"`` computes (1 - A / 2)^-1 (1 + A / 2).  ``"householder"`` computes a
        product of reflections.  The default is ``"matrix_exp"`` for square weights and
        ``"householder"`` for others.
    use_trivialization
        True to multiply the result by a fixed orthogonal matrix.  Then the initial
        weight is the old weight, made orthogonal, and the weight can be assigned.

    Raises
    ------
    ModuleError
        If the module has no such parameter.
    ShapeError
        If the parameter has fewer than two dimensions.
    ArgumentError
        If `orthogonal_map` is unknown.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.parametrizations.orthogonal(ac.nn.Linear(5, 3))
    >>> ac.allclose(layer.weight @ layer.weight.T, ac.eye(3), atol=1e-5)
    True
    """
    where = "orthogonal"
    check_flag(where, "use_trivialization", use_trivialization)
    weight = weight_of(where, module, name)
    if weight.ndim < 2:
        raise ShapeError(
            f"{where}: Expected a matrix or batch of matrices, but {name!r} has shape "
            f"{weight.shape}; it must have at least two dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    maps = ("matrix_exp", "cayley", "householder")
    if orthogonal_map not in maps:
        raise ArgumentError(
            f"{where}: orthogonal_map has to be one of {', '.join(maps)}, not "
            f"{short(orthogonal_map)}."
        )
    made = _Orthogonal(orthogonal_map, weight, use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
