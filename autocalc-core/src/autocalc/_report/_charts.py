# SPDX-License-Identifier: MIT
"""Charts as SVG, made without a library; they scale with the page without scripts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from autocalc._report._numbers import short, shown

Points = Sequence[tuple[float, float]]

#: The size of the picture in units.  Letters of 11 units are readable even if the
#: picture is only 340 pixels wide.
_WIDTH, _HEIGHT = 400, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 24, 38

#: The most points of a curve.  Further points are merged to keep the page small.
_MOST = 600

#: The axis is logarithmic if the largest value is at least this many times the
#: smallest.
_WIDE = 30


class Series(NamedTuple):
    """A curve: its name, its points, and whether it is thin or has markers."""

    name: str
    points: Points
    thin: bool = False
    dots: bool = False


@dataclass(frozen=True)
class _Axis:
    """Converts values to positions in the picture."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return the position of a value."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(value) - low) / (high - low)
        return self.begin + share * (self.end - self.begin)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self) -> list[float]:
        """Return the round values that get a label."""
        return _log_ticks(self.low, self.high) if self.log else self._even_ticks()

    def _even_ticks(self) -> list[float]:
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


def _round_step(step: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= step * (1 - 1e-9))


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten; if there are few, also their multiples by 2 and 5."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        found = [m * 10.0**p for p in powers for m in factors]
        found = [x for x in found if low <= x * (1 + 1e-9) and x <= high * (1 + 1e-9)]
        if len(found) >= 3:
            break
    every = -(-len(found) // 7)
    return found[::every]


def chart(
    title: str,
    series: Iterable[Series],
    *,
    x: str,
    y: str,
    label: Callable[[float], str] = short,
    log: bool = False,
) -> str:
    """Return a figure: curves over steps, with axes and a legend.

    Parameters
    ----------
    title
        The heading of the figure; screen readers read it as well.
    series
        The curves.  Empty curves are left out.  Non-finite values are left out as well,
        and a sentence below the picture reports them.
    x, y
        The labels of the axes.
    label
        The function that formats a value of the y axis.
    log
        True to use a logarithmic y axis if the values differ by large factors.
    """
    given = [one for one in series if one.points]
    kept = [one._replace(points=_finite(one.points)) for one in given]
    kept = [one for one in kept if one.points]
    notes = [note for one in given for note in _not_finite(one)]
    if not kept:
        return _figure(title, "", notes) if notes else ""
    across, up = _axes(kept, log)
    inside = [_grid(across, up, label), _names(x, "" if y == title else y)]
    inside += [_curve(one, i, across, up) for i, one in enumerate(kept)]
    picture = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{"".join(inside)}</svg>'
    )
    return _figure(title, picture + _legend(kept), notes)


def _figure(title: str, inside: str, notes: list[str]) -> str:
    said = "".join(f'<p class="warning">{escape(note)}</p>' for note in notes)
    return f"<figure><figcaption>{escape(title)}</figcaption>{inside}{said}</figure>"


def _finite(points: Points) -> Points:
    return [(x, y) for x, y in points if math.isfinite(y)]


def _not_finite(one: Series) -> list[str]:
    """Return a sentence if there are values that cannot be drawn."""
    wrong = [(x, y) for x, y in one.points if not math.isfinite(y)]
    if not wrong:
        return []
    step, value = wrong[0]
    note = (
        f"{one.name}: {len(wrong):,} of {len(one.points):,} values are not finite; the "
        f"first is {value} at {shown(step)}."
    )
    return [note]


def _axes(series: list[Series], log: bool) -> tuple[_Axis, _Axis]:
    xs = [x for one in series for x, _ in one.points]
    ys = [y for one in series for _, y in one.points]
    log = log and min(ys) > 0 and max(ys) > _WIDE * min(ys)
    left, right = _apart(min(xs), max(xs), 0.0)
    low, high = (min(ys), max(ys)) if log else _apart(min(ys), max(ys), 0.05)
    if not log and min(ys) >= 0 > low:
        low = 0.0
    return (
        _Axis(left, right, _LEFT, _WIDTH - _RIGHT),
        _Axis(low, high, _HEIGHT - _BOTTOM, _TOP, log),
    )


def _apart(low: float, high: float, margin: float) -> tuple[float, float]:
    """Return two different ends of an axis, with a margin."""
    if high - low <= 1e-12 * max(abs(high), abs(low)):
        half = abs(high) / 10 or 0.5
        return low - half, high + half
    space = margin * (high - low)
    return low - space, high + space


def _grid(across: _Axis, up: _Axis, label: Callable[[float], str]) -> str:
    lines = [_frame()]
    for value in up.ticks():
        y = up.place(value)
        lines.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
        lines.append(
            f'<text x="{_LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">'
            f"{escape(label(value))}</text>"
        )
    for value in across.ticks():
        x = across.place(value)
        lines.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 15}" text-anchor="middle">'
            f"{escape(short(value))}</text>"
        )
    return "".join(lines)


def _frame() -> str:
    return (
        f'<path class="axis" d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}'
        f'H{_WIDTH - _RIGHT}"/>'
    )


def _names(x: str, y: str) -> str:
    """Return the labels of the axes."""
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    return (
        f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(x)}</text>'
        f'<text x="0" y="11">{escape(y)}</text>'
    )


def _curve(one: Series, place: int, across: _Axis, up: _Axis) -> str:
    points = fewer(one.points, _MOST)
    at = [f"{across.place(x):.1f} {up.place(y):.1f}" for x, y in points]
    kind = f"curve c{place % 6}" + " thin" * one.thin
    parts = [f'<path class="{kind}" d="M{"L".join(at)}"/>']
    if one.dots or len(points) == 1:
        for x, y in points[:100]:
            words = f"{one.name}: {shown(y)} at {shown(x)}"
            parts.append(
                f'<circle class="c{place % 6}" cx="{across.place(x):.1f}" '
                f'cy="{up.place(y):.1f}" r="3"><title>{escape(words)}</title></circle>'
            )
    return "".join(parts)


def _legend(series: list[Series]) -> str:
    names = "".join(
        f'<span><i class="c{i % 6}"></i>{escape(one.name)}</span>'
        for i, one in enumerate(series)
    )
    return f'<p class="legend">{names}</p>'


def fewer(points: Points, most: int) -> Points:
    """Return about `most` points at most: the smallest and largest of each interval.

    A peak of a single step therefore remains visible.
    """
    if len(points) <= most:
        return points
    size = -(-2 * len(points) // most)
    kept: list[tuple[float, float]] = []
    for start in range(0, len(points), size):
        part = points[start : start + size]
        ends = {min(part, key=_height), max(part, key=_height)}
        kept += sorted(ends)
    return kept


def _height(point: tuple[float, float]) -> float:
    return point[1]


def smooth(points: Points, window: int) -> list[tuple[float, float]]:
    """Return the moving mean of each value and the values before it in the window."""
    result, total = [], 0.0
    for i, (x, y) in enumerate(points):
        total += y
        if i >= window:
            total -= points[i - window][1]
        result.append((x, total / min(i + 1, window)))
    return result
