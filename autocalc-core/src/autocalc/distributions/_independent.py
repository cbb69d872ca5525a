# SPDX-License-Identifier: MIT
"""Distributions side by side as one distribution of arrays."""

from __future__ import annotations

from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, short
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Distribution
from autocalc.errors import ArgumentError, DTypeError


class Independent(Distribution):
    """Turns batch dimensions of another distribution into event dimensions.

    Then `log_prob` is the sum over these dimensions.

    Parameters
    ----------
    base_distribution
        The distribution to convert.
    reinterpreted_batch_ndims
        The number of last batch dimensions that become event dimensions.
    validate_args
        True to check the values passed to methods.  None means the default of
        `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If the distribution has fewer than `reinterpreted_batch_ndims` batch dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> normal = ac.distributions.Normal(ac.zeros(3), ac.ones(3))
    >>> d = ac.distributions.Independent(normal, 1)
    >>> d.batch_shape, d.event_shape
    (autocalc.Size([]), autocalc.Size([3]))
    """

    def __init__(
        self,
        base_distribution: Any,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(base_distribution, Distribution):
            raise DTypeError(
                f"Independent: `base_distribution` is {short(base_distribution)}; it "
                f"must be a distribution."
            )
        name = "reinterpreted_batch_ndims"
        ndims = as_int("Independent", name, reinterpreted_batch_ndims)
        shape = base_distribution.batch_shape
        if not 0 <= ndims <= len(shape):
            raise ArgumentError(
                f"Independent: `{name}`={ndims}, but the batch has shape {shape}; use "
                f"0 to {len(shape)}."
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = ndims
        keep = len(shape) - ndims
        event = (*shape[keep:], *base_distribution.event_shape)
        super().__init__(shape[:keep], event, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # it depends
        """Whether `rsample` is available."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]  # it depends
        """Whether `enumerate_support` is available."""
        return not self.reinterpreted_batch_ndims and (
            self.base_dist.has_enumerate_support
        )

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        base, ndims = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(base, ndims) if ndims else base

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.base_dist.variance

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Return a copy whose parameters are expanded to `batch_shape`."""
        ndims = self.reinterpreted_batch_ndims
        batch = (batch_shape,) if isinstance(batch_shape, int) else tuple(batch_shape)
        new = self._instance_or_empty(_instance)
        new.base_dist = self.base_dist.expand((*batch, *self._event_shape[:ndims]))
        return super().expand(batch, _instance=new)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples, ``(*sample_shape, *batch_shape, *event_shape)``."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density or of the probability of `value`."""
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all possible values along the first dimension."""
        if self.reinterpreted_batch_ndims:
            self._refuse("enumerate_support")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


def summed(x: Tensor, ndims: int) -> Tensor:
    """Return `x` summed over its last `ndims` dimensions."""
    return x.sum(tuple(range(-ndims, 0))) if ndims else x
