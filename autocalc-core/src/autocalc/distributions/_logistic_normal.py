# SPDX-License-Identifier: MIT
"""The distribution of probabilities that are made of normal numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints
from autocalc.distributions._normal import Normal
from autocalc.distributions._transformed import TransformedDistribution
from autocalc.distributions._transforms_of_arrays import StickBreakingTransform


class LogisticNormal(TransformedDistribution):
    """Logistic normal distribution: K + 1 probabilities computed from K normal numbers.

    `StickBreakingTransform` computes the probabilities.

    Parameters
    ----------
    loc
        The means of the normal numbers, of shape (..., K).  A number means K = 1.
    scale
        The standard deviations of the normal numbers; above 0.  All parameters
        broadcast.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.LogisticNormal(ac.zeros(2), ac.ones(2))
    >>> d.event_shape, d.sample((5,)).shape
    (autocalc.Size([3]), autocalc.Size([5, 3]))
    """

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base: Any = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        base: Any = self.base_dist
        result: Tensor = base.base_dist.loc
        return result

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal numbers."""
        base: Any = self.base_dist
        result: Tensor = base.base_dist.scale
        return result
