# SPDX-License-Identifier: MIT
"""Parameters that several distributions have: a place and a scale, concentrations."""

from __future__ import annotations

from typing import Any, ClassVar

from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints, Distribution


class Centred(Distribution):
    """A distribution around `loc`, its mean and its mode."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.loc


class ByScale(Centred):
    """A distribution of numbers that a place and a scale describe."""

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = self._broadcast_values(loc=loc, scale=scale)
        super().__init__(self.loc.shape, validate_args=validate_args)


class ByRate(Distribution):
    """A distribution that a concentration and a rate describe."""

    arg_constraints: ClassVar[Constraints] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = self._broadcast_values(
            concentration=concentration, rate=rate
        )
        super().__init__(self.rate.shape, validate_args=validate_args)


class ByTwo(Distribution):
    """A distribution on [0, 1] that two concentrations describe."""

    arg_constraints: ClassVar[Constraints] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration1, self.concentration0 = self._broadcast_values(
            concentration1=concentration1, concentration0=concentration0
        )
        super().__init__(self.concentration1.shape, validate_args=validate_args)
