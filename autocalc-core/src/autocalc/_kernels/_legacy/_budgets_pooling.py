# SPDX-License-Identifier: MIT
"""Error budgets of pooling: sums of a window's elements in any order, one division."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _references_pooling as references
from autocalc._kernels._legacy._budgets import Inputs, budget, magnitude, ulp
from autocalc._kernels.spec import Attributes


@budget("n * eps * sum(|g|), n terms at one place")
def max_pool_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, indices = inputs
    (sizes,) = attributes
    total = references.max_pool_backward(numpy_xp, magnitude(g), indices, sizes)
    count = references.max_pool_backward(numpy_xp, np.ones(g.shape), indices, sizes)
    return [eps * np.maximum(count - 1, 0) * total]


@budget("(n + 2) * eps * mean(|x|) over the n elements of a window")
def avg_pool(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    size = references.avg_pool(numpy_xp, magnitude(inputs[0]), *attributes)
    steps = math.prod(attributes[0]) + 2
    return [eps * steps * np.abs(size) + ulp(expected[0], eps)]


@budget("(n + 2) * eps * (the sum of the terms' sizes), n elements in a window")
def avg_pool_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    size = references.avg_pool_backward(numpy_xp, magnitude(inputs[0]), *attributes)
    steps = math.prod(attributes[1]) + 2
    return [eps * steps * np.abs(size) + ulp(expected[0], eps)]


@budget("(n + 4) * eps * mean(|x|) over the n elements of a box at most")
def adaptive_avg_pool(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, sizes = magnitude(inputs[0]), attributes[0]
    size = references.adaptive_avg_pool(numpy_xp, x, sizes)
    return [eps * _steps(x.shape[2:], sizes) * size + ulp(expected[0], eps)]


@budget("(n + 4) * eps * (the sum of the terms' sizes), n elements in a box at most")
def adaptive_avg_pool_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, sizes = magnitude(inputs[0]), attributes[0]
    size = references.adaptive_avg_pool_backward(numpy_xp, g, sizes)
    return [eps * _steps(sizes, g.shape[2:]) * size + ulp(expected[0], eps)]


def _steps(given: Sequence[int], sizes: Sequence[int]) -> int:
    boxes = zip(given, sizes, strict=True)
    return math.prod(min(-(-n // s) + 1, n) for n, s in boxes) + 4
