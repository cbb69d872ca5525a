# SPDX-License-Identifier: MIT
"""CPU features and their masks; how many cores may be used."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from pathlib import Path

import archspec.cpu
import archspec.cpu.detect
import pytest
from archspec.cpu.detect import partial_uarch
from tests.dispatcher import cpu, detected_features

from autocalc.errors import ConfigWarning
from autocalc.plugin import cpu_features

FULL = frozenset(
    {"sse2", "sse4_2", "avx", "f16c", "fma", "avx2"}
    | {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni"}
)


def flags_of_linux():
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return None
    for line in path.read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in {"flags", "Features"}:
            return set(value.split())
    return None


@pytest.mark.skipif(flags_of_linux() is None, reason="no /proc/cpuinfo here")
def test_detection_agrees_with_linux():
    flags = flags_of_linux()
    if platform.machine() in {"x86_64", "AMD64"}:
        for feature in ("sse2", "avx2", "f16c", "avx512f", "avx512bw", "amx_tile"):
            assert (feature in detected_features()) == (feature in flags), feature
    else:
        assert detected_features() <= flags | {"neon", "asimd"}


def test_a_feature_beyond_the_microarchitecture_is_seen(monkeypatch):
    """A virtual machine hides a little, and `host` answers an older CPU."""
    older, newer = (archspec.cpu.TARGETS[n] for n in ("icelake", "sapphirerapids"))
    reported = partial_uarch(features=set(newer.features) - {"waitpkg"} | {"hle"})
    monkeypatch.setattr(archspec.cpu, "host", lambda: older)
    monkeypatch.setattr(archspec.cpu.detect, "detected_info", lambda: reported)
    features = detected_features.__wrapped__()
    assert {"amx_tile", "avx512f"} <= features
    assert not {"waitpkg", "hle"} & features


@pytest.mark.parametrize("name", ["aarch64", "armv8.2a", "m1", "neoverse_n1"])
def test_every_arm_has_neon(monkeypatch, name):
    target = archspec.cpu.TARGETS[name]
    monkeypatch.setattr(archspec.cpu, "host", lambda: target)
    features = detected_features.__wrapped__()
    assert {"fp", "asimd"} <= features
    assert "sse2" not in features


def test_nothing_is_hidden_by_default(environment):
    environment()
    assert cpu_features() == detected_features()


@pytest.mark.parametrize(
    ("hidden", "left"),
    [
        ({"avx512f"}, {"sse2", "sse4_2", "avx", "f16c", "fma", "avx2"}),
        ({"avx2"}, {"sse2", "sse4_2", "avx", "f16c", "fma"}),
        ({"avx"}, {"sse2", "sse4_2"}),
        ({"avx512_vnni"}, FULL - {"avx512_vnni"}),
        ({"fma"}, FULL - {"fma"}),
        ({"neon"}, FULL),
        (set(), FULL),
    ],
)
def test_hiding_a_feature_hides_what_is_built_on_it(hidden, left):
    assert cpu.without(FULL, frozenset(hidden)) == left


def test_the_mask_of_the_environment(environment):
    feature = next(iter(sorted(detected_features())))
    environment(AUTOCALC_CPU_FEATURES=f"-{feature}")
    assert feature not in cpu_features()


def test_a_hidden_feature_that_no_cpu_has_is_reported(environment):
    environment(AUTOCALC_CPU_FEATURES="-avx512g,-sse2")
    message = (
        "names 'avx512g', which is not a CPU feature and has no effect; did you mean"
    )
    cpu._check_names.cache_clear()
    with pytest.warns(ConfigWarning, match=message) as caught:
        assert "sse2" not in cpu_features()
    assert len(caught) == 1


def test_the_mask_in_a_fresh_process():
    program = (
        "from autocalc.plugin import cpu_features as f; "
        "print(sorted(n for n in f() if 'avx512' in n or n == 'avx2'))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"AUTOCALC_CPU_FEATURES": "-avx2"},
    )
    assert result.stdout.strip() == "[]"


def test_the_cpu_has_a_name():
    assert cpu.cpu_name()


# ---- cores ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quota", "affinity", "cores"),
    [(math.inf, 6, 6), (2.5, 6, 2), (1.0, 6, 1), (8.0, 3, 3)],
)
def test_usable_cores(monkeypatch, quota, affinity, cores):
    monkeypatch.setattr(cpu, "cpu_quota", lambda: quota)
    monkeypatch.setattr(
        os, "sched_getaffinity", lambda _: range(affinity), raising=False
    )
    assert cpu.usable_cores() == cores


def test_usable_cores_where_affinity_is_unknown(monkeypatch):
    monkeypatch.setattr(cpu, "cpu_quota", lambda: math.inf)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert cpu.usable_cores() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cpu.usable_cores() == 1
