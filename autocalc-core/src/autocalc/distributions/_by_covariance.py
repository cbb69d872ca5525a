# SPDX-License-Identifier: MIT
"""Distributions with a covariance matrix, which is given in one of three ways."""

from __future__ import annotations

from typing import Any

from autocalc._ops.matrices.factorizations import cholesky
from autocalc._ops.matrices.linear_systems import inv
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Distribution, broadcast_values
from autocalc.errors import ArgumentError

MATRICES = {
    "covariance_matrix": constraints.positive_definite,
    "precision_matrix": constraints.positive_definite,
    "scale_tril": constraints.lower_cholesky,
}


def given_matrix(where: str, *matrices: Any) -> tuple[str, Any]:
    """Return the name and value of the one of the three matrices that is given."""
    pairs = zip(MATRICES, matrices, strict=True)
    given = [(name, matrix) for name, matrix in pairs if matrix is not None]
    if len(given) != 1:
        raise ArgumentError(
            f"{where}: {len(given)} of `covariance_matrix`, `precision_matrix` and "
            "`scale_tril` are given; give exactly one."
        )
    ((name, matrix),) = given
    (matrix,) = broadcast_values(where, **{name: matrix})
    return name, matrix


def factor_of(name: str, matrix: Any) -> Any:
    """Return L, lower triangular, with the covariance L L^T."""
    if name == "scale_tril":
        return matrix.tril()  # so that gradients are of that part alone
    return cholesky(matrix if name == "covariance_matrix" else inv(matrix))


class ByCovariance(Distribution):
    """The base of the distributions that are defined by a covariance matrix.

    It stores the Cholesky factor L and computes the other matrices from it.  Subclasses
    of users can read L under PyTorch's name for it, `_unbroadcasted_scale_tril`.
    """

    def __getattr__(self, name: str) -> Any:
        tril = self.__dict__.get("_unbroadcasted_scale_tril")
        if tril is not None and name == "scale_tril":
            return tril
        if tril is not None and name == "covariance_matrix":
            return tril @ tril.mT
        if tril is not None and name == "precision_matrix":
            return inv(tril @ tril.mT)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
