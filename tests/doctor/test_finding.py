# SPDX-License-Identifier: MIT
"""Findings, their levels, and how they are all collected."""

from __future__ import annotations

import pytest
from tests.doctor.checks import EXIT_CODES, LEVELS, Finding, examine, numbers, worst

from autocalc.errors import ArgumentError


def test_the_worst_level_counts():
    assert worst([]) == "ok"
    found = [Finding(level, "x", "y") for level in LEVELS]
    assert [worst(found[: i + 1]) for i in range(4)] == list(LEVELS)
    assert list(EXIT_CODES.values()) == [0, 0, 3, 4]


def test_levels_are_these_four():
    with pytest.raises(ArgumentError, match="`level` is 'bad'; use ok, note, warning"):
        Finding("bad", "x", "y")


def test_a_check_that_fails_is_a_finding(machine, monkeypatch):
    def fails(_machine):
        yield Finding("ok", "x", "y")
        raise ZeroDivisionError("of course")

    def works(_machine):
        yield Finding("note", "z", "still here")

    monkeypatch.setattr(examine, "CHECKS", (fails, works))
    found = examine.examine(machine())
    assert [f.level for f in found] == ["warning", "note"]
    assert "test_finding.fails failed: ZeroDivisionError: of course" in found[0].text


def test_every_check_works_where_there_is_no_proc(machine):
    found = examine.examine(machine())
    assert not [f for f in found if "failed" in f.text]
    told = {f.subject: f.level for f in found if "does not" in f.text}
    subjects = {"SMT", "NUMA", "memory", "OpenMP", "BLAS"}
    assert told == dict.fromkeys(subjects, "note")


@pytest.mark.parametrize(
    ("text", "found"),
    [("", set()), ("0", {0}), ("0-2,7\n", {0, 1, 2, 7}), ("x", set())],
)
def test_lists_of_cpus(text, found):
    assert numbers(text) == found
