# SPDX-License-Identifier: MIT
"""What a comparison shows: a table for a person, and the same as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table


class Cells:
    """The titles of columns, and the rows below them.

    Parameters
    ----------
    titles
        One for each column.
    right
        The columns that hold numbers, which end at the same place.
    wrap
        Whether a cell may take several lines where the screen is narrow.
    """

    def __init__(
        self, titles: Sequence[str], right: Iterable[int] = (), *, wrap: bool = True
    ) -> None:
        self.titles = titles
        self.right = frozenset(right)
        self.wrap = wrap
        self.rows: list[Sequence[str]] = []

    def shown(self) -> Table:
        """Return the rows for a person."""
        table = Table(box=None, pad_edge=False)
        for i, title in enumerate(self.titles):
            justify = "right" if i in self.right else "left"
            table.add_column(title, justify=justify, no_wrap=not self.wrap)
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """Return the rows as a Markdown table."""
        rule = ["--:" if i in self.right else "---" for i in range(len(self.titles))]
        lines = (self.titles, rule, *self.rows)
        return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def console() -> Console:
    """Return the console; in a file no line is too long."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=140)
