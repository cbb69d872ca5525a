# SPDX-License-Identifier: MIT
"""`pytest --pyargs autocalc.testing.conformance --kernels NAME` as a command."""

from __future__ import annotations

import re

import pytest

from autocalc._kernels.table import TABLE

pytestmark = pytest.mark.core


def test_it_proves_a_set_and_prints_the_worst_errors(conformance):
    finished = conformance("reference", "", "-k", "exp-float32 or softmax-float64")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert f"reference: 4 of {len(TABLE)} kernels" in finished.stdout
    assert re.search(
        r"exp +float32 +\d+ calls +0\.50 ULP +25\.0% of 2 ULP", finished.stdout
    )
    assert re.search(r"log_softmax +float64 +\d+ calls +\d+\.\d% of", finished.stdout)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--kernels", "refrence"], "there is no kernel set or family 'refrence'.*Did"),
        (["--kernels", ""], "name the kernel set to prove: --kernels NAME, one of"),
    ],
)
def test_it_needs_a_set_that_exists(conformance, options, match):
    finished = conformance("reference", "", *options)
    assert finished.returncode == 4, finished.stdout
    assert re.search(match, finished.stdout + finished.stderr, re.DOTALL)


def test_a_run_without_a_call_fails(conformance):
    finished = conformance("reference", "", "-k", "names_are_in_the_table")
    assert finished.returncode == 1
    assert "not one call of reference was made" in finished.stdout
