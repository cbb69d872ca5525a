# SPDX-License-Identifier: MIT
"""A profile as one HTML page without references to other files."""

from __future__ import annotations

from html import escape
from typing import Any

from autocalc.profiler._account import Account
from autocalc.profiler._advice import Advice
from autocalc.profiler._roofline import svg_of
from autocalc.profiler._rows import Row, totals
from autocalc.profiler._table import Table, milliseconds

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #ffffff; --line: #d5dbe3;
  --soft: #f3f5f8; --kernel: #2f6fb5; --python: #d9822b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ef; --paper: #14181e;
  --line: #36404d; --soft: #1d232b; --kernel: #6aa5e3; --python: #e8a25c; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 16px; }
h1 { font-size: 1.5rem; margin: 0.4em 0; }
h2 { font-size: 1.15rem; margin: 1.8em 0 0.5em; }
p { margin: 0.4em 0; }
.facts { display: flex; flex-wrap: wrap; gap: 8px; padding: 0; list-style: none; }
.facts li { background: var(--soft); border: 1px solid var(--line); border-radius: 6px;
  padding: 6px 12px; }
.facts b { display: block; font-size: 1.2rem; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
th, td { padding: 4px 10px; white-space: nowrap; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 0; }
th { background: var(--soft); font-weight: 600; }
.text { text-align: left; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td:first-child { max-width: 22rem; overflow: hidden; text-overflow: ellipsis; }
svg { display: block; width: 100%; height: auto; }
.roofline { min-width: 560px; max-width: 860px; margin: 0 auto; }
.kernels { fill: var(--kernel); }
.python { fill: var(--python); }
.key::before { content: ""; display: inline-block; width: 0.8em; height: 0.8em;
  margin-right: 0.4em; background: var(--c); }
ol { padding-left: 1.4em; }
footer { margin: 2em 0 1em; font-size: 0.85rem; opacity: 0.75; }
"""

#: The most steps that have a bar.
_BARS = 60


def page(
    account: Account,
    tables: list[Table],
    advice: Advice,
    rows: list[Row],
    peaks: Any,
    facts: dict[str, str],
    title: str,
) -> str:
    """Return the page; `rows` are the rows of the kernels."""
    sections = [
        f"<h2>Steps</h2>{_legend()}{_bars(account)}",
        f"<h2>What would help most</h2>{_advice(advice)}",
        f"<h2>Roofline</h2>{_roofline(rows, peaks)}",
        *(f"<h2>By {table.by}</h2>{table.html()}" for table in tables),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{escape(title)}</h1>\n{_facts(rows, account, facts)}\n"
        + "\n".join(f"<section>{section}</section>" for section in sections)
        + "\n<footer>Times are those of a step. Roof: the share of what this machine "
        "can do for that kernel's bytes and operations.</footer>\n</main>\n</body>\n"
        "</html>\n"
    )


def _facts(rows: list[Row], account: Account, more: dict[str, str]) -> str:
    kernels, python = totals(rows)
    steps, whole = len(account.steps), kernels + python
    shown = {
        "a step": f"{milliseconds(whole / steps)} ms",
        "kernels": f"{kernels / whole:.1%}" if whole else "none",
        "Python around them": f"{python / whole:.1%}" if whole else "none",
        "steps": f"{steps}",
        **more,
    }
    items = "".join(
        f"<li><b>{escape(value)}</b>{escape(name)}</li>"
        for name, value in shown.items()
    )
    return f'<ul class="facts">{items}</ul>'


def _legend() -> str:
    return (
        '<p><span class="key" style="--c: var(--kernel)">kernels</span> &ensp; '
        '<span class="key" style="--c: var(--python)">Python around them</span></p>'
    )


def _bars(account: Account) -> str:
    """Return a bar for each of the last steps, with kernels below Python."""
    steps = account.steps[-_BARS:]
    kernels = [0] * len(steps)
    at = 0
    for span in _outermost(account):
        while at < len(steps) - 1 and span.start >= steps[at].stop:
            at += 1
        if steps[at].start <= span.start < steps[at].stop:
            kernels[at] += span.stop - span.start
    most = max(step.stop - step.start for step in steps) or 1
    width = 720 / len(steps)
    parts: list[str] = []
    for i, (step, kernel) in enumerate(zip(steps, kernels, strict=True)):
        whole = step.stop - step.start
        high, low = 150 * whole / most, 150 * min(kernel, whole) / most
        place = f'x="{i * width + width * 0.1:.2f}" width="{width * 0.8:.2f}"'
        name = f"step {account.left_out + len(account.steps) - len(steps) + i + 1}"
        title = f"<title>{name}: {milliseconds(whole / 1e9)} ms</title>"
        parts.append(
            f'<rect class="python" {place} y="{160 - high:.2f}" '
            f'height="{high - low:.2f}">{title}</rect>'
            f'<rect class="kernels" {place} y="{160 - low:.2f}" height="{low:.2f}">'
            f"{title}</rect>"
        )
    return (
        f'<svg class="steps" viewBox="0 0 720 164" role="img" '
        f'aria-label="Time of each step">{"".join(parts)}</svg>'
    )


def _outermost(account: Account) -> list[Any]:
    """Return the spans that are not inside another span, in order."""
    found: list[Any] = []
    for span in account.spans:  # sorted by their ends
        while found and found[-1].start >= span.start:
            found.pop()
        found.append(span)
    return found


def _advice(advice: Advice) -> str:
    notes = "".join(f"<p>{escape(note)}</p>" for note in advice.notes)
    if not advice.savings:
        return f"<p>Nothing that would save a fiftieth of a step.</p>{notes}"
    items = "".join(f"<li>{escape(one.text)}</li>" for one in advice.savings)
    return f"<ol>{items}</ol>{notes}"


def _roofline(rows: list[Row], peaks: Any) -> str:
    if peaks is None:
        lead = (
            "<p>The roof is missing: this machine's peaks have not been measured.</p>"
        )
    else:
        lead = f"<p>{escape(str(peaks))}</p>"
    return f'{lead}<div class="wide">{svg_of(rows, peaks)}</div>'
