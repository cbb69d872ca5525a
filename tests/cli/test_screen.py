# SPDX-License-Identifier: MIT
"""The bar on a terminal, and the lines elsewhere."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

from autocalc.cli import _screen as screens
from autocalc.cli._training import Config, Training

CONFIG = Config(
    data="digits", model="mlp", epochs=2, batch_size=32, optimizer="sgd", lr=0.02,
    momentum=0.9, seed=0,
)  # fmt: skip


def show(training, screen):
    with screen:
        for event in training.run():
            screen.show(event)


def test_lines_come_within_long_epochs(capsys, monkeypatch):
    monkeypatch.setattr(screens, "_LINE_PAUSE", 0.0)
    training = Training(replace(CONFIG, epochs=1))
    show(training, screens.Lines(training))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 46
    assert lines[9].startswith("  step 10/45  loss ")
    assert lines[-1].startswith("epoch 1/1  loss ")


@pytest.fixture
def watched(monkeypatch):
    """Return a function that trains with a bar on a terminal of some width."""
    from rich.console import Console

    def watch(width, config=CONFIG):
        monkeypatch.setattr(screens, "BAR_PAUSE", 0.0)
        training = Training(config)
        bar = screens.Bar(training)
        file = io.StringIO()
        console = Console(file=file, force_terminal=True, width=width)
        bar._progress.live.console = console
        show(training, bar)
        return training, file.getvalue()

    return watch


def lines_of(text):
    """Return the text of the screen, line by line."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", text)
    return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


def test_the_bar_shows_loss_accuracy_speed_and_memory(watched):
    _, text = watched(150)
    assert "epoch 1/2" in text
    assert "45/45" in text
    for news in ("loss 0.", "accuracy 9", "samples/s", " MB"):
        assert news in text
    assert "epoch 2/2  loss" in text
    begun = [line for line in lines_of(text) if " 0/45" in line]
    assert begun
    assert all("loss" not in line for line in begun)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_the_bar_fits_the_terminal(watched, width):
    _, text = watched(width)
    plain = re.sub(r"\x1b\[[0-9;?]*m", "", text)
    bars = [line for line in lines_of(plain) if "/45" in line and "━" in line]
    assert len(bars) >= 90
    for line in bars:
        assert len(line) <= width
        assert line.count("━") + line.count("╸") + line.count("╺") >= 10
        assert "…" not in line
        assert "45/45" in line or " 0/45" in line or "/45" in line
    shown = " ".join(bars)
    assert ("loss 0." in shown) == (width >= 60)
    assert ("accuracy 9" in shown) == (width >= 80)


def test_the_bar_shows_the_means_of_the_epoch(watched):
    training, text = watched(120)
    losses = training.history.losses[45:]
    mean = sum(losses) / 45
    assert training.epoch_loss == mean
    assert f"loss {mean:.4f}  accuracy" in text
    assert f"epoch 2/2  loss {mean:.4f}  test accuracy" in text
    assert f"loss {sum(losses[:20]) / 20:.4f}" in text


def test_the_mean_of_an_epoch_that_goes_on_is_of_its_steps_so_far():
    training = Training(replace(CONFIG, epochs=1))
    for i, _ in zip(range(1, 8), training.run(), strict=False):
        assert training.epoch_loss == sum(training.history.losses) / i


def test_the_bar_is_for_terminals(monkeypatch):
    training = Training(CONFIG)
    assert isinstance(screens.make_screen(training, quiet=True), screens.Quiet)
    assert type(screens.make_screen(training, quiet=False)) is screens.Lines
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert isinstance(screens.make_screen(training, quiet=False), screens.Bar)
    assert type(screens.make_screen(training, False, err=True)) is screens.Lines
