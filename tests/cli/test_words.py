# SPDX-License-Identifier: MIT
"""Suggestions, and numbers that are possible."""

from __future__ import annotations

import pytest

from autocalc.cli._words import hint


def test_a_near_name_is_suggested():
    assert hint("trian", ["train", "tune"]) == " Did you mean 'train'?"
    assert hint("x", ["train", "tune"]) == ""


@pytest.mark.parametrize("words", [["tune"], ["bench", "kernels"]])
def test_misspelt_kernels_have_a_suggestion(run, words):
    out = run(*words, "gem", code=2).output
    assert "Did you mean 'gemm'? The timed kernels are: abs, " in out


@pytest.mark.parametrize(
    "words",
    [
        ["train", "digits", "--lr", "nan"],
        ["train", "digits", "--momentum", "nan"],
        ["train", "charlm", "--grad-clip", "inf"],
        ["train", "charlm", "--dropout", "nan"],
        ["train", "charlm", "--weight-decay", "nan"],
        ["tune", "--seconds", "nan"],
        ["bench", "kernels", "--seconds", "inf"],
        ["generate", "file", "--temperature", "nan"],
        ["generate", "file", "--top-p", "nan"],
    ],
)
def test_numbers_that_are_not_finite_exit_with_2(run, words):
    assert "is not a finite number" in run(*words, code=2).output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--heads", 3], "the features of a position are divided evenly among"),
        (["--heads", 128, "--positions", "rotary"], "give each head 1 features,"),
    ],
)
def test_sizes_that_do_not_fit_exit_with_2(run, words, message):
    assert message in run("train", "charlm", *words, code=2).output


def test_the_sizes_of_a_benchmark_must_fit_as_well(run):
    out = run("bench", "lm", "--heads", 3, code=2).output
    assert "heads, but --d-model 128 is not a multiple of" in out


@pytest.mark.parametrize("words", [["train", "digits"], ["generate", "file"]])
def test_seeds_fit_into_64_bits(run, words):
    out = run(*words, "--seed", 2**64, code=2).output
    assert f"Invalid value for '--seed': {2**64} does not fit into 64 bits." in out
    assert "is not a valid integer" in run(*words, "--seed", "x", code=2).output
