# SPDX-License-Identifier: MIT
"""``autocalc train charlm`` and ``autocalc generate``."""

import io
import re
import signal

import pytest

import autocalc as ac
from autocalc.cli import _train_text
from autocalc.cli._text_screen import perplexity

SENTENCE = "the quick brown fox jumps over the lazy dog. "
SMALL = (
    "--text", "text", "--steps", 6, "--batch-size", 4, "--seq-len", 16, "--d-model", 16,
    "--layers", 1, "--eval-every", 4, "--print-every", 3,
)  # fmt: skip
TRANSFORMER = ("--heads", 2)
LSTM = ("--model", "lstm")
TINY = (*SMALL, *TRANSFORMER)


@pytest.fixture
def write(run, tmp_path):
    """Return `run`, in a folder with a text."""
    (tmp_path / "text").write_text(SENTENCE * 30, encoding="utf-8")
    return run


def test_it_reports_steps_evaluations_and_the_result(write):
    out = write("train", "charlm", *TINY).output.splitlines()
    assert out[0].startswith("transformer of 4,016 parameters on 1,350 characters, 28 ")
    step = (
        r"step {}/6  loss \d\.\d{{4}}  perplexity \d+\.\d\d  lr \S+  [\d,]+ tokens/s  "
        r"[\d,?]+ MB"
    )
    test = r"step {}/6  validation loss \d\.\d{{4}}  perplexity \d+\.\d\d"
    for line, pattern in zip(
        out[1:5],
        (step.format(3), test.format(4), step.format(6), test.format(6)),
        strict=True,
    ):
        assert re.fullmatch(pattern, line)
    assert re.fullmatch(
        r"validation loss \d\.\d{4}  perplexity \S+  \S+ s  [\d,]+ tokens/s", out[5]
    )
    assert len(out) == 6


def test_quiet_prints_the_result_only(write):
    out = write("train", "charlm", *TINY, "-q").output.splitlines()
    assert len(out) == 1


def test_samples_show_what_the_model_writes(write):
    out = write("train", "charlm", *TINY, "--sample-every", 5).output
    lines = out.splitlines()
    index = next(i for i, line in enumerate(lines) if line.startswith("step 4"))
    assert len(lines[index + 1]) == 201
    assert set(lines[index + 1]) <= set(SENTENCE)


def test_what_was_saved_goes_on_and_writes(write):
    write("train", "charlm", *TINY, "--save", "whole")
    write("train", "charlm", *TINY[:2], "--steps", 4, *TINY[4:], "--warmup", 100,
          "--schedule", "constant", "--save", "part")  # fmt: skip
    out = write("train", "charlm", "--resume", "part", "--steps", 6).output
    assert "from step 5" in out
    state = ac.load("part")
    assert len(state["training"]["losses"]) == 6
    words = ("generate", "part", "--prompt", "the ", "--count", 40, "--seed", 1)
    text = write(*words).output
    assert text.startswith("the ")
    assert len(text) == 4 + 40 + 1
    assert text == write(*words).output
    assert text != write(*words[:-1], 2).output


@pytest.mark.parametrize("model", [TRANSFORMER, LSTM])
def test_a_resumed_training_is_the_whole_one(write, model):
    same = (*model, "--schedule", "constant")
    write("train", "charlm", *SMALL, *same, "--save", "whole")
    write("train", "charlm", *SMALL, *same, "--steps", 4, "--save", "part")
    write("train", "charlm", "--resume", "part", "--steps", 6)
    whole, part = (ac.load(name)["training"] for name in ("whole", "part"))
    assert part["losses"] == whole["losses"]
    assert part["evaluations"] == whole["evaluations"]


def test_an_lstm_is_trained_and_writes(write):
    out = write("train", "charlm", *SMALL, *LSTM, "--save", "saved").output
    headline = out.splitlines()[0]
    assert headline.startswith("lstm of 2,652 parameters on 1,350 characters, 28 ")
    assert "heads" not in headline
    words = ("generate", "saved", "--prompt", "the ", "--count", 40, "--seed", 1)
    text = write(*words).output
    assert text.startswith("the ")
    assert len(text) == 4 + 40 + 1
    assert text == write(*words).output


