# SPDX-License-Identifier: MIT
"""The formulas of `kl_divergence` for Pareto's and the continuous Bernoulli.

They, and those of other distributions with powers, have ends; p that goes beyond q's
is infinitely far.
"""

from __future__ import annotations

from typing import Any

from autocalc.distributions._by_powers import Pareto, Weibull
from autocalc.distributions._by_quantiles import (
    _EULER,
    Exponential,
    Gumbel,
    HalfCauchy,
    Laplace,
    Uniform,
)
from autocalc.distributions._continuous_bernoulli import (
    ContinuousBernoulli,
    log_normalizer,
)
from autocalc.distributions._counted import weighed
from autocalc.distributions._divergences import (
    _cross,
    _infinite,
    _mean_log,
    _to_exponential,
    _to_gamma,
    _to_normal,
    _unless,
)
from autocalc.distributions._from_gamma import InverseGamma
from autocalc.distributions._gamma import Beta, Gamma
from autocalc.distributions._normal import Normal
from autocalc.distributions._special import lgamma
from autocalc.distributions.kl import kl_divergence, register_kl

_INFINITELY_FAR: list[tuple[type, type]] = [
    (Beta, Pareto),
    (ContinuousBernoulli, Pareto),
    (Pareto, Beta),
    (Pareto, ContinuousBernoulli),
    (Pareto, Uniform),
    *((p, Pareto) for p in (Exponential, Gamma, Gumbel, Laplace, Normal)),
    *((p, ContinuousBernoulli) for p in (Exponential, Gamma, Gumbel, Laplace, Normal)),
]
for _p, _q in _INFINITELY_FAR:
    register_kl(_p, _q)(_infinite)
register_kl(Pareto, Exponential)(_to_exponential)
register_kl(ContinuousBernoulli, Exponential)(_to_exponential)
register_kl(Pareto, Normal)(_to_normal)
register_kl(ContinuousBernoulli, Normal)(_to_normal)
register_kl(Pareto, Gamma)(_to_gamma)


@register_kl(Pareto, Pareto)
@register_kl(Uniform, Pareto)
def _(p: Any, q: Any) -> Any:
    a = q.alpha
    log = (a + 1) * _mean_log(p) - a.log() - a * q.scale.log()
    least = p.low if isinstance(p, Uniform) else p.scale
    return _unless(least < q.scale, _cross(p, log))


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _(p: Any, q: Any) -> Any:
    value = _cross(p, log_normalizer(q.logits) - weighed(p.mean, q.logits))
    if isinstance(p, Uniform):
        return _unless((p.low < 0) | (p.high > 1), value)
    return value


@register_kl(ContinuousBernoulli, Uniform)
def _(p: Any, q: Any) -> Any:
    return _unless((q.low > 0) | (q.high < 1), _cross(p, (q.high - q.low).log()))


@register_kl(HalfCauchy, HalfCauchy)
def _(p: Any, q: Any) -> Any:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(InverseGamma, InverseGamma)
def _(p: Any, q: Any) -> Any:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Weibull, Weibull)
def _(p: Any, q: Any) -> Any:
    ratio = q.concentration / p.concentration
    mean_log = p.scale.log() - _EULER / p.concentration
    power = (q.concentration * (p.scale / q.scale).log() + lgamma(1 + ratio)).exp()
    k = q.concentration
    return _cross(p, power + k * q.scale.log() - k.log() - (k - 1) * mean_log)
