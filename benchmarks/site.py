# SPDX-License-Identifier: MIT
"""One page of all that asv published: ``python -m benchmarks.site .asv/html``.

asv's own site takes scripts and styles from the network, and these fetch its figures,
which a browser refuses for files: it needs both a connection and a server (`asv
preview`).  This page, `history.html` next to it, holds everything, has no script, loads
nothing, and opens from a disk.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

PAGE = "history.html"
#: Units that are scaled: from which value on, divided by what, shown as what.
SCALES = {
    "seconds": ((1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (1e-6, 1e-6, "µs"),
                (0.0, 1e-9, "ns")),
    "bytes": ((1e9, 1e9, "GB"), (1e6, 1e6, "MB"), (1e3, 1e3, "kB"), (0.0, 1.0, "B")),
}  # fmt: skip
#: A sparkline.
WIDE, HIGH, EDGE = 120, 22, 3

ABOUT = (
    "A row for each combination of parameters: the last figure, by how much it differs "
    "from that of the commit before, and all of them, the oldest first. A point names "
    "its commit."
)
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem;
  max-width: 70rem; color: #1b1b1b; background: #ffffff; }
a { color: #1d5a96; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #c8c8c8; }
h3 { margin: 1.5rem 0 0.2rem; font-size: 1rem; overflow-wrap: anywhere; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { padding: 0.15rem 0.7rem 0.15rem 0; text-align: left; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; }
polyline { fill: none; stroke: #2166ac; stroke-width: 1.5; }
circle { fill: #2166ac; }
.note { color: #555555; }
"""


class Point(NamedTuple):
    """A figure of one commit."""

    commit: str
    day: str
    value: float


class Series(NamedTuple):
    """The figures of one row of a benchmark, the oldest first."""

    values: tuple[str, ...]  # of the parameters
    points: list[Point]


# ---- what asv wrote ------------------------------------------------------------------


def read(folder: Path) -> dict[str, Any]:
    """Return asv's index."""
    path = folder / "index.json"
    try:
        index: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        message = f"benchmarks.site: there is no {path}. Run `make bench` first."
        raise SystemExit(message) from None
    return index


