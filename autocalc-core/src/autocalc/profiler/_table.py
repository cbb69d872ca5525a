# SPDX-License-Identifier: MIT
"""Tables of rows as text, as HTML, and for terminals with rich."""

from __future__ import annotations

from collections.abc import Container, Iterator
from html import escape
from io import StringIO
from typing import Any

from autocalc.profiler._phase_bars import html_of, text_of
from autocalc.profiler._rows import Row

#: The titles of the columns, and whether each is aligned left.
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

#: The columns that are left out first in a narrow terminal; names and shares remain.
#: For kernels and operators, both times are equal.
DISPENSABLE = (
    *("FLOP/B", "waiting", "GB/s", "GFLOP/s", "total ms", "Python ms", "calls"),
    *("bound by", "roof", "self ms", "set"),
)
#: For modules, the time including inner modules is more useful.
OF_MODULES = tuple(
    {"total ms": "self ms", "self ms": "total ms"}.get(title, title)
    for title in DISPENSABLE
)

#: The number of spaces between columns, and the width of a table as text.
_GAP, _WIDTH = 2, 150

#: The default number of rows to show.
LIMIT = 20


class Table:
    """A table of a profile; `str` returns it as text, and notebooks show it as HTML.

    The times and numbers of calls in the text are per step.

    Attributes
    ----------
    by
        The kind of the rows: ``"kernel"``, ``"operator"`` or ``"module"``.
    rows
        All rows, those with the largest times first.  Their numbers are sums over all
        steps.
    steps
        The number of steps.

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

        width = max(_WIDTH, self._width(self._used()))
        console = Console(
            file=StringIO(), width=width, no_color=True, legacy_windows=False
        )
        console.print(self)
        text: str = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
        return "\n".join(line.rstrip() for line in text.splitlines())

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.table import Table as RichTable

        used = self._used()
        columns = self._fitting(used, options.max_width)
        table = RichTable(box=None, pad_edge=False, header_style="bold")
        for i in columns:
            title, is_text = self._title(i), COLUMNS[i][1]
            justify: Any = "left" if is_text else "right"
            table.add_column(title, justify=justify, overflow="ellipsis", no_wrap=True)
        for cells in self.cells():
            table.add_row(*(cells[i] for i in columns))
        yield table
        yield from text_of(self._phased())
        yield from self._left_out(used, columns)
        yield from self.notes()

    # ---- columns ---------------------------------------------------------------------

    def _title(self, i: int) -> str:
        return COLUMNS[i][0].format(by=self.by)

    def _used(self) -> list[int]:
        """Return the columns in which at least one row has a value."""
        rows = self.cells()
        return [i for i in range(len(COLUMNS)) if any(cells[i] for cells in rows)]

    def _width(self, columns: list[int]) -> int:
        rows = self.cells()
        widths = [max(len(self._title(i)), *(len(c[i]) for c in rows)) for i in columns]
        return sum(widths) + _GAP * max(0, len(columns) - 1)

    def _fitting(self, columns: list[int], width: int) -> list[int]:
        """Return the columns that fit without shortening names."""
        dispensable = OF_MODULES if self.by == "module" else DISPENSABLE
        for title in dispensable:
            if self._width(columns) <= width:
                break
            columns = [i for i in columns if self._title(i) != title]
        return columns

    def _left_out(self, used: list[int], columns: list[int]) -> Iterator[str]:
        """Yield a line about the columns that do not fit into the terminal."""
        titles = [self._title(i) for i in used if i not in columns]
        if titles:
            yield f"Left out for want of width: {', '.join(titles)}."

    def _repr_html_(self) -> str:
        return self.html()

    def cells(self) -> list[tuple[str, ...]]:
        """Return the texts of the shown rows."""
        return [_cells(row, self.steps) for row in self._shown()]

    def _shown(self) -> list[Row]:
        return self.rows if self._limit is None else self.rows[: self._limit]

    def _phased(self) -> list[Row]:
        """Return the rows that are shown with their phases, only for kernels."""
        return self._shown() if self.by == "kernel" else []

    def leave_out(self, said: Container[str]) -> None:
        """Leave out notes that were printed below another table."""
        self._notes = [note for note in self._notes if note not in said]

    def notes(self) -> list[str]:
        """Return the notes below the rows."""
        hidden = len(self.rows) - len(self.cells())
        more = [f"{hidden} more rows; limit=None shows all."] if hidden else []
        return [*more, *self._notes]

    def html(self) -> str:
        """Return the table as HTML."""
        columns = self._used()
        kinds = ["text" if is_text else "number" for _, is_text in COLUMNS]
        head = "".join(
            f'<th class="{kinds[i]}">{escape(self._title(i))}</th>' for i in columns
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td class="{kinds[i]}">{escape(cells[i])}</td>' for i in columns
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
    """Return seconds as milliseconds, rounded to microseconds."""
    return f"{1e3 * seconds:.3f}"


def number(value: float) -> str:
    """Return a number with three digits and without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
