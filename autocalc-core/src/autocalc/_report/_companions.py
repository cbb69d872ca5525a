# SPDX-License-Identifier: MIT
"""Files of other tools in the folder of a training run, such as a profile.

The reader knows only the format of the files and not the tool.  A line of a JSONL file
is the record of one step.  It holds tables (lists of rows, such as those that
`ac.diagnostics.watch` logs) or a single row.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from autocalc._report import _tables as tables
from autocalc._report._charts import Series, chart
from autocalc._report._logs import RECORDS, Record
from autocalc._report._numbers import number_of, shown
from autocalc._report._run import json_lines

#: The most curves in a picture, rows in a table, and pictures for a table.
_CURVES, _ROWS, _CHARTS = 6, 40, 6

#: The keys that can name a row; the first one that exists is used.
_NAMES = ("name", "parameter", "layer", "module", "tensor")

#: Keys that are not drawn as curves, because they are counters or names.
_NO_CURVES = frozenset({"step", "epoch", "time", "seconds", "calls", *_NAMES})


def companion_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each section whose file exists."""
    for path in sorted(folder.glob("*.jsonl")):
        if path.name != RECORDS:
            yield path.stem.replace("_", " ").capitalize(), _over_time(path)
    for name, kind in (("roofline.svg", "svg+xml"), ("roofline.png", "png")):
        if (folder / name).is_file():
            yield "Roofline", _image((folder / name).read_bytes(), kind)
            break
    page, data = folder / "profile.html", folder / "profile.json"
    if page.is_file():
        yield "Profile", _framed(page.read_text(encoding="utf-8", errors="replace"))
    elif data.is_file():
        yield "Profile", _profile(data)


# ---- numbers over time ---------------------------------------------------------------


@dataclass
class _Seen:
    """The tables and flags in the records of a file."""

    #: The name of a table -> its pairs (step, row).
    tables: dict[str, list[tuple[float, Record]]] = field(default_factory=dict)
    #: The problems found: (layer, kind) -> the row of the problem.
    flags: dict[tuple[str, str], Record] = field(default_factory=dict)

    def add(self, step: float, record: Record) -> None:
        """Add a record."""
        for name, rows in _tables_of(record):
            kept = self.tables.setdefault(name, [])
            kept += [(step, row) for row in rows]
        for flag in record.get("flags") or ():
            if isinstance(flag, dict):
                self._add_flag(step, flag)

    def _add_flag(self, step: float, flag: Record) -> None:
        layer, kind = str(flag.get("layer", "")), str(flag.get("kind", ""))
        known = self.flags.setdefault((layer, kind), {"steps": 0, "first": step})
        known["steps"] += 1
        known["last"] = flag


def _over_time(path: Path) -> str:
    """Return the problems found, and the pictures and the last step of each table."""
    seen, place = _Seen(), -1
    for record in json_lines(path):
        if record is not None:
            place += 1
            step = number_of(record.get("step"))
            seen.add(float(place) if step is None else step, record)
    if not seen.tables:
        return f"<p>{escape(path.name)} has no records.</p>"
    parts = []
    parts += [_flag(flag) for flag in [*seen.flags.values()][:_ROWS]]
    for name, rows in seen.tables.items():
        heading = f"<h3>{escape(name.replace('_', ' ').capitalize())}</h3>"
        parts.append(heading if name else "")
        parts.append(f'<div class="charts">{_pictures(rows)}</div>')
        last = rows[-1][0]
        final = [row for step, row in rows if step == last]
        caption = f"Step {last:g}, {_of(final)}"
        parts.append(tables.table(final[:_ROWS], caption=caption))
    return "".join(parts)


def _flag(known: Record) -> str:
    """Return a problem as a sentence, with its advice and the line of the program."""
    last = known["last"]
    value = number_of(last.get("value"))
    words = [
        f"in {known['steps']:,} steps, first in {known['first']:g}",
        "" if value is None else f", last with {shown(value)}",
        f". {last['advice']}" if last.get("advice") else ".",
        f" ({tables.words(last['line'])})" if last.get("line") else "",
    ]
    name = f"{last.get('kind', 'flag')}: {last.get('layer', '')}"
    return f'<p class="warning"><b>{escape(name)}</b> {escape("".join(words))}</p>'


def _of(rows: list[Record]) -> str:
    count = min(len(rows), _ROWS)
    return f"{count} of {len(rows)} rows" if count < len(rows) else f"{count} rows"


def _tables_of(record: Record, name: str = "") -> Iterator[tuple[str, list[Record]]]:
    """Yield the tables in a record; a record without tables is itself a row."""
    found = False
    for key, value in record.items():
        inner = name if key == "rows" else key
        if key == "flags" or not value:
            continue
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            found = True
            yield inner, value
        elif isinstance(value, dict) and all(
            isinstance(one, dict) for one in value.values()
        ):
            found = True
            yield inner, [{"name": k, **row} for k, row in value.items()]
        elif isinstance(value, dict) and _has_tables(value):
            found = True
            yield from _tables_of(value, inner)
    if not found and not name:
        yield "", [{key: one for key, one in record.items() if key != "step"}]


def _has_tables(value: Record) -> bool:
    return any(isinstance(one, (list, dict)) for one in value.values())


def _pictures(rows: list[tuple[float, Record]]) -> str:
    """Return one picture for each number that changes, with one curve for each name."""
    charts = []
    for key in dict.fromkeys(key for _, row in rows for key in row):
        curves: dict[str, list[tuple[float, float]]] = {}
        for step, row in () if key in _NO_CURVES else rows:
            value = number_of(row.get(key))
            if value is not None:
                curves.setdefault(_name(row), []).append((step, value))
        if len({value for points in curves.values() for _, value in points}) > 1:
            charts.append(_picture(key, curves))
    return "".join(charts[:_CHARTS])


def _picture(key: str, curves: dict[str, list[tuple[float, float]]]) -> str:
    """Return a picture of one number; of many curves it shows the first and last."""
    words = title = key.replace("_", " ")
    series = [Series(name, points) for name, points in curves.items()]
    if len(series) > _CURVES:
        title = f"{words}, {_CURVES} of {len(series)}"
        series = [*series[: _CURVES // 2], *series[-_CURVES // 2 :]]
    return chart(title, series, x="step", y=words, log=True)


def _name(row: Record) -> str:
    return next((str(row[key]) for key in _NAMES if key in row), "value")


# ---- a profile -----------------------------------------------------------------------


def _image(content: bytes, kind: str) -> str:
    """Return an image element; scripts in the image do not run."""
    data = b64encode(content).decode()
    return (
        f'<img alt="Speed over arithmetic intensity of each kernel, below the roof" '
        f'src="data:image/{kind};base64,{data}">'
    )


def _framed(page: str) -> str:
    """Return a page in a frame; its scripts cannot reach anything outside of it."""
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
        name = f"{key.replace('_', ' ')}: {_of(rows)}"
        parts.append(tables.table(rows[:_ROWS], caption=name))
        if isinstance(value, dict):
            parts.append(tables.facts(value))
    return "".join(parts)
