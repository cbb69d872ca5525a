# SPDX-License-Identifier: MIT
"""The curves of a training, and their display in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from autocalc._report._charts import smooth
from autocalc._report._numbers import shown

Points = list[tuple[float, float]]

#: The number of steps over which the smooth line averages.
WINDOW = 20


@dataclass(frozen=True)
class Curves:
    """The curves of a training."""

    title: str
    #: What the x axis counts.
    unit: str
    #: (x, loss) of each step.
    losses: Points
    #: (x, loss) on data that is not used for training, and the name of that data.
    kept: Points
    kept_name: str
    #: A second picture: the label of its y axis and its points.
    second_name: str = ""
    second: Points = field(default_factory=list)


def smoothed(points: Points) -> Points:
    """Return each point as the mean of itself and the points before it."""
    return smooth(points, WINDOW)


def in_terminal(curves: Curves, width: int, unicode: bool) -> str:
    """Return the curves drawn with characters."""
    marks = ("•", "o") if unicode else (".", "o")
    losses = [(marks[0], smoothed(curves.losses)), (marks[1], curves.kept)]
    title = (
        f"{curves.title}: loss ({marks[0]} mean of {WINDOW} steps, "
        f"{marks[1]} {curves.kept_name})"
    )
    parts = [_drawn(title, losses, curves.unit, width, unicode)]
    if curves.second:
        second = [(marks[1], curves.second)]
        parts.append(_drawn(curves.second_name, second, curves.unit, width, unicode))
    return "\n\n".join(parts)


#: The number of lines of a picture, and of cells to its left.
_HEIGHT, _LABEL = 12, 9


def _drawn(
    title: str, curves: list[tuple[str, Points]], unit: str, width: int, unicode: bool
) -> str:
    """Return one picture: marks on a grid of cells, between two axes."""
    curves = [
        (mark, [(x, y) for x, y in points if math.isfinite(y)])
        for mark, points in curves
    ]
    every = [point for _, points in curves for point in points]
    if not every:
        return f"{title}: nothing that is finite"
    columns = max(width - _LABEL - 2, 10)
    (left, right), (low, high) = _ends(x for x, _ in every), _ends(y for _, y in every)
    cells = [[" "] * columns for _ in range(_HEIGHT)]
    for mark, points in curves:
        for x, y in points:
            column = _place(x, left, right, columns)
            cells[_HEIGHT - 1 - _place(y, low, high, _HEIGHT)][column] = mark
    upright, corner, level = "│└─" if unicode else "|+-"
    labels = {0: shown(high), _HEIGHT - 1: shown(low)}
    lines = [
        f"{labels.get(i, ''):>{_LABEL}}{upright}{''.join(row)}".rstrip()
        for i, row in enumerate(cells)
    ]
    ends = shown(left), f"{shown(right)} {unit}"
    axis = f"{' ' * _LABEL}{corner}{level * columns}"
    below = f"{' ' * (_LABEL + 1)}{ends[0]}{ends[1]:>{columns - len(ends[0])}}"
    return "\n".join([title, *lines, axis, below])


def _ends(values: Iterable[float]) -> tuple[float, float]:
    numbers = list(values)
    return min(numbers), max(numbers)


def _place(value: float, low: float, high: float, count: int) -> int:
    """Return the cell of a value, among `count` cells between two ends."""
    if high <= low:
        return count // 2
    return min(int((value - low) / (high - low) * count), count - 1)
