# SPDX-License-Identifier: MIT
"""Counts drawn from Poisson's and the binomial distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.made_like import full_like
from autocalc._ops.masking import where
from autocalc._ops.random_draws import rand
from autocalc._ops.ranges import arange
from autocalc.distributions._draws import _float64, _positive_unit
from autocalc.distributions._special import lgamma

#: Means below are counted arrival by arrival; above, drawn by rejection.
_LARGE = 10.0


def poisson(rate: Any) -> Any:
    """Return numbers of arrivals in a time in which `rate` are expected."""
    with no_grad():
        wide = rate.double()
        many = (wide >= _LARGE) & (wide < math.inf)
        few = (wide >= 0) & (wide < _LARGE)
        result = full_like(wide, math.nan)
        result = result.masked_scatter(few, _few(wide[few]))
        result = result.masked_scatter(many, until_taken(_many, wide[many]))
        return result.to(rate.dtype)


def binomial(count: Any, probs: Any) -> Any:
    """Return numbers of successes of probability `probs` in `count` trials."""
    with no_grad():
        n, p = count.double(), probs.double()
        mirrored = p > 0.5
        p = where(mirrored, 1 - p, p)
        possible = (n >= 0) & (n < math.inf) & (p >= 0)
        many = possible & (n * p >= _LARGE)
        few = possible & ~many
        result = full_like(n, math.nan)
        result = result.masked_scatter(few, _few_successes(n[few], p[few]))
        drawn = until_taken(_many_successes, n[many], p[many])
        result = result.masked_scatter(many, drawn)
        return where(mirrored, n - result, result).to(probs.dtype)


def _few(rate: Any) -> Any:
    return _arrivals(rate, lambda: _exponential(rate.shape))


def _few_successes(n: Any, p: Any) -> Any:
    return _arrivals(n + 0.5, lambda: _geometric(p))


def _exponential(shape: tuple[int, ...]) -> Any:
    return -_positive_unit(shape).log()


def _geometric(p: Any) -> Any:
    """Return how many trials there are up to the first success."""
    return (_positive_unit(p.shape).log() / (-p).log1p()).floor() + 1


def _arrivals(limit: Any, gap: Callable[[], Any]) -> Any:
    """Return how many sums of gaps stay below the limit."""
    count = limit * 0
    time = gap()
    while (time < limit).any():
        count = count + (time < limit).to(count.dtype)
        time = time + gap()
    return count


def until_taken(attempt: Callable[..., Any], *parameters: Any) -> Any:
    """Return what `attempt` draws for 1-d parameters, again where it is not taken."""
    result = full_like(parameters[0], math.nan)
    left = arange(result.numel())
    while left.numel():
        drawn, taken = attempt(*(p[left] for p in parameters))
        result = result.scatter(0, left[taken], drawn[taken])
        left = left[~taken]
    return result


def _many(rate: Any) -> Any:
    """Draw with the constants of Hoermann's PTRS."""
    b = 0.931 + 2.53 * rate.sqrt()
    a = -0.059 + 0.02483 * b
    k, edge, v = _transformed(a, b, rate + 0.43)
    height = 1.1239 + 1.1328 / (b - 3.4)
    possible = k >= 0
    k = where(possible, k, k * 0)
    log = k * rate.log() - rate - lgamma(k + 1)
    under = (v * height / (a / edge**2 + b)).log() <= log
    sure = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    return k, possible & (under | sure)


def _many_successes(n: Any, p: Any) -> Any:
    """Draw with the constants of Hoermann's BTRS."""
    root = (n * p * (1 - p)).sqrt()
    b = 1.15 + 2.53 * root
    a = -0.0873 + 0.0248 * b + 0.01 * p
    k, edge, v = _transformed(a, b, n * p + 0.5)
    height = (2.83 + 5.1 / b) * root
    possible = (k >= 0) & (k <= n)
    mode = ((n + 1) * p).floor()
    k = where(possible, k, mode)
    odds = p.log() - (-p).log1p()
    log = _log_ways(n, k) - _log_ways(n, mode) + (k - mode) * odds
    under = (v * height / (a / edge**2 + b)).log() <= log
    sure = (edge >= 0.07) & (v <= 0.92 - 4.2 / b)
    return k, possible & (under | sure)


def _log_ways(n: Any, k: Any) -> Any:
    return -lgamma(k + 1) - lgamma(n - k + 1)


def _transformed(a: Any, b: Any, center: Any) -> Any:
    """Return proposed counts, how far u is from its ends, and v, for the decision.

    Hoermann, "The transformed rejection method for generating Poisson random
    variables", Insurance: Mathematics and Economics 12 (1993); "The generation of
    binomial random variates", Journal of Statistical Computation and Simulation 46
    (1993).  Three in four are taken at once.
    """
    u = rand(a.shape, dtype=_float64()) - 0.5
    edge = (0.5 - u.abs()).clamp(min=2.0**-54)
    k = ((2 * a / edge + b) * u + center).floor()
    return k, edge, _positive_unit(a.shape)
