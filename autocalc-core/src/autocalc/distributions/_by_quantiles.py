# SPDX-License-Identifier: MIT
"""Distributions that are drawn by their quantiles: uniform, exponential, Laplace ..."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autocalc._ops.indexing.masking import where
from autocalc._ops.random.random_draws import rand
from autocalc._ops.reductions.extrema import holds
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import short
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints, Distribution
from autocalc.distributions._exponential_family import ExponentialFamily
from autocalc.distributions._parameters import ByScale
from autocalc.errors import ArgumentError

_EULER = 0.5772156649015329


class _ByQuantiles(Distribution):
    """A distribution whose draws are the quantiles of uniform numbers."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape = self._extended_shape(sample_shape)
        (name, *_) = self.arg_constraints
        dtype = getattr(self, name).dtype
        wide = dtype if dtype in _TINY else dtypes.float32  # halves have too few u
        u = rand(shape, dtype=wide).clamp(min=_TINY[wide])
        return self._drawn(u).to(dtype)

    def _drawn(self, u: Tensor) -> Tensor:
        """Return the draws that uniform numbers become."""
        return self._quantile(u)

    def _quantile(self, u: Tensor) -> Tensor:
        self._refuse("icdf")

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile: the inverse of `cdf` at `value`."""
        return self._quantile(self._checked_share(value))


#: In place of 0, whose logarithm is none.
_TINY = {dtypes.float32: 2.0**-26, dtypes.float64: 2.0**-54}


class Uniform(_ByQuantiles):
    """Uniform distribution on the interval [low, high).

    Parameters
    ----------
    low, high
        The limits of the interval: tensors or numbers; their shapes broadcast.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If `low` is not less than `high`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.Uniform(0.0, 4.0).variance
    tensor(1.3333)
    """

    arg_constraints: ClassVar[Constraints] = {
        "low": constraints.dependent,
        "high": constraints.dependent,
    }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = self._broadcast_values(low=low, high=high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._looks_at_values and not holds((self.low < self.high).all()):
            raise ArgumentError(
                f"Uniform: `low` must be below `high`; they are {short(self.low)} and "
                f"{short(self.high)}."
            )

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.high - self.low) ** 2 / 12

    def _quantile(self, u: Tensor) -> Tensor:
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        value = self._checked("log_prob", value)
        inside = (value >= self.low) & (value < self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        value = self._checked("cdf", value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return (self.high - self.low).log()


class Exponential(_ByQuantiles, ExponentialFamily):
    """Exponential distribution: density rate exp(-rate x) for x >= 0.

    Parameters
    ----------
    rate
        The rate 1 / mean; above 0.  A tensor or a number.
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
    >>> ac.distributions.Exponential(2.0).log_prob(ac.tensor(0.0))
    tensor(0.6931)
    """

    arg_constraints: ClassVar[Constraints] = {"rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = self._broadcast_values(rate=rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return 1 / self.rate

    @property
    def mode(self) -> Tensor:
        """The most probable value: 0."""
        return self.rate * 0

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate**-2

    def _quantile(self, u: Tensor) -> Tensor:
        return -(-u).log1p() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        return self.rate.log() - self.rate * self._checked("log_prob", value)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        return -(-self.rate * self._checked("cdf", value)).expm1()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 1 - self.rate.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return -(-natural_params[0]).log()

    _mean_carrier_measure = 0


class _Located(ByScale, _ByQuantiles):
    """A distribution that a place and a scale describe."""

    def _standardised(self, where: str, value: Any) -> Tensor:
        return (self._checked(where, value) - self.loc) / self.scale


class Laplace(_Located):
    """Laplace distribution: density exp(-abs(x - loc) / scale) / (2 scale).

    Parameters
    ----------
    loc
        The mean.  A tensor or a number; all parameters broadcast.
    scale
        The mean distance from `loc`; above 0.
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
    >>> ac.distributions.Laplace(0.0, 1.0).log_prob(ac.tensor(1.0))
    tensor(-1.6931)
    """

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 2 * self.scale**2

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return math.sqrt(2) * self.scale

    def _quantile(self, u: Tensor) -> Tensor:
        d = u - 0.5
        return self.loc - self.scale * d.sign() * (-2 * d.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        z = self._standardised("log_prob", value)
        return -z.abs() - (2 * self.scale).log()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        z = self._standardised("cdf", value)
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 1 + (2 * self.scale).log()


class Cauchy(_Located):
    """Cauchy distribution: density 1 / (pi scale (1 + ((x - loc) / scale)^2)).

    Parameters
    ----------
    loc
        The median.  A tensor or a number; all parameters broadcast.
    scale
        The distance between the median and each quartile; above 0.
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
    >>> ac.distributions.Cauchy(0.0, 1.0).cdf(ac.tensor(1.0))
    tensor(0.7500)
    """

    @property
    def mean(self) -> Tensor:
        """NaN, because the distribution has no mean."""
        return self.loc * math.nan

    @property
    def variance(self) -> Tensor:
        """Infinity, because the distribution has no finite variance."""
        return self.scale * math.inf

    def _quantile(self, u: Tensor) -> Tensor:
        return self.loc + self.scale * (math.pi * (u - 0.5)).tan()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        z = self._standardised("log_prob", value)
        return -math.log(math.pi) - self.scale.log() - (z * z).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        return self._standardised("cdf", value).atan() / math.pi + 0.5

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return math.log(4 * math.pi) + self.scale.log()


class HalfCauchy(_ByQuantiles):
    """The half-Cauchy distribution of abs(y), where y is Cauchy(0, scale).

    Parameters
    ----------
    scale
        The scale of y, which is the median of abs(y); above 0.  A tensor or a number.
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
    >>> ac.distributions.HalfCauchy(1.0).cdf(ac.tensor(1.0))
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Constraints] = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = self._broadcast_values(scale=scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def base_dist(self) -> Cauchy:
        """The Cauchy distribution of y."""
        return Cauchy(self.scale * 0, self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        """Infinity, because the distribution has no finite mean."""
        return self.scale * math.inf

    @property
    def mode(self) -> Tensor:
        """The most probable value: 0."""
        return self.scale * 0

    @property
    def variance(self) -> Tensor:
        """Infinity, because the distribution has no finite variance."""
        return self.scale * math.inf

    def _quantile(self, u: Tensor) -> Tensor:
        return self.scale * (math.pi / 2 * u).tan()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        value = self._checked("log_prob", value)
        inside = self.base_dist.log_prob(value) + math.log(2)
        return where(value >= 0, inside, inside * 0 - math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        ratio = self._checked("cdf", value) / self.scale
        return ratio.atan() * (2 / math.pi)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self.base_dist.entropy() - math.log(2)


class Gumbel(_Located):
    """Gumbel distribution: density exp(-(z + exp(-z))) / scale; z is (x - loc) / scale.

    Parameters
    ----------
    loc
        The mode.  A tensor or a number; all parameters broadcast.
    scale
        The width; above 0.
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
    >>> ac.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc + self.scale * _EULER

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale**2 * (math.pi**2 / 6)

    def _quantile(self, u: Tensor) -> Tensor:
        return self.loc - self.scale * (-u.log()).log()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        z = self._standardised("log_prob", value)
        return -z - (-z).exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        return (-(-self._standardised("cdf", value)).exp()).exp()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self.scale.log() + (1 + _EULER)
