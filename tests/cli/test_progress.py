# SPDX-License-Identifier: MIT
"""Lines that are broken between words, and rows above their bar."""

from __future__ import annotations

import io
from typing import NamedTuple

import pytest

from autocalc.cli import _progress as progress


class Row(NamedTuple):
    name: str


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal, with bytes below it as a real one has."""

    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8", newline="", write_through=True)

    def isatty(self):
        return True

    def getvalue(self):
        return self.buffer.getvalue().decode()


@pytest.fixture
def terminal(monkeypatch):
    """Return what lets standard output be a terminal of 40 columns."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")

    def begin():
        file = Terminal()
        monkeypatch.setattr("sys.stdout", file)
        return file

    return begin


def test_long_lines_are_broken_between_words(terminal):
    text = "mlp of 9,610 parameters on digits, 1,437 images; batch size 32, optimizer"
    screen = terminal()
    progress.say(text)
    lines = screen.getvalue().splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(line.strip() for line in lines) == text
    assert lines[1].startswith("  ")


def test_elsewhere_lines_stay_whole(capsys):
    progress.say("word " * 50)
    assert len(capsys.readouterr().out.splitlines()) == 1
    progress.say("to standard error", err=True)
    assert capsys.readouterr() == ("", "to standard error\n")


def test_rows_and_their_bar_do_not_share_lines(terminal):
    rows = progress.Rows([Row("gemm 64x64x64"), Row("a name that is far too long" * 3)])
    screen = terminal()
    for row in rows:
        rows.say(f"{row.name[:4]}: 5 us")
    lines = screen.getvalue().replace("\r", "\n").splitlines()
    for text in ("gemm: 5 us", "a na: 5 us"):
        (line,) = (line for line in lines if text in line)
        assert "━" not in line
        assert "/2" not in line
    for line in lines:
        if "/2" in line:
            assert "us" not in line


def test_elsewhere_rows_have_no_bar(capsys):
    rows = progress.Rows([Row("a"), Row("b")])
    for row in rows:
        rows.say(row.name)
    assert capsys.readouterr().out == "a\nb\n"


@pytest.mark.parametrize(
    ("width", "expected"),
    [(100, "loss 0.1  97%  143 MB"), (55, "loss 0.1  97%"), (44, "loss 0.1"), (30, "")],
)
def test_the_most_important_news_stay(width, expected):
    from rich.console import Console

    bar = progress.progress_bar()
    bar.live.console = Console(width=width)
    news = ["loss 0.1", "97%", "143 MB"]
    assert progress.fitting(bar, "epoch 1/2", 45, news) == expected
