# SPDX-License-Identifier: MIT
"""The continuous Bernoulli distribution, of numbers from 0 to 1."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.indexing.masking import where
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, sequence
from autocalc.distributions import constraints
from autocalc.distributions._by_quantiles import _ByQuantiles
from autocalc.distributions._counted import finite
from autocalc.distributions._exponential_family import ExponentialFamily
from autocalc.distributions._yes_or_no import _YesOrNo
from autocalc.errors import ArgumentError

#: Bernoulli's numbers B_2, B_4, ..., which the series of moments are made of.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
#: Below, moments come from their series, above it from formulas that keep 14 digits.
_SMALL = 0.5
#: Below, so do the cdf and its inverse, whose formulas' slopes keep 13 digits above.
_TINY = 1e-3


class ContinuousBernoulli(_YesOrNo, _ByQuantiles, ExponentialFamily):
    """Continuous Bernoulli distribution: density proportional to p^x (1 - p)^(1 - x).

    x is a number from 0 to 1.

    Parameters
    ----------
    probs
        The parameter p, between 0 and 1; a tensor or a number.  Give either `probs` or
        `logits`.
    logits
        The log-odds log(p / (1 - p)); a tensor or a number.
    lims
        Two numbers from 0 to 1.  PyTorch approximates the formulas if p is between
        them.  Here they have no effect, because the formulas are accurate for every p.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint, if not exactly one of `probs` and
        `logits` is given, or if `lims` are not two increasing numbers from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.ContinuousBernoulli(0.5).variance
    tensor(0.0833)
    """

    support = constraints.unit_interval

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        _check_limits(lims)
        super().__init__(probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return _mean(self.logits)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return _variance(finite(self.logits))

    def _quantile(self, u: Tensor) -> Tensor:
        return _inverse(self.logits, u)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        value = self._as_given(self._checked("log_prob", value))
        logits = finite(self.logits)
        usual = value * logits - log_normalizer(logits)
        endless = where(value == self.probs, math.inf, -math.inf).to(usual.dtype)
        return where(self.logits.isinf(), endless, usual)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        return _share(self.logits, self._checked("cdf", value)).clamp(0, 1)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        less = -finite(self.logits).abs()  # that of 1 - p is the same
        usual = log_normalizer(less) - less * _mean(less)
        return where(self.logits.isinf(), -math.inf, usual)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return log_normalizer(natural_params[0])

    _mean_carrier_measure = 0


def _check_limits(lims: Any) -> None:
    where = "ContinuousBernoulli"
    found = [number(where, "lims", x) for x in sequence(where, "lims", lims)]
    if len(found) != 2 or not 0 <= found[0] <= found[1] <= 1:
        raise ArgumentError(
            f"{where}: `lims` is {lims}; it must be two numbers between 0 and 1, the "
            "lower one first."
        )


def log_normalizer(logits: Tensor) -> Tensor:
    """Return log((exp(l) - 1) / l), the logarithm of the integral of exp(l x)."""
    l, small, s = _split(logits, _SMALL)  # noqa: E741
    series = l / 2 + _series(l, lambda k: 1 / (2 * k), 0)
    closed = l.clamp(min=0) + (-(-s).expm1() / s).log()
    return where(small, series, closed).to(logits.dtype)


def _mean(logits: Tensor) -> Tensor:
    """Return the slope of `log_normalizer`."""
    l, small, s = _split(logits, _SMALL)  # noqa: E741
    series = 0.5 + _series(l, lambda k: 1.0, 1)
    closed = -1 / (-s).expm1() - 1 / s
    closed = where(l > 0, closed, 1 - closed)
    return where(small, series, closed).to(logits.dtype)


def _variance(logits: Tensor) -> Tensor:
    """Return the slope of the mean."""
    l, small, s = _split(logits, _SMALL)  # noqa: E741
    series = _series(l, lambda k: 2.0 * k - 1, 2)
    closed = (1 / s) ** 2 - (-s).exp() / (-s).expm1() ** 2
    return where(small, series, closed).to(logits.dtype)


def _split(logits: Any, limit: float) -> Any:
    """Return wide logits, where they are small, and their size where they are not."""
    wide = logits.double()
    small = wide.abs() < limit
    return wide, small, where(small, wide * 0 + 1, wide).abs()


def _series(l: Any, factor: Any, less: int) -> Any:  # noqa: E741
    """Return the sum of B_2k / (2k)! factor(k) l^(2k - less) for k from 1 on."""
    near = l.clamp(-_SMALL, _SMALL)
    total = near * 0
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b / math.factorial(2 * k) * factor(k) * near ** (2 * k - less)
    return total


def _share(logits: Tensor, x: Tensor) -> Tensor:
    """Return (exp(l x) - 1) / (exp(l) - 1)."""
    l, small, s = _split(logits, _TINY)  # noqa: E741
    wide = x.double()
    more = (2 * wide - 1) / 12 + l * wide * (wide - 1) / 24
    series = wide + wide * (wide - 1) * l * (0.5 + l * more)
    rising = l > 0
    closed = (-s * where(rising, 1 - wide, wide)).expm1() / (-s).expm1()
    closed = where(rising, 1 - closed, closed)
    return where(small, series, closed).to(x.dtype)


def _inverse(logits: Tensor, u: Tensor) -> Tensor:
    """Return log(1 + u (exp(l) - 1)) / l; its series are Bernoulli's cumulants."""
    l, small, s = _split(logits, _TINY)  # noqa: E741
    wide = u.double()
    both = wide * (1 - wide)
    more = (1 - 2 * wide) / 6 + l * (1 - 6 * both) / 24
    series = wide + both * l * (0.5 + l * more)
    rising = l > 0
    closed = -(where(rising, 1 - wide, wide) * (-s).expm1()).log1p() / s
    closed = where(rising, 1 - closed, closed)
    return where(small, series, closed).to(u.dtype)
