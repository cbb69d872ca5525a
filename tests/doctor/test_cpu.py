# SPDX-License-Identifier: MIT
"""What the doctor says of the CPU: features, shared cores, memories."""

from __future__ import annotations

import pytest
from tests.dispatcher import cpu as _cpu
from tests.dispatcher import discovery
from tests.doctor.checks import cpu as checks

import autocalc as ac

CPUS = "sys/devices/system/cpu"
NODES = "sys/devices/system/node"


@pytest.fixture
def usable(monkeypatch):
    """Let the process run on CPUs 0 to 3."""
    monkeypatch.setattr(checks, "affinity", lambda: frozenset(range(4)))


def siblings(*groups):
    return {
        f"{CPUS}/cpu{cpu}/topology/thread_siblings_list": ",".join(map(str, group))
        for group in groups
        for cpu in group
    }


def test_the_cpu_has_a_name_and_features(machine, environment):
    environment()
    (found,) = checks.features(machine())
    assert found.level == "ok"
    assert found.text.startswith(_cpu.cpu_name())


def test_what_is_hidden_is_a_warning(machine, environment, install):
    feature = min(_cpu.detected_features())
    environment(AUTOCALC_CPU_FEATURES=f"-{feature}")
    discovery.registry().named_features.add(feature)
    *_, hidden = checks.features(machine())
    assert hidden.level == "warning"
    assert hidden.text == f"AUTOCALC_CPU_FEATURES hides {feature}"
    assert "Unset" in hidden.remedy


@pytest.mark.parametrize(
    ("budget", "groups", "level", "text"),
    [
        (4, [(0,), (1,), (2,), (3,)], "ok", "each usable CPU is a core"),
        (4, [(0, 2), (1, 3)], "note", "4 threads run on 2 cores"),
        (2, [(0, 2), (1, 3)], "ok", "2 threads on 2 cores"),
    ],
)
def test_shared_cores(machine, usable, monkeypatch, budget, groups, level, text):
    monkeypatch.setattr(checks, "get_num_threads", lambda: budget)
    (found,) = checks.smt(machine(siblings(*groups)))
    assert (found.level, text in found.text) == (level, True)
    assert bool(found.remedy) is (level == "note")


@pytest.mark.parametrize(
    ("lists", "level", "text"),
    [
        (["0-3"], "ok", "one memory"),
        (["0-1", "2-3"], "note", "2 memories (nodes 0, 1)"),
        (["0-3", "4-7"], "ok", "one memory"),
    ],
)
def test_memories(machine, usable, lists, level, text):
    files = {f"{NODES}/node{i}/cpulist": cpus for i, cpus in enumerate(lists)}
    files[f"{NODES}/online"] = f"0-{len(lists) - 1}" if len(lists) > 1 else "0"
    (found,) = checks.numa(machine(files))
    assert (found.level, text in found.text) == (level, True)
    assert ("numactl --cpunodebind=0" in found.remedy) is (level == "note")


def test_the_affinity_is_the_systems():
    assert len(checks.affinity()) in {0, _cpu.affine_cores()}
    assert ac.get_num_threads() >= 1
