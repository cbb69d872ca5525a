# SPDX-License-Identifier: MIT
"""``autocalc report``."""

from __future__ import annotations

from pathlib import Path

DIGITS = ("train", "digits", "--epochs", 1, "--log")


def test_the_page_of_a_folder_and_of_a_file(run):
    run(*DIGITS, "folder")
    assert run("report", "folder").output == "The page is folder/report.html\n"
    text = Path("folder/report.html").read_text(encoding="utf-8")
    assert "<h1>mlp on digits</h1>" in text
    assert text.count("<svg ") == 4
    assert "autocalc train digits --epochs 1 --log folder" in text
    run("report", "folder/log.jsonl")
    assert Path("folder/log.html").exists()
    run("report", "folder", "--output", "page.html")
    assert Path("page.html").read_text(encoding="utf-8") == text


def test_what_is_no_log_is_refused(run):
    assert "gone does not exist" in run("report", "gone", code=1).output
    Path("empty").mkdir()
    assert "empty has no log.jsonl" in run("report", "empty", code=1).output
    run(*DIGITS, "log.jsonl")
    out = run("report", "log.jsonl", "-o", "log.jsonl", code=2).output
    assert "log.jsonl is the log; give another name for the page." in out
    out = run("report", "log.jsonl", "-o", "no/page.html", code=2).output
    assert "the folder no does not exist" in out
