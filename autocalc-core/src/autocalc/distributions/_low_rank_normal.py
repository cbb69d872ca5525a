# SPDX-License-Identifier: MIT
"""The normal distribution of vectors whose covariance is of low rank but for noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops.arranging.diagonal import diag_embed
from autocalc._ops.creation.constants import eye
from autocalc._ops.matrices.factorizations import cholesky
from autocalc._ops.matrices.linear_systems import solve
from autocalc._ops.random.random_draws import randn
from autocalc._ops.views.broadcasting import broadcast_to
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints, broadcast_values
from autocalc.distributions._parameters import Centred
from autocalc.errors import ShapeError


class LowRankMultivariateNormal(Centred):
    """Multivariate normal distribution with covariance matrix W W^T + diag(d).

    No K x K system is solved.  With D = diag(d) and C = 1 + W^T D^-1 W, the inverse of
    the covariance is D^-1 - D^-1 W C^-1 W^T D^-1 (Woodbury's formula).

    Parameters
    ----------
    loc
        The mean, of shape (..., K).
    cov_factor
        The matrix W, of shape (..., K, R).
    cov_diag
        The diagonal d, of shape (..., K); above 0.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ShapeError
        If the shapes do not match.
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.LowRankMultivariateNormal(
    ...     ac.zeros(2), ac.ones(2, 1), ac.ones(2)
    ... )
    >>> d.covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    _event_dims: ClassVar[Mapping[str, int]] = {
        "loc": 1,
        "cov_factor": 2,
        "cov_diag": 1,
        "_core": 2,
    }

    def __init__(
        self,
        loc: Any,
        cov_factor: Any,
        cov_diag: Any,
        validate_args: bool | None = None,
    ) -> None:
        where = "LowRankMultivariateNormal"
        (loc,) = broadcast_values(where, loc=loc)
        (factor,) = broadcast_values(where, cov_factor=cov_factor)
        (diag,) = broadcast_values(where, cov_diag=cov_diag)
        size = loc.shape[-1:]
        if not size or diag.shape[-1:] != size or factor.shape[-2:-1] != size:
            raise ShapeError(
                f"{where}: `loc` has shape {loc.shape}, `cov_factor` has shape "
                f"{factor.shape} and `cov_diag` has shape {diag.shape}; they must be "
                "[..., K], [..., K, R] and [..., K]."
            )
        batch = broadcast_shapes(where, loc.shape[:-1], factor.shape[:-2])
        batch = broadcast_shapes(where, batch, diag.shape[:-1])
        self.loc = broadcast_to(loc, (*batch, *size))
        self.cov_factor = broadcast_to(factor, (*batch, *factor.shape[-2:]))
        self.cov_diag = broadcast_to(diag, (*batch, *size))
        super().__init__(batch, size, validate_args)
        self._core = self._core_factor()

    def _core_factor(self) -> Any:
        """Return the factor of Cholesky of C."""
        w: Any = self.cov_factor
        scaled = w / self.cov_diag.unsqueeze(-1)
        return cholesky(eye(w.shape[-1]).to(w.dtype) + w.mT @ scaled)

    @property
    def variance(self) -> Tensor:
        """The variance of each component."""
        return (self.cov_factor**2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix W W^T + diag(d)."""
        w: Any = self.cov_factor
        result: Tensor = w @ w.mT + diag_embed(self.cov_diag)
        return result

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        scaled: Any = self.cov_factor / self.cov_diag.unsqueeze(-1)
        part: Any = solve(self._core, scaled.mT)
        result: Tensor = diag_embed(1 / self.cov_diag) - part.mT @ part
        return result

    @property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        return cholesky(self.covariance_matrix)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape, dtype = self._extended_shape(sample_shape), self.loc.dtype
        few = randn((*shape[:-1], self.cov_factor.shape[-1], 1), dtype=dtype)
        moved: Any = (self.cov_factor @ few).squeeze(-1)
        noise = randn(shape, dtype=dtype) * self.cov_diag.sqrt()
        result: Tensor = self.loc + moved + noise
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        away: Any = self._checked("log_prob", value) - self.loc
        half = 0.5 * self._event_shape[0] * math.log(2 * math.pi)
        squares = self.squares(away.unsqueeze(-1))
        return -0.5 * squares - self.half_log_det() - half

    def squares(self, columns: Tensor) -> Tensor:
        """Return the sum of x^T C^-1 x over the columns x; C is the covariance."""
        scaled = columns / self.cov_diag.unsqueeze(-1)
        inner = self.cov_factor.mT @ scaled
        core = broadcast_to(self._core, (*inner.shape[:-2], *self._core.shape[-2:]))
        less = (solve(core, inner) ** 2).sum((-2, -1))
        return (columns * scaled).sum((-2, -1)) - less

    def half_log_det(self) -> Tensor:
        """Return half the logarithm of the covariance's determinant."""
        core: Any = self._core.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        result: Tensor = core + 0.5 * self.cov_diag.log().sum(-1)
        return result

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        half = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return half + self.half_log_det()
