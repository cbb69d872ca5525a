# SPDX-License-Identifier: MIT
"""The formulas of `kl_divergence` for counts."""

from __future__ import annotations

from typing import Any

from autocalc._ops.elementwise.clamping import minimum
from autocalc._ops.elementwise.exponential import weighed_log
from autocalc.distributions._counts import Binomial, Poisson, log_choose
from autocalc.distributions._divergences import _infinite, _unless
from autocalc.distributions._special import xlogx
from autocalc.distributions._yes_or_no import Bernoulli
from autocalc.distributions.kl import register_kl

register_kl(Poisson, Bernoulli)(_infinite)
register_kl(Poisson, Binomial)(_infinite)


@register_kl(Poisson, Poisson)
def _(p: Any, q: Any) -> Any:
    return xlogx(p.rate) - weighed_log(p.rate, q.rate) - (p.rate - q.rate)


@register_kl(Bernoulli, Poisson)
def _(p: Any, q: Any) -> Any:
    return q.rate - weighed_log(p.probs, q.rate) - p.entropy()


@register_kl(Binomial, Binomial)
def _(p: Any, q: Any) -> Any:
    """Return n KL(Bernoulli) and, where q counts more, the mean of log C(n) / C(m)."""
    n, m = p.total_count, q.total_count
    value = -n * p._entropy_of_one() - q._log_of(n * p.probs, m - n * p.probs)
    if not (n == m).all():
        most = minimum(n, m)

        def ways(k: Any) -> Any:
            least = minimum(k, most)
            return log_choose(n, least) - log_choose(m, least)

        value = value + p._expectation(ways)
    return _unless(n > m, value)
