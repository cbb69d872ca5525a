# SPDX-License-Identifier: MIT
"""`pytest --pyargs autocalc.testing.conformance --kernels NAME` as a command."""

from __future__ import annotations

import os
import platform
import re

import pytest
from tests.kernel_table import TABLE

pytestmark = pytest.mark.core


def test_it_proves_a_set_and_prints_the_worst_errors(conformance):
    finished = conformance("reference", "", "-k", "exp-float32 or softmax-float64")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    asked = [name for name in TABLE if name.endswith(("exp", "softmax"))]
    assert f"reference: {len(asked)} of {len(TABLE)} kernels" in finished.stdout
    assert re.search(
        r"exp +float32 +\d+ calls +0\.50 ULP +25\.0% of 2 ULP", finished.stdout
    )
    assert re.search(r"log_softmax +float64 +\d+ calls +\d+\.\d% of", finished.stdout)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--kernels", "refrence"], "there is no kernel set or family 'refrence'.*Did"),
        (["--kernels", ""], "conformance: name the kernel set to test: --kernels"),
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


# ---- kernels that end or stop the process --------------------------------------------


posix = pytest.mark.skipif(os.name != "posix", reason="faults made by POSIX calls")
#: Set -> how the kit reports its fault.
FAULTS = {
    "hangs": r"neg \(float32\) on 'n=3' did not end within 1 s",
    "crashes": r"neg \(float32\) on 'n=3': the kernel touched memory that is not there",
    "aborts": r"neg \(float32\) on 'n=3': the kernel aborted its process \(SIGABRT\)",
}


@posix
@pytest.mark.parametrize("name", FAULTS)
def test_one_test_fails_where_a_kernel_crashes_or_hangs(install, conformance, name):
    options = ("-k", "neg-float32-values or neg-float32-aliasing")
    folder = install("bad_kernels")
    finished = conformance(name, folder, *options, "--sample-seconds", "1")
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert re.search(rf"E +AssertionError: {FAULTS[name]}", finished.stdout)
    assert "2 failed" in finished.stdout  # the run went on
    assert "autocalc_faulty_bad_kernels.py" in finished.stderr  # where it was


@posix
def test_in_one_process_a_kernel_that_hangs_is_named(install, conformance):
    options = ("-k", "neg-float32-values", "--sample-seconds", "1", "--one-process")
    finished = conformance("hangs", install("bad_kernels"), *options)
    assert finished.returncode < 0
    match = (
        r"conformance: neg \(float32\) on 'n=3' did not end within 1 s; the run is "
        r"stopped. Allow more with --sample-seconds"
    )
    assert re.search(match, finished.stderr), finished.stderr
    assert "autocalc_faulty_bad_kernels.py" in finished.stderr  # where it was


@posix
@pytest.mark.parametrize("name", ["crashes", "aborts"])
def test_in_one_process_a_kernel_that_crashes_is_named(install, conformance, name):
    options = ("-k", "neg-float32-values", "--one-process")
    finished = conformance(name, install("bad_kernels"), *options)
    assert finished.returncode < 0
    match = r"conformance: the process died while neg \(float32\) on 'n=3' ran."
    assert re.search(match, finished.stderr), finished.stderr


def test_a_run_that_ends_by_itself_is_quiet(conformance):
    finished = conformance("reference", "", "-k", "neg-float32-values")
    assert finished.returncode == 0
    assert "conformance:" not in finished.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="bits of MXCSR")
def test_a_library_that_changes_the_floating_point_state_is_named(install, conformance):
    options = ("-k", "loading_keeps or neg-float32-values")
    finished = conformance("fast-math", install("bad_kernels"), *options)
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert "loading fast-math changed the floating-point state" in finished.stdout
    assert "1 failed, 1 passed" in finished.stdout  # values are not judged by it
