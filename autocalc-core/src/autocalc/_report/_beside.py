# SPDX-License-Identifier: MIT
"""What other tools left in the folder of a training: a profile, health of gradients.

The files are read by their form alone: records with a step, rows of named numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from autocalc._report import _tables as tables
from autocalc._report._charts import Series, chart
from autocalc._report._numbers import number_of
from autocalc._report._run import json_lines

#: Curves in a picture, rows in a table, pictures of one file.
_CURVES, _ROWS, _CHARTS = 6, 40, 6

#: Keys that name a row, the first one that is there.
_NAMES = ("name", "parameter", "module", "layer", "tensor")


def beside(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each section for which there is a file."""
    for file, name in (
        ("gradient_health.jsonl", "Gradient health"),
        ("activations.jsonl", "Activations"),
    ):
        if (folder / file).is_file():
            yield name, _over_time(folder / file)
    page, data = folder / "profile.html", folder / "profile.json"
    if page.is_file():
        yield "Profile", _framed(page.read_text(encoding="utf-8", errors="replace"))
    elif data.is_file():
        yield "Profile", _profile(data)


# ---- numbers over time ---------------------------------------------------------------


def _over_time(path: Path) -> str:
    """Return pictures of the numbers of a JSONL file, and a table of its last step."""
    rows = [
        row
        for record in json_lines(path)
        for row in (() if record is None else _flat(record))
    ]
    if not rows:
        return f"<p>{escape(path.name)} has no records.</p>"
    steps = [number_of(row.get("step")) for row in rows]
    numbered = [(s, row) for s, row in zip(steps, rows, strict=True) if s is not None]
    if not numbered:
        return tables.table(rows[-_ROWS:], caption=_of(rows, "rows"))
    last = max(step for step, _ in numbered)
    final = [row for step, row in numbered if step == last]
    listed = tables.table(final[:_ROWS], caption=f"Step {last:g}; {_of(final, 'rows')}")
    return f'<div class="charts">{_pictures(numbered)}</div>{listed}'


def _of(rows: list[dict[str, Any]], noun: str) -> str:
    shown = min(len(rows), _ROWS)
    return f"{shown} of {len(rows)} {noun}" if shown < len(rows) else f"{shown} {noun}"


def _flat(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a record: itself, or those in a list or dict within it."""
    plain = {k: v for k, v in record.items() if not isinstance(v, (list, dict))}
    rows: list[dict[str, Any]] = []
    for value in record.values():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows += [{**plain, **row} for row in value if isinstance(row, dict)]
        elif isinstance(value, dict):
            rows += [
                {**plain, "name": name, **row}
                for name, row in value.items()
                if isinstance(row, dict)
            ]
    if rows:
        return rows
    flags = {k: v for k, v in record.items() if isinstance(v, list)}
    return [{**plain, **flags}]


def _pictures(rows: list[tuple[float, dict[str, Any]]]) -> str:
    """Return a picture for each number, a curve in it for each name."""
    keys = [
        key
        for key in dict.fromkeys(key for _, row in rows for key in row)
        if key not in {"step", "epoch", "time", "seconds"}
        and any(number_of(row.get(key)) is not None for _, row in rows)
    ]
    charts = []
    for key in keys[:_CHARTS]:
        curves: dict[str, list[tuple[float, float]]] = {}
        for step, row in rows:
            value = number_of(row.get(key))
            if value is not None:
                curves.setdefault(_name(row), []).append((step, value))
        series = [Series(name, points) for name, points in curves.items()]
        words = key.replace("_", " ")
        title = (
            words
            if len(series) <= _CURVES
            else f"{words}, first {_CURVES} of " + (f"{len(series)}")
        )
        charts.append(chart(title, series[:_CURVES], x="step", y=words, log=True))
    return "".join(charts)


def _name(row: dict[str, Any]) -> str:
    return next((str(row[key]) for key in _NAMES if key in row), "value")


# ---- a profile -----------------------------------------------------------------------


def _framed(page: str) -> str:
    """Return a page within this one; its scripts reach nothing outside of it."""
    return (
        f'<iframe title="Profile" sandbox="allow-scripts" '
        f'srcdoc="{escape(page, quote=True)}"></iframe>'
    )


def _profile(path: Path) -> str:
    """Return the tables of a profile: its lists of rows, and its single values."""
    try:
        profile = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return f'<p class="warning">{escape(f"{path.name} is damaged: {error}")}.</p>'
    if isinstance(profile, list):
        profile = {"rows": profile}
    if isinstance(profile, dict) and "traceEvents" in profile:
        return (
            f"<p>{escape(path.name)} is a trace of {len(profile['traceEvents']):,} "
            f"events; open it in Perfetto or chrome://tracing.</p>"
        )
    if not isinstance(profile, dict):
        return f'<p class="warning">{escape(path.name)} holds no tables.</p>'
    plain = {k: v for k, v in profile.items() if not isinstance(v, (list, dict))}
    parts = [tables.facts(plain)]
    for key, value in profile.items():
        rows = (
            [row for row in value if isinstance(row, dict)]
            if (isinstance(value, list))
            else []
        )
        name = f"{key.replace('_', ' ')}: {_of(rows, 'rows')}"
        parts.append(tables.table(rows[:_ROWS], caption=name))
        if isinstance(value, dict):
            parts.append(tables.facts(value))
    return "".join(parts)
