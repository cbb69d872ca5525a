# SPDX-License-Identifier: MIT
"""The page of a training: what it has, that it is safe, that a browser shows it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from tests import browser

from autocalc._report import make_log, read_run, write_page

VOID = {"meta", "link", "br", "img"}


class Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def health_of(step):
    """Return a record as `ac.diagnostics.watch` logs it."""
    line = {"file": "train.py", "number": 12, "function": "main"}
    flag = {"kind": "vanishing", "layer": "a.weight", "value": 1e-9, "advice": "Scale.",
            "line": line}  # fmt: skip
    rows = [
        {"name": f"{name}.weight", "shape": [2, 3], "norm": 0.1 * step, "nonfinite": 0}
        for name in "ab"
    ]
    activations = [{"layer": "a", "line": line, "calls": step, "mean": 1.0 / step}]
    flags = [flag] if step > 1 else []
    gradients = {"rows": rows, "flags": flags}
    return {"step": step, "activations": activations, "gradients": gradients,
            "flags": flags}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a training that was logged, with all its files."""
    place = tmp_path / "run"
    log = make_log(place, append=False)
    log.write(
        {
            "kind": "run", "step": 0, "model": "mlp", "data": "digits",
            "parameters": 9610, "command": "autocalc train digits", "begun": "today",
            "config": {"lr": 0.1, "augment": False}, "machine": {"cpu": "Zen <5>"},
        }
    )  # fmt: skip
    for step in range(1, 101):
        loss = 2.0 / step + 0.1 * (step % 3)
        log.write({"kind": "step", "step": step, "loss": loss, "lr": 0.1 / step})
        if step % 25 == 0:
            log.write(
                {
                    "kind": "evaluation", "step": step, "test_loss": loss,
                    "test_accuracy": 0.9, "samples_per_second": 1e4,
                }
            )  # fmt: skip
    calls = [{"kernel": "gemm", "set": "simd-avx2", "calls": 3}]
    log.write({"kind": "result", "step": 100, "test_accuracy": 0.9735, "seconds": 12.5,
               "stopped": "complete", "kernels": calls})  # fmt: skip
    log.close()
    lines = [json.dumps(health_of(step)) for step in (1, 2, 3)]
    (place / "gradient_health.jsonl").write_text("\n".join(lines))
    layers = {"0": {"mean": 0.5, "zero": 0.1}, "1": {"mean": 0.2, "zero": 1.0}}
    (place / "activations.jsonl").write_text(json.dumps({"step": 5, "layers": layers}))
    (place / "profile.html").write_text(
        '<!DOCTYPE html><title>p</title><p id="inner">a "profile"</p>'
    )
    (place / "roofline.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="500"></svg>'
    )
    return place


def made(folder):
    page = folder / "report.html"
    write_page(read_run(folder), page)
    text = page.read_text(encoding="utf-8")
    balance = Balance()
    balance.feed(text)
    assert balance.open == []
    return text


def test_the_page_tells_of_the_whole_training(folder):
    text = made(folder)
    headings = re.findall(r"<h2>(.*?)</h2>", text)
    assert headings == [
        *("Curves", "Activations", "Gradient health", "Roofline", "Profile"),
        *("Kernels used", "Settings", "Machine"),
    ]
    assert "<h1>mlp on digits</h1>" in text
    assert "<dt>test accuracy</dt><dd>97.35%</dd>" in text
    assert "<dt>ended</dt><dd>complete</dd>" in text
    pictures = re.findall(r'<svg viewBox="[^"]*" role="img" aria-label="(.*?)">', text)
    assert pictures == [
        *("Loss", "Accuracy", "Learning rate", "Speed"),
        *("mean", "zero", "mean", "norm"),
    ]
    assert "<td>gemm</td><td>simd-avx2</td>" in text
    assert "Zen &lt;5&gt;" in text
    assert "<h3>Gradients</h3>" in text
    assert (
        "<b>vanishing: a.weight</b> in 2 steps, first in 2, last with 1e-09. Scale. "
        "(train.py:12)" in text
    )


