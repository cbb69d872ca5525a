# SPDX-License-Identifier: MIT
"""The HTML form of `kernels.show()` for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any


def as_html(report: Any) -> str:  # a Report, whose module imports this one
    """Return the HTML of a report: the machine, the kernel sets, and refusals."""
    machine = [
        ("CPU", f"{report.cpu}, {report.threads} threads"),
        ("features", ", ".join(report.features)),
        ("hidden", ", ".join(report.hidden)),
        ("missing", ", ".join(report.missing)),
        ("tuning record", report.tuning),
        ("operator calls", report.eager),
        *report.environment.items(),
    ]
    sets = [
        (one.name, one.rank, one.kernels, one.package, one.origin)
        for one in report.sets
    ]
    refused = [(one.subject, one.reason, one.origin) for one in report.refusals]
    return "".join(
        [
            "<div>",
            _table("Machine", (), [row for row in machine if row[1]]),
            _table(
                "Kernel sets, best first",
                ("set", "rank", "kernels", "package", "chosen by"),
                sets,
            ),
            _table("Refused", ("what", "reason", "from"), refused),
            "</div>",
        ]
    )


def _table(title: str, heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = [_row("td", row) for row in rows]
    if not lines:
        return ""
    head = _row("th", heads) if heads else ""
    return f"<table><caption>{escape(title)}</caption>{head}{''.join(lines)}</table>"


def _row(kind: str, cells: tuple[Any, ...]) -> str:
    inside = "".join(f"<{kind}>{escape(str(cell))}</{kind}>" for cell in cells)
    return f"<tr>{inside}</tr>"
