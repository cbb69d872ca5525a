# SPDX-License-Identifier: MIT
"""Lengths and angles of vectors."""

from __future__ import annotations

import math

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops import elementwise, functional
from autocalc._tensor import Tensor
from autocalc.nn._checks import check_float


def length(x: Tensor, p: float, dim: int, keepdim: bool) -> Tensor:
    """Return the p-norm along `dim`; where it is 0 its gradient is 0."""
    if x.ndim == 0:
        return functional.reshape(length(functional.reshape(x, (1,)), p, dim, True), ())
    if p == 2:
        return elementwise.sqrt_zero_grad(functional.sum(x * x, dim, keepdim))
    size = elementwise.abs(x)
    if p == math.inf:
        return functional.amax(size, dim, keepdim)
    if p == -math.inf:
        return functional.amin(size, dim, keepdim)
    if p == 1:
        return functional.sum(size, dim, keepdim)
    if p == 0:
        return functional.sum(elementwise.ne(x, 0.0).to(x.dtype), dim, keepdim)
    return functional.sum(size**p, dim, keepdim) ** (1 / p)


def cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8
) -> Tensor:
    """Return ``x1.x2 / (max(|x1|, eps) max(|x2|, eps))`` along `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([[1.0, 0.0]]), ac.tensor([[3.0, 4.0]])
    >>> ac.nn.functional.cosine_similarity(x, y)
    tensor([0.6])
    """
    check_float("cosine_similarity", x1, x2)
    shape = broadcast_shapes("cosine_similarity", x1.shape, x2.shape)
    a, b = (
        x / functional.clamp(length(x, 2, dim, True), min=eps)
        for x in (functional.expand(x1, shape), functional.expand(x2, shape))
    )
    return functional.sum(a * b, dim) if shape else a * b


def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    eps: float = 1e-6,
    keepdim: bool = False,
) -> Tensor:
    """Return the p-norm of x1 - x2 + eps along the last dimension."""
    check_float("pairwise_distance", x1, x2)
    return length(x1 - x2 + eps, p, -1, keepdim)


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12
) -> Tensor:
    """Return ``input / max(|input|_p, eps)``, the norm taken along `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.normalize(ac.tensor([[3.0, 4.0]]))
    tensor([[0.6, 0.8]])
    """
    check_float("normalize", input)
    return input / functional.clamp(length(input, p, dim, True), min=eps)