def graphs(folder: Path, name: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield where a benchmark was run, and its figures by revision."""
    for path in sorted((folder / "graphs").rglob(f"{name}.json")):
        place = path.parent.relative_to(folder / "graphs")
        if place.parts[:1] != ("summary",):
            found = json.loads(path.read_text(encoding="utf-8"))
            yield ", ".join(sorted(place.parts)), found


def series(index: dict[str, Any], name: str, data: list[Any]) -> list[Series]:
    """Return the rows of a benchmark that have a figure."""
    params = index["benchmarks"][name].get("params", [])
    rows = []
    for i, values in enumerate(itertools.product(*params)):
        points = []
        for revision, found in data:
            value = found[i] if isinstance(found, list) else found
            if isinstance(value, (int, float)) and math.isfinite(value):
                points.append(Point(*_commit(index, revision), float(value)))
        if points:
            rows.append(Series(tuple(map(_plain, values)), points))
    return rows


def _commit(index: dict[str, Any], revision: int) -> tuple[str, str]:
    """Return the short hash and the day of a revision."""
    full = index["revision_to_hash"][str(revision)]
    seconds = index["revision_to_date"][str(revision)] / 1000
    day = datetime.fromtimestamp(seconds, tz=timezone.utc).strftime("%Y-%m-%d")
    return full[: index.get("hash_length", 8)], day


def _plain(value: Any) -> str:
    """Return a parameter as it was written: asv keeps its `repr`."""
    try:
        return str(ast.literal_eval(str(value)))
    except (SyntaxError, ValueError):
        return str(value)


# ---- what is shown -------------------------------------------------------------------


def shown(value: float, unit: str) -> str:
    """Return a figure with its unit."""
    for least, by, name in SCALES.get(unit, ()):
        if abs(value) >= least:
            return f"{value / by:.3g} {name}"
    return f"{value:.4g} {unit}"


def change(points: Sequence[Point]) -> str:
    """Return by how much the last figure differs from the one before."""
    if len(points) < 2 or not points[-2].value:
        return ""
    return f"{points[-1].value / points[-2].value - 1:+.1%}"


def sparkline(points: Sequence[Point], unit: str) -> str:
    """Return the figures as a line; each point says its commit."""
    values = [point.value for point in points]
    low, span = min(values), (max(values) - min(values)) or 1.0
    step = (WIDE - 2 * EDGE) / max(len(points) - 1, 1)
    places = [
        (EDGE + i * step, HIGH - EDGE - (v - low) / span * (HIGH - 2 * EDGE))
        for i, v in enumerate(values)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"><title>'
        f"{escape(f'{p.commit} {p.day}: {shown(p.value, unit)}')}</title></circle>"
        for (x, y), p in zip(places, points, strict=True)
    )
    about = f"{len(points)} commits, {shown(low, unit)} to {shown(max(values), unit)}"
    return (
        f'<svg width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" role="img" '
        f'aria-label="{escape(about)}"><polyline points="{line}"/>{dots}</svg>'
    )


def table(names: Sequence[str], unit: str, rows: Sequence[Series]) -> Iterator[str]:
    """Yield the table of a benchmark."""
    head = [*map(escape, names), "last", "change", "history"]
    yield '<div class="table"><table><tr>'
    yield "".join(f"<th>{title}</th>" for title in head) + "</tr>"
    for row in rows:
        cells = "".join(f"<td>{escape(value)}</td>" for value in row.values)
        last = shown(row.points[-1].value, unit)
        yield (
            f'<tr>{cells}<td class="number">{escape(last)}</td>'
            f'<td class="number">{change(row.points)}</td>'
            f"<td>{sparkline(row.points, unit)}</td></tr>"
        )
    yield "</table></div>"


def benchmark(folder: Path, index: dict[str, Any], name: str) -> Iterator[str]:
    """Yield what there is of a benchmark: nothing where nothing ran."""
    about = index["benchmarks"][name]
    places = [(p, series(index, name, data)) for p, data in graphs(folder, name)]
    places = [(place, rows) for place, rows in places if rows]
    if not places:
        return
    short = name.partition(".")[2]
    unit = about.get("unit", "")
    yield f"<h3>{escape(short)}</h3>"
    for place, rows in places:
        if len(places) > 1:
            yield f'<p class="note">{escape(place)}</p>'
        yield from table(about.get("param_names", []), unit, rows)


def machines(index: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each machine."""
    for name, about in index.get("machines", {}).items():
        told = [about.get(key, "") for key in ("cpu", "num_cpu", "os")]
        yield f"<li>{escape(name)}: {escape(', '.join(filter(None, told)))}</li>"


def page(folder: Path) -> str:
    """Return the page."""
    index = read(folder)
    areas: dict[str, list[str]] = defaultdict(list)
    for name in sorted(index["benchmarks"]):
        text = list(benchmark(folder, index, name))
        areas[name.partition(".")[0].removeprefix("bench_")] += text
    areas = {area: text for area, text in areas.items() if text}
    title = f"{escape(index['project'])}: benchmarks by commit"
    links = " · ".join(f'<a href="#{a}">{a.replace("_", " ")}</a>' for a in areas)
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<p>{ABOUT}</p>",
        f"<ul>{''.join(machines(index))}</ul><nav>{links}</nav>",
    ]
    for area, text in areas.items():
        parts += [f'<h2 id="{area}">{area.replace("_", " ")}</h2>', *text]
    if not areas:
        parts.append("<p>Nothing was measured.</p>")
    return "\n".join([*parts, "</body></html>\n"])


def main(arguments: list[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.site")
    parser.add_argument("folder", type=Path, help="what `asv publish` wrote")
    folder = parser.parse_args(arguments).folder
    path = folder / PAGE
    path.write_text(page(folder), encoding="utf-8")
    print(f"{path} opens as it is; asv's own site needs a network and `asv preview`")


if __name__ == "__main__":
    main()
