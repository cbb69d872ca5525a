# SPDX-License-Identifier: MIT
"""`benchmarks.operators`: every row is a call that runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from benchmarks.operators import cases
from benchmarks.operators.__main__ import Row, summary
from benchmarks.peers import ROOT

import autocalc as ac


@pytest.fixture(autouse=True)
def started():
    threads = ac.get_num_threads()
    cases.start("autocalc", 1)
    yield
    ac.set_num_threads(threads)


def test_every_row_is_a_call_that_autocalc_has():
    assert [n for n in cases.ROWS if cases.prepare("autocalc", f"16 {n}") is None] == []


def test_rows_with_a_gradient_walk_back_and_leave_none_behind():
    names = cases.operands(ac, 4)
    run = cases.with_walk(names, lambda: names["a"] @ names["b"])
    run()
    assert names["a"].requires_grad
    assert names["a"].grad is None


@pytest.mark.parametrize("name", ["argmax of all", "a > 0.5", "w += a", "add_"])
def test_rows_without_a_gradient_are_no_walks(name):
    assert cases.prepare("autocalc", f"16 {cases.WALK}{name}") is None


def test_the_summary_counts_what_is_slower():
    rows = [Row("exp", 1.0, 4.0, 4.0), Row("log", 2.0, 1.0, 0.25)]
    said = "2 rows, geometric mean 1.00, 1 slower (50.0%), least 0.25 (log)"
    assert summary(rows) == said


def test_an_unknown_row_is_an_error():
    command = [sys.executable, "-m", "benchmarks.operators", "fly"]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 2
    assert "no row matches ['fly']" in done.stderr
