# SPDX-License-Identifier: MIT
"""Pooling: all of it is linear once it is known which elements are the largest."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._ops._op import nary
from autocalc._tensor import Tensor, make

# Attributes of the forward operators are those of their kernels.
max_pool = nary("max_pool", saves="indices:x")
adaptive_max_pool = nary("adaptive_max_pool", saves="indices:x")


def _largest_rule(k: Any, n: Any, g: Any) -> Any:
    (indices,) = n.saved
    return k.max_pool_backward(g, indices, n.shapes[0][2:])


max_pool.vjp(_largest_rule)
adaptive_max_pool.vjp(_largest_rule)

max_pool_backward = nary("max_pool_backward", saves="indices:g")


@max_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Read where the operator wrote."""
    (indices,) = n.saved
    shape = n.shapes[0]
    planes = shape[0] * shape[1]
    rows = k.reshape(g, (planes, math.prod(n.attributes[0])))
    index = k.reshape(indices, (planes, math.prod(shape[2:])))
    return k.reshape(k.gather(rows, index, 1), shape), None


avg_pool = nary("avg_pool")


@avg_pool.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.avg_pool_backward(g, n.shapes[0][2:], *n.attributes)


avg_pool_backward = nary("avg_pool_backward")


@avg_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.avg_pool(g, *n.attributes[1:])


adaptive_avg_pool = nary("adaptive_avg_pool")


@adaptive_avg_pool.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Spread each mean's gradient; of a mean of everything without writing it out."""
    sizes = n.shapes[0][2:]
    if math.prod(k.shape(g)[2:]) > 1:
        return k.adaptive_avg_pool_backward(g, sizes)
    return k.expand(k.mul(g, k.constant(1 / math.prod(sizes), g)), n.shapes[0])


adaptive_avg_pool_backward = nary("adaptive_avg_pool_backward")


@adaptive_avg_pool_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.adaptive_avg_pool(g, n.shapes[0][2:])


def places(forward: Any, x: Tensor, *attributes: Any) -> Tensor:
    """Return where the largest elements lie that `forward` finds."""
    kernel = getattr(arrays, forward.op.name)
    return make(kernel(x._array, *attributes, want=0b10)[1], None)
