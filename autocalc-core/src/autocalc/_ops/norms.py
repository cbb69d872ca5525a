# SPDX-License-Identifier: MIT
"""Normalisations over the last dimension, or of each channel.

The statistics that the forward kernel kept have no history; where the backward walk is
itself recorded they are computed once more, from the input.
"""

from __future__ import annotations

from typing import Any

from autocalc._kernels.norm._channels import over
from autocalc._ops._op import multi, nary

layer_norm = nary("layer_norm", saves="mean rstd x weight:x")


@layer_norm.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    mean, rstd, x, weight = n.saved
    if k.records:
        axes = (len(n.shapes[0]) - 1,)
        mean = k.mean(x, axes, False)
        variance, _ = k.var(x, axes, False, 0.0)
        rstd = k.rsqrt(k.add(variance, k.constant(n.attributes[0], x)))
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    return k.layer_norm_backward(g, x, mean, rstd, weight, want=want)


rms_norm = nary("rms_norm", saves="rstd x weight:x")


@rms_norm.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    rstd, x, weight = n.saved
    if k.records:
        square = k.mean(k.mul(x, x), (len(n.shapes[0]) - 1,), True)
        rstd = k.rsqrt(k.add(square, k.constant(n.attributes[0], x)))
    want = n.needs(0) | n.needs(1) << 1
    return k.rms_norm_backward(g, x, rstd, weight, want=want)


# The results are (out, mean, var); the statistics are for those who keep running ones.
batch_norm = multi("batch_norm", saves="mean var x weight:x")


@batch_norm.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, *statistics = g
    assert statistics == [None, None], "statistics are detached: they have no gradient"
    mean, var, x, weight = n.saved
    if k.records:
        mean, var = _statistics(k, x, n.shapes[0])
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    return k.batch_norm_backward(out, x, mean, var, weight, *n.attributes, want=want)


# The same of max(batch_norm(x) + other, 0), whose gradient passes where out > 0.
batch_norm_relu = multi("batch_norm_relu", saves="out mean var x weight:x")


@batch_norm_relu.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    g_out, *statistics = g
    assert statistics == [None, None], "statistics are detached: they have no gradient"
    out, mean, var, x, weight = n.saved
    if k.records:
        mean, var = _statistics(k, x, n.shapes[0])
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2 | n.needs(3) << 3
    return k.batch_norm_relu_backward(
        g_out, x, out, mean, var, weight, *n.attributes, want=want
    )


def _statistics(k: Any, x: Any, shape: Any) -> tuple[Any, Any]:
    axes = over(shape)
    var, _ = k.var(x, axes, False, 0.0)
    return k.mean(x, axes, False), var
