# SPDX-License-Identifier: MIT
"""The tool that runs PyTorch's own tests: its lists, and its table."""

from __future__ import annotations

import json

import pytest
from tools.pytorch_tests import table

LISTS = {
    name: table.read(table.HERE / f"{name}.txt") for name in ("exclusions", "failures")
}


def write(file, *lines):
    file.parent.mkdir(parents=True, exist_ok=True)
    text = [json.dumps({"test": t, "outcome": o, "why": w}) for t, o, w in lines]
    file.write_text("\n".join(text) + "\n", encoding="utf-8")


@pytest.fixture
def rows(tmp_path):
    """Return the rows of five tests, of which one fails under PyTorch."""
    names = [
        f"f.py::T::test_{x}" for x in ("a_complex64", "b", "c_complex64", "d", "e")
    ]
    a, b, c, d, e = names
    theirs = [(name, "passed", "") for name in names[:4]]
    write(tmp_path / "pytorch/f.jsonl", *theirs, (e, "failed", "E: x"))
    ours = [(a, "started", ""), (a, "passed", ""), (b, "failed", "E: 0x12 at 34")]
    write(
        tmp_path / "autocalc/f.jsonl", *ours, (c, "failed", "E: y"), (d, "started", "")
    )
    assert e not in dict.fromkeys(x for x, *_ in ours)
    return list(table.rows(tmp_path, "f"))


def test_a_row_is_a_test_that_passes_under_pytorch(rows):
    assert [row.outcome for row in rows] == ["passed", "failed", "failed", "failed"]
    assert [row.excluded for row in rows] == ["", "", "complex dtypes", ""]
    assert rows[3].why == "it ended the process"


def test_the_table_counts(rows, capsys):
    assert table.show(rows, every=False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["4", "pass", "under", "PyTorch"]
    assert lines[1].strip() == "1 are excluded (25.0%):"
    assert lines[3].strip() == "1 of the other 3 pass (33.3%)"
    assert any(line.split() == ["1", "E:", "#", "at", "#"] for line in lines)
    assert table.show(rows[:1], every=True) == 0


def test_a_test_that_fails_in_a_part_fails(tmp_path):
    test = "f.py::T::test_a"
    write(tmp_path / "f.jsonl", (test, "failed", "E: x"), (test, "passed", ""))
    assert table.outcomes(tmp_path / "f.jsonl")[test]["why"] == "E: x"


@pytest.mark.parametrize("name", LISTS)
def test_each_pattern_is_given_once(name):
    patterns = [pattern for group in LISTS[name].values() for pattern in group]
    assert patterns
    assert sorted(set(patterns)) == sorted(patterns)


def test_the_first_reason_counts():
    lists = {"one": ["*::test_a*"], "two": ["*::test_ab"]}
    assert table.reason(lists, "f.py::T::test_ab") == "one"
    assert table.reason(lists, "f.py::T::test_b") == ""
