# SPDX-License-Identifier: MIT
"""The normal distribution of vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops.matrices.linear_systems import solve
from autocalc._ops.random.random_draws import randn
from autocalc._ops.views.broadcasting import broadcast_to
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._by_covariance import (
    MATRICES,
    ByCovariance,
    factor_of,
    given_matrix,
)
from autocalc.distributions._distribution import Constraints, broadcast_values
from autocalc.distributions._parameters import Centred
from autocalc.errors import ShapeError


class MultivariateNormal(Centred, ByCovariance):
    """Multivariate normal distribution with mean `loc` and covariance matrix C = L L^T.

    The density is exp(-(x - loc)^T C^-1 (x - loc) / 2) / sqrt(det(2 pi C)).  Give
    exactly one of the three matrices.

    Parameters
    ----------
    loc
        The mean, of shape (..., K).
    covariance_matrix
        The covariance matrix C, of shape (..., K, K).
    precision_matrix
        The inverse of the covariance matrix, of shape (..., K, K).
    scale_tril
        The lower triangular Cholesky factor L, of shape (..., K, K).
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ShapeError
        If the shapes do not match.
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of the three
        matrices is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.MultivariateNormal(ac.zeros(2), ac.eye(2))
    >>> d.log_prob(ac.zeros(2))
    tensor(-1.8379)
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real_vector,
        **MATRICES,
    }
    support = constraints.real_vector
    _event_dims: ClassVar[Mapping[str, int]] = {
        "loc": 1,
        "_unbroadcasted_scale_tril": 2,
        **dict.fromkeys(MATRICES, 2),
    }

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = given_matrix(
            "MultivariateNormal", covariance_matrix, precision_matrix, scale_tril
        )
        (loc,) = broadcast_values("MultivariateNormal", loc=loc)
        size = loc.shape[-1] if loc.ndim else 0
        if loc.ndim < 1 or matrix.ndim < 2 or matrix.shape[-2:] != (size, size):
            raise ShapeError(
                f"MultivariateNormal: `loc` has shape {loc.shape} and `{name}` has "
                f"shape {matrix.shape}; they must be [..., K] and [..., K, K]."
            )
        batch = broadcast_shapes(
            "MultivariateNormal", loc.shape[:-1], matrix.shape[:-2]
        )
        self.loc = broadcast_to(loc, (*batch, size))
        self.__dict__[name] = broadcast_to(matrix, (*batch, size, size))
        super().__init__(batch, (size,), validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, self.__dict__[name])

    @property
    def variance(self) -> Tensor:
        """The variance of each component."""
        result: Tensor = (self._unbroadcasted_scale_tril**2).sum(-1)
        return result

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        noise = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        moved: Tensor = (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(
            -1
        )
        return self.loc + moved

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        away = self._checked("log_prob", value) - self.loc
        shape = (*away.shape, away.shape[-1])
        z = solve(
            broadcast_to(self._unbroadcasted_scale_tril, shape), away.unsqueeze(-1)
        ).squeeze(-1)
        half = 0.5 * away.shape[-1] * math.log(2 * math.pi)
        return -0.5 * (z * z).sum(-1) - self.half_log_det() - half

    def half_log_det(self) -> Tensor:
        """Return half the logarithm of the covariance's determinant."""
        result: Tensor = (
            self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        )
        return result

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        half = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return half + self.half_log_det()
