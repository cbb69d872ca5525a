# SPDX-License-Identifier: MIT
"""The distribution of covariances that are sums of squares of normal vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.checks import check_shape
from autocalc._ops.arranging.diagonal import diag_embed
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.creation.like import full_like
from autocalc._ops.creation.ranges import arange
from autocalc._ops.indexing.masking import where as choose
from autocalc._ops.matrices.determinants import slogdet
from autocalc._ops.matrices.linear_systems import solve
from autocalc._ops.random.random_draws import randn
from autocalc._ops.views.broadcasting import broadcast_to
from autocalc._tensor import Tensor
from autocalc._tensor.limits import finfo
from autocalc.distributions import constraints
from autocalc.distributions._by_covariance import (
    MATRICES,
    ByCovariance,
    factor_of,
    given_matrix,
)
from autocalc.distributions._distribution import Constraints, broadcast_values
from autocalc.distributions._draws import log_standard_gamma
from autocalc.distributions._exponential_family import ExponentialFamily
from autocalc.distributions._special import digamma, lgamma
from autocalc.errors import ArgumentError

#: How often matrices are drawn again that rounding has made singular.
_TRIES = 10


def multivariate_lgamma(a: Tensor, size: int) -> Tensor:
    """Return the logarithm of the Gamma function of `size` dimensions."""
    constant = 0.25 * size * (size - 1) * math.log(math.pi)
    return lgamma(_halves_below(a, size)).sum(-1) + constant


def multivariate_digamma(a: Tensor, size: int) -> Tensor:
    """Return the slope of `multivariate_lgamma`."""
    return digamma(_halves_below(a, size)).sum(-1)


def _halves_below(a: Tensor, size: int) -> Tensor:
    """Return a, a - 1/2, ... a - (size - 1) / 2."""
    return a.unsqueeze(-1) - arange(size).to(a.dtype) / 2


class Wishart(ByCovariance, ExponentialFamily):
    """Wishart distribution: the sum of x x^T over `df` normal vectors x.

    The vectors have the mean 0 and the covariance V.

    The density is proportional to det(X)^((df - K - 1) / 2) exp(-tr(V^-1 X) / 2), where
    V = L L^T.  Give exactly one of the three matrices.

    Parameters
    ----------
    df
        The degrees of freedom; above K - 1.  A tensor or a number; all parameters
        broadcast.
    covariance_matrix
        The covariance matrix V, of shape (..., K, K).
    precision_matrix
        The inverse of V, of shape (..., K, K).
    scale_tril
        The lower triangular Cholesky factor L of V, of shape (..., K, K).
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
    >>> ac.distributions.Wishart(3.0, ac.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {"df": constraints.dependent, **MATRICES}
    support = constraints.positive_definite
    _event_dims: ClassVar[Mapping[str, int]] = {
        "_unbroadcasted_scale_tril": 2,
        **dict.fromkeys(MATRICES, 2),
    }
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        where = "Wishart"
        name, matrix = given_matrix(
            where, covariance_matrix, precision_matrix, scale_tril
        )
        check_shape(where, name, matrix, "[..., K, K]")
        (given,) = broadcast_values(where, df=df)
        wide = df if isinstance(df, Tensor) else tensor(df, dtype=matrix.dtype)
        size = matrix.shape[-1]
        batch = broadcast_shapes(where, given.shape, matrix.shape[:-2])
        self.df = broadcast_to(wide.to(matrix.dtype), batch)
        if not (self.df > size - 1).all():
            raise ArgumentError(
                f"{where}: `df` must hold numbers above {size - 1}, which is K - 1."
            )
        self.__dict__[name] = broadcast_to(matrix, (*batch, size, size))
        super().__init__(batch, (size, size), validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, self.__dict__[name])

    @property
    def _size(self) -> int:
        return self._event_shape[-1]

    @property
    def mean(self) -> Tensor:
        """The mean."""
        result: Tensor = self.df[..., None, None] * self.covariance_matrix
        return result

    @property
    def mode(self) -> Tensor:
        """The most probable value; NaN if `df` is not greater than K + 1."""
        factor = self.df - self._size - 1
        factor = choose(factor > 0, factor, full_like(factor, math.nan))
        result: Tensor = factor[..., None, None] * self.covariance_matrix
        return result

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        result: Tensor = self.df[..., None, None] * (v * v + products)
        return result

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        drawn = self._drawn(sample_shape)
        for _ in range(_TRIES):
            right = self.support.check(drawn)
            if right.all():
                break
            again = self._drawn(sample_shape)
            drawn = choose(right[..., None, None], drawn, again)
        result: Tensor = drawn
        return result

    def _drawn(self, sample_shape: Any) -> Any:
        """Return A A^T of Bartlett's A: roots of chi-squares above normal numbers."""
        shape, dtype = self._extended_shape(sample_shape), self.df.dtype
        halves = broadcast_to(_halves_below(self.df / 2, self._size), shape[:-1])
        log = 0.5 * (log_standard_gamma(halves) + math.log(2))
        roots = log.exp().clamp(min=finfo(dtype).eps)
        below: Any = randn(shape, dtype=dtype)
        root = self._unbroadcasted_scale_tril @ (below.tril(-1) + diag_embed(roots))
        return root @ root.mT

    def half_log_det(self) -> Any:
        """Return half the logarithm of the determinant of V."""
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x, df, size = self._checked("log_prob", value), self.df, self._size
        scale = df * (0.5 * size * math.log(2) + self.half_log_det())
        log_det = 0.5 * (df - size - 1) * slogdet(x).logabsdet
        batch = broadcast_shapes(
            "Wishart.log_prob", x.shape, self._unbroadcasted_scale_tril.shape
        )
        solved: Any = solve(
            broadcast_to(self.covariance_matrix, batch), broadcast_to(x, batch)
        )
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        result: Tensor = (
            log_det - 0.5 * trace - scale - multivariate_lgamma(df / 2, size)
        )
        return result

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        df, size = self.df, self._size
        scale = (size + 1) * (0.5 * size * math.log(2) + self.half_log_det())
        slope = 0.5 * (df - size - 1) * multivariate_digamma(df / 2, size)
        result: Tensor = (
            scale + multivariate_lgamma(df / 2, size) - slope + 0.5 * df * size
        )
        return result

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -0.5 * self.precision_matrix, 0.5 * (self.df - self._size - 1)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        size = self._size
        half = y + 0.5 * (size + 1)
        log_det = size * math.log(2) - slogdet(-2 * x).logabsdet
        return half * log_det + multivariate_lgamma(half, size)
