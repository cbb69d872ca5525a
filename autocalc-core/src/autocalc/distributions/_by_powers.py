# SPDX-License-Identifier: MIT
"""Distributions whose quantiles are powers: Pareto's, Weibull's, Kumaraswamy's."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autocalc._ops.elementwise.exponential import weighed_log
from autocalc._ops.indexing.masking import where
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._by_quantiles import _EULER, _ByQuantiles
from autocalc.distributions._counted import finite
from autocalc.distributions._distribution import Constraints
from autocalc.distributions._draws import bounded_exp, inside_ends, inside_unit
from autocalc.distributions._from_gamma import if_above
from autocalc.distributions._parameters import ByTwo
from autocalc.distributions._special import digamma, lbeta, lgamma


class Pareto(_ByQuantiles):
    """Pareto distribution: density alpha scale^alpha / x^(alpha + 1) for x >= scale.

    Parameters
    ----------
    scale
        The smallest possible value; above 0.  A tensor or a number; all parameters
        broadcast.
    alpha
        The exponent alpha; above 0.  The larger it is, the faster the density falls.
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
    >>> d = ac.distributions.Pareto(1.0, 3.0)
    >>> d.mean, d.cdf(ac.tensor(2.0))
    (tensor(1.5000), tensor(0.8750))
    """

    arg_constraints: ClassVar[Constraints] = {
        "alpha": constraints.positive,
        "scale": constraints.positive,
    }

    def __init__(
        self, scale: Any, alpha: Any, validate_args: bool | None = None
    ) -> None:
        self.scale, self.alpha = self._broadcast_values(scale=scale, alpha=alpha)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        """The mean; infinite for an alpha of 1 or less."""
        a = self.alpha
        return if_above(1, a, a * self.scale / (a - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        """The most probable value: `scale`."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance; infinite for an alpha of 2 or less."""
        a = self.alpha
        value = self.scale**2 * a / ((a - 1) ** 2 * (a - 2))
        return if_above(2, a, value, math.inf)

    def _quantile(self, u: Tensor) -> Tensor:
        return self.scale * (-(-u).log1p() / self.alpha).exp()

    def _drawn(self, u: Tensor) -> Tensor:
        return inside_ends(self.scale * bounded_exp(-(-u).log1p() / self.alpha))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x, a = self._checked("log_prob", value), self.alpha
        return a.log() + a * (self.scale / x).log() - x.log()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        log = (self.scale / self._checked("cdf", value)).log()
        return -(self.alpha * log).expm1()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return (self.scale / self.alpha).log() + (1 + 1 / self.alpha)


