# SPDX-License-Identifier: MIT
"""Tables of rows: as text, for terminals by rich, as HTML."""

from __future__ import annotations

from html import escape
from io import StringIO
from typing import Any

from autocalc.profiler._phase_bars import html_of, text_of
from autocalc.profiler._rows import Row

#: Titles of columns; True for those aligned left.
COLUMNS = (
    ("{by}", True),
    ("set", True),
    ("calls", False),
    ("total ms", False),
    ("self ms", False),
    ("Python ms", False),
    ("share", False),
    ("GFLOP/s", False),
    ("GB/s", False),
    ("FLOP/B", False),
    ("roof", False),
    ("waiting", False),
    ("bound by", True),
)

#: Rows that are shown unless others are asked for.
LIMIT = 20


class Table:
    """A table of a profile: text by `str`, for terminals by rich, HTML in notebooks.

    Times and calls are those of a step.

    Attributes
    ----------
    by
        ``"kernel"``, ``"operator"`` or ``"module"``.
    rows
        All of them, those that take the most first; of all steps together.
    steps
        How many steps there were.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.profiler.profile() as prof:
    ...     for _ in range(3):
    ...         y = ac.ones(64, 64).exp()
    ...         prof.step()
    >>> table = prof.table("kernel")
    >>> table.steps, "exp" in [row.name for row in table.rows]
    (2, True)
    """

    def __init__(
        self, by: str, rows: list[Row], steps: int, notes: list[str], limit: int | None
    ) -> None:
        self.by = by
        self.rows = rows
        self.steps = steps
        self._notes = notes
        self._limit = limit

    def __repr__(self) -> str:
        return f"<table by {self.by}: {len(self.rows)} rows>"

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(
            file=StringIO(), width=150, no_color=True, legacy_windows=False
        )
        console.print(self)
        text: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
        return "\n".join(line.rstrip() for line in text.splitlines())

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table as RichTable

        table = RichTable(box=None, pad_edge=False, header_style="bold")
        for title, is_text in COLUMNS:
            justify: Any = "left" if is_text else "right"
            fold: Any = "fold" if is_text else "ellipsis"
            name = title.format(by=self.by)
            table.add_column(name, justify=justify, overflow=fold, no_wrap=not is_text)
        for cells in self.cells():
            table.add_row(*cells)
        return Group(table, *text_of(self._phased()), *self.notes())

    def _repr_html_(self) -> str:
        return self.html()

    def cells(self) -> list[tuple[str, ...]]:
        """Return the texts of the rows that are shown."""
        return [_cells(row, self.steps) for row in self._shown()]

    def _shown(self) -> list[Row]:
        return self.rows if self._limit is None else self.rows[: self._limit]

    def _phased(self) -> list[Row]:
        """Return the rows that are shown with their phases: of kernels alone."""
        return self._shown() if self.by == "kernel" else []

    def notes(self) -> list[str]:
        """Return the lines below the rows."""
        hidden = len(self.rows) - len(self.cells())
        more = [f"{hidden} more rows; limit=None shows all."] if hidden else []
        return [*more, *self._notes]

    def html(self) -> str:
        """Return the table as HTML."""
        head = "".join(
            f'<th class="{"text" if is_text else "number"}">'
            f"{escape(title.format(by=self.by))}</th>"
            for title, is_text in COLUMNS
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td class="{"text" if is_text else "number"}">{escape(cell)}</td>'
                for cell, (_, is_text) in zip(cells, COLUMNS, strict=True)
            )
            + "</tr>"
            for cells in self.cells()
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return (
            f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>{html_of(self._phased())}{notes}"
        )


def _cells(row: Row, steps: int) -> tuple[str, ...]:
    worked = bool(row.gbs)
    return (
        row.name,
        row.chosen,
        f"{row.calls / steps:.4g}" if row.calls else "",
        milliseconds(row.total / steps) if row.total else "",
        milliseconds(row.self_time / steps) if row.self_time else "",
        milliseconds(row.python / steps),
        f"{row.share:.1%}",
        number(row.gflops) if worked else "",
        number(row.gbs) if worked else "",
        number(row.intensity) if worked else "",
        "" if row.roof is None else f"{row.roof:.0%}",
        "" if row.waiting is None else f"{row.waiting:.0%}",
        row.bound,
    )


def milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds, to the microsecond."""
    return f"{1e3 * seconds:.3f}"


def number(value: float) -> str:
    """Return three digits of a number, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
