# SPDX-License-Identifier: MIT
"""``autocalc kernels`` and ``autocalc explain``."""

from __future__ import annotations

import json
import re

import pytest
from tests.dispatcher import Refusal
from tests.kernel_table import TABLE

import autocalc as ac
from autocalc.cli import _kernels as command
from autocalc.cli._chosen import chosen, ordinary_sample


def test_everything_is_shown(run):
    out = run("kernels").output
    for heading in ("Machine", "Kernel sets, best first", "Chosen for", "Environment"):
        assert f"\n{heading}" in out
    report = ac.kernels.show()
    assert report.cpu in out
    assert f"{report.threads} thread" in out
    for line in report.sets:
        assert line.name in out
        assert line.package in out
        assert f"{line.kernels} kernels" in out
    for name in ("AUTOCALC_KERNELS", "AUTOCALC_CPU_FEATURES", "AUTOCALC_DATA_DIR"):
        assert name in out
    assert "Refused" in out if report.refusals else "Refused" not in out


def test_the_environment_shows_what_is_set(program):
    import os

    env = {**os.environ, "AUTOCALC_KERNELS": "reference", "AUTOCALC_NUM_THREADS": "1"}
    process = program("kernels", env=env)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    words = " ".join(out.split())
    assert "AUTOCALC_KERNELS reference kernel sets or families to prefer" in words
    assert ", 1 thread\n" in out
    assert "chosen as 'reference'" in out


def test_json_holds_the_same(run):
    report = json.loads(run("kernels", "--json").output)
    assert set(report["chosen"]) == set(TABLE)
    assert report["sets"][-1]["name"] == "reference"
    assert report["threads"] == ac.get_num_threads()


def test_refusals_have_reasons_and_tracebacks(run, monkeypatch):
    from dataclasses import replace

    refusal = Refusal("broken", "it raised ValueError: no", "acme 1.0", "Traceback (x)")
    report = replace(ac.kernels.show(), refusals=(refusal,))
    monkeypatch.setattr(command.kernels, "show", lambda: report)
    out = run("kernels").output
    assert "Refused" in out
    assert "broken  it raised ValueError: no  acme 1.0" in out
    assert "Traceback (x)" not in out
    assert "broken:\nTraceback (x)" in run("kernels", "-v").output


def test_choices_follow_the_order():
    with ac.kernels.use("reference"):
        assert set(chosen().values()) == {"reference"}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_samples_are_of_a_usual_size(name):
    sample = ordinary_sample(TABLE[name])
    assert not sample.label.startswith("large")


def test_explain_names_candidates(run):
    out = run("explain", "gemm", "25x78", "78x10").output
    assert out.startswith("gemm(float32")
    assert "reference (rank 0" in out
    assert "to change:" in out


def test_explain_takes_dtypes_scalars_and_nothing(run):
    out = run("explain", "cross_entropy", "4x10", "4:int64", "-").output
    assert out.startswith("cross_entropy(float32")
    assert run("explain", "mul", "5:float64", "scalar:float64").output.startswith(
        "mul(f"
    )
    for name in ("sgd", "uniform", "dropout", "exp"):
        assert run("explain", name).output.startswith(f"{name}(")


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["gem"], "there is no kernel 'gem'. Did you mean gemm?", 2),
        (["qqq"], "there is no kernel 'qqq'. `autocalc kernels` lists", 2),
        (["exp", "5y"], "is not an operand; write a shape such as 256x784 or", 2),
        (["exp", "5:float7"], "dtype float7 is not supported", 2),
        (["exp", "5", "5"], "exp needs 1 operands, but 2 were given", 2),
        (["gemm", "3x4", "5x6"], "shapes (3, 4) and (5, 6) do not match", 1),
    ],
)
def test_wrong_questions(run, words, message, code):
    assert message in run("explain", *words, code=code).output


# ---- one kernel's spec ---------------------------------------------------------------


def test_a_spec_has_what_an_author_needs(run):
    out = run("kernels", "--spec", "gelu").output
    facts = dict(re.findall(r"^(\S.*?)  +(\S.*)$", out, re.MULTILINE))
    spec = TABLE["gelu"]
    assert facts["signature"] == spec.signature
    assert facts["formula"] == spec.doc
    assert facts["budget"] == spec.budget.text
    assert facts["outputs"] == "any strides, which the kernel must follow"
    assert "74 samples in float32: label, shapes, attributes" in out
    assert re.search(r"^  n=65, tanh +65 +approximate='tanh'$", out, re.MULTILINE)


def test_every_spec_prints(run):
    for name, spec in TABLE.items():
        facts = json.loads(run("kernels", "--spec", name, "--json").output)
        assert facts["signature"] == spec.signature
        assert facts["samples"]


def test_a_misspelt_kernel_is_refused(run):
    match = r"there is no kernel 'gelo' in the table of \d+ kernels. Did you mean 'gelu"
    assert re.search(match, run("kernels", "--spec", "gelo", code=2).output)
