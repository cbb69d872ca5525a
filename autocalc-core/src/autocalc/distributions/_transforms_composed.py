# SPDX-License-Identifier: MIT
"""Transforms one after the other, and of values with more dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._ops.creation.like import zeros_like
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int
from autocalc.distributions import constraints
from autocalc.distributions._independent import summed
from autocalc.distributions._transform import (
    Transform,
    check_value,
    checked_transform,
    checked_transforms,
)
from autocalc.errors import ArgumentError


class ComposeTransform(Transform):
    """Applies several transforms one after the other.

    Parameters
    ----------
    parts
        The transforms, in the order of their application.
    cache_size
        1 to keep the last input and output of each part.  0 to leave the caches of the
        parts as they are.

    Raises
    ------
    DTypeError
        If an element is not a `Transform`.
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> t = ac.distributions.transforms
    >>> both = t.ComposeTransform([t.AffineTransform(0.0, 2.0), t.ExpTransform()])
    >>> both(ac.tensor([0.0])), both.inv(ac.tensor([1.0]))
    (tensor([1.]), tensor([0.]))
    """

    _inverse_of: Transform | None = None

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = checked_transforms("ComposeTransform", "parts", parts)
        if self._cache_size:
            self.parts = [part.with_cache(self._cache_size) for part in self.parts]

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return a copy whose parts have another cache size."""
        size = self._checked_size(cache_size)
        return self if size == self._cache_size else ComposeTransform(self.parts, size)

    @property
    def domain(self) -> Any:
        """The constraint of the inputs."""
        if not self.parts:
            return constraints.real
        needed = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            needed += part.domain.event_dim - part.codomain.event_dim
            needed = max(needed, part.domain.event_dim)
        return _widened(self.parts[0].domain, needed)

    @property
    def codomain(self) -> Any:
        """The constraint of the outputs."""
        if not self.parts:
            return constraints.real
        needed = self.parts[0].domain.event_dim
        for part in self.parts:
            needed += part.codomain.event_dim - part.domain.event_dim
            needed = max(needed, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, needed)

    @property
    def bijective(self) -> Any:
        """Whether each output has exactly one input."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        """The sign of the derivative: 1 or -1."""
        return math.prod(part.sign for part in self.parts)

    @property
    def inv(self) -> Transform:
        """The inverse transform: the inverses of the parts in reverse order."""
        if self._inverse_of is not None:
            return self._inverse_of
        new = ComposeTransform([part.inv for part in reversed(self.parts)])
        new._inverse_of = self
        return new

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def _keep(self, x: Any, y: Any) -> None:
        """Keep nothing: the parts do."""

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Tensor:
        """Return log(abs(det(dy / dx))) for the input `x` and the output `y`."""
        where = "ComposeTransform.log_abs_det_jacobian"
        event_dim = self.domain.event_dim
        check_value(where, x, self.domain)
        check_value(where, y, self.codomain)
        total: Any = None
        for i, part in enumerate(self.parts):
            after = y if i == len(self.parts) - 1 else part(x)
            extra = event_dim - part.domain.event_dim
            term = summed(part.log_abs_det_jacobian(x, after), extra)
            total = term if total is None else total + term
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = after
        return zeros_like(x) if total is None else total

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def _inverse_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(ComposeTransform)

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts})"


def _widened(constraint: Any, event_dim: int) -> Any:
    """Return a constraint of values of `event_dim` dimensions."""
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


#: y = x.
identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Applies a transform; additional dimensions at the end count as part of one value.

    Parameters
    ----------
    base_transform
        The transform to apply.
    reinterpreted_batch_ndims
        The number of additional dimensions.  `log_abs_det_jacobian` is summed over
        them.
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    DTypeError
        If `base_transform` is not a `Transform`, or if `reinterpreted_batch_ndims` is
        not an integer.
    ArgumentError
        If `reinterpreted_batch_ndims` is negative, or if `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> t = ac.distributions.transforms
    >>> x = ac.tensor([1.0, 2.0])
    >>> each = t.IndependentTransform(t.ExpTransform(), 1)
    >>> each.log_abs_det_jacobian(x, each(x))
    tensor(3.)
    """

    def __init__(
        self,
        base_transform: Transform,
        reinterpreted_batch_ndims: int,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size)
        where, name = "IndependentTransform", "reinterpreted_batch_ndims"
        base = checked_transform(where, "base_transform", base_transform)
        self.base_transform = base.with_cache(self._cache_size)
        self.reinterpreted_batch_ndims = as_int(where, name, reinterpreted_batch_ndims)
        if self.reinterpreted_batch_ndims < 0:
            message = f"{where}: `{name}`={reinterpreted_batch_ndims}; use 0 or more."
            raise ArgumentError(message)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return a copy of the transform with another cache size."""
        size = self._checked_size(cache_size)
        if size == self._cache_size:
            return self
        ndims = self.reinterpreted_batch_ndims
        return IndependentTransform(self.base_transform, ndims, size)

    @property
    def domain(self) -> Any:
        """The constraint of the inputs."""
        ndims = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_transform.domain, ndims)

    @property
    def codomain(self) -> Any:
        """The constraint of the outputs."""
        ndims = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_transform.codomain, ndims)

    @property
    def bijective(self) -> Any:
        """Whether each output has exactly one input."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """The sign of the derivative: 1 or -1."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(y)

    def _log_slope(self, x: Any, y: Any) -> Any:
        log = self.base_transform.log_abs_det_jacobian(x, y)
        return summed(log, self.reinterpreted_batch_ndims)

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base_transform.forward_shape(shape)

    def _inverse_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base_transform.inverse_shape(shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndependentTransform):
            return False
        ndims = self.reinterpreted_batch_ndims
        same = ndims == other.reinterpreted_batch_ndims
        return same and self.base_transform == other.base_transform

    def __hash__(self) -> int:
        return hash((IndependentTransform, self.base_transform))

    def __repr__(self) -> str:
        ndims = self.reinterpreted_batch_ndims
        return f"IndependentTransform({self.base_transform}, {ndims})"
