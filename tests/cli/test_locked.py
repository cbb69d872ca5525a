# SPDX-License-Identifier: MIT
"""``autocalc train --locked``: the kernels of a run before, or a refusal."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.dispatcher import lock, thread_budget, threads

import autocalc as ac
from autocalc._io import files
from autocalc.errors import ConfigWarning

TRAIN = ("train", "digits", "--epochs", 1)


def losses(path):
    return ac.load(path)["history"]["losses"]


@pytest.mark.parametrize("way", ["--compile", "--no-compile"])
def test_the_kernels_of_a_checkpoint_run_again(run, way):
    first = run(*TRAIN, way, "--kernels", "reference", "--save", "a").output
    assert "kernels reference" in first
    again = run(*TRAIN, way, "--locked", "a", "--save", "b").output
    assert again.splitlines()[-1].endswith("kernels reference")
    assert losses("a") == losses("b")
    one, other = ac.kernels.use_lock("a"), ac.kernels.use_lock("b")
    ac.kernels.use()
    assert one.lock.decisions == other.lock.decisions
    assert one.lock.choices == ("reference",)


def test_so_do_those_of_a_text_model(run):
    Path("text").write_text("to be or not to be, " * 60)
    words = ["train", "charlm", "--text", "text", "--steps", 2, "--seq-len", 8]
    words += ["--d-model", 16, "--heads", 2, "--layers", 1]
    run(*words, "--save", "a.safetensors")
    run(*words, "--locked", "a.safetensors", "--save", "b.safetensors")
    texts = [lock.read(lock._path("x", f"{n}.safetensors")).json() for n in "ab"]
    assert texts[0] == texts[1]


def test_what_is_not_the_same_is_refused(run):
    run(*TRAIN, "--save", "a.safetensors")
    made = ac.kernels.use_lock("a.safetensors").lock
    ac.kernels.use()
    name, one = next(iter(made.sets.items()))
    changed = dataclasses.replace(one, package="acme 9")
    other = dataclasses.replace(made, sets={**made.sets, name: changed})
    files.write({}, "b.safetensors", {lock.METADATA_KEY: other.json()})
    out = run(*TRAIN, "--locked", "b.safetensors", code=1).output
    assert (
        f"b.safetensors cannot be used on this machine: {name} was of acme 9 and is"
        in out
    )
    assert "epoch" not in out


def test_one_of_two_chooses(run):
    out = run(*TRAIN, "--locked", "a", "--kernels", "reference", code=2).output
    assert "--locked and --kernels both choose the kernels" in out


def test_a_file_without_a_lock(run):
    ac.save({"x": 1}, "plain.safetensors")
    out = run(*TRAIN, "--locked", "plain.safetensors", code=1).output
    assert "contains no lock." in out


def test_more_threads_than_cores_are_told(run, monkeypatch):
    monkeypatch.setattr(thread_budget, "usable_cores", lambda: 1)
    with pytest.warns(ConfigWarning, match="^--threads 2: 2 threads are more than"):
        run(*TRAIN, "--threads", 2)
    monkeypatch.undo()
    threads.apply_budget(None)  # the earlier budget
