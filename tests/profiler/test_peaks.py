# SPDX-License-Identifier: MIT
"""The machine's peaks: measured when asked for, announced, kept, and read again."""

from __future__ import annotations

import json
import logging

import pytest

import autocalc as ac
from autocalc.profiler import _peaks


@pytest.fixture
def quick(monkeypatch):
    """Measure for a moment, and little."""
    monkeypatch.setattr(_peaks, "PRODUCTS", (64,))
    monkeypatch.setattr(_peaks, "SIZES", (2**14, 2**16))
    monkeypatch.setattr(_peaks, "SECONDS", 0.001)


def test_they_are_measured_announced_kept_and_found(cache, quick, capsys):
    assert ac.profiler.peaks() is None
    found = ac.profiler.measure_peaks()
    said = capsys.readouterr().err
    assert f"Measuring the peaks of this machine on {found.threads} thread" in said
    assert f"Kept in {cache}" in said
    assert found.flops["float32"] > 0
    assert found.flops["float64"] > 0
    assert all(rate > 0 for _, rate in found.bandwidth)
    _peaks.forget()
    assert ac.profiler.peaks() == found


@pytest.mark.parametrize("times", [2.0, 1.0, 0.9])
def test_bfloat16_has_a_roof_of_its_own_where_it_is_faster(cache, monkeypatch, times):
    rates = {"float32": 1e11, "float64": 5e10, "bfloat16": times * 1e11}
    monkeypatch.setattr(_peaks, "_best_product", rates.__getitem__)
    monkeypatch.setattr(_peaks, "SIZES", (2**14,))
    monkeypatch.setattr(_peaks, "SECONDS", 0.001)
    found = ac.profiler.measure_peaks(quiet=True)
    assert found.flops_of("bfloat16") == max(times, 1.0) * 1e11
    assert found.flops_of("float16") == 1e11
    assert ("GFLOP/s bfloat16" in str(found)) == (times > 1)


def test_quiet_says_nothing(cache, quick, capsys):
    ac.profiler.measure_peaks(quiet=True)
    assert capsys.readouterr().err == ""


def test_they_hold_for_a_number_of_threads(cache, quick):
    with ac.serial():
        ac.profiler.measure_peaks(quiet=True)
        assert ac.profiler.peaks().threads == 1
    threads = ac.get_num_threads()
    assert (ac.profiler.peaks() is None) == (threads != 1)


def test_where_nothing_can_be_written_they_hold_for_the_process(cache, quick, capsys):
    cache.write_text("a file is in the place of the folder", encoding="utf-8")
    found = ac.profiler.measure_peaks()
    assert "hold for this process alone" in capsys.readouterr().err
    assert ac.profiler.peaks() == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read"),
        ('{"format": 1}', "not of format 2"),
        ('{"format": 2, "cpu": "x"}', "an entry is wrong"),
    ],
)
def test_files_that_cannot_be_used_are_named(cache, text, why, caplog):
    path = _peaks.path_of_peaks(ac.get_num_threads())
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with caplog.at_level(logging.WARNING, "autocalc.profiler"):
        assert ac.profiler.peaks() is None
    assert why in caplog.text


def test_peaks_of_other_packages_do_not_count(cache, quick):
    found = ac.profiler.measure_peaks(quiet=True)
    path = _peaks.path_of_peaks(found.threads)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["packages"]["another"] = "another 1.0"
    path.write_text(json.dumps(content), encoding="utf-8")
    _peaks.forget()
    assert ac.profiler.peaks() is None


def test_the_roof(known):
    # 1 MB at 10 GB/s takes 100 us, 1e6 operations at 100 GFLOP/s take 10.
    assert known.seconds(1e6, 1e6, "float32") == pytest.approx(1e-4)
    assert known.is_memory_bound(1e6, 1e6, "float32")
    assert known.seconds(1e8, 1e6, "float32") == pytest.approx(1e-3)
    assert not known.is_memory_bound(1e8, 1e6, "float32")
    assert known.seconds(1e8, 1e6, "float64") == pytest.approx(2e-3)
    # Within caches memory is faster, and beyond the largest size as fast as there.
    assert known.bandwidth_of(0) == known.bandwidth_of(9e5) == 4e10
    assert known.bandwidth_of(1e12) == 1e10
    assert known.seconds(0, 0, "float32") == 0
