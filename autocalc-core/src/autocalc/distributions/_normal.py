# SPDX-License-Identifier: MIT
"""The normal distribution, and those of a number whose logarithm or size it is."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autocalc._ops.indexing.masking import where
from autocalc._ops.random.random_draws import randn
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints, Distribution
from autocalc.distributions._exponential_family import ExponentialFamily
from autocalc.distributions._parameters import ByScale
from autocalc.distributions._special import erfinv

_LOG_ROOT = 0.5 * math.log(2 * math.pi)


class Normal(ByScale, ExponentialFamily):
    """Normal distribution: density exp(-z^2 / 2) / (scale sqrt(2 pi)).

    Here z = (x - loc) / scale.

    Parameters
    ----------
    loc
        The mean.  A tensor or a number; all parameters broadcast.
    scale
        The standard deviation; above 0.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.Normal(0.0, ac.tensor([1.0, 2.0]))
    >>> d.log_prob(ac.tensor(0.0))
    tensor([-0.9189, -1.6121])
    >>> d.sample((3,)).shape
    autocalc.Size([3, 2])
    """

    has_rsample = True

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale**2

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        noise = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        z = (self._checked("log_prob", value) - self.loc) / self.scale
        return -0.5 * z * z - self.scale.log() - _LOG_ROOT

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        z = (self._checked("cdf", value) - self.loc) / self.scale
        return 0.5 * (1 + (z / math.sqrt(2)).erf())

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile: the inverse of `cdf` at `value`."""
        result: Tensor = erfinv(2 * self._checked_share(value) - 1) * math.sqrt(2)
        return self.loc + self.scale * result

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 0.5 + _LOG_ROOT + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        square = self.scale**2
        return self.loc / square, -0.5 / square

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return -0.25 * x * x / y + 0.5 * (-math.pi / y).log()

    _mean_carrier_measure = 0


class LogNormal(Distribution):
    """Log-normal distribution: the distribution of exp(y), where y is normal.

    Parameters
    ----------
    loc
        The mean of y.  A tensor or a number; all parameters broadcast.
    scale
        The standard deviation of y; above 0.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = self._broadcast_values(loc=loc, scale=scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def base_dist(self) -> Normal:
        """The normal distribution of y."""
        return Normal(self.loc, self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        square = self.scale**2
        return square.expm1() * (2 * self.loc + square).exp()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        log = self._checked("log_prob", value).log()
        return self.base_dist.log_prob(log) - log

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        return self.base_dist.cdf(self._checked("cdf", value).log())

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile: the inverse of `cdf` at `value`."""
        return self.base_dist.icdf(self._checked_share(value)).exp()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self.base_dist.entropy() + self.loc


class HalfNormal(Distribution):
    """The half-normal distribution of abs(y), where y is Normal(0, scale).

    Parameters
    ----------
    scale
        The standard deviation of y; above 0.  A tensor or a number.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = self._broadcast_values(scale=scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def base_dist(self) -> Normal:
        """The normal distribution of y."""
        return Normal(self.scale * 0, self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        """The most probable value: 0."""
        return self.scale * 0

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale**2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        value = self._checked("log_prob", value)
        inside = self.base_dist.log_prob(value) + math.log(2)
        return where(value >= 0, inside, inside * 0 - math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        return 2 * self.base_dist.cdf(self._checked("cdf", value)) - 1

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile: the inverse of `cdf` at `value`."""
        return self.base_dist.icdf((self._checked_share(value) + 1) / 2)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self.base_dist.entropy() - math.log(2)
