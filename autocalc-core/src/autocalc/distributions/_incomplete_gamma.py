# SPDX-License-Identifier: MIT
"""The incomplete Gamma functions with slopes in both arguments."""

from __future__ import annotations

from typing import Any

from autocalc._ops.elementwise.exponential import weighed_log
from autocalc._ops.elementwise.gamma_functions import igamma, igammac, lgamma
from autocalc._ops.indexing.masking import where
from autocalc._ops.views.broadcasting import broadcast_tensors
from autocalc._tensor import Tensor
from autocalc.autograd import Function, once_differentiable
from autocalc.distributions._draws import slope


def gammainc(a: Tensor, x: Tensor) -> Tensor:
    """Return the integral from 0 to x of t^(a - 1) exp(-t) / Gamma(a).

    A slope in `a` is that of draws, once; without one there are slopes of any order.
    """
    a, x = broadcast_tensors(a, x)
    return _Lower.apply(a, x) if a.requires_grad else igamma(a, x)


def gammaincc(a: Tensor, x: Tensor) -> Tensor:
    """Return the integral from x on, precise where it is small."""
    a, x = broadcast_tensors(a, x)
    return _Upper.apply(a, x) if a.requires_grad else igammac(a, x)


class _Lower(Function):
    """A draw z moves by dz/da at a fixed share, so the share moves by -F' dz/da."""

    @staticmethod
    def forward(ctx: Any, a: Any, x: Any) -> Any:
        ctx.save_for_backward(a, x)
        return igamma(a, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        return _slopes(ctx, grads[0])


class _Upper(Function):
    @staticmethod
    def forward(ctx: Any, a: Any, x: Any) -> Any:
        ctx.save_for_backward(a, x)
        return igammac(a, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        return _slopes(ctx, -grads[0])


def _slopes(ctx: Any, g: Any) -> Any:
    saved = ctx.saved_tensors
    a, x = (given.double() for given in saved)
    density = (weighed_log(a - 1, x) - x - lgamma(a)).exp()
    slopes = _slope_in_shape(a, x), density
    return tuple((g * s).to(x.dtype) for s, x in zip(slopes, saved, strict=True))


def _slope_in_shape(a: Any, x: Any) -> Any:
    """Return dF/da, which is 0 at 0 and beyond what a draw of float64 can be."""
    inside = (x > 0) & (x < a + 10 * a.sqrt() + 60)
    z = where(inside, x, a)
    density = ((a - 1) * z.log() - z - lgamma(a)).exp()
    return where(inside, -density * slope(a, z), x * 0)
