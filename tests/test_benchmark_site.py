# SPDX-License-Identifier: MIT
"""The page of the benchmarks' history holds asv's figures and opens from a disk."""

import json
import re

import pytest
from benchmarks import site
from tests import browser

NAME = "bench_gemm.Gemm.track_gflops"
TIME = "bench_norms.LayerNorm.time_call"
ABSENT = "bench_conv.Conv.time_call"


@pytest.fixture
def published(tmp_path):
    """Return a folder as `asv publish` leaves it, as far as the page reads it."""
    kinds = {
        NAME: {
            "unit": "GFLOP/s",
            "params": [
                ["'simd-avx2'", "'reference'"],
                ["'64x64x64'"],
                ["'1'", "'all'"],
            ],
            "param_names": ["kernels", "operands", "threads"],
        },
        TIME: {"unit": "seconds", "params": [], "param_names": []},
        ABSENT: {"unit": "seconds", "params": [], "param_names": []},
    }
    index = {
        "project": "AutoCalc",
        "hash_length": 8,
        "revision_to_hash": {"7": "a" * 40, "9": "b" * 40},
        "revision_to_date": {"7": 1764000000000, "9": 1764086400000},
        "benchmarks": kinds,
        "machines": {"here": {"cpu": "a <CPU>", "num_cpu": "2", "ram": "8 GB"}},
    }
    (tmp_path / "index.json").write_text(json.dumps(index), encoding="utf-8")
    place = tmp_path / "graphs" / "branch-main" / "machine-here"
    place.mkdir(parents=True)
    figures = {
        NAME: [[7, [100.0, 200.0, 1.0, None]], [9, [110.0, 180.0, 1.0, None]]],
        TIME: [[9, 2.5e-5]],
        ABSENT: [[9, None]],
    }
    for name, data in figures.items():
        (place / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    summary = tmp_path / "graphs" / "summary"
    summary.mkdir()
    (summary / f"{NAME}.json").write_text("[[9, 5.0]]", encoding="utf-8")
    return tmp_path


def rows_of(page):
    return re.findall(r"<tr>(<td.*?)</tr>", page)


def test_each_row_has_its_last_figure_and_its_history(published):
    page = site.page(published)
    best, both, slow, time = rows_of(page)
    assert "<td>simd-avx2</td><td>64x64x64</td><td>1</td>" in best
    assert '<td class="number">110 GFLOP/s</td><td class="number">+10.0%</td>' in best
    assert best.count("<circle") == 2
    assert "<title>aaaaaaaa 2025-11-24: 100 GFLOP/s</title>" in best
    assert "<td>all</td>" in both
    assert "-10.0%" in both
    assert "<td>reference</td>" in slow
    assert '<td class="number">25 µs</td><td class="number"></td>' in time


def test_what_did_not_run_has_no_row_and_no_heading(published):
    page = site.page(published)
    assert "Conv" not in page
    assert 'id="conv"' not in page
    assert re.findall(r'<h2 id="(\w+)">', page) == ["gemm", "norms"]


def test_machines_are_named_and_escaped(published):
    assert "<li>here: a &lt;CPU&gt;, 2</li>" in site.page(published)


def test_two_machines_are_told_apart(published):
    other = published / "graphs" / "branch-main" / "machine-there"
    other.mkdir()
    (other / f"{TIME}.json").write_text("[[7, 1.0]]", encoding="utf-8")
    page = site.page(published)
    assert '<p class="note">branch-main, machine-here</p>' in page
    assert '<p class="note">branch-main, machine-there</p>' in page


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.0, "seconds", "2 s"),
        (3.21e-4, "seconds", "321 µs"),
        (5e-9, "seconds", "5 ns"),
        (1.5e7, "bytes", "15 MB"),
        (0.0, "bytes", "0 B"),
        (87.654321, "% of peak", "87.65 % of peak"),
    ],
)
def test_figures_are_shown_in_units_that_people_read(value, unit, text):
    assert site.shown(value, unit) == text


def test_without_figures_the_page_says_so(published):
    for path in (published / "graphs").rglob("*.json"):
        path.unlink()
    assert "Nothing was measured." in site.page(published)


def test_without_a_publication_it_says_what_to_do(tmp_path):
    with pytest.raises(
        SystemExit, match=r"there is no .*index\.json. Run `make bench`"
    ):
        site.main([str(tmp_path)])


def test_the_page_asks_for_nothing_else(published, capsys):
    site.main([str(published)])
    assert "history.html opens as it is" in capsys.readouterr().out
    page = (published / site.PAGE).read_text(encoding="utf-8")
    assert not re.search(r"<script|<link|src=|@import|url\(|href=\"(?!#)", page)


@pytest.mark.skipif(browser.find() is None, reason="there is no Chromium here")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_in_a_browser(published, tmp_path, width):
    site.main([str(published)])
    path = published / site.PAGE
    with browser.Page(tmp_path / "profile") as tab:
        tab.open(path, width)
        assert tab.requests == [path.resolve().as_uri()]
        assert tab.complaints == []
        assert tab.value("document.querySelectorAll('svg').length") == 4
        assert tab.value("document.documentElement.scrollWidth") <= width
