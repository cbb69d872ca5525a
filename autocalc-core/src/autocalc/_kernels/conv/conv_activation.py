# SPDX-License-Identifier: MIT
"""Convolution, followed by the addition of a shortcut and an activation.

::

    out = f(conv(x, weight, bias) + other)        other: the shortcut, or absent

Compiled programs run it; eager code computes the parts one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, absent, floats, join
from autocalc._kernels.conv._geometry import (
    CALLS,
    FLUSHED,
    GEOMETRY,
    LAYERS,
    flushed,
    work,
)
from autocalc._kernels.conv.conv import (
    conv_budget,
    conv_reference,
    conv_rule,
    conv_sums,
)
from autocalc._kernels.declare import composite
from autocalc._kernels.formula import over_kernels
from autocalc._kernels.norm._activated import (
    ATTRIBUTES,
    SAMPLED,
    activated,
    most_change,
    steps_of,
)
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample
from autocalc._kernels.windows import Ints
from autocalc._kernels.work import size

conv_activation = composite(
    "conv_activation",
    f"out ; x weight bias? other? ; {GEOMETRY} {ATTRIBUTES}",
    "out = f(conv(x, weight, bias) + other), f the activation; other has out's layout.",
    key="shapes",
    layout="prefers channels-last",
)


@conv_activation.rule
def _conv_activation_rule(
    x: Meta,
    weight: Meta,
    bias: Meta | None,
    other: Meta | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    *activation: Any,
) -> Meta:
    name = "conv_activation"
    dtype = float_dtype(name, x, weight, bias, other)
    out = conv_rule(x, weight, bias, stride, padding, dilation, groups)
    expect_shape(name, "other", other, out.shape)
    return Meta(out.shape, dtype)


def _sum(
    xp: Any, x: Array, weight: Array, bias: Any, other: Any, geometry: Attributes
) -> Array:
    """Return the input of the activation."""
    out: Array = conv_reference(xp, x, weight, bias, *geometry)
    return out if other is None else out + other


@conv_activation.reference
def _(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    other: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    activation: str,
    alpha: float,
    beta: float,
) -> Array:
    z = _sum(xp, x, weight, bias, other, (stride, padding, dilation, groups))
    return activated(xp, z, activation, alpha, beta)


@conv_activation.decomposition(lead="gemm")
def _(
    k: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    other: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    activation: str,
    alpha: float,
    beta: float,
) -> Array:
    out = k.conv(x, weight, bias, stride, padding, dilation, groups)
    out = out if other is None else k.add(out, other)
    return over_kernels(activated)(k, out, activation, alpha, beta)


@conv_activation.budget(
    "that of conv, and 2 eps * |other|, times the activation's steepest slope, and its "
    "own 4 ULP"
)
def conv_activation_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    x, weight, bias, other = inputs
    geometry, (f, alpha, _) = attributes[:4], attributes[4:]
    z = _sum(numpy_xp, x, weight, bias, other, geometry)
    off, *_ = conv_budget.tolerance((x, weight, bias), geometry, (z,), eps)
    off = off if other is None else off + 2 * eps * magnitude(other)
    own = eps * steps_of(f, z, alpha) + ulp(expected[0], eps)
    return [most_change(f) * off + own]


def _slopes(x: Array, weight: Array, attributes: Attributes) -> Array:
    return most_change(attributes[4]) * conv_sums(x, weight, attributes[:4])


conv_activation.exception(
    "bfloat16",
    Budget(
        f"the same{FLUSHED}, times the activation's steepest slope",
        flushed(conv_activation_budget.tolerance, _slopes),
    ),
)


@conv_activation.samples
def _(make: Make) -> Iterator[Sample]:
    for i, call in enumerate(CALLS):
        x, weight = make.normal(*call.x), make.normal(*call.weight)
        bias = make.normal(call.weight[0]) if i % 2 else None
        metas = Meta(x.shape, x.dtype), Meta(weight.shape, weight.dtype)
        out = conv_rule(
            *metas, None, call.stride, call.padding, call.dilation, call.groups
        )
        f = SAMPLED[i % len(SAMPLED)]
        other = make.normal(*out.shape) if i // 2 % 2 else None
        yield Sample(f"{call.label}, {f[0]}", (x, weight, bias, other), (*call[2:], *f))


def _pairs(out: Meta, x: Meta, weight: Meta, *rest: Any) -> float:
    return size(out) * size(weight) / max(1, weight.shape[0])


conv_activation.work(work(_conv_activation_rule, _pairs))


@conv_activation.benchmarks
def _() -> Iterator[Case]:
    for layer in LAYERS:
        yield Case(
            f"{layer.label}, relu",
            join(floats(*layer.images), floats(*layer.weights), absent, absent),
            (*layer.attributes, "relu", 0.0, 0.0),
        )
