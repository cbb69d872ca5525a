# SPDX-License-Identifier: MIT
"""Distributions of what is made of draws from Gamma: chi-squared, Student ..."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autocalc._ops.activations.smooth import softplus
from autocalc._ops.creation.like import full_like
from autocalc._ops.elementwise.exponential import weighed_log
from autocalc._ops.indexing.masking import where
from autocalc._ops.random.random_draws import randn
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._counted import finite
from autocalc.distributions._distribution import Constraints, Distribution
from autocalc.distributions._draws import bounded_exp, inside_ends, log_standard_gamma
from autocalc.distributions._gamma import Gamma
from autocalc.distributions._incomplete_gamma import gammaincc
from autocalc.distributions._parameters import ByRate
from autocalc.distributions._special import digamma, lbeta, lgamma


def if_above(
    limit: float, x: Tensor, value: Any, otherwise: float = math.nan
) -> Tensor:
    """Return `value` where x is above `limit`: a moment that exists only there."""
    return where(x > limit, value, full_like(value, otherwise))


def _log_of_one_and_square(x: Tensor, width: Any) -> Tensor:
    """Return log(1 + (x / width)^2), whose square may overflow."""
    large = x.abs() > 1e8 * width
    near = where(large, 0.0, x) / width
    far = 2 * (where(large, x, width).abs().log() - width.log())
    return where(large, far, (near * near).log1p())


class Chi2(Gamma):
    """Chi-squared distribution: the sum of the squares of `df` standard normal numbers.

    It is the Gamma distribution with concentration df / 2 and rate 1 / 2.

    Parameters
    ----------
    df
        The degrees of freedom; above 0.  A tensor or a number.
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
    >>> d = ac.distributions.Chi2(3.0)
    >>> d.mean, d.variance
    (tensor(3.), tensor(6.))
    """

    arg_constraints: ClassVar[Constraints] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (self.df,) = self._broadcast_values(df=df)
        super().__init__(0.5 * self.df, 0.5, validate_args=validate_args)


class InverseGamma(ByRate):
    """The inverse Gamma distribution of 1 / y, where y has a Gamma distribution.

    The density is rate^a x^(-a - 1) exp(-rate / x) / Gamma(a), where a is the
    concentration.

    Parameters
    ----------
    concentration
        The concentration a of y; above 0.  A tensor or a number; all parameters
        broadcast.
    rate
        The rate of y, which is the scale of x; above 0.
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
    >>> ac.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    has_rsample = True
    support = constraints.positive

    @property
    def base_dist(self) -> Gamma:
        """The Gamma distribution of y = 1 / x."""
        return Gamma(self.concentration, self.rate, validate_args=False)

    @property
    def mean(self) -> Tensor:
        """The mean; infinite for a concentration of 1 or less."""
        a = self.concentration
        return if_above(1, a, self.rate / (a - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """The variance; infinite for a concentration of 2 or less."""
        a = self.concentration
        value = (self.rate / (a - 1)) ** 2 / (a - 2)
        return if_above(2, a, value, math.inf)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape = self._extended_shape(sample_shape)
        log = log_standard_gamma(self.concentration.expand(shape))
        return inside_ends(self.rate * bounded_exp(-log))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x = self._checked("log_prob", value)
        a, rate = self.concentration, self.rate
        return a * rate.log() - (a + 1) * x.log() - rate / x - lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        ratio = self.rate / self._checked("cdf", value)
        return gammaincc(self.concentration, ratio)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a = self.concentration
        return a + self.rate.log() + lgamma(a) - (1 + a) * digamma(a)


class FisherSnedecor(Distribution):
    """The F distribution of (x / df1) / (y / df2).

    Here x and y have the distributions Chi2(df1) and Chi2(df2).

    Parameters
    ----------
    df1
        The degrees of freedom of x; above 0.  A tensor or a number; all parameters
        broadcast.
    df2
        The degrees of freedom of y; above 0.
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
    >>> ac.distributions.FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
    }
    support = constraints.positive

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = self._broadcast_values(df1=df1, df2=df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean; NaN for a `df2` of 2 or less."""
        n = self.df2
        return if_above(2, n, n / (n - 2))

    @property
    def mode(self) -> Tensor:
        """The most probable value; NaN for a `df1` of 2 or less."""
        m, n = self.df1, self.df2
        return if_above(2, m, (m - 2) / m * (n / (n + 2)))

    @property
    def variance(self) -> Tensor:
        """The variance; NaN for a `df2` of 4 or less."""
        m, n = self.df1, self.df2
        value = 2 * n**2 * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))
        return if_above(4, n, value)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape = self._extended_shape(sample_shape)
        above = log_standard_gamma((self.df1 / 2).expand(shape))
        below = log_standard_gamma((self.df2 / 2).expand(shape))
        ratio = bounded_exp(above - below) * (self.df2 / self.df1)
        return inside_ends(ratio)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x = self._checked("log_prob", value)
        a, b, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        more = softplus(ratio.log() + x.log())  # log(1 + ratio x) without overflow
        top = a * ratio.log() + weighed_log(a - 1, x) - (a + b) * more
        return top - lbeta(a, b)


class StudentT(Distribution):
    """Student's t-distribution of loc + scale * x / sqrt(y / df).

    Here x is a standard normal number, and y has the distribution Chi2(df).

    Parameters
    ----------
    df
        The degrees of freedom; above 0.  A tensor or a number; all parameters
        broadcast.
    loc
        The median: a tensor or a number.
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
    >>> ac.distributions.StudentT(4.0).variance
    tensor(2.)
    """

    has_rsample = True
    arg_constraints: ClassVar[Constraints] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real

    def __init__(
        self,
        df: Any,
        loc: Any = 0.0,
        scale: Any = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = self._broadcast_values(
            df=df, loc=loc, scale=scale
        )
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean; NaN for a `df` of 1 or less."""
        return if_above(1, self.df, self.loc)

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance; infinite for a `df` of 2 or less, NaN for 1 or less."""
        value = self.scale**2 * self.df / (self.df - 2)
        finite = if_above(2, self.df, value, math.inf)
        return if_above(1, self.df, finite)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        shape = self._extended_shape(sample_shape)
        half = self.df / 2
        log = 0.5 * (half.log() - log_standard_gamma(half.expand(shape)))
        away = bounded_exp(log) * randn(shape, dtype=half.dtype)
        return finite(self.loc + self.scale * away)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        away = self._checked("log_prob", value) - self.loc
        width = self.scale * self.df.sqrt()
        tail = (self.df + 1) / 2 * _log_of_one_and_square(away, width)
        return -tail - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        half = self.df / 2
        return self.scale.log() + 0.5 * self.df.log() + lbeta(half, half * 0 + 0.5)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        half = self.df / 2
        mean_log = digamma(half + 0.5) - digamma(half)
        return self._log_normalizer() + (half + 0.5) * mean_log
