# SPDX-License-Identifier: MIT
"""What every training can: log, keep the best, stop early, JSON, fine-tuning."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

import autocalc as ac
from autocalc.cli import _run_options as run_options
from autocalc.cli._follow import best_of, since_best

SENTENCE = "the quick brown fox jumps over the lazy dog. "
DIGITS = ("train", "digits")
TEXT = (
    "train", "charlm", "--text", "text", "--steps", 6, "--batch-size", 4, "--seq-len",
    16, "--d-model", 16, "--heads", 2, "--layers", 1, "--eval-every", 2,
)  # fmt: skip


@pytest.fixture
def write(run, tmp_path):
    """Return `run`, in a folder with a text."""
    (tmp_path / "text").write_text(SENTENCE * 30, encoding="utf-8")
    return run


def log_of(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def kinds(records):
    return [record["kind"] for record in records]


# ---- logs ----------------------------------------------------------------------------


def test_a_training_on_images_is_logged(run):
    run(*DIGITS, "--epochs", 2, "--log", "log.jsonl", "--save", "a")
    first, *between, last = log_of("log.jsonl")
    assert first["command"] == (
        "autocalc train digits --epochs 2 --log log.jsonl --save a"
    )
    assert first["config"]["batch_size"] == 32
    assert first["machine"]["AutoCalc"] == ac.__version__
    assert kinds(between) == (["step"] * 45 + ["evaluation"]) * 2
    history = ac.load("a")["history"]
    steps = [one for one in between if one["kind"] == "step"]
    assert [one["loss"] for one in steps] == history["losses"]
    assert [one["step"] for one in steps] == list(range(1, 91))
    assert steps[0]["lr"] == 0.02
    ends = [one for one in between if one["kind"] == "evaluation"]
    assert [one["test_accuracy"] for one in ends] == history["test_accuracies"]
    assert ends[0]["loss"] == pytest.approx(sum(history["losses"][:45]) / 45)
    assert last["kind"] == "result"
    assert {one["kernel"] for one in last["kernels"]} >= {"cross_entropy"}


def test_a_training_on_text_is_logged(write):
    write(*TEXT, "--log", "log.jsonl", "--save", "a")
    records = log_of("log.jsonl")
    assert kinds(records) == [
        *("run", "step", "step", "evaluation", "step", "step", "evaluation", "step"),
        *("step", "evaluation", "result"),
    ]
    training = ac.load("a")["training"]
    steps = [one["loss"] for one in records if one["kind"] == "step"]
    assert steps == training["losses"]
    assert records[6]["validation_loss"] == training["evaluations"][1][1]
    assert records[6]["loss"] == pytest.approx(sum(steps[2:4]) / 2)
    assert {one["kernel"] for one in records[-1]["kernels"]} >= {"layer_norm"}


def test_logs_of_other_kinds(run):
    run(*DIGITS, "--epochs", 1, "--log", "log.csv")
    with Path("log.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 46
    run(*DIGITS, "--epochs", 1, "--log", "folder")
    names = sorted(path.name.split(".")[0] for path in Path("folder").iterdir())
    assert names == ["events", "log"]


def test_a_training_that_goes_on_adds_to_its_log(run):
    run(*DIGITS, "--epochs", 1, "--log", "folder", "--save", "a")
    run(*DIGITS, "--epochs", 2, "--log", "folder", "--resume", "a")
    records = log_of("folder/log.jsonl")
    assert kinds(records).count("run") == 2
    steps = [one["step"] for one in records if one["kind"] == "step"]
    assert steps == list(range(1, 91))


def test_a_log_of_no_kind_is_refused(run):
    out = run(*DIGITS, "--log", "log.txt", code=2).output
    assert "Invalid value for --log: log.txt ends with '.txt'; a log is a file" in out
    out = run(*DIGITS, "--log", "no/folder/log.jsonl", code=2).output
    assert "the folder no/folder does not exist; create it first." in out


# ---- the best, and no better ---------------------------------------------------------


def test_the_best_model_is_kept(run):
    out = run(*DIGITS, "--epochs", 6, "--lr", 0.2, "--save-best", "best", "--json")
    result = json.loads(out.stdout)
    history = ac.load("best")["history"]["test_accuracies"]
    assert len(history) == result["best"]["epoch"]
    assert history[-1] == max(history) == result["best"]["test_accuracy"]
    assert result["saved_best"] == "best"


def test_the_best_of_a_text_has_the_lowest_loss(write):
    out = write(*TEXT, "--lr", 3, "--warmup", 0, "--save-best", "best", "--json")
    result = json.loads(out.stdout)
    evaluations = ac.load("best")["training"]["evaluations"]
    assert evaluations[-1] == [
        result["best"]["step"],
        result["best"]["validation_loss"],
    ]
    assert evaluations[-1][1] == min(loss for _, loss in evaluations)


def test_a_worse_model_after_resuming_does_not_replace_the_best(run):
    words = (*DIGITS, "--schedule", "constant", "--save-best", "best")
    run(*words, "--epochs", 3, "--save", "a")
    state = ac.load("a")
    state["history"]["test_accuracies"][0] = 1.0  # nothing after it is better
    ac.save(state, "a")
    ac.save({"untouched": 1}, "best")
    run(*DIGITS, "--resume", "a", "--epochs", 4, "--save-best", "best")
    assert ac.load("best") == {"untouched": 1}


def test_a_training_that_gets_no_better_stops(run):
    out = run(*DIGITS, "--epochs", 50, "--lr", 1e-9, "--patience", 2, "--json")
    result = json.loads(out.stdout)
    assert result["stopped"] == "no better"
    assert result["epochs"] < 50
    assert result["epochs"] == result["best"]["epoch"] + 2
    assert "Stopped: no better model in 2 evaluations in a row." in out.stderr


def test_a_text_that_gets_no_better_stops(write):
    out = write(*TEXT, "--steps", 40, "--lr", 0, "--patience", 3, "--json").stdout
    result = json.loads(out)
    assert (result["stopped"], result["steps"]) == ("no better", 8)


def test_scores_that_are_equal_are_no_better():
    assert since_best([(3.0,), (2.0,), (2.0,), (2.5,)]) == 2
    assert since_best([(math.nan,), (9.0,)]) == 0
    assert since_best([(1.0,), (math.nan,)]) == 1
    assert best_of([(3.0,), (2.0,), (2.0,)]) == 1
    assert since_best([(-0.9, 0.5), (-0.9, 0.4)]) == 0


# ---- JSON ----------------------------------------------------------------------------


def test_the_result_is_one_object_on_standard_output(run):
    result = run(*DIGITS, "--epochs", 1, "--save", "a", "--json")
    found = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    assert found["test_accuracy"] == ac.load("a")["history"]["test_accuracies"][-1]
    assert (found["model"], found["data"], found["epochs"]) == ("mlp", "digits", 1)
    assert (found["saved"], found["stopped"]) == ("a", "complete")
    assert found["config"]["lr"] == 0.02
    assert "epoch 1/1" in result.stderr
    assert run(*DIGITS, "--epochs", 1, "--json", "-q").stderr == ""


def test_the_result_of_a_text_as_json(write):
    result = write(*TEXT, "--json", "--print-every", 1)
    found = json.loads(result.stdout)
    assert (found["steps"], found["data"]) == (6, "text")
    assert found["validation_loss"] > 0
    assert "step 6/6" in result.stderr


def test_a_loss_that_is_not_finite_is_json(write):
    out = write(*TEXT, "--lr", 1e30, "--optimizer", "sgd", "--grad-clip", 0, "--json")
    found = json.loads(out.stdout, parse_constant=pytest.fail)
    assert found["validation_loss"] in {"NaN", "Infinity"}


# ---- pictures ------------------------------------------------------------------------


def test_curves_of_a_text(write):
    pytest.importorskip("matplotlib")
    out = write(*TEXT, "--plot", "curves.svg").output
    assert "Curves drawn into curves.svg." in out
    assert "<svg" in Path("curves.svg").read_text()


def test_curves_in_the_terminal(write):
    out = write(*TEXT, "--plot", "-").output
    assert "transformer on text: loss (" in out
    assert "\nlearning rate\n" in out
    result = write(*TEXT, "--plot", "-", "--json")
    assert "learning rate" in result.stderr
    json.loads(result.stdout)


# ---- files that are there ------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "name"),
    [("--save", "a"), ("--save-best", "a"), ("--log", "a.jsonl"), ("--log", "a.csv")],
)
def test_files_are_not_overwritten_without_a_word(run, option, name):
    Path(name).write_text("precious")
    out = run(*DIGITS, "--epochs", 1, option, name, code=2).output
    assert f"Invalid value for {option}: {name} exists and would be overwritten" in out
    assert Path(name).read_text() == "precious"
    run(*DIGITS, "--epochs", 1, option, name, "--force")
    assert Path(name).read_bytes() != b"precious"


def test_the_log_of_a_folder_is_not_overwritten(run):
    run(*DIGITS, "--epochs", 1, "--log", "folder")
    out = run(*DIGITS, "--epochs", 1, "--log", "folder", code=2).output
    assert "folder/log.jsonl exists and would be overwritten; add --force" in out


def test_a_person_is_asked(run, monkeypatch):
    monkeypatch.setattr(run_options, "can_ask", lambda: True)
    monkeypatch.setattr("click.confirm", lambda text, **kw: asked.append(text))
    asked = []
    Path("a").write_text("old")
    run(*DIGITS, "--epochs", 1, "--save", "a")
    assert asked == ["--save: overwrite a?"]


def test_the_file_of_resume_is_its_own(run):
    run(*DIGITS, "--epochs", 1, "--save", "a")
    run(*DIGITS, "--epochs", 2, "--resume", "a", "--save", "./a")
    out = run(*DIGITS, "--epochs", 1, "--save", "a", "--save-best", "a", code=2).output
    assert "a is the file of --save; give another file for the best checkpoint." in out


# ---- fine-tuning ---------------------------------------------------------------------


def test_finetuning_begins_anew_with_the_model(run, trained):
    words = ("--epochs", 1, "--lr", 1e-9, "--schedule", "constant", "--save", "tuned")
    out = run(*DIGITS, "--finetune", trained, *words).output
    assert "lr 1e-09" in out
    before, after = ac.load(trained), ac.load("tuned")
    assert after["epoch"] == 1
    assert len(after["history"]["losses"]) == 45
    for name, weight in before["model"].items():
        assert ac.allclose(after["model"][name], weight, atol=1e-6)
    assert ac.load(trained)["epoch"] == 2


def test_finetuning_of_a_text_keeps_model_and_characters(write):
    write(*TEXT, "--save", "a")
    Path("other").write_text("a dog jumps over the fox. " * 40, encoding="utf-8")
    words = ("--text", "other", "--steps", 1, "--lr", 0, "--save", "b")
    write("train", "charlm", "--finetune", "a", *words)
    a, b = ac.load("a"), ac.load("b")
    assert b["vocabulary"] == a["vocabulary"]
    assert b["config"]["d_model"] == 16
    assert len(b["training"]["losses"]) == 1
    for name, weight in a["training"]["model"].items():
        assert ac.equal(weight, b["training"]["model"][name])


def test_what_cannot_be_finetuned_is_refused(write, trained):
    out = write(*DIGITS, "--finetune", trained, "--model", "lenet", code=2).output
    assert f"--model lenet: {trained} is a training run with mlp" in out
    out = write("train", "mnist", "--finetune", trained, code=2).output
    assert "is a model for digits, whose images or classes differ from those" in out
    out = write(*DIGITS, "--finetune", "a", "--resume", "b", code=2).output
    assert "--resume continues a training run, and --finetune starts a new one;" in out
    write(*TEXT, "--save", "a")
    out = write(*TEXT[:4], "--finetune", "a", "--heads", 4, code=2).output
    assert "--heads 4: a is a training run with 2, which cannot be changed" in out


def test_a_text_that_is_too_short_exits_with_2(write, tmp_path):
    (tmp_path / "text").write_text("to be or not to be", encoding="utf-8")
    out = write(*TEXT, code=2).output
    assert "the text has 18 characters, of which 16 are used for training;" in out
    assert "part" not in out
