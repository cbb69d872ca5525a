# SPDX-License-Identifier: MIT
"""`mpirun -n N autocalc train charlm`: one training, of which rank 0 tells."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tests.distributed.launch import LIMIT, environment, mpirun, needs_mpi

import autocalc as ac

pytestmark = [needs_mpi, pytest.mark.mpi]

SMALL = (
    *("--steps", "12", "--eval-every", "6", "--print-every", "4", "--seq-len", "16"),
    *("--d-model", "16", "--heads", "2", "--layers", "1", "--optimizer", "sgd"),
    *("--weight-decay", "0", "--lr", "0.1"),
)


def train(n, *args, code=0):
    return autocalc(n, "train", "charlm", *args, code=code)


def autocalc(n, *args, code=0):
    launcher = [] if n == 1 else [*mpirun(), "-n", str(n)]
    done = subprocess.run(
        [*launcher, sys.executable, "-m", "autocalc", *args],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.returncode == 0) == (code == 0), f"{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("the cat sat on the mat. " * 100)
    return str(path)


def test_ranks_train_as_one_process_and_one_of_them_tells(text, tmp_path):
    results = {}
    for n in (1, 3):
        log, saved = tmp_path / f"{n}.jsonl", tmp_path / f"{n}.safetensors"
        files = ("--save", str(saved), "--log", str(log), "--text", text)
        done = train(n, *SMALL, *files)
        assert done.stdout.count("step 4/12 ") == 1
        assert done.stdout.count("tokens/s\n") == 1
        records = [json.loads(line) for line in log.read_text().splitlines()]
        assert [r["kind"] for r in records].count("result") == 1
        results[n] = ac.load(saved)["training"]
    alone, together = (results[n] for n in (1, 3))
    assert together["losses"] == pytest.approx(alone["losses"], rel=1e-5)
    (_, before), (_, behind) = together["evaluations"]
    assert behind < before
    assert behind == pytest.approx(alone["evaluations"][1][1], rel=1e-5)
    saved = str(tmp_path / "3.safetensors")
    train(2, "--resume", saved, "--steps", "14", "--quiet")
    losses = ac.load(saved)["training"]["losses"]
    assert len(losses) == 14
    assert losses[:12] == together["losses"]


def test_images_are_trained_on_by_ranks_and_one_of_them_tells(tmp_path):
    """A file of ranks goes on in one process, and the other way round."""
    saved, log = tmp_path / "x.safetensors", tmp_path / "x.jsonl"
    files = ("--save", str(saved), "--log", str(log))
    size = ("--epochs", "2", "--batch-size", "50")
    done = autocalc(3, "train", "digits", *size, *files)
    ends = re.findall(r"epoch \d/2  loss [\d.]+  test accuracy", done.stdout)
    assert len(ends) == 2
    assert done.stdout.count("samples/s  kernels") == 1
    records = [json.loads(line) for line in log.read_text().splitlines()]
    assert [r["kind"] for r in records].count("result") == 1
    done = autocalc(1, "train", "digits", "--resume", str(saved), "--epochs", "3")
    assert "epoch 3/3 " in done.stdout
    more = ("--resume", str(saved), "--epochs", "4", "--json")
    done = autocalc(2, "train", "digits", *more)
    assert json.loads(done.stdout)["step"] == 4 * 29
    assert len(re.findall(r"epoch 4/4  loss [\d.]+  test", done.stderr)) == 1
    whole = tmp_path / "whole.safetensors"
    more = ("--epochs", "2", "--batch-size", "50", "--quiet", "--save", str(whole))
    autocalc(1, "train", "digits", *more)
    alone, together = (ac.load(x)["history"]["losses"] for x in (whole, saved))
    assert together[:58] == pytest.approx(alone, rel=1e-4)


def test_what_does_not_fit_ends_all_ranks(text):
    done = train(2, "--batch-size", "7", "--text", text, code=1)
    assert (
        "ends all ranks: ArgumentError: TextTraining: `batch_size` is 7" in done.stderr
    )
    done = autocalc(2, "train", "mnist", "--data", text + ".absent", code=1)
    assert "ends all ranks: DataError" in done.stderr
    done = train(2, "--heads", "3", "--text", text, code=1)
    assert "the features of a position are divided evenly among" in done.stderr


def test_ranks_are_measured():
    sizes = ("--layers", "1", "--d-model", "16", "--heads", "2", "--steps", "2")
    done = autocalc(2, "bench", "distributed", *sizes, "--json")
    found = json.loads(done.stdout)
    assert found["ranks"] == 2
    assert 0 < found["latency"] < found["all_reduce_seconds"]["16777216"]
    assert 0 <= found["overlap"] <= 1
    assert 0 < found["predicted_efficiency"] <= 1
    out = autocalc(2, "bench", "distributed", *sizes).stdout
    assert out.startswith("2 ranks\n")
    assert "; the model says " in out
