# SPDX-License-Identifier: MIT
"""How kernels divide into phases: sums, shares, and where they are shown."""

from __future__ import annotations

import json
import re
import types
from collections import Counter
from time import perf_counter_ns

import numpy as np
import pytest
from tests.dispatcher import discovery
from tests.profiler.made_up import ADD, GEMM, ran

import autocalc as ac
from autocalc.plugin import KernelSet, PoolTimes, hookimpl
from autocalc.profiler._account import Account
from autocalc.profiler._rows import rows_of


def rows(account, by="kernel"):
    return {row.name: row for row in rows_of(account, by, None)}


class Clock:
    """A clock of phases that counts its calls."""

    def __init__(self):
        self.on = False
        self.told = Counter()

    def measure(self, on):
        self.on = on

    def now(self):
        return perf_counter_ns(), self.told.copy()

    def between(self, begin, end):
        return PoolTimes(begin[0], end[0], 0, 0, dict(end[1] - begin[1]))


# ---- sums ----------------------------------------------------------------------------


def test_shares_are_of_what_all_threads_worked():
    phases = {"pack": 5, "compute": 20}
    events = [
        ran(10, 30, GEMM, helped=20, phases=phases),  # two threads, 20 each
        ran(30, 40, GEMM, phases={"compute": 10}),
        ran(40, 50, ADD),
    ]
    found = rows(Account(events, 0, 50, 0))
    assert found["gemm"].phases == {"pack": 5 / 50, "compute": 30 / 50}
    assert list(found["gemm"].phases) == ["pack", "compute"]
    assert found["add"].phases == {}


def test_calls_that_tell_no_phases_do_not_count():
    events = [ran(0, 10, GEMM, phases={"compute": 5}), ran(10, 90, GEMM)]
    found = rows(Account(events, 0, 90, 0))
    assert found["gemm"].phases == {"compute": 0.5}


def test_more_than_the_threads_worked_is_a_whole():
    """Another thread of the program may have called kernels meanwhile."""
    events = [ran(0, 10, GEMM, phases={"pack": 10, "compute": 30})]
    found = rows(Account(events, 0, 10, 0))
    assert found["gemm"].phases == {"pack": 0.25, "compute": 0.75}


def test_steps_that_do_not_count_have_no_phases():
    events = [
        ran(0, 10, GEMM, phases={"pack": 10}),
        (20, True),
        ran(20, 30, GEMM, phases={"compute": 10}),
        (30, True),
    ]
    assert rows(Account(events, 0, 30, 1))["gemm"].phases == {"compute": 1.0}


def test_a_kernel_that_calls_others_has_what_is_left_of_its_phases():
    events = [
        ran(12, 20, ADD, helped=3, phases={"pack": 2, "compute": 6}),
        ran(10, 40, GEMM, helped=13, phases={"pack": 2, "compute": 26}),
    ]
    found = rows(Account(events, 0, 40, 0))
    assert found["add"].phases == {"pack": 2 / 11, "compute": 6 / 11}
    assert found["gemm"].phases == {"compute": 20 / 32}


# ---- the clocks of kernel sets -------------------------------------------------------


class Package:
    """An installed kernel package of one set."""

    name, value, dist = "mine", "mine_plugin", None

    def __init__(self, kernel_set):
        self.kernel_set = kernel_set

    def load(self):
        module = types.ModuleType(self.value)

        @hookimpl
        def autocalc_kernel_sets():
            return [self.kernel_set]

        module.autocalc_kernel_sets = autocalc_kernel_sets
        return module


@pytest.fixture
def clock(monkeypatch):
    """Install a set with a clock, whose product has two phases, and a sum none."""
    clock = Clock()

    def gemm(out, pre, a, b, *rest):
        out[...] = np.matmul(a, b)
        if clock.on:
            clock.told.update(first=1, second=3)

    def load():
        return {"gemm": gemm, "add": lambda out, a, b: np.add(a, b, out)}

    made = KernelSet("mine", "mine", load, rank=999, pool_clock=lambda: clock)
    packages = [*discovery._entry_points(), Package(made)]
    monkeypatch.setattr(discovery, "_entry_points", lambda: packages)
    ac.kernels.reload()
    yield clock
    monkeypatch.undo()
    ac.kernels.reload()


def test_a_set_from_elsewhere_tells_its_own_phases(clock):
    a = ac.ones(3, 3)
    with ac.profiler.profile(warmup=0) as prof:
        assert clock.on
        y = a @ a + a
    assert not clock.on
    assert y.sum().item() == 36
    found = {row.name: row for row in prof.table().rows}
    phases = found["gemm"].phases
    assert phases["second"] == pytest.approx(3 * phases["first"])
    assert 0 < sum(phases.values()) < 1
    assert found["add"].phases == {}


def test_profiles_do_not_mix(clock):
    a = ac.ones(3, 3)
    with ac.profiler.profile(warmup=0) as first:
        a @ a
    a @ a
    with ac.profiler.profile(warmup=0) as second:
        a + a
    assert any(row.phases for row in first.table().rows)
    assert not any(row.phases for row in second.table().rows)


# ---- where they are shown ------------------------------------------------------------


@pytest.fixture
def prof(clock):
    a = ac.ones(3, 3)
    with ac.profiler.profile(warmup=0) as prof:
        a @ a + a
    return prof


def test_below_the_table_of_kernels(prof):
    text = str(prof.table())
    assert "Phases, in shares of the time that threads worked" in text
    assert re.search(r"^gemm +first (\d+|<1)%, second (\d+|<1)%$", text, re.MULTILINE)
    assert "Phases" not in str(prof.table("operator"))
    assert "Phases" not in str(prof.table("module"))


def test_in_the_page(prof, tmp_path):
    prof.html(tmp_path / "profile.html")
    page = (tmp_path / "profile.html").read_text(encoding="utf-8")
    assert page.count('<div class="phases">') == 1
    assert re.search(r"gemm: first (\d+|&lt;1)%, second (\d+|&lt;1)%", page)
    assert len(re.findall(r'title="(?:first|second) [\d.]+%" style="width', page)) == 2


def test_in_the_trace(prof, tmp_path):
    prof.chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    told = [e for e in events if "phases" in e.get("args", {})]
    assert [e["name"] for e in told] == ["gemm"]
    assert told[0]["args"]["phases"] == {"first": 0.001, "second": 0.003}


# ---- the kernels of the SIMD package -------------------------------------------------


@pytest.fixture
def simd():
    pytest.importorskip("tests.simd.sets")
    pytest.importorskip("tests.engine")  # which keeps the clock
    with ac.kernels.count() as calls:
        ac.ones(2, 2) @ ac.ones(2, 2)
    if not any(name.startswith("simd") for _, name in calls):
        pytest.skip("another kernel set runs products")


@pytest.mark.parametrize("way", ["step", "compiled"])
def test_a_training_tells_its_phases(simd, make_training, way):
    training = make_training(size=64, batch=64)
    step = getattr(training, way)
    for _ in range(3):
        step()
    with ac.profiler.profile() as prof:
        for _ in range(4):
            step()
    found = {row.name: row for row in prof.table(limit=None).rows}
    backward = found["linear_backward"].phases
    assert backward["compute"] > 0
    assert all(sum(row.phases.values()) <= 1.000001 for row in found.values())
    assert found["adamw"].phases == {}


def test_after_a_profile_nothing_is_measured(simd):
    from tests.engine import native

    a = ac.ones(100, 100)
    with ac.profiler.profile():
        a @ a
    begin = native.read_clock()
    a @ a
    assert native.clock_between(begin, native.read_clock())[2:] == (0, 0, {})
