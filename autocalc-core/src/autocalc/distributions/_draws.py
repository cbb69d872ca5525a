# SPDX-License-Identifier: MIT
"""Draws from the Gamma distribution, with gradients by implicit reparameterisation.

The draw z of Gamma(a, 1) solves F(z; a) = u for a fixed u, so dz/da is
-(dF/da) / (dF/dz) (Figurnov, Mohamed and Mnih, "Implicit reparameterization
gradients", NeurIPS 2018).
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.device.device import is_batched, whole
from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.like import full_like
from autocalc._ops.indexing.masking import where
from autocalc._ops.random.count_draws import positive_unit
from autocalc._ops.random.random_draws import randn
from autocalc._tensor import Tensor
from autocalc._tensor.limits import finfo
from autocalc.autograd import Function, once_differentiable
from autocalc.distributions._special import digamma

#: From here on the series needs more than a thousand terms, and the distribution is so
#: near to that of Wilson and Hilferty's cube that dz/da differs by less than 1e-6.
_CUBE = 1e4
_TERMS = 20_000
_EPS = 1e-17


def log_standard_gamma(a: Any) -> Any:
    """Return the logarithms of draws from Gamma(a, 1), differentiable in a.

    Where a < 1, z is g u^(1 / a) with g drawn from Gamma(a + 1, 1) and u from (0, 1);
    logarithms do not underflow.
    """
    wide = a.double()
    small = wide < 1
    g = _Gamma.apply(where(small, wide + 1, wide))
    u = positive_unit(wide.shape)
    more = u.log() / where(small, wide, wide * 0 + 1)
    return (g.log() + where(small, more, wide * 0)).to(a.dtype)


def inside_ends(draws: Tensor) -> Tensor:
    """Return positive draws that float numbers cannot tell from 0 or infinity at ends.

    These are the smallest normal number and the largest one; slopes there are 0.
    """
    ends = finfo(draws.dtype)
    return draws.clamp(ends.tiny, ends.max)


def bounded_exp(log: Tensor) -> Tensor:
    """Return the exponential, of large numbers the largest one, where slopes are 0."""
    ends = finfo(log.dtype)
    return log.clamp(max=math.log(ends.max) * (1 - 2 * ends.eps)).exp()


def inside_unit(draws: Tensor) -> Tensor:
    """Return shares that have become 0 or 1 as the nearest numbers between them."""
    ends = finfo(draws.dtype)
    return draws.clamp(ends.tiny, 1 - ends.eps / 2)


def anywhere(mask: Tensor) -> bool:
    """Return whether a mask is true anywhere, under `vmap` in any of the examples."""
    a = mask._array
    return bool(whole(a).any()) if is_batched(a.dtype) else bool(mask.any())


class _Gamma(Function):
    """Draws from Gamma(a, 1) for a of 1 or more."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        z = _marsaglia(a)
        ctx.save_for_backward(a, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        a, z = ctx.saved_tensors
        return grads[0] * slope(a, z)


def _marsaglia(a: Any) -> Any:
    """Return draws by rejection, of which 95 % are taken at once.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM
    Transactions on Mathematical Software 26 (2000).
    """
    d = a - 1 / 3
    c = 1 / (9 * d).sqrt()
    result = full_like(a, math.nan)
    waiting = (a >= 1) & (a < math.inf)
    while anywhere(waiting):
        x = randn(a.shape, dtype=a.dtype)
        v = (1 + c * x) ** 3
        possible = v > 0
        log_v = where(possible, v, v * 0 + 1).log()
        limit = 0.5 * x * x + d * (1 - v + log_v)
        taken = waiting & possible & (positive_unit(a.shape).log() < limit)
        result = where(taken, d * v, result)
        waiting = waiting & ~taken
    return result


def slope(a: Any, z: Any) -> Any:
    """Return dz/da of draws z from Gamma(a, 1), a being 1 or more.

    With F / F' = z S, S = sum of z^n / (a (a + 1) ... (a + n)), it is
    -z ((log z - digamma(a)) S + dS/da).
    """
    with no_grad():
        large = a > _CUBE
        if anywhere(large):
            return where(large, _slope_of_cube(a, z), _slope_of_series(
                where(large, a * 0 + 1, a), where(large, z * 0 + 1, z)
            ))  # fmt: skip
        return _slope_of_series(a, z)


def _slope_of_series(a: Any, z: Any) -> Any:
    term = harmonic = 1 / a
    total, falling = term, term * harmonic
    for n in range(1, _TERMS):
        step = 1 / (a + n)
        term = term * z * step
        harmonic = harmonic + step
        total = total + term
        falling = falling + term * harmonic
        if n % 16 == 0 and not anywhere(term * harmonic > _EPS * falling):
            break
    return z * (falling - (z.log() - digamma(a)) * total)


def _slope_of_cube(a: Any, z: Any) -> Any:
    """Return dz/da of z = a (1 - 1 / 9a + x / 3 sqrt(a))^3 for a fixed normal x."""
    root = (z / a) ** (1 / 3)
    bend = 1 / (9 * a)
    return root**3 + 3 * root**2 * (bend - (root - 1 + bend) / 2)
