# SPDX-License-Identifier: MIT
"""Methods of the less common functions."""

from __future__ import annotations

from typing import Any

from autocalc._ops import _inplace as inplace
from autocalc._ops import (
    arithmetic,
    clamping,
    comparison,
    diagonal,
    distance,
    exponential,
    indexing,
    masking,
    products,
    rearranging,
    scans,
    scattering,
    searching,
    sorting,
    statistics,
    trigonometric,
)
from autocalc._tensor import Tensor


class LessCommon:
    """Each calls its function with the tensor as `input`."""

    __slots__ = ()

    def asinh(self: Tensor) -> Tensor:
        """Return the number whose hyperbolic sine is x, element by element."""
        return trigonometric.asinh(self)

    def asinh_(self: Tensor) -> Tensor:
        """Take `asinh` of every element, in place; return x."""
        return inplace.apply_("asinh", self)

    def acosh(self: Tensor) -> Tensor:
        """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1."""
        return trigonometric.acosh(self)

    def acosh_(self: Tensor) -> Tensor:
        """Take `acosh` of every element, in place; return x."""
        return inplace.apply_("acosh", self)

    def atanh(self: Tensor) -> Tensor:
        """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1."""
        return trigonometric.atanh(self)

    def atanh_(self: Tensor) -> Tensor:
        """Take `atanh` of every element, in place; return x."""
        return inplace.apply_("atanh", self)

    def logit(self: Tensor, eps: float | None = None) -> Tensor:
        """Return what `ac.logit` makes of x."""
        return exponential.logit(self, eps)

    def logit_(self: Tensor, eps: float | None = None) -> Tensor:
        """Take `logit` of every element, in place; return x."""
        return inplace.apply_("logit", self, eps)

    def xlogy(self: Tensor, other: Any) -> Tensor:
        """Return x log(y), which is 0 where x is 0 (and NaN where y is)."""
        return exponential.xlogy(self, other)

    def xlogy_(self: Tensor, other: Any) -> Tensor:
        """Take `xlogy` of every element, in place; return x."""
        return inplace.apply_("xlogy", self, other)

    def logaddexp(self: Tensor, other: Tensor) -> Tensor:
        """Return log(e^x + e^y), the larger one taken out."""
        return exponential.logaddexp(self, other)

    def logaddexp2(self: Tensor, other: Tensor) -> Tensor:
        """Return log2(2^x + 2^y), the larger one taken out."""
        return exponential.logaddexp2(self, other)

    def hypot(self: Tensor, other: Tensor) -> Tensor:
        """Return sqrt(x^2 + y^2), without overflow on the way."""
        return trigonometric.hypot(self, other)

    def hypot_(self: Tensor, other: Tensor) -> Tensor:
        """Take `hypot` of every element, in place; return x."""
        return inplace.apply_("hypot", self, other)

    def fmax(self: Tensor, other: Tensor) -> Tensor:
        """Return the larger of x and y; of a number and NaN, the number."""
        return clamping.fmax(self, other)

    def fmin(self: Tensor, other: Tensor) -> Tensor:
        """Return the smaller of x and y; of a number and NaN, the number."""
        return clamping.fmin(self, other)

    def float_power(self: Tensor, exponent: Any) -> Tensor:
        """Return x to the power y, in float64."""
        return arithmetic.float_power(self, exponent)

    def float_power_(self: Tensor, exponent: Any) -> Tensor:
        """Take `float_power` of every element, in place; return x."""
        return inplace.apply_("float_power", self, exponent)

    def signbit(self: Tensor) -> Tensor:
        """Return whether x is negative; -0.0 is, too."""
        return comparison.signbit(self)

    def copysign(self: Tensor, other: Any) -> Tensor:
        """Return the size of x with the sign of y."""
        return comparison.copysign(self, other)

    def copysign_(self: Tensor, other: Any) -> Tensor:
        """Take `copysign` of every element, in place; return x."""
        return inplace.apply_("copysign", self, other)

    def heaviside(self: Tensor, values: Tensor) -> Tensor:
        """Return what `ac.heaviside` makes of x."""
        return comparison.heaviside(self, values)

    def heaviside_(self: Tensor, values: Tensor) -> Tensor:
        """Take `heaviside` of every element, in place; return x."""
        return inplace.apply_("heaviside", self, values)

    def isposinf(self: Tensor) -> Tensor:
        """Return whether x is infinity, element by element."""
        return comparison.isposinf(self)

    def isneginf(self: Tensor) -> Tensor:
        """Return whether x is -infinity, element by element."""
        return comparison.isneginf(self)

    def deg2rad(self: Tensor) -> Tensor:
        """Return angles given in degrees in radians."""
        return trigonometric.deg2rad(self)

    def deg2rad_(self: Tensor) -> Tensor:
        """Take `deg2rad` of every element, in place; return x."""
        return inplace.apply_("deg2rad", self)

    def rad2deg(self: Tensor) -> Tensor:
        """Return angles given in radians in degrees."""
        return trigonometric.rad2deg(self)

    def rad2deg_(self: Tensor) -> Tensor:
        """Take `rad2deg` of every element, in place; return x."""
        return inplace.apply_("rad2deg", self)

    def sinc(self: Tensor) -> Tensor:
        """Return sin(pi x) / (pi x), which is 1 at 0."""
        return trigonometric.sinc(self)

    def sinc_(self: Tensor) -> Tensor:
        """Take `sinc` of every element, in place; return x."""
        return inplace.apply_("sinc", self)

    def kthvalue(
        self: Tensor, k: int, dim: int = -1, keepdim: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Return what `ac.kthvalue` makes of x."""
        return sorting.kthvalue(self, k, dim, keepdim)

    def quantile(
        self: Tensor,
        q: Any,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """Return what a share `q` of the elements along `dim` lies below."""
        return statistics.quantile(self, q, dim, keepdim, interpolation=interpolation)

    def nanquantile(
        self: Tensor,
        q: Any,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """Return the `quantile` of what is not NaN."""
        return statistics.nanquantile(
            self, q, dim, keepdim, interpolation=interpolation
        )

    def cummax(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        """Return the (values, indices) of the largest up to each place along `dim`."""
        return scans.cummax(self, dim)

    def cummin(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        """Return the (values, indices) of the smallest up to each place along `dim`."""
        return scans.cummin(self, dim)

    def logcumsumexp(self: Tensor, dim: int) -> Tensor:
        """Return what `ac.logcumsumexp` makes of x."""
        return scans.logcumsumexp(self, dim)

    def diff(
        self: Tensor,
        n: int = 1,
        dim: int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
    ) -> Tensor:
        """Return x_{i+1} - x_i along `dim`, `n` times."""
        return scans.diff(self, n, dim, prepend, append)

    def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
        """Return the `p`-norm of the difference of two tensors."""
        return distance.dist(self, other, p)

    def argwhere(self: Tensor) -> Tensor:
        """Return the positions of what is not zero, [n, ndim]: `nonzero`."""
        return masking.argwhere(self)

    def bincount(
        self: Tensor, weights: Tensor | None = None, minlength: int = 0
    ) -> Tensor:
        """Return how often each integer from 0 on occurs, or the sum of its weights."""
        return statistics.bincount(self, weights, minlength)

    def histc(self: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
        """Return what `ac.histc` makes of x."""
        return statistics.histc(self, bins, min, max)

    def unique_consecutive(
        self: Tensor,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Tensor | tuple[Tensor, ...]:
        """Return the elements without those that repeat the one before."""
        return searching.unique_consecutive(self, return_inverse, return_counts, dim)

    def vdot(self: Tensor, other: Tensor) -> Tensor:
        """Return the sum of x_i y_i of two vectors; the numbers are real."""
        return products.vdot(self, other)

    def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
        """Return the vector products of 3-vectors along `dim`."""
        return products.cross(self, other, dim)

    def kron(self: Tensor, other: Tensor) -> Tensor:
        """Return the Kronecker product: each element of x times all of y."""
        return products.kron(self, other)

    def diagflat(self: Tensor, offset: int = 0) -> Tensor:
        """Return what `ac.diagflat` makes of x."""
        return diagonal.diagflat(self, offset)

    def rot90(self: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
        """Return what `ac.rot90` makes of x."""
        return rearranging.rot90(self, k, dims)

    def take(self: Tensor, index: Tensor) -> Tensor:
        """Return the elements at places of the flattened `input`, shaped as `index`."""
        return indexing.take(self, index)

    def put(
        self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
    ) -> Tensor:
        """Return `input` with `source` at, or added to, places of it flattened."""
        return scattering.put(self, index, source, accumulate)

    def put_(
        self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
    ) -> Tensor:
        """Take `put` of every element, in place; return x."""
        return inplace.apply_("put", self, index, source, accumulate)
