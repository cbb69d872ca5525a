# SPDX-License-Identifier: MIT
"""Error budgets of convolutions: that of a matrix product of as many terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._kernels import _xp
from autocalc._kernels._budgets import Inputs, budget, log2, magnitude, ulp
from autocalc._kernels._spec import Attributes


@budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    from autocalc._kernels import conv as kernel

    x, weight, bias = inputs
    sizes = kernel.conv(_xp, magnitude(x), magnitude(weight), None, *attributes)
    off = (math.prod(weight.shape[1:]) + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * kernel._by_channel(magnitude(bias), x)
    return [off + ulp(expected[0], eps)]


@budget("(n + 2) * eps * (the sum of the n terms' sizes)")
def conv_dx(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    from autocalc._kernels import conv as kernel

    g, weight, bias = inputs
    sizes = kernel.conv_dx(_xp, magnitude(g), magnitude(weight), None, *attributes)
    terms = weight.shape[0] // attributes[-1] * math.prod(weight.shape[2:])
    off = (terms + 2) * eps * sizes
    if bias is not None:
        off = off + 2 * eps * kernel._by_channel(magnitude(bias), g)
    return [off + ulp(expected[0], eps)]


@budget("(n + 2) * eps * (the sum of the n terms' sizes); dbias as sum")
def conv_dweight(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    from autocalc._kernels import conv as kernel

    g, x = map(magnitude, inputs)
    dweight, dbias = kernel.conv_dweight(_xp, g, x, *attributes)
    terms = g.shape[0] * math.prod(g.shape[2:])
    return [
        (terms + 2) * eps * dweight + ulp(expected[0], eps),
        2 * eps * log2(terms) * dbias,
    ]
