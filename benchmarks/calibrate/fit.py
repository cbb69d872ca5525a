# SPDX-License-Identifier: MIT
"""Costs from timings, and what a plan that goes by them gives away."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibrate.rows import SHARE, Size, Way, by_shape, coefficient

#: A cost needs as many ways that it has at least this part in, ...
FEWEST_WAYS = 3
#: ... so that a way's error is not taken for it.
LEAST_PART = 0.03
#: Errors of an estimate above this count less and less (Huber's weights).
LARGE_ERROR = 0.15
#: Of a size, the built-in value stays unless another is this much faster.
CLEAR_GAIN = 0.01


def fitted(ways: Sequence[Way], built_in: Mapping[str, float]) -> dict[str, float]:
    """Return the costs, none below 0, whose estimates are nearest to the times.

    Least squares of relative errors, of which the large ones count less. A cost of
    which the ways say too little keeps its built-in value.
    """
    told = [way for way in ways if way.amounts]
    costs = _reweighted(
        told, sorted({c for way in told for c in way.amounts}), built_in
    )
    return _reweighted(told, _well_known(told, costs), built_in)


def _reweighted(
    told: Sequence[Way], unknown: Sequence[str], built_in: Mapping[str, float]
) -> dict[str, float]:
    costs = dict(built_in)
    weights = np.ones(len(told))
    for _ in range(20):
        found = _least_squares(told, unknown, costs, weights)
        costs.update(found)
        errors = [abs(way.estimate(costs) / way.steps - 1) for way in told]
        weights = np.array([min(1.0, LARGE_ERROR / max(e, 1e-9)) for e in errors])
    return costs


def _well_known(ways: Iterable[Way], costs: Mapping[str, float]) -> list[str]:
    parts = Counter(
        cost
        for way in ways
        for cost, amount in way.amounts.items()
        if amount * coefficient(cost, costs[cost]) > LEAST_PART * way.steps
    )
    return sorted(cost for cost, count in parts.items() if count >= FEWEST_WAYS)


def _least_squares(
    ways: Sequence[Way],
    unknown: Sequence[str],
    costs: Mapping[str, float],
    weights: NDArray[np.float64],
) -> dict[str, float]:
    """Return the unknown costs.

    A share that would be above 1 is 1; a cost that would be below 0 keeps its value.
    """
    unknown = list(unknown)
    found: dict[str, float] = {}
    while unknown:
        known = {c: v for c, v in {**costs, **found}.items() if c not in unknown}
        left = np.array(
            [[w.amounts.get(c, 0.0) / w.steps for c in unknown] for w in ways]
        )
        right = np.array([1 - _part(way, known) for way in ways])
        root = np.sqrt(weights)
        solution = np.linalg.lstsq(left * root[:, None], right * root, rcond=None)[0]
        beyond = solution - [_least(cost) for cost in unknown]
        lowest = int(np.argmin(beyond))
        if beyond[lowest] > 0:
            pairs = zip(unknown, solution, strict=True)
            return found | {cost: coefficient(cost, float(v)) for cost, v in pairs}
        cost = unknown.pop(lowest)
        found[cost] = 1.0 if SHARE in cost else costs[cost]
    return found


def _least(cost: str) -> float:
    """Return the least coefficient of a cost."""
    return 1.0 if SHARE in cost else 0.0


def _part(way: Way, known: Mapping[str, float]) -> float:
    parts = (n * coefficient(c, known[c]) for c, n in way.amounts.items() if c in known)
    return sum(parts) / way.steps


# ---- costs that choose well ----------------------------------------------------------

#: Of two ways whose estimates differ by this part, the cheaper one counts e times as
#: much: estimates are not better than that.
BLUR = 0.1
#: What moving a cost away from the least squares' by a factor of e costs, in what a
#: choice gives away on average.
PULL = 0.002
FACTORS = (2.0, 1.4, 1.2, 1.1, 1.05)


def tuned(ways: Sequence[Way], built_in: Mapping[str, float]) -> dict[str, float]:
    """Return the costs that choose best, near those of `fitted`.

    The nearest estimate of each time is not what chooses best: an error that all ways
    share is harmless, one between two ways is not. From the fitted costs on, one cost
    after another is moved while what the choices give away gets less.
    """
    costs = fitted(ways, built_in)
    choices = Choices(ways, sorted(costs))
    start = np.array([coefficient(c, costs[c]) for c in choices.costs])
    found = choices.descend(start)
    pairs = zip(choices.costs, found, strict=True)
    return {cost: coefficient(cost, float(value)) for cost, value in pairs}


class Choices:
    """The ways to each shape as arrays, and what is given away between them."""

    def __init__(self, ways: Sequence[Way], costs: list[str]) -> None:
        groups = [
            these
            for these in by_shape(ways).values()
            if len(these) > 1 and all(way.amounts for way in these)
        ]
        self.costs = costs
        flat = [way for these in groups for way in these]
        self.amounts = np.array([[w.amounts.get(c, 0.0) for c in costs] for w in flat])
        self.steps = np.log([way.steps for way in flat])
        self.starts = np.cumsum([0, *(len(these) for these in groups)])[:-1]
        self.groups = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
        self.steps -= np.minimum.reduceat(self.steps, self.starts)[self.groups]

    def given_away(self, values: NDArray[np.float64]) -> float:
        """Return the mean logarithm of what blurred choices give away."""
        estimates = np.log(self.amounts @ values) / BLUR
        estimates -= np.minimum.reduceat(estimates, self.starts)[self.groups]
        parts = np.exp(-estimates)
        parts /= np.add.reduceat(parts, self.starts)[self.groups]
        return float(np.sum(parts * self.steps) / len(self.starts))

    def descend(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move one value after another by smaller and smaller factors."""

        def badness(values: NDArray[np.float64]) -> float:
            moved = np.log(values / start)
            return self.given_away(values) + PULL * float(np.sum(moved**2))

        bounds = np.array([_least(cost) for cost in self.costs])
        values: NDArray[np.float64] = start.copy()
        least = badness(values)
        for factor in FACTORS:
            improved = True
            while improved:
                improved = False
                for i in range(len(values)):
                    for step in (factor, 1 / factor):
                        trial = values.copy()
                        trial[i] = max(trial[i] * step, bounds[i])
                        result = badness(trial)
                        if result < least - 1e-9:
                            values, least, improved = trial, result, True
        return values


