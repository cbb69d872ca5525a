# SPDX-License-Identifier: MIT
"""`pytest --kernels NAME` in a clone: what runs, on what, and what it reports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

ROOT = Path(__file__).parent.parent
NORMS, DISPATCH = "tests/core/test_nn_norm.py", "tests/core/test_dispatch.py"
PLAIN = "tests/core/test_nn_container.py"


def run(*options, code):
    command = sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options
    finished = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert finished.returncode == code, finished.stdout + finished.stderr
    return finished.stdout + finished.stderr


def test_the_set_is_preferred_and_its_kernels_are_reported():
    out = run("--kernels", "reference", NORMS, DISPATCH, code=0)
    assert re.search(r"\d+ passed, \d+ deselected", out)  # test_dispatch is left out
    assert re.search(r"reference: \d+ of its \d+ kernels ran\nran: ", out)
    ran, _, idle = out.partition("\nran: ")[2].partition("not called by these tests")
    assert "layer_norm" in ran.replace(",", " ").split()
    assert "lstm" in idle.replace(",", " ").split()


def test_workers_report_as_well():
    pytest.importorskip("xdist")
    out = run("--kernels", "reference", "-n", "1", NORMS, code=0)
    assert re.search(r"\nran: .*\blayer_norm\b", out, re.DOTALL)


def test_a_run_in_which_no_kernel_of_the_set_ran_fails():
    out = run("--kernels", "reference", "-k", "test_repr_of_a", PLAIN, code=1)
    assert re.search(r"reference: 0 of its \d+ kernels ran", out)
    assert "1 passed" in out


def test_an_unknown_set_is_an_error_of_usage():
    out = run("--kernels", "refrence", NORMS, code=4)
    assert re.search(r"there is no kernel set or family 'refrence'.*Did you mean", out)
