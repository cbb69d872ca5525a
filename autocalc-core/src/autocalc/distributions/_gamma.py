# SPDX-License-Identifier: MIT
"""Distributions that are made of draws from the Gamma distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from autocalc._ops.arranging.joining import stack
from autocalc._ops.elementwise.exponential import weighed_log
from autocalc._ops.elementwise.special_functions import weighed_log1p
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints, broadcast_values
from autocalc.distributions._draws import (
    bounded_exp,
    inside_ends,
    inside_unit,
    log_standard_gamma,
)
from autocalc.distributions._exponential_family import ExponentialFamily
from autocalc.distributions._incomplete_gamma import gammainc
from autocalc.distributions._parameters import ByRate, ByTwo
from autocalc.distributions._special import digamma, lbeta, lgamma
from autocalc.errors import ShapeError


class Gamma(ByRate, ExponentialFamily):
    """Gamma distribution: density rate^a x^(a - 1) exp(-rate x) / Gamma(a) for x > 0.

    Samples of `rsample` are differentiable in both parameters, by implicit
    reparameterization.

    Parameters
    ----------
    concentration
        The concentration a; above 0.  A tensor or a number; all parameters broadcast.
    rate
        The rate 1 / scale; above 0.
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
    >>> d = ac.distributions.Gamma(2.0, 4.0)
    >>> d.mean, d.variance
    (tensor(0.5000), tensor(0.1250))
    """

    has_rsample = True
    support = constraints.nonnegative

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape = self._extended_shape(sample_shape)
        log = log_standard_gamma(self.concentration.expand(shape))
        return inside_ends(bounded_exp(log) / self.rate)

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the density at `value`, a tensor or a number."""
        if isinstance(value, (int, float)):
            value = self.rate.new_full((), value)
        x = self._checked("log_prob", value)
        a, rate = self.concentration, self.rate
        return a * rate.log() + weighed_log(a - 1, x) - rate * x - lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        value = self._checked("cdf", value)
        return gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a = self.concentration
        return a - self.rate.log() + lgamma(a) + (1 - a) * digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return lgamma(x + 1) - (x + 1) * (-y).log()

    _mean_carrier_measure = 0


class Beta(ByTwo, ExponentialFamily):
    """Beta distribution: density x^(a - 1) (1 - x)^(b - 1) / B(a, b) for x in [0, 1].

    Samples of `rsample` are differentiable in both parameters, by implicit
    reparameterization.

    Parameters
    ----------
    concentration1
        The parameter a; above 0.  A tensor or a number; all parameters broadcast.
    concentration0
        The parameter b; above 0.
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
    >>> ac.distributions.Beta(1.0, 3.0).mean
    tensor(0.2500)
    """

    has_rsample = True

    def _total(self) -> Tensor:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration1 / self._total()

    @property
    def mode(self) -> Tensor:
        """The most probable value.

        If neither a nor b is above 1, it is 0 or 1.
        """
        return Dirichlet(self._both(), validate_args=False).mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """The variance."""
        n = self._total()
        return self.concentration1 * self.concentration0 / (n**2 * (n + 1))

    def _both(self) -> Tensor:
        return stack([self.concentration1, self.concentration0], -1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape = self._extended_shape(sample_shape)
        a = log_standard_gamma(self.concentration1.expand(shape))
        b = log_standard_gamma(self.concentration0.expand(shape))
        return inside_unit((a - b).sigmoid())

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x = self._checked("log_prob", value)
        a, b = self.concentration1, self.concentration0
        return weighed_log(a - 1, x) + weighed_log1p(b - 1, -x) - lbeta(a, b)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a, b, n = self.concentration1, self.concentration0, self._total()
        low = (a - 1) * digamma(a) + (b - 1) * digamma(b) - (n - 2) * digamma(n)
        return lbeta(a, b) - low

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1 - 1, self.concentration0 - 1

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return lbeta(x + 1, y + 1)

    _mean_carrier_measure = 0


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution: density prod x_i^(a_i - 1) / B(a) of probabilities x.

    Samples of `rsample` are differentiable in the parameters, by implicit
    reparameterization.

    Parameters
    ----------
    concentration
        The parameters a, of shape (..., K); above 0.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ShapeError
        If `concentration` has no dimension.
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.Dirichlet(ac.tensor([1.0, 1.0, 2.0])).mean
    tensor([0.2500, 0.2500, 0.5000])
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    _event_dims: ClassVar[Mapping[str, int]] = {"concentration": 1}

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        (a,) = broadcast_values("Dirichlet", concentration=concentration)
        if a.ndim < 1:
            raise ShapeError(
                "Dirichlet: `concentration` is 0-d; it needs a dimension for the "
                "categories."
            )
        self.concentration = a
        super().__init__(a.shape[:-1], a.shape[-1:], validate_args)

    def _total(self) -> Tensor:
        return self.concentration.sum(-1, True)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self._total()

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        high = (self.concentration - 1).clamp(min=0)
        total = high.sum(-1, True)
        largest = self.concentration.argmax(-1)
        at_corner = (total == 0).to(high.dtype)
        corner = _one_hot(largest, high)
        result: Tensor = corner * at_corner + (1 - at_corner) * high / (
            total + at_corner
        )
        return result

    @property
    def variance(self) -> Tensor:
        """The variance."""
        n = self._total()
        a = self.concentration
        return a * (n - a) / (n**2 * (n + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape = self._extended_shape(sample_shape)
        log = log_standard_gamma(self.concentration.expand(shape))
        return inside_unit(log.softmax(-1))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x, a = self._checked("log_prob", value), self.concentration
        terms = weighed_log(a - 1, x) - lgamma(a)
        return terms.sum(-1) + lgamma(a.sum(-1))

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a = self.concentration
        n = a.sum(-1)
        low = (a.shape[-1] - n) * digamma(n) + ((a - 1) * digamma(a)).sum(-1)
        return lgamma(a).sum(-1) - lgamma(n) - low

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration - 1,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        a = natural_params[0] + 1
        return lgamma(a).sum(-1) - lgamma(a.sum(-1))

    _mean_carrier_measure = 0


def _one_hot(places: Any, like: Any) -> Any:
    from autocalc._ops.creation.ranges import arange

    kinds = arange(like.shape[-1])
    return (places.unsqueeze(-1) == kinds).to(like.dtype)
