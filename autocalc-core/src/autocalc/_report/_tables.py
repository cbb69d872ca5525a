# SPDX-License-Identifier: MIT
"""The tables of a page; all text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from autocalc._report._numbers import number_of, shown


def facts(values: Any) -> str:
    """Return a table with two columns; empty values are left out."""
    if not isinstance(values, Mapping):
        return ""
    rows = [
        f'<tr><th scope="row">{escape(str(key).replace("_", " "))}</th>'
        f"<td>{_lines(value)}</td></tr>"
        for key, value in values.items()
        if value is not None and value not in ("", [], {})
    ]
    if not rows:
        return ""
    return f'<div class="table"><table class="facts">{"".join(rows)}</table></div>'


def _lines(value: Any) -> str:
    """Return a value; each sentence of a list is on its own line."""
    if isinstance(value, (list, tuple)) and any(" " in str(one) for one in value):
        return "<br>".join(escape(words(one)) for one in value)
    return escape(words(value))


def words(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(words, value))
    if isinstance(value, Mapping):
        if {"file", "number"} <= set(value):  # a line of a program
            return f"{value['file']}:{value['number']}"
        return ", ".join(f"{key} {words(one)}" for key, one in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return shown(value)
    return str(value)


def table(rows: Sequence[Mapping[str, Any]], *, caption: str = "") -> str:
    """Return a table with a heading for every key; numbers are aligned to the right."""
    if not rows:
        return ""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    heads = "".join(
        f'<th scope="col">{escape(str(key).replace("_", " "))}</th>' for key in columns
    )
    body = "".join(
        f"<tr>{''.join(_cell(row.get(key)) for key in columns)}</tr>" for row in rows
    )
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="table"><table>{said}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    number = number_of(value)
    if number is not None:
        return f'<td class="number">{escape(shown(number))}</td>'
    return f"<td>{escape('' if value is None else words(value))}</td>"
