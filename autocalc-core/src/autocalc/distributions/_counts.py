# SPDX-License-Identifier: MIT
"""Distributions of counts: Poisson's, binomial, negative binomial."""

from __future__ import annotations

from typing import Any, ClassVar

from autocalc._ops.elementwise.clamping import minimum
from autocalc._ops.elementwise.exponential import weighed_log
from autocalc._ops.indexing.masking import where
from autocalc._ops.random.count_draws import arrivals, successes
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.distributions import constraints
from autocalc.distributions._counted import enumerated, weighed
from autocalc.distributions._distribution import Constraints, Distribution, one_of_two
from autocalc.distributions._draws import log_standard_gamma
from autocalc.distributions._exponential_family import ExponentialFamily
from autocalc.distributions._special import lgamma
from autocalc.distributions._yes_or_no import _YesOrNo
from autocalc.errors import ArgumentError


class Poisson(ExponentialFamily):
    """Poisson distribution: probability rate^k exp(-rate) / k! of the count k.

    Parameters
    ----------
    rate
        The mean; 0 or more.  A tensor or a number.
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
    >>> ac.distributions.Poisson(2.0).log_prob(ac.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints: ClassVar[Constraints] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = self._broadcast_values(rate=rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.rate

    @property
    def mode(self) -> Tensor:
        """The most probable value.  If there are two, it is the larger one."""
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape)``."""
        shape = self._extended_shape(sample_shape)
        return arrivals(self.rate.detach().expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        k = self._checked("log_prob", value).to(self.rate.dtype)
        return weighed_log(k, self.rate) - self.rate - lgamma(k + 1)

    def entropy(self) -> Tensor:
        """Raise an error, because the entropy has no closed form."""
        self._refuse("entropy")

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return natural_params[0].exp()


class _CountOfYes(_YesOrNo):
    """A distribution that a count and one probability describe, or its log odds."""

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        where = type(self).__name__
        name, value = one_of_two(where, probs=probs, logits=logits)
        self.total_count, value = self._broadcast_values(
            total_count=total_count, **{name: value}
        )
        self.__dict__[name] = value
        Distribution.__init__(self, value.shape, validate_args=validate_args)


class Binomial(_CountOfYes):
    """Binomial distribution: probability C(n, k) p^k (1 - p)^(n - k) of k successes.

    n is the number of trials, and p is the probability of a success.

    Parameters
    ----------
    total_count
        The number of trials n: an integer or a tensor of integers; 0 or more.  All
        parameters broadcast.
    probs
        The probability p; a tensor or a number.  Give either `probs` or `logits`.
    logits
        The log-odds log(p / (1 - p)); a tensor or a number.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of `probs` and
        `logits` is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.Binomial(2, 0.5).log_prob(ac.tensor(1.0)).exp()
    tensor(0.5000)
    """

    has_enumerate_support = True
    arg_constraints: ClassVar[Constraints] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """The most probable value.  If there are two, it is the larger one."""
        most = ((self.total_count + 1) * self.probs).floor()
        return minimum(most, self.total_count)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        result: Tensor = self.total_count * self.probs * self._rest
        return result

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape)``."""
        shape = self._extended_shape(sample_shape)
        n, p = self.total_count.detach(), self.probs.detach()
        return successes(n.expand(shape), p.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        k = self._checked("log_prob", value).to(self._given.dtype)
        return self._log_prob(k)

    def _log_prob(self, k: Tensor) -> Tensor:
        chances = self._log_of(k, self.total_count - k)
        return log_choose(self.total_count, k) + chances

    def entropy(self) -> Tensor:
        """Return the entropy in nats, computed as a sum over all values."""
        result: Tensor = -self._expectation(self._log_prob)
        return result

    def _expectation(self, function: Any) -> Any:
        """Return the sum of P(k) function(k) over all values k."""
        every = self._values(self._most() + 1)
        possible = every <= self.total_count
        k = minimum(every, self.total_count)
        terms = weighed(self._log_prob(k).exp(), function(k))
        return where(possible, terms, terms * 0).sum(0)

    def _values(self, count: int) -> Any:
        return enumerated(self, count, True, self._given.dtype)

    def _most(self) -> int:
        n = self.total_count
        return int(n.max().item()) if n.numel() else 0

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the values 0 to `total_count` along the first dimension.

        All elements of `total_count` must be equal.
        """
        most = self._most()
        if not (self.total_count == most).all():
            raise ArgumentError(
                "Binomial.enumerate_support: `total_count` is "
                f"{short(self.total_count)}; all counts must be equal, because all "
                "distributions share one list of values."
            )
        return enumerated(self, most + 1, expand, self._given.dtype)


def log_choose(n: Any, k: Tensor) -> Tensor:
    """Return the logarithm of n! / (k! (n - k)!)."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


class NegativeBinomial(_CountOfYes):
    """Negative binomial distribution: probability C(r + k - 1, k) p^k (1 - p)^r.

    k is the number of successes before the r-th failure, and p is the probability of a
    success.

    Parameters
    ----------
    total_count
        The number of failures r; 0 or more, not only integers.  A tensor or a number;
        all parameters broadcast.
    probs
        The probability p of a success; less than 1.  A tensor or a number.  Give either
        `probs` or `logits`.
    logits
        The log-odds log(p / (1 - p)); a tensor or a number.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of `probs` and
        `logits` is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.NegativeBinomial(2.0, 0.5)
    >>> d.mean, d.variance
    (tensor(2.), tensor(4.))
    """

    arg_constraints: ClassVar[Constraints] = {
        "total_count": constraints.nonnegative,
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        """The mean."""
        result: Tensor = self.total_count * self._odds
        return result

    @property
    def _odds(self) -> Any:
        if "probs" in self.__dict__:
            return self.__dict__["probs"] / self._rest
        return self.__dict__["logits"].exp()

    @property
    def mode(self) -> Tensor:
        """The most probable value.  If there are two, it is the larger one."""
        most = ((self.total_count - 1) * self._odds).floor()
        result: Tensor = most.clamp(min=0)
        return result

    @property
    def variance(self) -> Tensor:
        """The variance."""
        result: Tensor = self.mean / self._rest
        return result

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape)``.

        They are Poisson counts whose rates are drawn from a Gamma distribution.
        """
        shape = self._extended_shape(sample_shape)
        r, logits = self.total_count.detach(), self.logits.detach()
        log = log_standard_gamma(r.expand(shape))
        return arrivals((log + logits).exp())

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        k, r = self._checked("log_prob", value).to(self._given.dtype), self.total_count
        chances = self._log_of(k, r)
        empty = r + k == 0
        least = where(empty, r * 0 + 1, r)
        ways = lgamma(least + k) - lgamma(k + 1) - lgamma(least)
        return chances + where(empty, ways * 0, ways)
