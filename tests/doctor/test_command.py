# SPDX-License-Identifier: MIT
"""``autocalc doctor``, for people, programs and shells."""

from __future__ import annotations

import json

import pytest
from tests.doctor.checks import Finding, examine

MODEL = """
import helpers
from autocalc import nn, randn

def make():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)), randn(32, 4)

def with_loss():
    model, x = make()
    return model, (x,), lambda y: (y ** 2).mean()

def dead():
    model, x = make()
    model[0].bias.data[:3] = -1e5
    return model, x

def wrong():
    return 3

def strange():
    return 3, 4

def no_loss():
    return (*make(), 3)

def fails():
    raise KeyError("gone")

number = 3
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "helpers.py").write_text("")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "notes.txt").write_text("make = 3\n")


@pytest.fixture
def findings(monkeypatch):
    def put(*levels):
        def check(_machine):
            for level in levels:
                remedy = "" if level == "ok" else f"Mend the {level}."
                yield Finding(level, f"a {level}", "what was found", remedy)

        monkeypatch.setattr(examine, "CHECKS", (check,))

    return put


@pytest.mark.parametrize(
    ("levels", "code", "summary"),
    [
        (["ok"], 0, "1 ok"),
        (["ok", "note", "note"], 0, "1 ok, 2 notes"),
        (["warning", "ok"], 3, "1 ok, 1 warning"),
        (["error", "warning", "warning"], 4, "2 warnings, 1 error"),
    ],
)
def test_exit_codes(run, findings, levels, code, summary):
    findings(*levels)
    out = run("doctor", code=code).output
    assert out.splitlines()[-1] == summary
    for level in levels:
        assert f"{level:8}a {level}: what was found." in out
        assert (f"          Mend the {level}." in out) is (level != "ok")


def test_json(run, findings):
    findings("ok", "warning")
    content = json.loads(run("doctor", "--json", code=3).output)
    assert content["level"] == "warning"
    assert content["findings"][1] == {
        "level": "warning",
        "subject": "a warning",
        "text": "what was found",
        "remedy": "Mend the warning.",
    }


def test_quiet(run, findings):
    findings("ok", "note")
    assert run("doctor", "--quiet").output == ""
    findings("ok", "warning")
    out = run("doctor", "-q", code=3).output
    assert out.startswith("warning a warning: what was found.\n")
    assert "a ok" not in out


def test_this_machine(program):
    process = program("doctor", "--json")
    out, err = process.communicate(timeout=100)
    assert process.returncode in {0, 3}, err
    content = json.loads(out)
    subjects = {f["subject"] for f in content["findings"]}
    assert {"CPU", "threads", "kernels", "products", "floating point"} <= subjects
    assert not [f for f in content["findings"] if "failed" in f["text"]]


@pytest.mark.parametrize("name", ["make", "with_loss"])
def test_a_sound_model(run, model, name):
    out = run("doctor", "--model", f"model.py:{name}").output
    assert "ok      gradients: all 4 parameters get one." in out


def test_a_model_with_dead_units(run, model):
    out = run("doctor", "--model", "model.py:dead", code=3).output
    assert "warning dead units: 3 of 32 units in 1 are 0 for all 32 samples" in out


@pytest.mark.parametrize("name", ["model.py", "none.py:make", ":make", "model.py:1"])
def test_a_text_that_names_no_factory_is_a_wrong_use(run, model, name):
    out = run("doctor", "--model", name, code=2).output
    told = f"Invalid value for --model: {name!r} is not a factory: write FILE:function"
    assert told in " ".join(out.split())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("notes.txt:make", "notes.txt is not a Python file"),
        ("model.py:none", "model.py has no function 'none'"),
        ("model.py:number", "model.py has no function 'number'"),
        ("model.py:wrong", "model.py:wrong returned a int. It must return (model,"),
        ("model.py:strange", "model.py:strange returned (int, int). It must"),
        ("model.py:no_loss", "returned a int as the loss. It must"),
        ("model.py:fails", "model.py:fails failed: KeyError: 'gone'"),
        ("broken.py:make", "broken.py cannot be imported: ZeroDivisionError"),
    ],
)
def test_what_is_no_factory(run, model, name, message):
    out = run("doctor", "--model", name, code=1).output
    assert message in " ".join(out.split())
