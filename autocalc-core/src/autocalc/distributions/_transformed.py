# SPDX-License-Identifier: MIT
"""Distributions of what becomes of another distribution's values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.rules import broadcast_shapes
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Distribution
from autocalc.distributions._independent import summed
from autocalc.distributions.transforms import Transform, checked_transforms
from autocalc.errors import DTypeError


class TransformedDistribution(Distribution):
    """The distribution of y = f(x) for x of another: p(x) / abs(dy / dx).

    Parameters
    ----------
    base_distribution
        The distribution of x.
    transforms
        f, a transform or a list of them, the first one first.
    validate_args
        Whether values are checked.

    Raises
    ------
    DTypeError
        If the first is no distribution, or the second holds something else.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.TransformedDistribution(
    ...     ac.distributions.Normal(0.0, 1.0), ac.distributions.TanhTransform()
    ... )
    >>> d.log_prob(ac.tensor(0.0))
    tensor(-0.9189)
    """

    def __init__(
        self,
        base_distribution: Any,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        where = "TransformedDistribution"
        if not isinstance(base_distribution, Distribution):
            message = (
                f"{where}: `base_distribution` is {short(base_distribution)}; it must "
                f"be a distribution."
            )
            raise DTypeError(message)
        self.transforms = checked_transforms(where, "transforms", transforms)
        base: Distribution = base_distribution
        full = (*base.batch_shape, *base.event_shape)
        for t in self.transforms:
            for x in t.parameters:
                full = broadcast_shapes(where, full, x.shape)
        batch = full[: len(full) - len(base.event_shape)]
        self.base_dist = base if batch == base.batch_shape else base.expand(batch)
        super().__init__(batch, base.event_shape, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # it depends
        """Whether draws are differentiable."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> constraints.Constraint:
        """The values that are possible."""
        if not self.transforms:
            return self.base_dist.support
        last, ndims = self.transforms[-1].codomain, len(self._event_shape)
        return constraints.independent(last, ndims) if ndims else last

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Return the distribution with its parameters expanded to `batch_shape`."""
        new = self._instance_or_empty(_instance)
        new.base_dist = self.base_dist.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def _back(self, y: Any) -> Any:
        for t in reversed(self.transforms):
            y = t.inv(y)
        return y

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return values drawn, ``[*sample_shape, *batch_shape, *event_shape]``."""
        with no_grad():
            result: Tensor = self._forward(self.base_dist.sample(sample_shape))
            return result

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return values drawn that are differentiable in the parameters."""
        result: Tensor = self._forward(self.base_dist.rsample(sample_shape))
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        y = self._checked("log_prob", value)
        slopes: Any = 0.0
        ndims = len(self._event_shape)
        for t in reversed(self.transforms):
            x = t.inv(y)
            slopes = slopes + summed(t.log_abs_det_jacobian(x, y), ndims)
            y = x
        result: Tensor = self.base_dist.log_prob(y) - slopes
        return result

    def _sign(self) -> Any:
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        return sign

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of less than `value`."""
        share = self.base_dist.cdf(self._back(self._checked("cdf", value)))
        result: Tensor = self._sign() * (share - 0.5) + 0.5
        return result

    def icdf(self, value: Tensor) -> Tensor:
        """Return where `cdf` is `value`."""
        share = self._sign() * (self._checked_share(value) - 0.5) + 0.5
        result: Tensor = self._forward(self.base_dist.icdf(share))
        return result

    def __repr__(self) -> str:
        return f"TransformedDistribution({self.base_dist}, {self.transforms})"
