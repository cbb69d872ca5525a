# SPDX-License-Identifier: MIT
"""The logistic loss for logits of two classes, and its slope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.activations._formulas import sigmoid
from autocalc._kernels.budgets import Inputs, Limits, magnitude, smallest, ulp
from autocalc._kernels.cases import floats, mebi, uniform
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.samples import BROADCAST, LARGE, TAILS, Make
from autocalc._kernels.spec import Array, Attributes, Sample


def _samples(make: Make) -> Iterator[Sample]:
    for n in (*TAILS, LARGE):
        share, label = make.unit(n), "large" if n == LARGE else f"n={n}"
        yield Sample(label, (make.normal(n, scale=4.0), share, 1 - share))
    for left, right in BROADCAST:
        inputs = make.normal(*left), make.unit(*right), make.unit(*right)
        yield Sample(f"broadcast {left} with {right}", inputs)
    special = make.special()
    for yes, no in ((0, 1), (1, 0), (0.5, 0.5), (0, 0)):
        inputs = special, make.scalar(yes), make.scalar(no)
        yield Sample(f"special, {yes} and {no}", inputs)
    yield Sample("any size", (make.any_size(999), make.unit(999), make.unit(999)))


@elementwise(
    "yes * log(1 + exp(-a)) + no * log(1 + exp(a)); a term with a factor of 0 is 0.",
    kind="composite",
    budget=None,
    flops=30,
    samples=_samples,
    benchmarks=mebi(floats, uniform, uniform),
)
def logistic_loss(xp: Any, a: Array, yes: Array, no: Array) -> Array:
    w, total = wide(xp, a), 0.0
    bend = xp.log1p(xp.exp(-xp.absolute(w)))
    for share, x in ((yes, -w), (no, w)):
        part = wide(xp, share) * (xp.maximum(x, 0) + bend)
        total = total + xp.where((share == 0) & ~xp.isnan(x), 0.0, part)
    return narrow(total, a)


# The decomposition has its own algorithm, because a formula with |a| has no second
# derivative at 0.
@logistic_loss.decomposition(lead="exp")
def _(k: Any, a: Array, yes: Array, no: Array) -> Array:
    of_yes = k.weigh(yes, k.softplus(k.neg(a), 1.0, 1e30))
    return k.add(of_yes, k.weigh(no, k.softplus(a, 1.0, 1e30)))


@logistic_loss.budget("ULP + 8 eps (|yes| log(1 + exp(-a)) + |no| log(1 + exp(a)))")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, yes, no = (np.asarray(x, np.float64) for x in inputs)
    a = np.nan_to_num(a)
    sizes = magnitude(yes) * np.logaddexp(0, -a) + magnitude(no) * np.logaddexp(0, a)
    room = 8 * (eps * sizes + (magnitude(yes) + magnitude(no)) * smallest(eps))
    return [np.nan_to_num(room) + ulp(expected[0], eps)]


@elementwise(
    "no / (1 + exp(-a)) - yes / (1 + exp(a)): the derivative of logistic_loss with "
    "respect to a.",
    kind="composite",
    budget=None,
    flops=20,
    samples=_samples,
    benchmarks=mebi(floats, uniform, uniform),
)
def logistic_slope(xp: Any, a: Array, yes: Array, no: Array) -> Array:
    w = wide(xp, a)
    of_no = wide(xp, no) * sigmoid_of(xp, w)
    return narrow(of_no - wide(xp, yes) * sigmoid_of(xp, -w), a)


# The decomposition has its own algorithm for the same reason.
@logistic_slope.decomposition(lead="exp")
def _(k: Any, a: Array, yes: Array, no: Array) -> Array:
    of_yes = k.mul(yes, k.sigmoid(k.neg(a)))
    return k.add(k.mul(no, k.sigmoid(a)), k.neg(of_yes))


@logistic_slope.budget("ULP + 8 eps (|yes| / (1 + exp(a)) + |no| / (1 + exp(-a)))")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    a, yes, no = (np.asarray(x, np.float64) for x in inputs)
    a = np.nan_to_num(a)
    sizes = magnitude(yes) * sigmoid(-a) + magnitude(no) * sigmoid(a)
    room = 8 * (eps * sizes + (magnitude(yes) + magnitude(no)) * smallest(eps))
    return [room + ulp(expected[0], eps)]
