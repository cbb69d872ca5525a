# SPDX-License-Identifier: MIT
"""What the doctor says of cores against threads, and of memory."""

from __future__ import annotations

import math

import pytest
from tests.dispatcher import thread_budget
from tests.doctor.checks import limits as checks

GIB = 1 << 30


@pytest.fixture
def cpus(monkeypatch):
    """Return a function that sets how many CPUs there are, and are allowed."""

    def put(affine, there, usable=None):
        monkeypatch.setattr(checks, "affine_cores", lambda: affine)
        monkeypatch.setattr(checks.os, "cpu_count", lambda: there)
        monkeypatch.setattr(checks, "usable_cores", lambda: usable or affine)
        monkeypatch.setattr(thread_budget, "usable_cores", lambda: usable or affine)

    return put


@pytest.mark.parametrize(
    ("affine", "quota", "levels", "text"),
    [
        (8, "max", ["ok", "ok"], "all 8 CPUs may be used"),
        (2, "max", ["note", "ok"], "may run on 2 of 8 CPUs"),
        (8, "250000", ["ok", "note"], "2.5 cores' time on 8 CPUs; AutoCalc uses 2"),
        (8, "200000", ["ok", "note"], "2 cores' time on 8 CPUs"),
        (8, "1600000", ["ok", "ok"], "16 cores, no fewer than CPUs"),
    ],
)
def test_affinity_and_quota(machine, cpus, affine, quota, levels, text):
    cpus(affine, 8)
    found = list(checks.cores(machine({"sys/fs/cgroup/cpu.max": f"{quota} 100000"})))
    assert [f.level for f in found] == levels
    assert any(text in f.text for f in found)
    assert all(bool(f.remedy) is (f.level != "ok") for f in found)


def test_the_quota_of_the_processs_own_group_counts(machine, cpus):
    cpus(8, 8)
    files = {
        "proc/self/cgroup": "0::/job\n",
        "sys/fs/cgroup/job/cpu.max": "300000 100000",
    }
    assert "3 cores' time" in list(checks.cores(machine(files)))[1].text


@pytest.mark.parametrize(
    ("budget", "level", "text"),
    [
        (4, "ok", "4, as many as usable cores"),
        (2, "note", "2 of 4 usable cores"),
        (9, "warning", "9 threads are more than the 4 cores"),
    ],
)
def test_threads(machine, cpus, monkeypatch, budget, level, text):
    cpus(4, 4)
    monkeypatch.setattr(checks, "get_num_threads", lambda: budget)
    (found,) = checks.threads(machine())
    assert (found.level, text in found.text) == (level, True)
    assert (
        found.remedy
        == {
            "ok": "",
            "note": "If that is not meant: AUTOCALC_NUM_THREADS=4, or leave it out.",
            "warning": "Ask for 4, or leave the number out.",
        }[level]
    )


def memory_of(machine, free, limit=None):
    files = {"proc/meminfo": f"MemTotal: {8 << 20} kB\nMemAvailable: {free << 10} kB\n"}
    if limit is not None:
        files["sys/fs/cgroup/memory.max"] = str(limit)
    (found,) = checks.memory(machine(files))
    return found


def test_memory(machine):
    found = memory_of(machine, 4096)
    assert (found.level, found.text) == ("ok", "4.0 GiB of 8.0 GiB are free")
    limited = memory_of(machine, 4096, 2 * GIB)
    assert limited.level == "note"
    assert (
        "the cgroup allows 2.0 GiB, above which the process is killed" in limited.text
    )


def test_memory_that_the_cgroup_has_used_up(machine):
    machine({"sys/fs/cgroup/memory.current": str(2 * GIB - 1000)})
    found = memory_of(machine, 4096, 2 * GIB)
    assert found.level == "warning"
    assert found.text.endswith("is killed, and 0.0 GiB of that are left")


@pytest.mark.parametrize(("busy", "level"), [(0.3, "ok"), (4.0, "ok"), (9.6, "note")])
def test_other_programs(machine, cpus, monkeypatch, busy, level):
    cpus(4, 4)
    monkeypatch.setattr(checks.os, "getloadavg", lambda: (busy, 0, 0), raising=False)
    (found,) = checks.load(machine())
    assert (found.level, found.text.startswith(f"{busy} threads")) == (level, True)
    assert ("before measuring" in found.remedy) is (level == "note")
    monkeypatch.delattr(checks.os, "getloadavg")
    (found,) = checks.load(machine())
    assert found.level == "note"


def test_scarce_memory(machine):
    assert memory_of(machine, 100).level == "warning"
    assert "smaller batches" in memory_of(machine, 100).remedy


def test_no_quota_is_infinite(machine, cpus):
    cpus(2, 2)
    assert list(checks.cores(machine()))[1].text == "none"
    assert math.isinf(checks.cpu_quota(machine().root, machine().root / "x"))
