# SPDX-License-Identifier: MIT
"""Lines and bars that a command prints while it works, for any terminal width."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, Any, Generic, TypeVar

import click

#: The seconds between two updates of the bar.
BAR_PAUSE = 0.1

#: The speed shown is that of this many last seconds.
RECENT = 3.0

#: The width of the bar in cells, and its width in a narrow terminal.
_BAR, _SHORT_BAR, _NARROW = 20, 10, 100
#: The cells of the remaining time: ``-:--:--``.
_TIME = 7

T = TypeVar("T")


def stream(err: bool) -> IO[str]:
    """Return where lines are printed: standard output, or standard error with JSON."""
    return sys.stderr if err else sys.stdout


def say(text: str, err: bool = False) -> None:
    """Print lines; on a terminal, break long ones between words."""
    if stream(err).isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_broken(line, width) for line in text.split("\n"))
    click.echo(text, err=err)


def _broken(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    return textwrap.fill(
        line,
        width,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def progress_bar(*titles: str, err: bool = False) -> Any:
    """Return a bar with `titles`, the field `news` and the remaining time."""
    from rich.console import Console  # 40 ms of import
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    console = Console(stderr=err)
    title = Column(no_wrap=True, overflow="ellipsis")
    return Progress(
        *(TextColumn(one, table_column=title) for one in titles),
        BarColumn(bar_width=_bar_width(console.width)),
        MofNCompleteColumn(),
        TextColumn("{task.fields[news]}"),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
        auto_refresh=False,
    )


def _bar_width(width: int) -> int:
    return _BAR if width >= _NARROW else _SHORT_BAR


def fitting(bar: Any, title: str, total: int, news: Sequence[str]) -> str:
    """Return as much of the news as fits after the bar, the most important first."""
    width = bar.console.width
    count = 2 * len(str(total)) + 1
    room = width - _bar_width(width) - count - _TIME - len(title) - 4
    text = ""
    for one in news:
        longer = f"{text}  {one}" if text else one
        if len(longer) > room:
            break
        text = longer
    return text


class Speed:
    """The current speed of the work: that of its last seconds, not the mean.

    Parameters
    ----------
    done, seconds
        The amount of work that was done before, and its time in seconds.
    """

    def __init__(self, done: float, seconds: float) -> None:
        self._marks = deque([(done, seconds)])

    def now(self, done: float, seconds: float) -> float:
        """Return the current amount of work per second, given the totals."""
        marks = self._marks
        marks.append((done, seconds))
        while len(marks) > 2 and seconds - marks[1][1] >= RECENT:
            marks.popleft()
        before, then = marks[0]
        return (done - before) / (seconds - then) if seconds > then else 0.0


class Rows(Generic[T]):
    """Rows of work in sequence; on a terminal a bar shows the current row.

    Parameters
    ----------
    rows
        Objects with an attribute `name`.
    """

    def __init__(self, rows: Sequence[T]) -> None:
        self._rows = rows
        self._bar: Any = None

    def __iter__(self) -> Iterator[T]:
        if not sys.stdout.isatty():
            yield from self._rows
            return
        self._bar = progress_bar("{task.description}")
        with self._bar:
            task = self._bar.add_task("", total=len(self._rows), news="")
            for row in self._rows:
                name = getattr(row, "name", str(row))
                self._bar.update(task, description=name, refresh=True)
                yield row
                self._bar.advance(task)
        self._bar = None

    def say(self, line: str) -> None:
        """Print a line, above the bar."""
        if self._bar is None:
            click.echo(line)
        else:
            self._bar.console.print(line, highlight=False, markup=False)
