# SPDX-License-Identifier: MIT
"""A line search that ends where the strong Wolfe conditions hold.

It first finds two steps with such a point between them.  Then it narrows this bracket
with the minimum of a cubic.  Nocedal, Wright: Numerical optimization (2006), algorithms
3.5 and 3.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

#: The loss must fall by this share of the decrease that the slope predicts.
_DECREASE = 1e-4
#: The slope must become flatter by this factor.
_CURVATURE = 0.9


class Point(NamedTuple):
    """A point on the line: the step, the loss, its gradient, and the slope."""

    t: float
    loss: float
    grad: Any
    slope: float


class Search:
    """The points that a search has tried; at most `most` after the first."""

    def __init__(
        self, evaluate: Callable[[float], Point], start: Point, most: int
    ) -> None:
        self.start = start
        self.evaluations = 0
        self._evaluate = evaluate
        self._most = most

    def at(self, t: float) -> Point:
        """Evaluate the loss at step `t`."""
        self.evaluations += 1
        return self._evaluate(t)

    def goes_on(self) -> bool:
        """Return whether another point may be tried."""
        return self.evaluations <= self._most

    def too_high(self, point: Point) -> bool:
        """Return whether the loss has not fallen as much as the slope predicts."""
        promised = self.start.loss + _DECREASE * point.t * self.start.slope
        return point.loss > promised

    def flat(self, point: Point) -> bool:
        """Return whether the slope has become flat enough."""
        return abs(point.slope) <= -_CURVATURE * self.start.slope


def strong_wolfe(search: Search, t: float, least: float) -> Point:
    """Return a point where the conditions hold, or the best point that was found.

    Parameters
    ----------
    search
        The object that evaluates the loss.
    t
        The first step to try.
    least
        The width of the bracket below which it is not narrowed further.
    """
    bracket = _bracket(search, t)
    if len(bracket) == 1:
        return bracket[0]
    return _narrowed(search, bracket, least)


def _bracket(search: Search, t: float) -> list[Point]:
    """Return two points with a solution between them, or the solution itself."""
    before, here = search.start, search.at(t)
    while search.goes_on():
        rises = search.evaluations > 2 and here.loss >= before.loss
        if search.too_high(here) or rises:
            return [before, here]
        if search.flat(here):
            return [here]
        if here.slope >= 0:
            return [before, here]
        least = here.t + 0.01 * (here.t - before.t)
        t = _cubic_minimum(before, here, least, 10 * here.t)
        before, here = here, search.at(t)
    return [search.start, here]


def _narrowed(search: Search, bracket: list[Point], least: float) -> Point:
    """Narrow the bracket until one of its points satisfies the conditions."""
    low, stalled = _lower(bracket), False
    while search.goes_on() and abs(bracket[1].t - bracket[0].t) >= least:
        left, right = sorted(point.t for point in bracket)
        t = _cubic_minimum(bracket[0], bracket[1], left, right)
        t, stalled = _off_the_ends(t, left, right, stalled)
        here = search.at(t)
        if search.too_high(here) or here.loss >= bracket[low].loss:
            bracket[1 - low] = here
            low = _lower(bracket)
            continue
        if search.flat(here):
            return here
        if here.slope * (bracket[1 - low].t - bracket[low].t) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = here
    return bracket[low]


def _lower(bracket: list[Point]) -> int:
    return 0 if bracket[0].loss <= bracket[1].loss else 1


def _off_the_ends(
    t: float, left: float, right: float, stalled: bool
) -> tuple[float, bool]:
    """Keep `t` a tenth of the bracket away from its ends, if it is near them again.

    Return the step, and whether it was near an end and still permitted.
    """
    margin = 0.1 * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if not (stalled or t >= right or t <= left):
        return t, True
    return (right - margin if abs(t - right) < abs(t - left) else left + margin), False


def _cubic_minimum(p: Point, q: Point, least: float, most: float) -> float:
    """Return the minimum, within limits, of the cubic through two points and slopes."""
    a, b = (p, q) if p.t <= q.t else (q, p)
    if a.t == b.t:
        return (least + most) / 2
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    d2 = math.sqrt(square) if square >= 0 else math.nan
    width = b.slope - a.slope + 2 * d2
    if math.isnan(width) or width == 0:
        return (least + most) / 2
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / width)
    return min(max(t, least), most)
