# SPDX-License-Identifier: MIT
"""Functions that densities need, made of operators: differentiable to any order."""

from __future__ import annotations

from autocalc._ops.elementwise.gamma_functions import digamma, lgamma
from autocalc._ops.elementwise.special_functions import erfinv
from autocalc._ops.indexing.masking import where
from autocalc._tensor import Tensor

__all__ = ["digamma", "erfinv", "lbeta", "lgamma", "xlogx"]


def lbeta(a: Tensor, b: Tensor) -> Tensor:
    """Return the logarithm of the Beta function."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def xlogx(x: Tensor) -> Tensor:
    """Return x log(x), and 0 at 0."""
    positive = x > 0
    return where(positive, x * where(positive, x, x * 0 + 1).log(), x * 0)
