# SPDX-License-Identifier: MIT
"""Sample calls of activations with attributes, and of their backward kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Sample

_APPROXIMATE = ("none", "tanh")
#: (beta, threshold): PyTorch's, another slope, one that cuts early, and one that does
#: not cut before exp(beta * a) is infinite.
_SOFTPLUS = ((1.0, 20.0), (0.5, 20.0), (2.0, 1.5), (1.0, 1e4))


def gelu(make: Make) -> Iterator[Sample]:
    for approximate in _APPROXIMATE:
        for sample in samples.elementwise(1)(make):
            label = f"{sample.label}, {approximate}"
            yield Sample(label, sample.inputs, (approximate,))


def softplus(make: Make) -> Iterator[Sample]:
    for i, options in enumerate(_SOFTPLUS):
        for sample in samples.elementwise(1)(make):
            if i == 0 or "scale" in sample.label or "special" in sample.label:
                yield Sample(f"{sample.label}, {options}", sample.inputs, options)


def backward(make: Make) -> Iterator[Sample]:
    """Sample a backward kernel of `g` and the forward's input, without attributes.

    An infinite `g` meets only values at which the derivative is no smaller than the
    smallest subnormal: below that, infinity times it is a matter of the precision.
    """
    for sample in samples.elementwise(2)(make):
        if sample.label == "special":
            near = np.array([0, -0.0, 0.5, -1, 2, -3, 3, np.nan], make.dtype)
            g, a = np.meshgrid(make.special(), near)
            yield Sample("special g", (g, a))
            g, a = np.meshgrid(make.normal(5), make.special())
            yield Sample("special a", (g, a))
        else:
            yield sample
    for scale in (0.01, 10.0, 90.0):
        pair = (make.normal(1000), make.normal(1000, scale=scale))
        yield Sample(f"scale={scale}", pair)


def gelu_backward(make: Make) -> Iterator[Sample]:
    for approximate in _APPROXIMATE:
        for sample in backward(make):
            label = f"{sample.label}, {approximate}"
            yield Sample(label, sample.inputs, (approximate,))


def softplus_backward(make: Make) -> Iterator[Sample]:
    for i, options in enumerate(_SOFTPLUS):
        for sample in backward(make):
            if i == 0 or "scale" in sample.label or "special" in sample.label:
                yield Sample(f"{sample.label}, {options}", sample.inputs, options)
