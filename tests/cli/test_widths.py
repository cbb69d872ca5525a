# SPDX-License-Identifier: MIT
"""Tables, helps and bars in real terminals of several widths."""

from __future__ import annotations

import re
import sys

import click
import pytest
from tests.cli.terminal import autocalc

from autocalc.cli import cli
from autocalc.cli._progress import RECENT, Speed

terminal = pytest.mark.skipif(
    sys.platform == "win32", reason="pseudo-terminals of POSIX"
)

SCRIPT = """
import autocalc as ac
from autocalc import nn

net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                    nn.Linear(144, 10))
opt = ac.optim.AdamW(net.parameters())
x, t = ac.randn(8, 1, 14, 14), ac.tensor([i % 10 for i in range(8)])
for i in range(4):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), t).backward()
    opt.step()
"""
ROOF = "The roof is not known:"


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """Profile a training by kernels and modules in a terminal of some width."""
    folder = tmp_path_factory.mktemp("profiled")
    (folder / "train.py").write_text(SCRIPT)
    seen = {}

    def profiled(columns, monkeypatch):
        monkeypatch.setenv("AUTOCALC_CACHE_DIR", str(folder / "cache"))
        if columns not in seen:
            script = folder / "train.py"
            seen[columns] = autocalc(
                columns, "profile", "--by", "kernel", "--by", "module", script
            )
        return seen[columns]

    return profiled


@terminal
@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_a_profile_keeps_kernels_and_sets_whole(columns, profiled, monkeypatch):
    out = profiled(columns, monkeypatch)
    lines = out.splitlines()
    assert max(map(len, lines)) <= columns
    heads = [line.split() for line in lines if line.startswith(("kernel ", "module "))]
    for head in heads:
        assert head[1] == "set"
        assert head[-1] != "…"
        assert "share" in head
        assert "roof" not in head  # it is not known: an empty column
        assert "bound" not in head
    assert len(heads) == 2
    ran = r"^(conv_dweight|linear_backward|max_pool_backward) +(\S+) +[1-9]"
    for _, chosen in re.findall(ran, out, re.MULTILINE):
        assert "…" not in chosen
    for name in ("conv_dweight ", "linear_backward ", "Sequential.0 "):
        assert re.search(rf"^{name}", out, re.MULTILINE)
    left_out = " ".join(out.split()).count("Left out for want of width:")
    assert left_out == (2 if columns < 100 else left_out)
    assert columns < 160 or left_out == 0


@terminal
@pytest.mark.parametrize("columns", [80, 160])
def test_a_profile_says_each_sentence_once(columns, profiled, monkeypatch):
    words = " ".join(profiled(columns, monkeypatch).split())
    assert words.count(ROOF) == 1
    assert len(re.findall(r"\d steps of [\d.]+ ms", words)) == 1


@terminal
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_helps_of_one_line_are_not_cut(columns):
    listed = autocalc(columns, "--help").partition("Commands:")[2]
    assert max(map(len, listed.splitlines())) <= columns
    assert "..." not in listed
    words = " ".join(listed.split())
    found = "Check whether this machine is used well, and say what to do if it is not."
    assert found in words


def groups(command, path=()):
    """Yield a group of commands and the groups in it."""
    yield path, command
    for name, one in command.commands.items():
        if isinstance(one, click.Group):
            yield from groups(one, (*path, name))


def test_no_group_cuts_a_help(run):
    for path, group in groups(cli):
        listed = run(*path, "--help").output.partition("Commands:")[2]
        assert "..." not in listed
        for name in group.commands:
            assert re.search(rf"^  {name} ", listed, re.MULTILINE)


# ---- the speed in bars ---------------------------------------------------------------


def test_the_speed_is_that_of_the_last_seconds():
    speed = Speed(1000, 100.0)  # of an earlier run, which was slow
    for tenth in range(1, 101):
        assert speed.now(1000 + 5 * tenth, 100 + tenth / 10) == pytest.approx(50)
    slower = [speed.now(1500 + tenth, 110 + tenth / 10) for tenth in range(1, 61)]
    assert slower[0] > slower[10] > slower[20]
    assert slower[round(10 * RECENT)] == pytest.approx(10)
    assert slower[-1] == pytest.approx(10)


def test_the_speed_of_rare_looks_is_that_since_the_last_one():
    speed = Speed(0, 0.0)
    assert speed.now(0, 0.0) == 0.0
    assert speed.now(100, 10.0) == pytest.approx(10)
    assert speed.now(300, 20.0) == pytest.approx(20)
    assert speed.now(310, 30.0) == pytest.approx(1)


@terminal
@pytest.mark.parametrize("columns", [50, 100])
def test_a_bar_shows_the_speed_where_it_fits(columns):
    out = autocalc(columns, "train", "digits", "--epochs", 2)
    bars = [part for part in re.split(r"[\r\n]+", out) if "━" in part]
    assert bars
    assert max(map(len, bars)) <= columns
    assert any("samples/s" in bar for bar in bars) == (columns >= 100)
