# SPDX-License-Identifier: MIT
"""Constraints of vectors and matrices."""

from __future__ import annotations

from typing import Any

from autocalc._ops.arranging.diagonal import diag_embed
from autocalc._ops.creation.constants import full
from autocalc._ops.creation.like import ones_like
from autocalc._ops.indexing.masking import where
from autocalc._ops.matrices.factorizations import eigvalsh
from autocalc._tensor import dtypes
from autocalc._tensor.limits import finfo
from autocalc.distributions._constraint import Constraint, check_bound

# ---- vectors -------------------------------------------------------------------------


class Probabilities(Constraint):
    """Vectors of probabilities, whose sum is 1."""

    _name = "vectors of probabilities that sum to 1"
    event_dim = 1

    def _test(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class OneHotVectors(Constraint):
    """One-hot vectors: one element is 1, all others are 0."""

    _name = "vectors of zeros and one 1"
    event_dim = 1
    is_discrete = True

    def _test(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class multinomial(Constraint):  # PyTorch's name
    """Vectors of non-negative numbers whose sum is at most `upper_bound`.

    Parameters
    ----------
    upper_bound
        The bound: a number or a tensor.

    Raises
    ------
    DTypeError
        If the bound is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.constraints.multinomial(3).check(ac.tensor([1.0, 2.0]))
    tensor(True)
    """

    _name = "vectors of numbers of 0 or more that sum to {} at most"
    event_dim = 1
    is_discrete = True

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = check_bound("multinomial", "upper_bound", upper_bound)
        super().__init__(bounds=(upper_bound,))

    def _test(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


# ---- matrices ------------------------------------------------------------------------


class LowerTriangularMatrices(Constraint):
    """Lower triangular matrices: all elements above the diagonal are 0."""

    _name = "lower triangular matrices"
    event_dim = 2

    def _test(self, value: Any) -> Any:
        return _all_of_matrix(value.tril() == value)


class LowerCholeskyMatrices(LowerTriangularMatrices):
    """Lower triangular matrices with a positive diagonal."""

    _name = "lower triangular matrices with a positive diagonal"

    def _test(self, value: Any) -> Any:
        positive = (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)
        return super()._test(value) & positive


class CorrelationCholeskyMatrices(LowerCholeskyMatrices):
    """Lower triangular matrices with a positive diagonal and with rows of length 1."""

    _name = "lower triangular matrices with a positive diagonal and rows of length 1"

    def _test(self, value: Any) -> Any:
        near = 10 * value.shape[-1] * finfo(value.dtype).eps
        lengths = (value * value).sum(-1).sqrt()
        return super()._test(value) & ((lengths - 1).abs() <= near).all(-1)


class SquareMatrices(Constraint):
    """Square matrices."""

    _name = "square matrices"
    event_dim = 2

    def _test(self, value: Any) -> Any:
        is_square = value.shape[-2] == value.shape[-1]
        return full(value.shape[:-2], is_square, dtype=dtypes.bool_)


class SymmetricMatrices(SquareMatrices):
    """Symmetric matrices, up to an absolute error of 1e-6 or a relative one of 1e-5."""

    _name = "symmetric matrices"

    def _test(self, value: Any) -> Any:
        if value.shape[-2] != value.shape[-1]:
            return super()._test(value)
        other = value.mT
        near = (value - other).abs() <= 1e-6 + 1e-5 * other.abs()
        return _all_of_matrix(near | (value == other))

    def _checked_eigenvalues(self, value: Any) -> tuple[Any, Any]:
        """Return which are symmetric, and eigenvalues: of the others those of 1."""
        value = value.detach()
        right = SymmetricMatrices._test(self, value) & _all_of_matrix(value.isfinite())
        if value.shape[-2] != value.shape[-1]:
            return right, ones_like(value[..., 0])
        one = diag_embed(ones_like(value[..., 0]))
        return right, eigvalsh(where(right[..., None, None], value, one))


class PositiveSemidefiniteMatrices(SymmetricMatrices):
    """Symmetric matrices without negative eigenvalues."""

    _name = "symmetric positive semidefinite matrices"

    def _test(self, value: Any) -> Any:
        right, values = self._checked_eigenvalues(value)
        return right & (values >= 0).all(-1)


class PositiveDefiniteMatrices(SymmetricMatrices):
    """Symmetric matrices whose eigenvalues are positive."""

    _name = "symmetric positive definite matrices"

    def _test(self, value: Any) -> Any:
        right, values = self._checked_eigenvalues(value)
        return right & (values > 0).all(-1)


def _all_of_matrix(x: Any) -> Any:
    return x.all(-1).all(-1)
