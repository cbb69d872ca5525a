# SPDX-License-Identifier: MIT
"""``autocalc train``: what it prints, saves, draws and refuses."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

import autocalc as ac
from autocalc.cli import _checkpoint as checkpoint
from autocalc.cli import _plot
from autocalc.cli import _train_images as train
from autocalc.cli._common import interruptible


def losses(path):
    return ac.load(path)["history"]["losses"]


def test_it_reports_epochs_and_the_result(run):
    out = run("train", "digits", "--epochs", 2).output.splitlines()
    assert out[0] == (
        "mlp of 9,610 parameters on digits, 1,437 images; batch size 32, optimizer "
        "sgd, lr 0.02, momentum 0.9, seed 0, schedule cosine"
    )
    epoch = (
        r"epoch {}/2  loss [01]\.\d{{4}}  test accuracy 9\d\.\d\d%  "
        r"[\d,]+ samples/s  [\d,?]+ MB"
    )
    assert re.fullmatch(epoch.format(1), out[1])
    assert re.fullmatch(epoch.format(2), out[2])
    assert re.fullmatch(
        r"test accuracy 9\d\.\d\d%  \d+\.\d s  [\d,]+ samples/s  kernels \S.*", out[3]
    )
    assert len(out) == 4


def test_quiet_prints_the_result_only(run):
    out = run("train", "digits", "--epochs", 1, "-q").output.splitlines()
    assert len(out) == 1
    assert out[0].startswith("test accuracy")


def test_settings_reach_the_training(run):
    run(
        "train", "digits", "--epochs", 1, "--batch-size", 100, "--lr", 0.5,
        "--momentum", 0.5, "--seed", 7, "--optimizer", "sgd", "--workers", 1,
        "--schedule", "linear", "--precision", "bf16", "--save", "a.safetensors",
    )  # fmt: skip
    config = ac.load("a.safetensors")["config"]
    assert config == {
        "data": "digits", "model": "mlp", "epochs": 1, "batch_size": 100, "lr": 0.5,
        "momentum": 0.5, "seed": 7, "optimizer": "sgd", "augment": False,
        "schedule": "linear", "precision": "bf16",
    }  # fmt: skip
    run("train", "digits", "--epochs", 1, "--model", "vit", "--save", "b")
    config = ac.load("b")["config"]
    assert (config["optimizer"], config["lr"]) == ("adamw", 1e-3)


def test_lenet_has_a_learning_rate_of_its_own(run):
    run("train", "digits", "--epochs", 1, "--model", "lenet", "--save", "lenet")
    assert ac.load("lenet")["config"]["lr"] == 0.02


def test_kernels_and_threads_hold_for_the_command_only(run):
    before = ac.get_num_threads(), str(ac.kernels.show())
    out = run(
        "train", "digits", "--epochs", 1, "--kernels", "reference", "--threads", 1
    )
    assert out.output.rstrip().endswith("kernels reference")
    assert (ac.get_num_threads(), str(ac.kernels.show())) == before


def test_what_was_saved_goes_on(run):
    words = ("train", "digits", "--schedule", "constant", "--epochs")
    run(*words, 3, "--save", "whole")
    run(*words, 1, "--save", "part")
    out = run("train", "digits", "--resume", "part", "--epochs", 3).output
    assert "schedule constant from epoch 2" in out
    assert losses("part") == losses("whole")  # saved into the file it came from
    run("train", "digits", "--resume", "part", "--epochs", 4, "--save", "more")
    assert losses("more")[:135] == losses("part")
    assert len(losses("part")) == 135


def test_a_resumed_training_keeps_its_settings(run, trained):
    out = run("train", "digits", "--resume", trained, "--epochs", 3, "--lr", 1, code=2)
    assert f"--lr 1.0: {trained} is a training run with 0.02, which" in out.output
    assert f"--finetune {trained} to start a new run with its model" in out.output
    out = run("train", "mnist", "--resume", trained, "--epochs", 3, code=2)
    assert f"{trained} was trained on digits, not on mnist. Give the same" in out.output
    out = run("train", "digits", "--resume", trained, code=2)
    assert f"{trained} has trained 2 epochs already; request more" in out.output
    same = ("--lr", 0.02, "--epochs", 3, "--save", "other", "--resume", trained)
    run("train", "digits", *same)


def test_a_loop_that_is_interrupted_saves_and_exits_with_130(
    run, monkeypatch, tmp_path
):
    real = train.make_screen

    def screen(training, quiet, err):
        shown = real(training, quiet, err)
        show = shown.show

        def interrupt(event):
            show(event)
            if len(training.history.losses) == 50:
                signal.raise_signal(signal.SIGINT)

        shown.show = interrupt
        return shown

    monkeypatch.setattr(train, "make_screen", screen)
    run("train", "digits", "--epochs", 2, "--save", "a", code=130)
    out = run("train", "digits", "--epochs", 2, code=130).output
    name = "autocalc-digits-mlp.safetensors"
    assert f"Interrupted in epoch 2 after step 5 of 45. Saved to {name}." in out
    assert f"  autocalc train digits --resume {name}" in out
    words = ("--epochs", 2, "--log", "a log.jsonl", "--threads", 1, "--no-compile")
    out = run("train", "digits", *words, code=130).output
    second = "autocalc-digits-mlp-2.safetensors"
    expected = f"--resume {second} --threads 1 --no-compile --log 'a log.jsonl'"
    assert out.endswith(f"Go on with:\n  autocalc train digits {expected}\n")
    assert Path(second).exists()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    run("train", "digits", "--resume", "a")
    run("train", "digits", "--epochs", 2, "--save", "whole")
    assert losses("a") == losses("whole")
    assert len(losses(name)) == 50


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_when_all_is_saved(program, tmp_path, number):
    process = program("train", "digits", "--epochs", 1000, cwd=tmp_path)
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[2].startswith("epoch 2/1000")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number, err
    assert "Saved to autocalc-digits-mlp.safetensors" in err
    assert "Traceback" not in out + err
    assert len(losses(tmp_path / "autocalc-digits-mlp.safetensors")) >= 90


def test_augmented_images_are_the_same_after_resuming(run):
    words = ("train", "digits", "--schedule", "constant", "--epochs")
    out = run(*words, 3, "--augment", "--workers", 0, "--save", "whole").output
    assert "schedule constant, augmented\n" in out
    run(*words, 1, "--augment", "--workers", 2, "--save", "part")
    run("train", "digits", "--resume", "part", "--epochs", 3)
    assert losses("part") == losses("whole")
    run(*words, 1, "--save", "plain")
    assert losses("plain") != losses("whole")[:45]
    out = run("train", "digits", "--resume", "plain", "--augment", code=2).output
    assert "--augment True: plain is a training run with False, which" in out


def test_clothes_are_turned_round_and_digits_are_not():
    names = {
        data: [type(one).__name__ for one in recipe.augmentation.transforms]
        for data, recipe in train.RECIPES.items()
    }
    assert names == {
        "digits": ["RandomCrop", "Normalize"],
        "mnist": ["RandomCrop", "Normalize"],
        "fashion-mnist": ["RandomCrop", "RandomHorizontalFlip", "Normalize"],
    }


def test_a_file_from_before_a_setting_has_its_default(run):
    run("train", "digits", "--epochs", 1, "--save", "a")
    state = ac.load("a")
    del state["config"]["augment"], state["config"]["schedule"]
    ac.save(state, "old")
    run("train", "digits", "--resume", "old", "--epochs", 2)
    config = ac.load("old")["config"]
    assert (config["augment"], config["schedule"]) == (False, "constant")


def test_the_most_wrong_images(run, trained):
    training = checkpoint.resume(checkpoint.read(trained), 2)
    wrong = _plot.most_wrong(training, 3)
    assert len(wrong) == 3
    shares = [one.probability for one in wrong]
    assert shares == sorted(shares)
    assert shares[-1] < 0.5
    for one in wrong:
        logits = training.model(one.image.unsqueeze(0))
        assert logits.argmax().item() == one.answer != one.label


def test_curves_are_drawn(run):
    pytest.importorskip("matplotlib")
    out = run("train", "digits", "--epochs", 2, "--plot", "curves.png").output
    assert "Curves drawn into curves.png." in out
    assert Path("curves.png").read_bytes().startswith(b"\x89PNG")
    for name in ("curves.docx", "curves.gif", "curves"):
        out = run("train", "digits", "--plot", name, code=2).output
        assert f"Invalid value for --plot: {name} must end with .png, .svg or" in out
        assert "mlp of" not in out


def test_without_matplotlib_curves_are_drawn_in_the_terminal(run, monkeypatch):
    monkeypatch.setattr(_plot, "find_spec", lambda name: None)
    result = run("train", "digits", "--epochs", 1, "--plot", "curves.png")
    assert result.stderr.startswith(
        "matplotlib is not installed: the curves will be drawn here, not into "
        "curves.png. Get it with: pip install autocalc-core[plot]\n"
    )
    assert "mlp on digits: loss" in result.stdout
    assert not Path("curves.png").exists()


def test_a_missing_folder_is_named_before_the_training(run):
    out = run("train", "digits", "--save", "nowhere/a", code=2).output
    assert "Invalid value for --save: the folder nowhere does not exist" in out
    assert "mlp of" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["letters"], "'letters' is not one of 'digits', 'mnist', 'fashion-mnist'"),
        (["digits", "--epochs", 0], "0 is not in the range x>=1"),
        (["digits", "--momentum", 1], "1.0 is not in the range 0<=x<1"),
        (["digits", "--lr", "nan"], "nan is not a finite number"),
        (["digits", "--lr", "inf"], "inf is not a finite number"),
        (["digts"], "Did you mean 'digits'?"),
        (["digits", "--optimizer", "sdg"], "'sdg' is not one of 'sgd', 'adamw'"),
        (["digits", "--kernels", "sind"], "there is no kernel set or family 'sind'"),
        ([], "Train a model and report how good it is."),
    ],
)
def test_wrong_use_exits_with_2(run, words, message):
    out = run("train", *words, code=2).output
    assert message in out
    assert "Usage: cli train" in out or "Usage: autocalc train" in out


def test_missing_data_says_what_to_do(run, tmp_path):
    out = run("train", "mnist", "--data", tmp_path, code=1).output
    assert "train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz not found" in out
    assert "Give --download to download them, or --data DIR (or set AUTOCALC" in out
    assert "`" not in out


def test_a_file_that_is_not_there(run):
    out = run("train", "digits", "--resume", "gone", code=1).output
    assert out == "Error: load: gone does not exist.\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_is_final(number):
    with interruptible() as seen:
        signal.raise_signal(number)
        assert seen == [number]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
