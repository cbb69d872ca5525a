# SPDX-License-Identifier: MIT
"""The phases of kernels below a table, as lines of text or bars in HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from autocalc.profiler._clocks import words
from autocalc.profiler._rows import Row

TITLE = "Phases, in shares of the time that threads worked in the kernel:"

#: The colours of the phases, in order; white text is readable on each.
_COLOURS = {
    "pack": "#8a5a00",
    "compute": "#2f6fb5",
    "epilogue": "#6b4fa0",
    "statistics": "#a33b52",
    "normalise": "#1f7a5c",
    "scores": "#2f6fb5",
    "softmax": "#a33b52",
    "products": "#1f7a5c",
    "gates": "#6b4fa0",
}
_OTHER = "#5c6670"


def with_phases(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose kernels reported their phases."""
    return [row for row in rows if row.phases]


def text_of(rows: Sequence[Row]) -> list[Any]:
    """Return the renderable for rich; empty if there is nothing to show."""
    from rich.table import Table

    found = with_phases(rows)
    if not found:
        return []
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in found:
        table.add_row(row.name, words(row.phases))
    return [TITLE, table]


def html_of(rows: Sequence[Row]) -> str:
    """Return a bar and a text for each row; "" if there is nothing to show."""
    found = with_phases(rows)
    bars = "".join(
        f'<p style="margin: 0.5em 0 0.1em">{escape(row.name)}: '
        f"{escape(words(row.phases))}</p>{_bar(row)}"
        for row in found
    )
    return f'<div class="phases"><p>{escape(TITLE)}</p>{bars}</div>' if found else ""


def _bar(row: Row) -> str:
    parts = "".join(
        f'<span title="{escape(name)} {share:.1%}" style="width: {share:.2%}; '
        f'background: {_COLOURS.get(name, _OTHER)}"></span>'
        for name, share in row.phases.items()
    )
    return (
        '<div style="display: flex; height: 0.8em; max-width: 40em; '
        f'background: #8884">{parts}</div>'
    )
