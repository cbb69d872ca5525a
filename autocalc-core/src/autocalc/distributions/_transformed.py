# SPDX-License-Identifier: MIT
"""Distributions of what becomes of another distribution's values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, short
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Distribution
from autocalc.distributions._independent import Independent, summed
from autocalc.distributions._transform import Transform, checked_transforms
from autocalc.distributions._transforms_composed import ComposeTransform
from autocalc.errors import DTypeError, ShapeError


class TransformedDistribution(Distribution):
    """The distribution of y = f(x), where x has another distribution.

    The density of y is p(x) / abs(det(dy / dx)), where p is the density of x.

    Parameters
    ----------
    base_distribution
        The distribution of x.
    transforms
        The function f: a transform, or a list of transforms that are applied one after
        the other.
    validate_args
        True to check the values passed to methods.  None means the default of
        `Distribution.set_default_validate_args`.

    Raises
    ------
    DTypeError
        If `base_distribution` is not a distribution, or if a transform is not a
        `Transform`.
    ShapeError
        If `base_distribution` has fewer dimensions than the transforms need.

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
            raise DTypeError(
                f"{where}: `base_distribution` is {short(base_distribution)}; it must "
                f"be a distribution."
            )
        self.transforms = checked_transforms(where, "transforms", transforms)
        whole = ComposeTransform(self.transforms)
        base, shape = _base_for(where, base_distribution, whole)
        self.base_dist = base
        widening = whole.codomain.event_dim - whole.domain.event_dim
        ndims = max(whole.codomain.event_dim, len(base.event_shape) + widening)
        cut = len(shape) - ndims
        super().__init__(shape[:cut], shape[cut:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # it depends
        """Whether `rsample` is available."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        ndims = len(self._event_shape) - last.event_dim
        return constraints.independent(last, ndims) if ndims > 0 else last

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Return a copy whose parameters are expanded to `batch_shape`."""
        where = f"{type(self).__name__}.expand"
        batch = integers(where, "batch_shape", batch_shape)
        new = self._instance_or_empty(_instance)
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*batch, *self._event_shape))
        cut = len(shape) - len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(shape[:cut])
        return super().expand(batch, _instance=new)

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def _back(self, y: Any) -> Any:
        for t in reversed(self.transforms):
            y = t.inv(y)
        return y

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples, ``(*sample_shape, *batch_shape, *event_shape)``."""
        with no_grad():
            result: Tensor = self._forward(self.base_dist.sample(sample_shape))
            return result

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        result: Tensor = self._forward(self.base_dist.rsample(sample_shape))
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        y = self._checked("log_prob", value)
        slopes: Any = 0.0
        ndims = len(self._event_shape)
        for t in reversed(self.transforms):
            x = t.inv(y)
            ndims += t.domain.event_dim - t.codomain.event_dim
            extra = ndims - t.domain.event_dim
            slopes = slopes + summed(t.log_abs_det_jacobian(x, y), extra)
            y = x
        extra = ndims - len(self.base_dist.event_shape)
        result: Tensor = summed(self.base_dist.log_prob(y), extra) - slopes
        return result

    def _sign(self) -> Any:
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        return sign

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        share = self.base_dist.cdf(self._back(self._checked("cdf", value)))
        result: Tensor = self._sign() * (share - 0.5) + 0.5
        return result

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile: the inverse of `cdf` at `value`."""
        share = self._sign() * (self._checked_share(value) - 0.5) + 0.5
        result: Tensor = self._forward(self.base_dist.icdf(share))
        return result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.transforms})"


def _base_for(
    where: str, base: Distribution, whole: ComposeTransform
) -> tuple[Distribution, tuple[int, ...]]:
    """Return `base` as wide as `whole` needs it, and the shape that is made of it."""
    full, ndims = (*base.batch_shape, *base.event_shape), len(base.event_shape)
    needed = whole.domain.event_dim
    if len(full) < needed:
        raise ShapeError(
            f"{where}: samples of the base distribution have shape {full}; the "
            f"transforms need {needed} dimensions or more."
        )
    shape = whole.forward_shape(full)
    wide = whole.inverse_shape(shape)
    if wide != full:
        base = base.expand(wide[: len(wide) - ndims])
    if needed > ndims:
        base = Independent(base, needed - ndims)
    return base, shape