def test_settings_of_another_model_are_refused(write):
    out = write("train", "charlm", *TINY, *LSTM, code=2).output
    assert "--heads is a setting of --model transformer; --model lstm does not" in out


def test_ctrl_c_saves_and_exits_with_130(write, monkeypatch, tmp_path):
    real = _train_text.TextScreen.show

    def show(self, event):
        real(self, event)
        if event.number == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(_train_text.TextScreen, "show", show)
    out = write("train", "charlm", *TINY, code=130).output
    name = "autocalc-charlm.safetensors"
    assert f"Interrupted after step 3 of 6. Saved to {name}." in out
    assert len(ac.load(tmp_path / name)["training"]["losses"]) == 3


def test_what_contradicts_a_saved_training_is_refused(write, tmp_path):
    write("train", "charlm", *TINY, "--save", "saved")
    go_on = ("train", "charlm", "--resume", "saved")
    out = write(*go_on, code=2).output
    assert "saved has trained 6 steps already; request more with --steps." in out
    out = write(*go_on, "--steps", 9, "--heads", 4, code=2).output
    assert "--heads 4: saved is a training run with 2, which cannot be" in out
    (tmp_path / "text").write_text(SENTENCE * 20, encoding="utf-8")
    out = write(*go_on, "--steps", 9, code=1).output
    assert "has 900 characters, but it had 1,350 when the training began" in out


def test_files_that_hold_no_text_model_are_refused(write):
    ac.save({"a": 1}, "other")
    out = write("generate", "other", code=1).output
    assert (
        "other does not contain a text model; give a file that `autocalc train charlm"
        in out
    )
    write("train", "charlm", *TINY, "--save", "saved")
    out = write("generate", "saved", "--prompt", "", code=2).output
    assert "it is empty; the model needs at least one character to continue" in out
    out = write("generate", "saved", "--prompt", "THE", code=1).output
    assert "3 characters are not in the vocabulary of 28: 'E', 'H', 'T'" in out


def test_a_huge_loss_has_no_perplexity():
    assert perplexity(1.0) == "2.72"
    assert perplexity(1e4) == "inf"


@pytest.mark.parametrize("model", [TRANSFORMER, (*LSTM, "--layers", 2)])
def test_replayed_steps_have_the_losses_of_eager_ones(write, model):
    words = ("train", "charlm", *SMALL, *model, "--dropout", 0.2, "--steps", 12, "-q")
    results = [
        write(*words, flag).output.split("  ")[:2]
        for flag in ("--compile", "--no-compile")
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_bar_fits_the_terminal(width, monkeypatch):
    from rich.console import Console

    from autocalc.cli import _text_screen as screens

    monkeypatch.setattr(screens, "BAR_PAUSE", 0.0)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    text = ac.data.Characters(SENTENCE * 30)
    config = ac.models.TextConfig(
        steps=20, batch_size=2, seq_len=8, d_model=8, heads=1, layers=1
    )
    training = ac.models.TextTraining(text, config)
    screen = screens.TextScreen(training, every=10, quiet=False)
    file = io.StringIO()
    screen._bar.live.console = Console(file=file, force_terminal=True, width=width)
    with screen.shown():
        for event in training.run():
            screen.show(event)
    plain = re.sub(r"\x1b\[[0-9;?]*m", "", file.getvalue())
    lines = re.split(r"[\r\n]+|\x1b\[[0-9;?]*[A-Za-z]", plain)
    bars = [line.rstrip() for line in lines if "/20 " in line]
    assert len(bars) >= 20
    assert all(len(line) <= width for line in bars)
    assert "loss " in bars[-1]
    assert ("tokens/s" in bars[-1]) == (width >= 60)
