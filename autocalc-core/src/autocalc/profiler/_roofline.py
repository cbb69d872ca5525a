# SPDX-License-Identifier: MIT
"""The roofline plot: performance of kernels compared with the machine's peaks.

The horizontal axis is the arithmetic per byte, and the vertical axis is the arithmetic
per second.  The sloped part of the roof is the peak of the memory; the flat part is the
peak of arithmetic.  SVG is written here; matplotlib draws other formats.
"""

from __future__ import annotations

from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

from autocalc.errors import PluginError
from autocalc.profiler._peaks import Peaks
from autocalc.profiler._rows import Row

_WIDTH, _HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 46

#: The most kernels that are named.
_NAMED = 8


class _Axes(NamedTuple):
    """Two logarithmic axes, by their first and last powers of ten."""

    left: int
    right: int
    bottom: int
    top: int

    def x(self, value: float) -> float:
        share = (log10(value) - self.left) / (self.right - self.left)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = (log10(value) - self.bottom) / (self.top - self.bottom)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


class _Roof(NamedTuple):
    """A line of the roof: the bytes per second of one level of the memory."""

    name: str
    rate: float


def drawn(rows: list[Row]) -> list[Row]:
    """Return the rows that appear in the picture, which are those with arithmetic."""
    return [row for row in rows if row.gflops and row.intensity]


def roofs_of(peaks: Peaks) -> list[_Roof]:
    """Return the sloped lines of the caches and the memory."""
    return [
        _Roof("caches", peaks.bandwidth_of(0) / 1e9),
        _Roof("memory", peaks.bandwidth[-1][1] / 1e9),
    ]


def axes_of(rows: list[Row], peaks: Peaks | None) -> _Axes:
    """Return axes with room for all kernels and the roof."""
    xs = [row.intensity for row in rows] or [1.0]
    ys = [row.gflops for row in rows] or [1.0]
    if peaks is not None:
        flops = peaks.flops_of("float32") / 1e9
        ys.append(flops)
        xs += [flops / roof.rate for roof in roofs_of(peaks)]
    return _Axes(
        floor(log10(min(xs)) - 0.1),
        ceil(log10(max(xs)) + 0.3),
        floor(log10(min(ys)) - 0.1),
        ceil(log10(max(ys)) + 0.1),
    )


def svg_of(rows: list[Row], peaks: Peaks | None) -> str:
    """Return the picture as scalable SVG without references to other files."""
    rows = drawn(rows)
    axes = axes_of(rows, peaks)
    parts = [*_grid(axes), *(_roof_lines(axes, peaks) if peaks is not None else ())]
    most = max((row.self_time for row in rows), default=1.0)
    parts += [_dot(axes, row, most) for row in rows]
    parts += _names(axes, rows[:_NAMED], most)
    return (
        f'<svg class="roofline" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="Roofline of the kernels" font-family="system-ui, sans-serif" '
        f'font-size="12" fill="currentColor">{"".join(parts)}</svg>'
    )


