# SPDX-License-Identifier: MIT
"""``autocalc profile``, and ``--profile`` of ``autocalc train``."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from autocalc.profiler import _peaks

SCRIPT = """
import sys
import autocalc as ac

net = ac.nn.Linear(8, 2)
sgd = ac.optim.SGD(net.parameters(), lr=0.1)
for i in range(int(sys.argv[1])):
    sgd.zero_grad()
    net(ac.randn(4, 8)).sum().backward()
    sgd.step()
print("done in", __name__)
if len(sys.argv) > 2:
    sys.exit(sys.argv[2] if sys.argv[2] == "oh" else int(sys.argv[2]))
"""


@pytest.fixture
def script(run):
    Path("train.py").write_text(SCRIPT, encoding="utf-8")
    return "train.py"


def test_a_script_is_run_and_what_took_the_time_is_printed(run, script):
    before = sys.argv[:], sys.path[:]
    out = run("profile", script, 4).output
    assert (sys.argv, sys.path) == before
    assert "done in __main__" in out
    assert re.search(r"^sgd +\S+ +1 ", out, re.MULTILINE)
    assert "3 steps of" in out
    assert "What would help most:" in out


def test_options_stand_before_the_script(run, script):
    out = run(
        "profile", "--by", "module", "--by", "operator", "--steps", 2, "--html",
        "a.html", "--trace", "a.json", "--roofline", "a.svg", script, 5,
    ).output  # fmt: skip
    assert "2 steps of" in out
    assert re.search(r"^Linear ", out, re.MULTILINE)
    assert re.search(r"^linear backward ", out, re.MULTILINE)
    assert "Profile of train.py" in Path("a.html").read_text(encoding="utf-8")
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["traceEvents"]
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<svg")
    for kind in ("html", "json", "svg"):
        assert f"Written: a.{kind}" in out


def test_the_scripts_exit_code_is_handed_on(run, script):
    assert "What would help" in run("profile", script, 2, 3, code=3).output
    assert "oh" in run("profile", script, 2, "oh", code=1).output
    run("profile", script, 2, 0)


def test_errors_of_a_script_are_its_own(run):
    Path("bad.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        run("profile", "bad.py")


def test_what_is_missing_is_said_before(run, script):
    assert "does not exist" in run("profile", "no.py", code=2).output
    out = run("profile", "--html", "no/a.html", script, 2, code=2).output
    assert "the folder no does not exist" in out
    assert "done" not in out


def test_peaks_are_measured_on_demand(run, script, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr("autocalc.profiler.measure_peaks", lambda: asked.append(1))
    run("profile", "--peaks", script, 2)
    run("profile", script, 2)
    assert asked == [1]
    assert callable(_peaks.measure_peaks)


@pytest.mark.parametrize("more", [[], ["--no-compile"]])
def test_a_training_tells_what_took_the_time(run, more):
    out = run("train", "digits", "--epochs", 1, "--profile", *more).output
    assert re.search(r"^linear", out, re.MULTILINE)
    assert re.search(r"\d+ steps of [\d.]+ ms", out)
    assert "test accuracy" in out
    told = run("train", "digits", "--epochs", 1, "--profile", "--json", "-q", *more)
    assert "test_accuracy" in json.loads(told.stdout)
    assert re.search(r"^linear", told.stderr, re.MULTILINE)


def test_a_training_writes_the_page(run):
    out = run("train", "digits", "--epochs", 1, "--profile", "p.html", "-q").output
    assert "Profile written to p.html" in out
    assert "Profile of a training" in Path("p.html").read_text(encoding="utf-8")


def test_a_page_has_a_pages_name(run):
    out = run("train", "digits", "--profile", "p.txt", code=1).output
    assert "is not the name of a page; give a name that ends with .html." in out
    out = run("train", "charlm", "--profile", "no/p.html", code=2).output
    assert "the folder no does not exist" in out


def test_a_training_on_text_tells_it_too(run):
    Path("t.txt").write_text("to be or not to be " * 60, encoding="utf-8")
    small = "--steps", 6, "--d-model", 16, "--layers", 1, "--heads", 2, "--seq-len", 16
    out = run("train", "charlm", "--text", "t.txt", *small, "--profile").output
    assert re.search(r"^adamw ", out, re.MULTILINE)
