# SPDX-License-Identifier: MIT
"""Von Mises's distribution of angles."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.like import full_like
from autocalc._ops.elementwise.special_functions import i0e, i1e
from autocalc._ops.random.count_draws import positive_unit, until_taken
from autocalc._ops.random.random_draws import rand
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import float64
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints, Distribution

#: 1 / 2 c beyond which angles are as good as uniform.
_FLAT = 1e8


class VonMises(Distribution):
    """Von Mises distribution of angles: density exp(c cos(x - loc)) / (2 pi I_0(c)).

    I_0 is a modified Bessel function.  Samples are angles from -pi to pi, in radians.

    Parameters
    ----------
    loc
        The mean angle in radians.  A tensor or a number; all parameters broadcast.
    concentration
        The concentration c; above 0.  The larger it is, the closer the angles are to
        `loc`.
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
    >>> ac.distributions.VonMises(0.0, 1.0).variance
    tensor(0.5536)
    """

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real

    def __init__(
        self, loc: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = self._broadcast_values(
            loc=loc, concentration=concentration
        )
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean angle in radians."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The most probable angle in radians."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance: 1 minus the mean of cos(x - loc)."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape)``."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            c = self.concentration.double().expand(shape)
            possible = (c > 0) & (c < math.inf)
            drawn = until_taken(_best_fisher, c[possible])
            angle = full_like(c, math.nan).masked_scatter(possible, drawn)
            angle = angle + self.loc.double()
            result: Tensor = (angle + math.pi) % (2 * math.pi) - math.pi
            return result.to(self.loc.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        away = self._checked("log_prob", value) - self.loc
        c = self.concentration
        height = -2 * c * (away / 2).sin() ** 2  # c (cos - 1); i0e has exp(-c) in it
        return height - (2 * math.pi * i0e(c)).log()


def _best_fisher(c: Any, _: Any) -> Any:
    """Return angles around 0, of which two in three are taken at once.

    Best and Fisher, "Efficient simulation of the von Mises distribution", Applied
    Statistics 28 (1979).  Their r is h + sqrt(h^2 + 1) with h = 1 / 2 c; where they
    write c (r - f) and acos(f), f = (1 + r z) / (r + z), digits are lost for large c.
    """
    half = (0.5 / c).clamp(max=_FLAT)
    r = half + (half * half + 1).sqrt()
    z = (math.pi * rand(c.shape, dtype=float64)).cos()
    height = r / (r + z)
    taken = (height / positive_unit(c.shape)).log() + 1 - height >= 0
    below = half * height * (1 - z) / (r + 1)  # (1 - f) / 2
    side = (rand(c.shape, dtype=float64) - 0.5).sign()
    return side * 2 * below.clamp(0, 1).sqrt().asin(), taken
