# SPDX-License-Identifier: MIT
"""Counts drawn from the Poisson and the binomial distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.device import whole
from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import cast, same_dtype
from autocalc._ops.creation.like import full_like
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise.gamma_functions import lgamma
from autocalc._ops.indexing.masking import where
from autocalc._ops.random.random_draws import rand
from autocalc._ops.views.broadcasting import expand
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.generator import Generator, chosen, drawn_for_all
from autocalc.errors import ArgumentError

#: Smaller means are drawn by counting arrivals one by one, larger ones by rejection.
_LARGE = 10.0


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return counts drawn from Poisson distributions whose means are `input`.

    A count k has the probability mean^k exp(-mean) / k!, where mean is the element of
    `input`.  The result has no gradient.

    Parameters
    ----------
    input
        The means, a floating-point tensor of any shape; its elements are finite and 0
        or more.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.

    Returns
    -------
    Tensor
        Whole numbers, in a tensor with the shape and dtype of `input`.

    Raises
    ------
    DTypeError
        If `input` is not a floating-point tensor.
    ArgumentError
        If a mean is negative, infinite or NaN.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.poisson(ac.tensor([0.0, 4.0])).shape
    autocalc.Size([2])
    """
    check_float("poisson", input)
    rate = input.detach()
    right = (rate >= 0) & (rate < math.inf)
    _check_all("poisson", "input", rate, right, "finite means of 0 or more")
    return arrivals(rate, chosen("poisson", generator))


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Return how many of `count` trials succeed, each with probability `prob`.

    With p = `prob`, the number k of successes has the probability
    count! / (k! (count - k)!) p^k (1 - p)^(count - k).  The result has no gradient.

    Parameters
    ----------
    count
        The numbers of trials, a floating-point tensor; its elements are finite and 0 or
        more.
    prob
        The probabilities between 0 and 1, a tensor of the same dtype; shapes are
        broadcast.
    generator
        The generator of the random numbers; None is the generator that `manual_seed`
        seeds.

    Returns
    -------
    Tensor
        Whole numbers, in a tensor with the dtype of `prob`.

    Raises
    ------
    DTypeError
        If an operand is not a floating-point tensor, or their dtypes differ.
    ArgumentError
        If a number of trials is negative, infinite or NaN, or a probability is not
        between 0 and 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.binomial(ac.tensor([5.0, 5.0]), ac.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    check_float("binomial", count, prob)
    n, p = same_dtype("binomial", count.detach(), prob.detach())
    right = (n >= 0) & (n < math.inf)
    _check_all("binomial", "count", n, right, "finite numbers of 0 or more")
    right = (p >= 0) & (p <= 1)
    _check_all("binomial", "prob", p, right, "probabilities from 0 to 1")
    shape = broadcast_shapes("binomial", n.shape, p.shape)
    source = chosen("binomial", generator)
    return successes(expand(n, shape), expand(p, shape), source)


def _check_all(where: str, name: str, x: Tensor, right: Any, wanted: str) -> None:
    bad = ~whole(right._array)
    if bad.any():
        found = whole(x._array)[bad][0].item()
        message = f"{where}: `{name}` holds {found:g}; it must hold {wanted}."
        raise ArgumentError(message)


def arrivals(rate: Any, generator: Generator | None = None) -> Tensor:
    """Return the number of arrivals in a time in which `rate` are expected."""
    drawn: Tensor = drawn_for_all(generator, _arrivals, rate)
    return drawn


def _arrivals(generator: Generator, rate: Any) -> Any:
    with no_grad():
        wide = rate.double()
        many = (wide >= _LARGE) & (wide < math.inf)
        few = (wide >= 0) & (wide < _LARGE)
        result: Any = full_like(wide, math.nan)
        result = result.masked_scatter(few, _few(wide[few], generator))
        drawn = until_taken(_many, wide[many], generator=generator)
        result = result.masked_scatter(many, drawn)
        return cast(result, rate.dtype)


def successes(count: Any, probs: Any, generator: Generator | None = None) -> Tensor:
    """Return the number of successes of probability `probs` in `count` trials."""
    drawn: Tensor = drawn_for_all(generator, _successes, count, probs)
    return drawn


def _successes(generator: Generator, count: Any, probs: Any) -> Any:
    with no_grad():
        n, p = count.double(), probs.double()
        mirrored = p > 0.5
        p = where(mirrored, 1 - p, p)
        possible = (n >= 0) & (n < math.inf) & (p >= 0)
        many = possible & (n * p >= _LARGE)
        few = possible & ~many
        result = full_like(n, math.nan)
        drawn = _few_successes(n[few], p[few], generator)
        result = result.masked_scatter(few, drawn)
        drawn = until_taken(_many_successes, n[many], p[many], generator=generator)
        result = result.masked_scatter(many, drawn)
        return cast(where(mirrored, n - result, result), probs.dtype)


def positive_unit(shape: tuple[int, ...], generator: Generator | None = None) -> Any:
    """Return numbers drawn from (0, 1], float64."""
    return 1 - rand(shape, dtype=dtypes.float64, generator=generator)


def _few(rate: Any, generator: Any) -> Any:
    return _gaps_below(rate, lambda: _exponential(rate.shape, generator))


def _few_successes(n: Any, p: Any, generator: Any) -> Any:
    return _gaps_below(n + 0.5, lambda: _geometric(p, generator))


def _exponential(shape: tuple[int, ...], generator: Any) -> Any:
    return -positive_unit(shape, generator).log()


def _geometric(p: Any, generator: Any) -> Any:
    """Return the number of trials up to the first success."""
    return (positive_unit(p.shape, generator).log() / (-p).log1p()).floor() + 1


def _gaps_below(limit: Any, gap: Callable[[], Any]) -> Any:
    """Return the number of partial sums of gaps that stay below the limit."""
    count = limit * 0
    time = gap()
    while (time < limit).any():
        count = count + (time < limit).to(count.dtype)
        time = time + gap()
    return count


def until_taken(
    attempt: Callable[..., Any], *parameters: Any, generator: Generator | None = None
) -> Any:
    """Draw by `attempt` for 1-d parameters; draw rejected elements again."""
    result = full_like(parameters[0], math.nan)
    left = arange(result.numel())
    while left.numel():
        drawn, taken = attempt(*(p[left] for p in parameters), generator)
        result = result.scatter(0, left[taken], drawn[taken])
        left = left[~taken]
    return result


def _many(rate: Any, generator: Any) -> Any:
    """Draw with the constants of Hoermann's PTRS."""
    b = 0.931 + 2.53 * rate.sqrt()
    a = -0.059 + 0.02483 * b
    k, edge, v = _transformed(a, b, rate + 0.43, generator)
    height = 1.1239 + 1.1328 / (b - 3.4)
    possible = k >= 0
    k = where(possible, k, k * 0)
    log = k * rate.log() - rate - lgamma(k + 1)
    under = (v * height / (a / edge**2 + b)).log() <= log
    sure = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    return k, possible & (under | sure)


def _many_successes(n: Any, p: Any, generator: Any) -> Any:
    """Draw with the constants of Hoermann's BTRS."""
    root = (n * p * (1 - p)).sqrt()
    b = 1.15 + 2.53 * root
    a = -0.0873 + 0.0248 * b + 0.01 * p
    k, edge, v = _transformed(a, b, n * p + 0.5, generator)
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


def _transformed(a: Any, b: Any, center: Any, generator: Any) -> Any:
    """Return proposed counts, the distance of u from its ends, and v for the decision.

    Hoermann, "The transformed rejection method for generating Poisson random
    variables", Insurance: Mathematics and Economics 12 (1993); "The generation of
    binomial random variates", Journal of Statistical Computation and Simulation 46
    (1993).  Three in four proposals are accepted at once.
    """
    u = rand(a.shape, dtype=dtypes.float64, generator=generator) - 0.5
    edge = (0.5 - u.abs()).clamp(min=2.0**-54)
    k = ((2 * a / edge + b) * u + center).floor()
    return k, edge, positive_unit(a.shape, generator)
