# SPDX-License-Identifier: MIT
"""Transforms that work element by element."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops.activations.smooth import softplus
from autocalc._ops.creation.like import full_like
from autocalc._ops.views.broadcasting import broadcast_tensors
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, number, short
from autocalc._tensor.limits import finfo
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Distribution, broadcast_values
from autocalc.distributions._independent import summed
from autocalc.distributions._transform import Plain, Transform, all_equal
from autocalc.errors import ArgumentError, DTypeError


class ExpTransform(Plain):
    """Exponential: y = exp(x).

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.ExpTransform()(ac.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def _log_slope(self, x: Any, y: Any) -> Any:
        return x


class SigmoidTransform(Plain):
    """Sigmoid: y = 1 / (1 + exp(-x)), limited to numbers that are neither 0 nor 1.

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.SigmoidTransform().inv(ac.tensor([0.5]))
    tensor([0.])
    """

    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return sigmoid_inside(x)

    def _inverse(self, y: Any) -> Any:
        y = _off_the_ends(y)
        return y.log() - (-y).log1p()

    def _log_slope(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


def sigmoid_inside(x: Any) -> Any:
    """Return the sigmoid, limited to numbers that are neither 0 nor 1."""
    return _off_the_ends(x.sigmoid())


def _off_the_ends(share: Any) -> Any:
    limits = finfo(share.dtype)
    return share.clamp(limits.tiny, 1 - limits.eps)


class SoftplusTransform(Plain):
    """Softplus: y = log(1 + exp(x)).

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.SoftplusTransform()(ac.tensor([0.0, 1.0]))
    tensor([0.6931, 1.3133])
    """

    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-(-y).expm1()).log() + y

    def _log_slope(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class TanhTransform(Plain):
    """Hyperbolic tangent: y = tanh(x).

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.TanhTransform()(ac.tensor([0.0]))
    tensor([0.])
    """

    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def _log_slope(self, x: Any, y: Any) -> Any:
        return 2 * (math.log(2) - x - softplus(-2 * x))


class AbsTransform(Plain):
    """Absolute value: y = abs(x).

    The inverse returns y, the positive one of the two possible inputs.

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.AbsTransform()(ac.tensor([-2.0, 1.0]))
    tensor([2., 1.])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Transform):
    """Power: y = x^exponent, for positive x.

    Parameters
    ----------
    exponent
        The exponent: a tensor or a number; not 0.
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    DTypeError
        If `exponent` is neither a tensor nor a number.
    ArgumentError
        If `exponent` is 0, or if `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.PowerTransform(2.0)(ac.tensor([1.0, 3.0]))
    tensor([1., 9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_values("PowerTransform", exponent=exponent)
        _check_not_zero("PowerTransform", "exponent", self.exponent)

    @property
    def sign(self) -> Any:
        """The sign of the derivative: 1 or -1."""
        return self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def _log_slope(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return broadcast_shapes(where, shape, self.exponent.shape)

    _inverse_shape = _forward_shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PowerTransform):
            return False
        return all_equal(self.exponent, other.exponent)

    def __hash__(self) -> int:
        return hash(PowerTransform)

    def __repr__(self) -> str:
        return f"PowerTransform({short(self.exponent)})"


def _check_not_zero(where: str, name: str, value: Any) -> None:
    zero = value == 0
    if zero.any() if isinstance(zero, Tensor) else zero:
        raise ArgumentError(f"{where}: `{name}` is {short(value)}; it must not be 0.")


class AffineTransform(Transform):
    """Affine function: y = loc + scale x.

    Parameters
    ----------
    loc
        The shift: a tensor or a number.
    scale
        The factor: a tensor or a number; not 0.
    event_dim
        The number of trailing dimensions that form one value.
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    DTypeError
        If `loc` or `scale` is neither a tensor nor a number.
    ArgumentError
        If `scale` is 0, if `event_dim` is negative, or if `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.AffineTransform(1.0, 2.0)(ac.tensor([0.0, 1.0]))
    tensor([1., 3.])
    """

    bijective = True

    def __init__(
        self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = (
            x if isinstance(x, Tensor) else number("AffineTransform", name, x)
            for name, x in (("loc", loc), ("scale", scale))
        )
        _check_not_zero("AffineTransform", "scale", self.scale)
        self._event_dim = as_int("AffineTransform", "event_dim", event_dim)
        if self._event_dim < 0:
            message = f"AffineTransform: `event_dim`={event_dim}; it must be 0 or more."
            raise ArgumentError(message)

    @property
    def event_dim(self) -> int:
        """The number of trailing dimensions that form one value."""
        return self._event_dim

    @property
    def domain(self) -> Any:
        """The constraint of the inputs."""
        ndims = self._event_dim
        real = constraints.real
        return constraints.independent(real, ndims) if ndims else real

    @property
    def codomain(self) -> Any:
        """The constraint of the outputs."""
        return self.domain

    @property
    def sign(self) -> Any:
        """The sign of the derivative: 1 or -1."""
        scale = self.scale
        return scale.sign() if isinstance(scale, Tensor) else math.copysign(1, scale)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def _log_slope(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, Tensor):
            log, _ = broadcast_tensors(self.scale.abs().log(), x)
        else:
            log = full_like(x, math.log(abs(self.scale)))
        return summed(log, self._event_dim)

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        for x in (self.loc, self.scale):
            if isinstance(x, Tensor):
                shape = broadcast_shapes(where, shape, x.shape)
        return shape

    _inverse_shape = _forward_shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        if self._event_dim != other._event_dim:
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(all_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(AffineTransform)

    def __repr__(self) -> str:
        return f"AffineTransform({short(self.loc)}, {short(self.scale)})"


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution: y = F(x).

    Parameters
    ----------
    distribution
        The distribution.  It has `cdf` and `icdf`.
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    DTypeError
        If `distribution` is not a distribution.
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions
    >>> d.CumulativeDistributionTransform(d.Uniform(0.0, 4.0))(ac.tensor([1.0, 2.0]))
    tensor([0.2500, 0.5000])
    """

    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        if not isinstance(distribution, Distribution):
            raise DTypeError(
                f"CumulativeDistributionTransform: `distribution` is "
                f"{short(distribution)}; it must be a distribution."
            )
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The support of the distribution."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def _log_slope(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)

    def __repr__(self) -> str:
        return f"CumulativeDistributionTransform({self.distribution})"
