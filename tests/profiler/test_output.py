# SPDX-License-Identifier: MIT
"""Tables, advice, traces, pages and pictures."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from tests.kernel_table import Work
from tests.profiler.made_up import ran

import autocalc as ac
from autocalc import errors
from autocalc.profiler import Row
from autocalc.profiler._account import Account
from autocalc.profiler._advice import advice_of
from autocalc.profiler._recording import Kernel
from autocalc.profiler._roofline import svg_of
from autocalc.profiler._rows import rows_of


@pytest.fixture
def prof(training, known):
    with ac.profiler.profile() as prof:
        for _ in range(4):
            training.step()
            prof.step()
    return prof


# ---- tables and advice ---------------------------------------------------------------


def test_a_row_beside_the_roof(known):
    # 1 MB and 1e8 operations in 2 ms: at the roof 1 ms, by the arithmetic.
    kernel = Kernel("gemm", "simd", "", "float32", Work(1e8, 1e6))
    account = Account([ran(0, 2_000_000, kernel)], 0, 4_000_000, 0)
    row = next(r for r in rows_of(account, "kernel", known) if r.name == "gemm")
    assert row.gflops == pytest.approx(50)
    assert row.gbs == pytest.approx(0.5)
    assert row.intensity == pytest.approx(100)
    assert row.roof == pytest.approx(0.5)
    assert row.saved == pytest.approx(1e-3)
    assert row.bound == "compute"
    assert row.share == pytest.approx(0.5)
    without = next(r for r in rows_of(account, "kernel", None) if r.name == "gemm")
    assert (without.roof, without.saved, without.bound) == (None, None, "")


def test_advice_ranks_by_what_the_roof_would_save(known):
    rows = [
        Row("slow", "a", 1, 4e-3, 4e-3, roof=0.25, bound="memory", saved=3e-3),
        Row("good", "a", 1, 4e-3, 4e-3, roof=0.9, bound="compute", saved=4e-4),
        Row("tiny", "a", 1, 1e-5, 1e-5, roof=0.1, bound="memory", saved=9e-6),
        Row("(no kernel)", python=1.99e-3),
    ]
    found = advice_of(rows, 1, [], compiled=False)
    assert [one.name for one in found.savings] == ["slow", "Python", "good"]
    assert found.savings[0].share == pytest.approx(0.3)
    assert "4.000 ms of a step, at the roof 1.000" in str(found)
    assert "moves bytes at 25% of what this machine can" in found.savings[0].text
    assert "ac.compile" in found.savings[1].text
    replayed = advice_of(rows, 1, [], compiled=True)
    assert [one.name for one in replayed.savings] == ["slow", "good"]
    assert "nothing that would save" in str(advice_of([], 1, [], compiled=False))


def test_the_text_of_a_table(prof):
    text = str(prof.table("operator"))
    assert re.search(r"^operator +set +calls +total ms +self ms", text)
    assert re.search(r"^linear backward +\S+ +2 ", text, re.MULTILINE)
    assert re.search(r"3 steps of [\d.]+ ms .*; 1 before, to warm up", text)
    assert max(map(len, text.splitlines())) <= 150


def test_a_mean_that_few_slow_steps_make_is_named(known):
    prof = ac.profiler.profile()
    ends = [(time, True) for time in (0, 1_000_000, 2_000_000, 12_000_000)]
    prof._account = Account(ends, 0, 12_000_000, 1)
    assert "3 steps of 4.000 ms in the mean (median 1.000)" in str(prof.table())


def test_rows_beyond_the_limit_are_counted(prof):
    table = prof.table(limit=2)
    assert len(table.cells()) == 2
    assert f"{len(table.rows) - 2} more rows" in str(table)
    assert "more rows" not in str(prof.table(limit=None))


def test_without_peaks_the_table_says_how_to_get_them(training, cache):
    with ac.profiler.profile() as prof:
        training.step()
    assert "ac.profiler.measure_peaks()" in str(prof.table())
    assert "ac.profiler.measure_peaks()" in str(prof.advice())
    assert all(row.roof is None for row in prof.table().rows)


def test_a_table_in_a_notebook(prof):
    assert prof.table()._repr_html_().count("<tr>") == len(prof.table().cells()) + 1


# ---- files ---------------------------------------------------------------------------


def test_the_trace_is_one_that_perfetto_opens(prof, tmp_path):
    prof.chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    whole = [event for event in events if event["ph"] == "X"]
    assert {"step 2", "step 3", "step 4"} <= {event["name"] for event in whole}
    modules = {event["name"] for event in whole if event["cat"] == "module"}
    assert "Net.block.0" in modules
    kernels = [event for event in whole if "operands" in event["args"]]
    assert {"forward", "backward", "optimizer"} == {event["cat"] for event in kernels}
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in whole)
    outer = next(e for e in whole if e["name"] == "Net")
    inner = next(e for e in whole if e["name"] == "Net.out")
    assert outer["ts"] <= inner["ts"]
    assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


class Page(HTMLParser):
    """Collects tags, and what refers to something outside."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            refers = name in {"src", "href", "action", "srcset"}
            if refers and not value.startswith(("#", "data:")):
                self.outside.append(value)
        if tag not in {"meta", "link", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_has_everything_and_refers_to_nothing_outside(prof, tmp_path):
    prof.html(tmp_path / "profile.html", title="a < b")
    text = (tmp_path / "profile.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert not page.open
    assert not page.outside
    assert "url(" not in text
    assert "@import" not in text
    assert page.tags.count("table") == 3
    assert page.tags.count("svg") == 2
    assert "<title>a &lt; b</title>" in text
    assert "width=device-width" in text
    assert "Net.block.0" in text


def test_the_page_of_a_profile_in_which_nothing_ran(tmp_path, known):
    with ac.profiler.profile() as prof:
        pass
    prof.html(tmp_path / "empty.html")
    prof.chrome_trace(tmp_path / "empty.json")
    prof.roofline(tmp_path / "empty.svg")
    assert "Nothing that would save" in (tmp_path / "empty.html").read_text("utf-8")


@pytest.mark.parametrize("with_peaks", [True, False])
def test_the_roofline_as_svg(prof, known, tmp_path, with_peaks):
    rows = prof.table().rows
    picture = ET.fromstring(svg_of(rows, known if with_peaks else None))
    circles = picture.findall(".//{*}circle")
    assert len(circles) == sum(bool(row.gflops) for row in rows)
    roofs = [e for e in picture.iter() if e.get("class") == "roof"]
    assert len(roofs) == (4 if with_peaks else 0)
    for circle in circles:
        assert 0 <= float(circle.get("cx")) <= 720
        assert 0 <= float(circle.get("cy")) <= 420
    texts = [element.text for element in picture.iter() if element.text]
    first = next(row.name for row in rows if row.gflops)
    assert texts.count(first) == 1
    prof.roofline(tmp_path / "roof.svg")
    ET.parse(tmp_path / "roof.svg")


def test_no_name_stands_on_another_one():
    place = {"intensity": 2.0, "gflops": 50.0, "gbs": 25.0}
    rows = [Row(f"kernel {i}", self_time=1e-3, **place) for i in range(8)]
    picture = ET.fromstring(svg_of(rows, None))
    names = [e for e in picture.iter() if (e.text or "").startswith("kernel ")]
    places = {(e.get("x"), e.get("y")) for e in names if e.get("x")}
    assert len(places) == 6  # to the right and to the left, in three lines


def test_the_roofline_as_png(prof, tmp_path):
    pytest.importorskip("matplotlib")
    prof.roofline(tmp_path / "roof.png")
    assert (tmp_path / "roof.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(errors.PluginError, match=r"ends with '\.xyz'; it must end"):
        prof.roofline(tmp_path / "roof.xyz")


def test_a_picture_without_matplotlib_is_an_error_that_helps(prof, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(errors.PluginError, match=r"or write a \.svg file"):
        prof.roofline("roof.png")
