# SPDX-License-Identifier: MIT
"""ELU, CELU and SELU as one kernel, and its backward kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.activations._formulas import backward
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import floats, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.samples import Make, unary
from autocalc._kernels.spec import Array, Attributes, Sample

#: (alpha, rate, scale), exact in both dtypes: the values of elu, those of celu for two
#: alphas, and values close to those of selu.
_FACTORS = ((1.0, 1.0, 1.0), (0.5, 2.0, 1.0), (-2.0, -0.5, 1.0), (1.75, 1.0, 1.0625))


def elu_samples(make: Make) -> Iterator[Sample]:
    for i, factors in enumerate(_FACTORS):
        for sample in unary(make):
            if i == 0 or "special" in sample.label or "scale" in sample.label:
                yield Sample(f"{sample.label}, {factors}", sample.inputs, factors)


@elementwise(
    "scale * a where a > 0, else scale * alpha * (exp(rate * a) - 1).",
    "a ; alpha:float rate:float scale:float",
    kind="composite",
    budget=None,
    flops=20,
    samples=elu_samples,
    benchmarks=mebi(floats, attributes=_FACTORS[0]),
)
def elu(xp: Any, a: Array, alpha: float, rate: float, scale: float) -> Array:
    w = wide(xp, a)
    return narrow(scale * xp.where(w > 0, w, alpha * xp.expm1(rate * w)), a)


@elu.budget("4 ULP + eps * (2 |out| + |scale * alpha * rate * a| * exp(rate * a))")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    alpha, rate, scale = attributes
    a = np.asarray(inputs[0], np.float64)
    z = rate * np.where(a > 0, 0.0, a)
    with np.errstate(all="ignore"):
        rounded = magnitude(scale * alpha * z * np.exp(z)) + 2 * magnitude(expected[0])
    return [4 * ulp(expected[0], eps) + eps * rounded + ulp(np.zeros(()), eps)]


@elu.decomposition(lead="tanh")
def _(k: Any, a: Array, alpha: float, rate: float, scale: float) -> Array:
    above = k.compare(a, k.constant(0, a), "gt")
    below = k.where(above, k.constant(0, a), a)  # avoids overflow
    below = _exp_less_one(k, k.mul(below, k.constant(rate, a)), rate < 0)
    out = k.where(above, a, k.mul(below, k.constant(alpha, a)))
    return k.mul(out, k.constant(scale, a))


def _exp_less_one(k: Any, z: Array, rising: bool) -> Array:
    """Return 2 t / (1 - t) with t = tanh(z / 2), without cancellation for z <= 0.

    If z can be positive, the result for z > 0 is minus e^z times the result for -z.
    """
    low = k.minimum(z, k.neg(z)) if rising else z
    t = k.tanh(k.mul(low, k.constant(0.5, z)))
    below = k.div(k.add(t, t), k.add(k.constant(1, z), k.neg(t)))
    if not rising:
        return below
    above = k.compare(z, k.constant(0, z), "gt")
    return k.where(above, k.neg(k.mul(below, k.exp(z))), below)


def elu_backward_samples(make: Make) -> Iterator[Sample]:
    for i, factors in enumerate(_FACTORS):
        for sample in backward(make):
            if i == 0 or "special" in sample.label:
                yield Sample(f"{sample.label}, {factors}", sample.inputs, factors)


@elementwise(
    "g * scale where a > 0, else g * scale * alpha * rate * exp(rate * a).",
    "g a ; alpha:float rate:float scale:float",
    kind="composite",
    budget=None,
    flops=14,
    samples=elu_backward_samples,
    benchmarks=mebi(floats, floats, attributes=_FACTORS[0]),
)
def elu_backward(
    xp: Any, g: Array, a: Array, alpha: float, rate: float, scale: float
) -> Array:
    w = wide(xp, a)
    slope = xp.where(w > 0, 1.0, alpha * rate * xp.exp(rate * w))
    return narrow(wide(xp, g) * scale * slope, g)


@elu_backward.budget("4 ULP + eps * |out| * (2 + |rate * a|), down to subnormals")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, a = inputs
    alpha, rate, scale = attributes
    with np.errstate(all="ignore"):
        z = magnitude(rate * np.where(np.asarray(a) > 0, 0.0, a))
    rounded = eps * magnitude(expected[0]) * (2 + z)
    lost = ulp(np.zeros(()), eps) * (
        1 + magnitude(g) * abs(scale) * (1 + abs(alpha * rate))
    )
    return [4 * ulp(expected[0], eps) + rounded + lost]


@elu_backward.decomposition(lead="exp")
def _(k: Any, g: Array, a: Array, alpha: float, rate: float, scale: float) -> Array:
    above = k.compare(a, k.constant(0, a), "gt")
    below = k.where(above, k.constant(0, a), a)
    slope = k.exp(k.mul(below, k.constant(rate, a)))
    slope = k.mul(slope, k.constant(alpha * rate * scale, a))
    return k.mul(g, k.where(above, k.constant(scale, a), slope))
