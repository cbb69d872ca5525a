# SPDX-License-Identifier: MIT
"""The formulas of `kl_divergence`."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.creation.like import full_like, ones_like
from autocalc._ops.elementwise.exponential import weighed_log
from autocalc._ops.indexing.masking import where
from autocalc._ops.matrices.linear_systems import solve
from autocalc._ops.views.broadcasting import broadcast_tensors, broadcast_to
from autocalc.distributions._by_powers import Pareto
from autocalc.distributions._by_quantiles import (
    Cauchy,
    Exponential,
    Gumbel,
    Laplace,
    Uniform,
)
from autocalc.distributions._categorical import Categorical
from autocalc.distributions._counted import weighed
from autocalc.distributions._exponential_family import (
    ExponentialFamily,
    bregman_divergence,
)
from autocalc.distributions._gamma import Beta, Dirichlet, Gamma
from autocalc.distributions._independent import Independent, summed
from autocalc.distributions._multivariate_normal import MultivariateNormal
from autocalc.distributions._normal import HalfNormal, LogNormal, Normal
from autocalc.distributions._special import digamma, lbeta, lgamma
from autocalc.distributions._transformed import TransformedDistribution
from autocalc.distributions._yes_or_no import Bernoulli, Geometric
from autocalc.distributions.kl import kl_divergence, no_formula, register_kl
from autocalc.errors import NoFormulaError, ShapeError

_EULER = 0.5772156649015329
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def _infinite(p: Any, q: Any) -> Any:
    """Return infinity: p has values that q does not have."""
    return full_like(broadcast_tensors(p.mean, q.mean)[0], math.inf)


for _p, _others in {
    Exponential: (Beta, Uniform),
    Gamma: (Beta, Uniform),
    Gumbel: (Beta, Exponential, Gamma, Uniform),
    Laplace: (Beta, Exponential, Gamma, Uniform),
    Normal: (Beta, Exponential, Gamma, Uniform),
}.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)


def _unless(outside: Any, value: Any) -> Any:
    """Return `value`, and infinity where p has values that q does not have."""
    return where(outside, full_like(value, math.inf), value)


def _cross(p: Any, negative_log: Any) -> Any:
    """Return the mean of -log q over p less p's entropy."""
    return negative_log - p.entropy()


def _second_moment(p: Any, center: Any) -> Any:
    return p.variance + (p.mean - center) ** 2


# ---- of one family -------------------------------------------------------------------


