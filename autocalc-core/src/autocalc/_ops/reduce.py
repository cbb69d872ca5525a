# SPDX-License-Identifier: MIT
"""Reductions over any dimensions, and softmax along one."""

from __future__ import annotations

import builtins
import math
from typing import Any

from autocalc._ops._op import Operator, nary


def spread(k: Any, g: Any, shape: Any, axes: Any, keepdim: bool) -> Any:
    """Return `g`, or what stands beside it, with the reduced dimensions as 1."""
    if keepdim:
        return g
    return k.reshape(g, tuple(1 if i in axes else n for i, n in enumerate(shape)))


sum = nary("sum")


@sum.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axes, keepdim = n.attributes
    shape = n.shapes[0]
    return k.expand(spread(k, g, shape, axes, keepdim), shape)


mean = nary("mean")


@mean.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axes, keepdim = n.attributes
    shape = n.shapes[0]
    share = k.mul(g, k.constant(1.0 / count(shape, axes), g))
    return k.expand(spread(k, share, shape, axes, keepdim), shape)


def count(shape: Any, axes: Any) -> int:
    """Return how many elements each result of a reduction is made of, at least 1."""
    result = 1
    for axis in axes:
        result *= shape[axis]
    return builtins.max(result, 1)


var = nary("var", saves="mean a")


@var.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    r"""D var / d x = 2 (x - mean) / (n - correction)."""
    mean_of, a = n.saved
    axes, keepdim, correction = n.attributes
    shape = n.shapes[0]
    if k.records:  # the kept mean has no history
        mean_of = k.mean(a, axes, keepdim)
    freedom = count(shape, axes) - correction
    scale = 2.0 / freedom if freedom > 0 else math.inf
    g = spread(k, k.mul(g, k.constant(scale, g)), shape, axes, keepdim)
    return k.mul(g, k.sub(a, spread(k, mean_of, shape, axes, keepdim)))


def _extremum(name: str) -> Operator:
    """Make max or min over dimensions; equal elements share g evenly."""
    operator = nary(name, saves="out a")

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        y, a = n.saved
        axes, keepdim = n.attributes
        shape = n.shapes[0]
        mask = k.compare(a, spread(k, y, shape, axes, keepdim), "eq")
        ones = k.where(mask, k.constant(1, g), k.constant(0, g))
        share = k.div(spread(k, g, shape, axes, keepdim), k.sum(ones, axes, True))
        return k.mul(ones, share)

    return operator


max = _extremum("max")
min = _extremum("min")

argmax = nary("argmax", differentiable=False)

logsumexp = nary("logsumexp", saves="out a")


@logsumexp.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    y, a = n.saved
    axes, keepdim = n.attributes
    shape = n.shapes[0]
    y = spread(k, y, shape, axes, keepdim)
    return k.mul(spread(k, g, shape, axes, keepdim), k.exp(k.sub(a, y)))


softmax = nary("softmax", saves="out")


@softmax.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.softmax_backward(g, n.saved[0], *n.attributes)


log_softmax = nary("log_softmax", saves="out")


@log_softmax.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.log_softmax_backward(g, n.saved[0], *n.attributes)
