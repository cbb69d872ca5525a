# SPDX-License-Identifier: MIT
"""What the program of `benchmarks.calibrate` prints (`timing.hpp` says how)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

#: The costs that are rates: an estimate holds their inverse.
SHARE = "_share"


class Way(NamedTuple):
    """One of several ways to a result.

    `amounts` has, for each cost, how often it is in the estimate of the way's time.
    """

    family: str
    shape: str
    name: str
    steps: float
    chosen: bool
    amounts: dict[str, float]

    def estimate(self, costs: Mapping[str, float]) -> float:
        """Return the steps that `costs` expect."""
        return sum(n * coefficient(c, costs[c]) for c, n in self.amounts.items())


class Size(NamedTuple):
    """The time of a shape with one value of a size that a plan compares with."""

    name: str
    shape: str
    value: int
    steps: float


@dataclass
class Measured:
    """Everything that the program printed."""

    costs: dict[str, float] = field(default_factory=dict)
    ways: list[Way] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)

    def add(self, line: str) -> None:
        """Take one of its lines."""
        kind, *words = line.split()
        if kind == "cost":
            self.costs[words[0]] = float(words[1])
        elif kind == "size":
            name, shape, value, steps = words
            self.sizes.append(Size(name, shape, int(value), float(steps)))
        elif kind == "way":
            self.ways.append(_way(words))
        else:
            raise ValueError(f"benchmarks.calibrate: the program printed {line!r}")

    def by_shape(self) -> dict[tuple[str, str], list[Way]]:
        """Return the ways to each result, by family and shape."""
        return by_shape(self.ways)


def _way(words: list[str]) -> Way:
    family, shape, name, steps, chosen, *amounts = words
    pairs = (amount.split("=") for amount in amounts)
    numbers = {cost: float(number) for cost, number in pairs}
    return Way(family, shape, name, float(steps), chosen == "1", numbers)


def by_shape(ways: Iterable[Way]) -> dict[tuple[str, str], list[Way]]:
    """Return the ways to each result, by family and shape."""
    found: dict[tuple[str, str], list[Way]] = defaultdict(list)
    for way in ways:
        found[way.family, way.shape].append(way)
    return dict(found)


def coefficient(cost: str, value: float) -> float:
    """Return what an estimate multiplies with: of a share, its inverse."""
    return 1 / value if SHARE in cost else value
