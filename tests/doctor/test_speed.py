# SPDX-License-Identifier: MIT
"""Products that are timed on each kernel set."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dispatcher import thread_budget
from tests.doctor.checks import speed as checks
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.plugin import KernelSet


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(checks, "N", 32)
    monkeypatch.setattr(checks, "SECONDS", 0.001)


@pytest.fixture
def two(install):
    def load():
        return {"gemm": adapt(TABLE["gemm"])}

    ranks = {"first": 900, "second": 800}
    install(pair=[KernelSet(n, family=n, load=load, rank=r) for n, r in ranks.items()])


def test_every_set_that_multiplies_is_timed(machine):
    found, *_ = checks.gemm(machine())
    assert "GFLOP/s of a 32x32x32 product on" in found.text
    assert "reference " in found.text
    assert "is chosen" in found.text


def test_a_number_is_what_the_clock_says(two, monkeypatch):
    now = iter(np.arange(1000) * 0.5)
    monkeypatch.setattr(checks, "perf_counter", lambda: next(now))
    a = np.ones((32, 32), np.float32)
    assert checks.speed("first", a, a) == pytest.approx(2 * 32**3 / 0.5 / 1e9)


@pytest.mark.parametrize(
    ("first", "level"), [(100.0, "ok"), (95.0, "ok"), (50.0, "note")]
)
def test_a_slower_choice_is_told(machine, two, monkeypatch, first, level):
    monkeypatch.setattr(checks, "get_num_threads", lambda: 1)
    speeds = {"first": first, "second": 100.0, "reference": 1.0}
    monkeypatch.setattr(checks, "speed", lambda name, a, b: speeds[name])
    found, half = checks.gemm(machine())
    assert found.level == level
    assert (half.level, half.subject) == ("ok", "products")
    assert half.text == (
        f"of bfloat16: {first:.0f} GFLOP/s by first, 1.00 times the rate of float32"
    )
    assert "first is chosen" in found.text
    assert ("second is 2.0 times as fast" in found.text) is (level == "note")
    assert ("autocalc tune" in found.remedy) is (level == "note")


@pytest.mark.parametrize(("together", "told"), [(40.0, True), (150.0, False)])
def test_threads_in_each_others_way_are_told(machine, two, monkeypatch, together, told):
    def speed(name, a, b):
        alone = ac.get_num_threads() == 1
        return together if name == "second" and not alone else 100.0

    monkeypatch.setattr(checks, "speed", speed)
    monkeypatch.setattr(checks, "get_num_threads", lambda: 2)
    monkeypatch.setattr(thread_budget, "usable_cores", lambda: 2)
    monkeypatch.setattr(thread_budget, "_budget", None)
    first, _, *others = checks.gemm(machine())
    assert "on 2 threads: " in first.text
    texts = [(f.level, f.text) for f in others]
    assert len(texts) == told
    if told:
        assert texts[0][0] == "note"
        assert "slower on 2 threads than on one: second 2.5 times." in texts[0][1]