# ---- what choices give away ----------------------------------------------------------


def losses(ways: Iterable[Way], costs: Mapping[str, float]) -> list[float]:
    """Return how many times as long as the fastest way the cheapest one takes."""
    found = []
    for these in by_shape(ways).values():
        if len(these) > 1 and all(way.amounts for way in these):
            cheapest = min(these, key=lambda way: way.estimate(costs))
            found.append(cheapest.steps / min(way.steps for way in these))
    return found


def crossed_losses(ways: Sequence[Way], built_in: Mapping[str, float]) -> list[float]:
    """Return the same with costs that are fitted to the other half of the shapes."""
    halves: dict[int, list[Way]] = defaultdict(list)
    for i, these in enumerate(by_shape(ways).values()):
        halves[i // 2 % 2] += these
    return [
        loss
        for half in (0, 1)
        for loss in losses(halves[half], tuned(halves[1 - half], built_in))
    ]


def error(ways: Iterable[Way], costs: Mapping[str, float]) -> float:
    """Return the median of the estimates' relative errors."""
    told = [way for way in ways if way.amounts]
    return statistics.median(abs(way.estimate(costs) / way.steps - 1) for way in told)


# ---- sizes ---------------------------------------------------------------------------


def most_dot_rows(ways: Iterable[Way]) -> int:
    """Return the most rows of which dot products take less time than a product."""
    ratios: dict[int, list[float]] = defaultdict(list)
    for (family, shape), these in by_shape(ways).items():
        if family == "dots":
            steps = {way.name: way.steps for way in these}
            rows = int(shape.split("x", 1)[0])
            ratios[rows].append(steps["dots"] / steps["product"])
    most = 1
    for rows in sorted(ratios):
        if statistics.geometric_mean(ratios[rows]) >= 1:
            break
        most = rows
    return most


def best_size(sizes: Iterable[Size], built_in: int) -> tuple[int, float]:
    """Return the fastest value, and its time as a part of the built-in one's."""
    steps: dict[int, list[float]] = defaultdict(list)
    for size in sizes:
        steps[size.value].append(size.steps)
    means = {value: statistics.geometric_mean(times) for value, times in steps.items()}
    best = min(means, key=lambda value: means[value])
    gain = means[best] / means[built_in] if built_in in means else 0.0
    return (best, gain) if gain < 1 - CLEAR_GAIN else (built_in, 1.0)
