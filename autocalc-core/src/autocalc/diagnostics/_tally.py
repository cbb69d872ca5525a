# SPDX-License-Identifier: MIT
"""Statistics of one layer's outputs over all its calls, and their problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autocalc._dispatch._callers import UserLine
from autocalc.diagnostics._flags import Flag

if TYPE_CHECKING:
    from autocalc._kernels.spec import Array

#: The lower and upper bounds of bounded functions, by kernel or module class.
BOUNDS = {
    "sigmoid": (0.0, 1.0), "Sigmoid": (0.0, 1.0), "Hardsigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0), "Tanh": (-1.0, 1.0), "Softsign": (-1.0, 1.0),
}  # fmt: skip

#: An output is saturated if its distance to a bound is at most this share of the range.
NEAR = 0.01

#: Samples whose inputs differ by at most this value count as equal.
SAME = 1e-6

#: The least number of observations from which a unit is judged.
OBSERVATIONS = 8


@dataclass(frozen=True)
class Activation:
    """The output statistics of one module or activation function in a block.

    Attributes
    ----------
    layer
        The module's dotted name. If no module calls the function, as in ``x.relu()``,
        it is the name of the module that ran before the function.
    operator
        The module's class, or the function.
    line
        The user's line that led to the call.
    calls, shape
        The number of calls, and the shape of the last output.
    mean, variance, minimum, maximum
        Statistics of the finite elements; None if there are none.
    zeros
        The share of finite elements that are 0.
    nonfinite
        The number of elements that are NaN or infinite.
    dead
        The share of units (channels, features) whose outputs were all 0.
    saturated
        The share of elements within 1 % of a bound; None for functions without bounds.
    spread
        The largest standard deviation of an element over the samples, divided by the
        root mean square of the output; None if there are no samples to compare.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Sequential(ac.nn.ReLU())
    >>> with ac.diagnostics.activation_stats(net) as stats:
    ...     y = net(ac.tensor([[-1.0, 3.0], [-2.0, 5.0]]))
    >>> row = stats.rows[0]
    >>> row.operator, row.mean, row.zeros, row.dead
    ('ReLU', 2.0, 0.5, 0.5)
    """

    layer: str
    operator: str
    line: UserLine | None
    calls: int
    shape: tuple[int, ...]
    mean: float | None
    variance: float | None
    minimum: float | None
    maximum: float | None
    zeros: float | None
    nonfinite: int
    dead: float
    saturated: float | None
    spread: float | None


class Tally:
    """The running statistics of one layer."""

    def __init__(self, layer: str, operator: str, line: UserLine | None) -> None:
        self.layer, self.operator, self.line = layer, operator, line
        self.bounds = BOUNDS.get(operator)
        self.calls = self.elements = self.zeros = self.at_ends = self.nonfinite = 0
        self.shape: tuple[int, ...] = ()
        self.mean = self.variance = 0.0
        self.minimum, self.maximum = np.inf, -np.inf
        self.spread: float | None = None
        #: Whether the layer's inputs differed between samples.
        self.given_differed = False
        #: For each unit, whether any of its outputs was not 0.
        self.alive: Any = None
        self.observations = 0
        #: The largest share of dead units in the layer's inputs; the share of zeros if
        #: the input has a different shape.
        self.given_dead = 0.0

    def add(self, out: Array, given: Array | None, axis: int) -> None:
        """Add one output, and the input that it was computed from."""
        wide = out.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        self.calls += 1
        self.shape = tuple(out.shape)
        self.nonfinite += wide.size - finite.size
        if not finite.size:
            return
        if self.bounds is not None:
            low, high = self.bounds
            near = NEAR * (high - low)
            ends = (finite < low + near) | (finite > high - near)
            self.at_ends += int(ends.sum())
        self._add_moments(finite)
        self._add_units(wide, given, axis)
        spread = _spread(wide)
        if spread is not None:
            self.spread = max(spread, self.spread or 0.0)
            before = None if given is None else _spread(given)
            self.given_differed |= before is None or before > SAME

    def _add_moments(self, finite: Array) -> None:
        """Merge the mean and variance of more elements into the running ones."""
        n, more = self.elements, finite.size
        total = n + more
        apart = float(finite.mean()) - self.mean
        held = self.variance * n + float(finite.var()) * more
        self.variance = (held + apart * apart * n * more / total) / total
        self.mean += apart * more / total
        self.minimum = min(self.minimum, float(finite.min()))
        self.maximum = max(self.maximum, float(finite.max()))
        self.zeros += more - int(np.count_nonzero(finite))
        self.elements = total

    def _add_units(self, wide: Array, given: Array | None, axis: int) -> None:
        if not wide.ndim:
            return
        alive = _alive(wide, axis)
        fits = self.alive is not None and self.alive.shape == alive.shape
        self.alive = self.alive | alive if fits else alive
        self.observations += wide.size // alive.size
        if given is not None and given.size:
            zeros = 1.0 - np.count_nonzero(given) / given.size
            same = given.shape == wide.shape
            before = 1.0 - float(_alive(given, axis).mean()) if same else zeros
            self.given_dead = max(self.given_dead, before)

    @property
    def dead(self) -> float:
        """The share of units whose outputs were all 0."""
        return 0.0 if self.alive is None else 1.0 - float(self.alive.mean())

    def row(self) -> Activation:
        """Return the statistics."""
        n = self.elements
        return Activation(
            layer=self.layer,
            operator=self.operator,
            line=self.line,
            calls=self.calls,
            shape=self.shape,
            mean=self.mean if n else None,
            variance=self.variance if n else None,
            minimum=self.minimum if n else None,
            maximum=self.maximum if n else None,
            zeros=self.zeros / n if n else None,
            nonfinite=self.nonfinite,
            dead=self.dead,
            saturated=self.at_ends / n if n and self.bounds else None,
            spread=self.spread,
        )

    def flags(self, limits: dict[str, float]) -> list[Flag]:
        """Return the problems found."""
        found: list[tuple[str, float, float, str]] = []
        if self.nonfinite:
            advice = "find_nonfinite() names the operator that made it."
            found.append(("nonfinite", float(self.nonfinite), 0.0, advice))
        found += [*self._dead(limits["dead"]), *self._collapse(limits["collapse"])]
        saturated = self.at_ends / self.elements if self.elements else 0.0
        if self.bounds and saturated >= limits["saturated"]:
            advice = (
                "Outputs are at the ends, where the derivative is next to 0. Look at "
                "the scale of its input; normalise it, or begin with smaller weights."
            )
            found.append(("saturated", saturated, limits["saturated"], advice))
        return [
            Flag(kind, self.layer, value, limit, advice, self.operator, self.line)
            for kind, value, limit, advice in found
        ]

    def _dead(self, limit: float) -> list[tuple[str, float, float, str]]:
        dead, empty = self.dead, self.elements > 0 and self.zeros == self.elements
        enough = self.observations >= OBSERVATIONS or empty
        if not enough or dead < limit or dead <= self.given_dead:
            return []
        advice = (
            "Units give 0 for every sample and get no gradient. Look at the biases and "
            "the learning rate before; try a smaller rate or a leaky activation."
        )
        return [("dead", dead, limit, advice)]

    def _collapse(self, limit: float) -> list[tuple[str, float, float, str]]:
        if self.spread is None or self.spread > limit or not self.given_differed:
            return []
        if self.zeros == self.elements:  # it is reported as dead
            return []
        advice = "All samples give the same output. Look at the weights of this layer."
        return [("collapse", self.spread, limit, advice)]


def _alive(x: Array, axis: int) -> Array:
    """Return, for each unit, whether any element is not 0."""
    others = tuple(d for d in range(x.ndim) if d != axis % x.ndim)
    found: Array = (x != 0).any(axis=others)
    return found


def _spread(x: Array) -> float | None:
    """Return how much samples differ, relative to the size of the elements."""
    if x.ndim < 2 or x.shape[0] < 2 or not x.size:
        return None
    with np.errstate(all="ignore"):
        flat = x.reshape(x.shape[0], -1).astype(np.float64)
        scale = float(np.sqrt((flat * flat).mean()))
        return float(flat.std(axis=0).max()) / scale if scale else 0.0
