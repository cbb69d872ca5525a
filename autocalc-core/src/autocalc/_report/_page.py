# SPDX-License-Identifier: MIT
"""A training run as a single HTML page without other files or network access."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from autocalc._report import _tables as tables
from autocalc._report._charts import Series, chart, smooth
from autocalc._report._companions import companion_files
from autocalc._report._numbers import number_of, shown
from autocalc._report._run import Run
from autocalc._report._style import STYLE

#: The most steps in the moving mean; a short run uses a tenth of its steps.
_WINDOW = 50

#: Whatever a log contains, no external page, script, picture or font is loaded.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; font-src data:; frame-src 'self'"
)


def write_page(run: Run, target: Path) -> None:
    """Write the page of a training run to a file."""
    target.write_text(page(run), encoding="utf-8")


def page(run: Run) -> str:
    """Return the page of a training run."""
    title = _title(run)
    sections = [
        _section("Curves", _curves(run)),
        *(_section(*part) for part in _beside(run)),
        _section("Kernels used", _kernels(run)),
        _section("Settings", tables.facts(run.begun.get("config", {}))),
        _section("Machine", tables.facts(run.begun.get("machine", {}))),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n{_head(run, title)}\n{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def _beside(run: Run) -> Iterable[tuple[str, str]]:
    return () if run.folder is None else companion_files(run.folder)


def _section(name: str, content: str) -> str:
    if not content:
        return ""
    return f"<section><h2>{escape(name)}</h2>{content}</section>\n"


# ---- at the top ----------------------------------------------------------------------


def _title(run: Run) -> str:
    begun = run.begun
    if "model" in begun and "data" in begun:
        return f"{begun['model']} on {begun['data']}"
    place = run.folder or run.log
    return "Training" if place is None else f"Training in {place.absolute().name}"


def _head(run: Run, title: str) -> str:
    lines = [f"<h1>{escape(title)}</h1>"]
    if "command" in run.begun:
        lines.append(
            f'<p class="soft"><code>{escape(str(run.begun["command"]))}</code></p>'
        )
    if "begun" in run.begun:
        lines.append(f'<p class="soft">Begun {escape(str(run.begun["begun"]))}</p>')
    if run.log is not None and not run.result:
        lines.append(
            '<p class="warning">The log has no result: the training still runs, or it '
            "was killed.</p>"
        )
    if run.damaged:
        lines.append(
            f'<p class="warning">{run.damaged} lines of the log are no records; they '
            f"were left out.</p>"
        )
    return "\n".join(lines) + _tiles(run)


def _tiles(run: Run) -> str:
    """Return the most important figures of a training run."""
    found = {**_last(run), **run.result}
    tiles = []
    for key, name in (
        ("test_accuracy", "test accuracy"),
        ("test_loss", "test loss"),
        ("validation_loss", "validation loss"),
        ("seconds", "seconds"),
        ("samples_per_second", "samples a second"),
        ("tokens_per_second", "tokens a second"),
        ("parameters", "parameters"),
        ("steps", "steps"),
    ):
        value = number_of(found.get(key))
        if value is not None:
            words = percent(value) if key.endswith("accuracy") else shown(value)
            tiles.append((name, words))
    if "stopped" in run.result:
        tiles.append(("ended", str(run.result["stopped"])))
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(words)}</dd></div>"
        for name, words in tiles
    )
    return f'<dl class="tiles">{items}</dl>' if items else ""


def _last(run: Run) -> dict[str, Any]:
    """Return the facts that are known before the result exists."""
    last = run.evaluations[-1] if run.evaluations else {}
    steps = {"steps": run.steps[-1]["step"]} if run.steps else {}
    known = {key: run.begun[key] for key in ("parameters",) if key in run.begun}
    return {**known, **last, **steps}


def percent(share: float) -> str:
    """Return ``97.35%``."""
    return f"{share:.2%}"


# ---- the curves ----------------------------------------------------------------------


def _curves(run: Run) -> str:
    train = run.curve("step", "loss")
    window = max(1, min(_WINDOW, len(train) // 10))
    finite = [(x, y) for x, y in train if abs(y) < float("inf")]
    losses = [Series("each step", train, thin=True)]
    if window > 1 and len(finite) == len(train):
        losses.append(Series(f"mean of {window} steps", smooth(train, window)))
    for key, name in (("test_loss", "test"), ("validation_loss", "validation")):
        losses.append(Series(name, run.curve("evaluation", key), dots=True))
    charts = [chart("Loss", losses, x="step", y="Loss", log=True)]
    accuracy = Series("test", run.curve("evaluation", "test_accuracy"), dots=True)
    charts.append(chart("Accuracy", [accuracy], x="step", y="Accuracy", label=percent))
    rate = Series("learning rate", run.curve("step", "lr"))
    charts.append(chart("Learning rate", [rate], x="step", y="Learning rate"))
    for key, unit in (
        ("samples_per_second", "samples"),
        ("tokens_per_second", "tokens"),
    ):
        speed = Series(f"{unit} a second", run.curve("evaluation", key), dots=True)
        charts.append(chart("Speed", [speed], x="step", y=f"{unit}/s"))
    drawn = "".join(charts)
    return f'<div class="charts">{drawn}</div>' if drawn else ""


# ---- what ran ------------------------------------------------------------------------


def _kernels(run: Run) -> str:
    calls = run.result.get("kernels")
    calls = calls if isinstance(calls, list) else []
    rows = [
        {"kernel": one["kernel"], "set": one["set"], "calls a step": one["calls"]}
        for one in calls
        if isinstance(one, dict) and {"kernel", "set", "calls"} <= set(one)
    ]
    return tables.table(rows)