def _grid(axes: _Axes) -> list[str]:
    """Return the lines and labels of powers of ten."""
    parts: list[str] = []
    low, left = _HEIGHT - _BOTTOM, _LEFT
    for power in range(axes.left, axes.right + 1):
        x = axes.x(10.0**power)
        parts.append(_line(x, _TOP, x, low, "grid"))
        parts.append(_text(x, low + 16, f"{10.0**power:g}", "middle"))
    for power in range(axes.bottom, axes.top + 1):
        y = axes.y(10.0**power)
        parts.append(_line(left, y, _WIDTH - _RIGHT, y, "grid"))
        parts.append(_text(left - 6, y + 4, f"{10.0**power:g}", "end"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(_text(middle, _HEIGHT - 8, "FLOP for each byte", "middle"))
    parts.append(
        f'<text transform="translate(14 {(_TOP + low) / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">GFLOP/s</text>'
    )
    return parts


def _roof_lines(axes: _Axes, peaks: Peaks) -> list[str]:
    """Return the sloped lines of memory, up to the flat line of arithmetic."""
    parts: list[str] = []
    right = 10.0**axes.right
    for name, flops in peaks.flops.items():
        most = flops / 1e9
        first = max(10.0**axes.left, most / roofs_of(peaks)[0].rate)
        y = axes.y(max(most, 10.0**axes.bottom))
        parts.append(_line(axes.x(first), y, axes.x(right), y, "roof"))
        parts.append(_text(axes.x(right) - 4, y - 5, f"{name} {most:,.0f}", "end"))
    top = max(peaks.flops.values()) / 1e9
    for roof in roofs_of(peaks):
        first = max(10.0**axes.left, 10.0**axes.bottom / roof.rate)
        last = top / roof.rate
        ends = axes.x(first), axes.y(first * roof.rate), axes.x(last), axes.y(top)
        parts.append(_line(*ends, "roof"))
        label = f"{roof.name} {roof.rate:,.0f} GB/s"
        parts.append(_text(ends[0] + 6, ends[1] - 8, label, "start"))
    return parts


def _dot(axes: _Axes, row: Row, most: float) -> str:
    """Return the dot of a kernel; its area is proportional to the kernel's time."""
    x, y, radius = _circle(axes, row, most)
    title = f"{row.name}: {row.gflops:.3g} GFLOP/s, {row.intensity:.3g} FLOP/B"
    return (
        f'<circle class="kernel {row.bound}" cx="{x:.1f}" cy="{y:.1f}" '
        f'r="{radius:.1f}" fill="#2f6fb5" fill-opacity="0.65">'
        f"<title>{escape(title)}</title></circle>"
    )


def _circle(axes: _Axes, row: Row, most: float) -> tuple[float, float, float]:
    radius = max(2.5, 12 * (row.self_time / most) ** 0.5 if most else 0.0)
    return axes.x(row.intensity), axes.y(row.gflops), radius


def _names(axes: _Axes, rows: list[Row], most: float) -> list[str]:
    """Name the kernels with the largest times, without overlapping names."""
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for row in rows:
        x, y, radius = _circle(axes, row, most)
        text = row.name[:24]
        wide = 6.6 * len(text)
        right, left = x + radius + 4, x - radius - 4 - wide
        places = [(at, y + 4 + up) for up in (0, -14, 14) for at in (right, left)]
        for at, height in places:
            inside = at > _LEFT and at + wide < _WIDTH - _RIGHT
            if inside and not _meets(taken, at, wide, height):
                taken.append((at, wide, height))
                parts.append(_text(at, height, text, "start"))
                break
    return parts


def _meets(
    taken: list[tuple[float, float, float]], x: float, wide: float, y: float
) -> bool:
    """Return whether a text would overlap another one."""
    return any(
        abs(y - other_y) < 12 and x < other + width and other < x + wide
        for other, width, other_y in taken
    )


def _line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    width, opacity = ("2", "0.9") if kind == "roof" else ("1", "0.15")
    return (
        f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" '
        f'y2="{to_y:.1f}" stroke="currentColor" stroke-width="{width}" '
        f'stroke-opacity="{opacity}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def write_picture(rows: list[Row], peaks: Peaks | None, path: Path) -> None:
    """Write the picture as SVG, or in other formats with matplotlib.

    Raises
    ------
    PluginError
        If the format is not SVG, and matplotlib is not installed or does not support
        it.
    """
    if path.suffix.lower() == ".svg":
        path.write_text(svg_of(rows, peaks) + "\n", encoding="utf-8")
        return
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise PluginError(
            f"roofline: {path} needs matplotlib, which is not installed. Get it with "
            f"pip install autocalc-core[plot], or write a .svg file."
        ) from None
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    kinds = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise PluginError(
            f"roofline: {path} ends with {path.suffix!r}; it must end with "
            f"{', '.join(sorted(kinds))}."
        )
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    _plot(figure.subplots(), drawn(rows), peaks)
    figure.savefig(path)


def _plot(axes: Any, rows: list[Row], peaks: Peaks | None) -> None:
    """Draw the picture in matplotlib's axes."""
    places = axes_of(rows, peaks)
    most = max((row.self_time for row in rows), default=1.0) or 1.0
    for i, row in enumerate(rows):
        size = max(8.0, 300 * row.self_time / most)
        axes.scatter(row.intensity, row.gflops, s=size, color="#2f6fb5", alpha=0.65)
        if i < _NAMED:
            axes.annotate(row.name[:24], (row.intensity, row.gflops), fontsize=8)
    if peaks is not None:
        for name, flops in peaks.flops.items():
            axes.axhline(flops / 1e9, color="black", linewidth=1, label=name)
        top = max(peaks.flops.values()) / 1e9
        for roof in roofs_of(peaks):
            xs = [10.0**places.left, top / roof.rate]
            axes.plot(xs, [x * roof.rate for x in xs], label=f"{roof.name}")
        axes.legend(loc="lower right")
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(10.0**places.left, 10.0**places.right),
        ylim=(10.0**places.bottom, 10.0**places.top),
        xlabel="FLOP for each byte",
        ylabel="GFLOP/s",
    )
    axes.grid(visible=True, alpha=0.3)