@register_kl(ExponentialFamily, ExponentialFamily)
def _of_exponential_families(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        no_formula(type(p), type(q))
    return bregman_divergence(p, q)


@register_kl(Normal, Normal)
def _(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    away = ((p.loc - q.loc) / q.scale) ** 2
    return 0.5 * (ratio + away - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _(p: Any, q: Any) -> Any:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _(p: Any, q: Any) -> Any:
    outside = (q.low > p.low) | (q.high < p.high)
    return _unless(outside, ((q.high - q.low) / (p.high - p.low)).log())


@register_kl(Exponential, Exponential)
def _(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _(p: Any, q: Any) -> Any:
    top = (p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2
    return (top / (4 * p.scale * q.scale)).log()


@register_kl(Gumbel, Gumbel)
def _(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    away = (q.loc - p.loc) / q.scale
    tail = (away + lgamma(1 + ratio)).exp()
    return -ratio.log() - away + ratio * _EULER + tail - (1 + _EULER)


@register_kl(Gamma, Gamma)
def _(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    ratio = (p.rate / q.rate).log()
    mean = (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)
    return b * ratio + lgamma(b) - lgamma(a) + mean


@register_kl(Beta, Beta)
def _(p: Any, q: Any) -> Any:
    a, b = p.concentration1, p.concentration0
    c, d = q.concentration1, q.concentration0
    mean = (a - c) * digamma(a) + (b - d) * digamma(b)
    return lbeta(c, d) - lbeta(a, b) + mean + (c + d - a - b) * digamma(a + b)


@register_kl(Dirichlet, Dirichlet)
def _(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    n = a.sum(-1)
    mean = ((a - b) * (digamma(a) - digamma(n).unsqueeze(-1))).sum(-1)
    log = (lgamma(a) - lgamma(b)).sum(-1)
    return lgamma(n) - lgamma(b.sum(-1)) - log + mean


@register_kl(Bernoulli, Bernoulli)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - q._log_of(p.probs, p._rest)


@register_kl(Geometric, Geometric)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - q._log_of(ones_like(p.mean), p.mean)


@register_kl(Categorical, Categorical)
def _(p: Any, q: Any) -> Any:
    return -p.entropy() - weighed(p.probs, q.logits).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ShapeError(
            f"kl_divergence: vectors of {p.event_shape} and {q.event_shape}; both "
            "distributions must have vectors of the same size."
        )
    away = (q.loc - p.loc).unsqueeze(-1)
    tril, other = broadcast_tensors(
        p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    )
    ratio = solve(other, tril)
    away = solve(broadcast_to(other, (*away.shape[:-2], *other.shape[-2:])), away)
    squares = (ratio**2).sum((-2, -1)) + (away**2).sum((-2, -1))
    log = q.half_log_det() - p.half_log_det()
    return log + 0.5 * (squares - p.event_shape[0])


@register_kl(Independent, Independent)
def _(p: Any, q: Any) -> Any:
    ndims = p.reinterpreted_batch_ndims
    if ndims != q.reinterpreted_batch_ndims:
        raise ShapeError(
            f"kl_divergence: values with {ndims} and {q.reinterpreted_batch_ndims} "
            "reinterpreted batch dimensions; both distributions must have the same "
            "number."
        )
    return summed(kl_divergence(p.base_dist, q.base_dist), ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NoFormulaError(
            f"kl_divergence: the transforms are {p.transforms} and {q.transforms}; "
            "there is a formula only for equal transforms."
        )
    return kl_divergence(p.base_dist, q.base_dist)


# ---- of two families: the mean of -log q, less the entropy ---------------------------


@register_kl(Beta, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Uniform, Exponential)
def _to_exponential(p: Any, q: Any) -> Any:
    value = _cross(p, q.rate * p.mean - q.rate.log())
    return _unless(p.low < 0, value) if isinstance(p, Uniform) else value


@register_kl(Beta, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Any) -> Any:
    squares = _second_moment(p, q.loc) / (2 * q.scale**2)
    return _cross(p, squares + q.scale.log() + _LOG_ROOT)


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
@register_kl(Uniform, Gamma)
def _to_gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    log = lgamma(a) - a * q.rate.log() - (a - 1) * _mean_log(p) + q.rate * p.mean
    value = _cross(p, log)
    return _unless(p.low < 0, value) if isinstance(p, Uniform) else value


def _mean_log(p: Any) -> Any:
    """Return the mean of log x over p."""
    if isinstance(p, Beta):
        return digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -_EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    high, low = (weighed_log(end, end) for end in (p.high, p.low))
    return (high - low) / (p.high - p.low) - 1


@register_kl(Beta, Uniform)
def _(p: Any, q: Any) -> Any:
    return _unless((q.low > 0) | (q.high < 1), _cross(p, (q.high - q.low).log()))


@register_kl(Uniform, Beta)
def _(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    mirrored = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    log = lbeta(a, b) - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(mirrored)
    return _unless((p.low < 0) | (p.high > 1), _cross(p, log))


@register_kl(Normal, Laplace)
def _(p: Any, q: Any) -> Any:
    away = p.loc - q.loc
    ratio = away / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio**2).exp()
    distance = near + away * (ratio / math.sqrt(2)).erf()
    return _cross(p, (2 * q.scale).log() + distance / q.scale)


@register_kl(Exponential, Gumbel)
@register_kl(Gamma, Gumbel)
@register_kl(Normal, Gumbel)
@register_kl(Uniform, Gumbel)
def _to_gumbel(p: Any, q: Any) -> Any:
    tail = (q.loc / q.scale).exp() * _mean_exp(p, 1 / q.scale)
    return _cross(p, (p.mean - q.loc) / q.scale + tail + q.scale.log())


def _mean_exp(p: Any, t: Any) -> Any:
    """Return the mean of exp(-t x) over p."""
    if isinstance(p, Normal):
        return (-t * p.loc + 0.5 * (t * p.scale) ** 2).exp()
    if isinstance(p, Uniform):
        width = t * (p.high - p.low)
        return -(-t * p.low).exp() * (-width).expm1() / width
    shape = p.concentration if isinstance(p, Gamma) else 1.0
    return (1 + t / p.rate) ** -shape
