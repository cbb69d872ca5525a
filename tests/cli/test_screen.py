# SPDX-License-Identifier: MIT
"""The bar on a terminal, and the lines elsewhere."""

from __future__ import annotations

import io
from dataclasses import replace

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


def test_the_bar_shows_loss_accuracy_speed_and_memory(monkeypatch):
    from rich.console import Console

    monkeypatch.setattr(screens, "BAR_PAUSE", 0.0)
    training = Training(CONFIG)
    bar = screens.Bar(training)
    file = io.StringIO()
    bar._progress.live.console = Console(file=file, force_terminal=True, width=150)
    show(training, bar)
    text = file.getvalue()
    assert "epoch 1/2" in text
    assert "45/45" in text
    for news in ("loss 0.", "accuracy 9", "samples/s", " MB"):
        assert news in text
    assert "epoch 2/2  loss" in text


def test_the_bar_is_for_terminals(monkeypatch):
    training = Training(CONFIG)
    assert isinstance(screens.make_screen(training, quiet=True), screens.Quiet)
    assert type(screens.make_screen(training, quiet=False)) is screens.Lines
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert isinstance(screens.make_screen(training, quiet=False), screens.Bar)