class GeneralizedPareto(_ByQuantiles):
    """Generalized Pareto distribution: density (1 + c z)^(-1 / c - 1) / scale.

    Here z = (x - loc) / scale and c is the concentration.  It describes the amount by
    which values exceed a high threshold.  For c = 0 it is the exponential distribution.
    For c < 0, the largest possible value is loc - scale / c.

    Parameters
    ----------
    loc
        The smallest possible value.  A tensor or a number; all parameters broadcast.
    scale
        The width; above 0.
    concentration
        The constant c of the formula; any number.
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
    >>> ac.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }

    def __init__(
        self,
        loc: Any,
        scale: Any,
        concentration: Any,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = self._broadcast_values(
            loc=loc, scale=scale, concentration=concentration
        )
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        c = self.concentration
        ends = c < 0
        end = self.loc - self.scale / where(ends, c, c * 0 - 1)
        upper = where(ends, end, end * 0 + math.inf)
        return constraints.interval(self.loc, upper)

    @property
    def mean(self) -> Tensor:
        """The mean; NaN for a concentration of 1 or more."""
        left = 1 - self.concentration
        return if_above(0, left, self.loc + self.scale / left)

    @property
    def mode(self) -> Tensor:
        """The mode: `loc`, if the concentration is above -1."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance; NaN for a concentration of 1/2 or more."""
        left = 1 - 2 * self.concentration
        value = (self.scale / (1 - self.concentration)) ** 2 / left
        return if_above(0, left, value)

    def _quantile(self, u: Tensor) -> Tensor:
        return self.loc + self.scale * expm1_over(self.concentration, -(-u).log1p())

    def _drawn(self, u: Tensor) -> Tensor:
        return finite(self._quantile(u))

    def _exponent(self, where: str, value: Any) -> Tensor:
        """Return log(1 + c z) / c, the value of an exponential distribution."""
        z = (self._checked(where, value) - self.loc) / self.scale
        return log1p_over(self.concentration, z)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        e = self._exponent("log_prob", value)
        return -(1 + self.concentration) * e - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of a value greater than `value`."""
        return -self._exponent("log_survival_function", value)

    def log_cdf(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of a value up to `value`."""
        return (-(-self._exponent("log_cdf", value)).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        return -(-self._exponent("cdf", value)).expm1()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self.scale.log() + self.concentration + 1


#: Below, c z counts as small: the first term left out is 1e-18.
_SMALL = 1e-3


def log1p_over(c: Tensor, z: Tensor) -> Tensor:
    """Return log(1 + c z) / c, and its limit z at c = 0, with its slope."""
    t = c * z
    series = z * (1 - t * (1 / 2 - t * (1 / 3 - t * (1 / 4 - t * (1 / 5 - t / 6)))))
    small = t.abs() < _SMALL
    return where(
        small, series, where(small, t * 0, t).log1p() / where(small, c * 0 + 1, c)
    )


def expm1_over(c: Tensor, z: Tensor) -> Tensor:
    """Return (exp(c z) - 1) / c, and its limit z at c = 0, with its slope."""
    t = c * z
    series = z * (1 + t / 2 * (1 + t / 3 * (1 + t / 4 * (1 + t / 5 * (1 + t / 6)))))
    small = t.abs() < _SMALL
    return where(
        small, series, where(small, t * 0, t).expm1() / where(small, c * 0 + 1, c)
    )


class Weibull(_ByQuantiles):
    """Weibull distribution: density (k / s) (x / s)^(k - 1) exp(-(x / s)^k) for x >= 0.

    Here s is the scale and k is the concentration.

    Parameters
    ----------
    scale
        The scale s; above 0.  A tensor or a number; all parameters broadcast.
    concentration
        The shape k; above 0.
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
    >>> ac.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(
        self, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.scale, self.concentration = self._broadcast_values(
            scale=scale, concentration=concentration
        )
        super().__init__(self.scale.shape, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        return self.scale**n * lgamma(1 + n / self.concentration).exp()

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """The most probable value; 0 for a concentration of 1 or less."""
        k = self.concentration
        above = k > 1
        high = where(above, k, k * 0 + 2)
        value = self.scale * ((high - 1) / high) ** (1 / high)
        return where(above, value, value * 0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._moment(2) - self._moment(1) ** 2

    def _quantile(self, u: Tensor) -> Tensor:
        return self.scale * (-(-u).log1p()) ** (1 / self.concentration)

    def _drawn(self, u: Tensor) -> Tensor:
        log = (-(-u).log1p()).log() / self.concentration
        return inside_ends(self.scale * bounded_exp(log))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x, k = self._checked("log_prob", value), self.concentration
        ratio = x / self.scale
        return (k / self.scale).log() + weighed_log(k - 1, ratio) - ratio**k

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        ratio = self._checked("cdf", value) / self.scale
        return -(-(ratio**self.concentration)).expm1()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        k = self.concentration
        return _EULER * (1 - 1 / k) + (self.scale / k).log() + 1


class Kumaraswamy(ByTwo, _ByQuantiles):
    """Kumaraswamy distribution: density a b x^(a - 1) (1 - x^a)^(b - 1) on [0, 1].

    It is similar to the Beta distribution.

    Parameters
    ----------
    concentration1
        The constant a; above 0.  A tensor or a number; all parameters broadcast.
    concentration0
        The constant b; above 0.
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
    >>> ac.distributions.Kumaraswamy(1.0, 3.0).mean
    tensor(0.2500)
    """

    def _moment(self, n: int) -> Tensor:
        b = self.concentration0
        return b * lbeta(1 + n / self.concentration1, b).exp()

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """The most probable value.

        It is NaN if a or b is less than 1, or if both are 1.
        """
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1) & (a * b > 1)
        c = where(inside, a, a * 0 + 2)
        d = where(inside, b, b * 0 + 2)
        value = ((c - 1) / (c * d - 1)) ** (1 / c)
        return where(inside, value, value * math.nan)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._moment(2) - self._moment(1) ** 2

    def _quantile(self, u: Tensor) -> Tensor:
        share = -((-u).log1p() / self.concentration0).expm1()
        return share ** (1 / self.concentration1)

    def _drawn(self, u: Tensor) -> Tensor:
        return inside_unit(self._quantile(u))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        x = self._checked("log_prob", value)
        a, b = self.concentration1, self.concentration0
        rest = -(a * x.log()).expm1()  # 1 - x^a, which x near 1 would lose
        return (a * b).log() + weighed_log(a - 1, x) + weighed_log(b - 1, rest)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        power = self._checked("cdf", value) ** self.concentration1
        return -(self.concentration0 * (-power).log1p()).expm1()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        a, b = self.concentration1, self.concentration0
        harmonic = digamma(b + 1) + _EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - (a * b).log()