def test_the_page_refers_to_nothing_outside(folder):
    text = made(folder)
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert "url(" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_what_a_log_holds_is_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    log = make_log(tmp_path / "log.jsonl", append=False)
    log.write({"kind": "run", "step": 0, "model": evil, "data": evil, "command": evil,
               "config": {evil: evil}, "machine": {"cpu": [evil]}})  # fmt: skip
    log.write({"kind": "step", "step": 1, "loss": 1.0})
    log.write({"kind": "result", "step": 1, "stopped": evil,
               "kernels": [{"kernel": evil, "set": evil, "calls": evil}]})  # fmt: skip
    log.close()
    (tmp_path / "gradient_health.jsonl").write_text(
        json.dumps({"step": 1, "name": evil, evil: 1.0, "flags": [evil]})
    )
    assert "<script" not in made(tmp_path)


def test_a_training_that_runs_has_a_page(tmp_path):
    log = make_log(tmp_path / "log.jsonl", append=False)
    log.write({"kind": "run", "step": 0, "config": {}})
    log.write({"kind": "step", "step": 1, "loss": float("nan")})
    log.close()
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"kind": ')
    text = made(tmp_path)
    assert "The log has no result: the training still runs, or it was killed." in text
    assert "1 lines of the log are no records" in text
    assert "each step: 1 of 1 values are not finite; the first is nan at 1." in text


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("profile.json", '{"seconds": 1.5, "kernels": [{"kernel": "gemm"}]}', "gemm"),
        ("profile.json", '[{"kernel": "gemm"}]', "<caption>rows: 1 rows</caption>"),
        ("steps.jsonl", '{"rows": [{"name": "x", "norm": 1}]}', "<h2>Steps</h2>"),
        ("profile.json", '{"traceEvents": [1, 2]}', "a trace of 2 events"),
        ("profile.json", "{", "profile.json is damaged"),
        ("profile.json", "1", "profile.json holds no tables"),
        ("gradient_health.jsonl", "", "gradient_health.jsonl has no records"),
        ("activations.jsonl", '{"name": "a", "mean": 1}', "Step 0, 1 rows"),
    ],
)
def test_files_beside_the_log_of_other_forms(tmp_path, name, content, expected):
    (tmp_path / name).write_text(content)
    assert expected in made(tmp_path)


def test_other_files_belong_to_a_folder_alone(folder):
    page = folder / "log.html"
    write_page(read_run(folder / "log.jsonl"), page)
    text = page.read_text(encoding="utf-8")
    assert "<h2>Kernels used</h2>" in text
    assert "Gradient health" not in text


@pytest.mark.skipif(browser.find() is None, reason="there is no Chromium here")
def test_a_browser_shows_the_page(folder, tmp_path):
    made(folder)
    page = folder / "report.html"
    with browser.Page(tmp_path / "profile") as tab:
        for width in (1280, 390):
            tab.open(page, width)
            assert tab.complaints == []
            outside = [u for u in tab.requests if not u.startswith(("file:", "data:"))]
            assert [u for u in outside if u != "about:srcdoc"] == []
            assert tab.value("document.title") == "mlp on digits"
            assert tab.value("document.querySelectorAll('svg .curve').length") >= 8
            assert tab.value("document.querySelector('iframe').srcdoc.length") > 40
            # Nothing is cut off: the page is as wide as the window, pictures within.
            assert tab.value("document.documentElement.scrollWidth") <= width
            assert tab.value("document.querySelector('img').naturalWidth") == 900
            sizes = tab.value(
                "[...document.querySelectorAll('svg, img')].map(e => {"
                "const r = e.getBoundingClientRect();"
                "return [r.left, r.right, r.height]})"
            )
            for left, right, height in sizes:
                assert 0 <= left < right <= width
                assert right - left >= 300
                assert height > 150
