# SPDX-License-Identifier: MIT
"""Results that print as tables, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

from autocalc._dispatch._callers import UserLine

Row = Sequence[str]


class Report:
    """The result of a diagnostic: it prints as a table; `to_dict` gives plain data."""

    def _title(self) -> str:
        raise NotImplementedError

    def _columns(self) -> Row:
        raise NotImplementedError

    def _cells(self) -> list[Row]:
        raise NotImplementedError

    def _notes(self) -> list[str]:
        """Return the lines below the table: totals and flags."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Return all data as dicts, lists, numbers and strings."""
        found = plain(self)
        assert isinstance(found, dict)
        return found

    def __repr__(self) -> str:
        table = aligned(self._columns(), self._cells())
        return "\n".join([self._title(), table, *self._notes()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self._columns())
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
            for row in self._cells()
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        title = f"<caption>{escape(self._title())}</caption>"
        table = f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
        return f"{table}</table>{notes}"


def plain(value: Any) -> Any:
    """Convert dataclasses and lines to dicts, and tuples to lists."""
    if isinstance(value, UserLine):
        return {"file": value.file, "number": value.number, "function": value.function}
    if is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in fields(value) if not one.name.startswith("_")]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def aligned(columns: Row, cells: Sequence[Row]) -> str:
    """Return a text table; columns of numbers are aligned to the right."""
    widths = [max(map(len, one)) for one in zip(columns, *cells, strict=True)]
    right = [
        bool(cells) and all(_is_number(row[i]) for row in cells)
        for i in range(len(columns))
    ]

    def line(row: Row) -> str:
        texts = [
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        ]
        return "  ".join(texts).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([line(columns), rule, *map(line, cells)])


def _is_number(text: str) -> bool:
    return not text or text[0].isdigit() or text[0] in "-+" or text in {"nan", "inf"}


def number(value: float | None) -> str:
    """Return a number with few digits; "" for None."""
    return "" if value is None else f"{value:.3g}"


def share(value: float | None) -> str:
    """Return a fraction in percent; "" for None."""
    return "" if value is None else f"{100 * value:.1f}%"


def amount(value: float) -> str:
    """Return a count with a unit: 12.3 M."""
    for unit in ("", " k", " M", " G"):
        if abs(value) < 1000:
            return f"{value:.4g}{unit}"
        value /= 1000
    return f"{value:.4g} T"


def size(value: float) -> str:
    """Return a number of bytes with a unit."""
    for unit in ("B", "KiB", "MiB"):
        if abs(value) < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} GiB"


def sizes(shape: Sequence[int] | None) -> str:
    """Return a shape as text."""
    return "" if shape is None else f"[{', '.join(map(str, shape))}]"


def place(line: UserLine | None) -> str:
    """Return a line as ``file:number``, without the folders."""
    if line is None:
        return ""
    name = line.file.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{line.number}"
