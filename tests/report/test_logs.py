# SPDX-License-Identifier: MIT
"""Logs: what is written, what is read again."""

from __future__ import annotations

import csv
import json
import math

import pytest

from autocalc._report import find_log, make_log, read_run
from autocalc._report._numbers import number_of, short, shown, to_json
from autocalc.errors import ArgumentError, DataError


def fill(log, first=0, last=4):
    log.write({"kind": "run", "step": first, "config": {"lr": 0.1}})
    for step in range(first + 1, last + 1):
        log.write({"kind": "step", "step": step, "loss": 1 / step, "lr": 0.1})
    log.write({"kind": "evaluation", "step": last, "test_loss": 0.5})
    log.write({"kind": "result", "step": last, "seconds": 1.0})
    log.close()


def test_records_are_lines_of_json(tmp_path):
    fill(make_log(tmp_path / "log.jsonl", append=False))
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == [
        *("run", "step", "step", "step", "step", "evaluation", "result")
    ]
    run = read_run(tmp_path / "log.jsonl")
    assert run.curve("step", "loss") == [(i, 1 / i) for i in range(1, 5)]
    assert run.curve("evaluation", "test_loss") == [(4, 0.5)]
    assert run.result["seconds"] == 1.0


def test_a_log_can_be_read_while_it_is_written(tmp_path):
    log = make_log(tmp_path / "log.jsonl", append=False)
    log.write({"kind": "run", "step": 0})
    log.write({"kind": "evaluation", "step": 3, "test_loss": 1.0})
    assert len(read_run(tmp_path / "log.jsonl").evaluations) == 1
    log.close()


def test_a_table_has_a_row_for_each_step_and_evaluation(tmp_path):
    place = tmp_path / "log.csv"
    fill(make_log(place, append=False))
    fill(make_log(place, append=True), 4, 6)
    with place.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == (
        ["step"] * 4 + ["evaluation"] + ["step"] * 2 + ["evaluation"]
    )
    assert [row["step"] for row in rows[:2]] == ["1", "2"]
    assert float(rows[1]["loss"]) == 0.5
    assert rows[4]["test_loss"] == "0.5"
    assert rows[4]["lr"] == ""


def test_a_folder_has_records_and_events(tmp_path):
    place = tmp_path / "runs/a"
    place.parent.mkdir()
    fill(make_log(place, append=False))
    assert (place / "log.jsonl").exists()
    assert len(list(place.glob("events.out.tfevents.*"))) == 1
    assert read_run(place).log == place / "log.jsonl"
    fill(make_log(place, append=False))  # the events of before are gone
    assert len(list(place.glob("events.out.tfevents.*"))) == 1
    fill(make_log(place, append=True), 4, 6)
    assert len(list(place.glob("events.out.tfevents.*"))) == 2


def test_steps_that_were_trained_again_count_once(tmp_path):
    place = tmp_path / "log.jsonl"
    fill(make_log(place, append=False), 0, 6)
    log = make_log(place, append=True)
    log.write({"kind": "run", "step": 2})
    log.write({"kind": "step", "step": 3, "loss": 9.0})
    log.close()
    run = read_run(place)
    assert run.curve("step", "loss") == [(1, 1.0), (2, 0.5), (3, 9.0)]
    assert run.evaluations == []
    assert run.result == {}


def test_a_line_that_was_cut_is_counted(tmp_path):
    place = tmp_path / "log.jsonl"
    fill(make_log(place, append=False))
    with place.open("a") as file:
        file.write('[1]\n{"kind": "other"}\n{"kind": "st')
    run = read_run(place)
    assert run.damaged == 3
    assert len(run.steps) == 4


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", None, r"not exist\."),
        ("a.jsonl", "", "a.jsonl is not a log of a training run; give a file that"),
        ("a.csv", "kind,step\n", "is not a log of a training run; give a file that"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read_run(tmp_path / name)


def test_a_folder_without_anything_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no log\.jsonl; give the folder or"):
        read_run(tmp_path)
    (tmp_path / "profile.html").write_text("<p>")
    assert read_run(tmp_path).log is None


def test_the_kind_of_a_log_is_its_ending(tmp_path):
    with pytest.raises(ArgumentError, match=r"log\.txt ends with '\.txt'; a log is"):
        make_log(tmp_path / "log.txt", append=False)
    assert find_log(tmp_path / "a.jsonl") is None
    assert find_log(tmp_path) is None
    (tmp_path / "v1.2").mkdir()
    fill(make_log(tmp_path / "v1.2", append=False))
    assert find_log(tmp_path / "v1.2") == tmp_path / "v1.2/log.jsonl"


def test_numbers_that_json_does_not_know():
    written = to_json({"a": [math.nan, math.inf, (-math.inf, 1.5)], "b": True})
    assert written == {"a": ["NaN", "Infinity", ["-Infinity", 1.5]], "b": True}
    json.loads(json.dumps(written, allow_nan=False))
    assert math.isnan(number_of("NaN"))
    assert number_of("-Infinity") == -math.inf
    assert number_of(True) is None
    assert number_of("12") is None
    assert number_of(3) == 3.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.1235"), (1234567, "1,234,567"), (1234.5, "1,234"),
        (1e-5, "1e-05"), (1e12, "1e+12"), (float("nan"), "nan"), (0.0, "0"),
    ],
)  # fmt: skip
def test_numbers_as_people_read_them(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.05, "0.05"), (2000, "2,000"), (20000, "20k"), (-7.5e6, "-7.5M"),
        (2e9, "2e+09"), (1.5e4, "15k"), (0.0, "0"),
    ],
)  # fmt: skip
def test_numbers_on_an_axis_are_short(value, text):
    assert short(value) == text
