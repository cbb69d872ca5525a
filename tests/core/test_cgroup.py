# SPDX-License-Identifier: MIT
"""What control groups of both versions allow, at any depth."""

from __future__ import annotations

import math

import pytest
from tests.dispatcher import cgroup

pytestmark = pytest.mark.core

GIB = 1 << 30


@pytest.fixture
def tree(tmp_path):
    """Return a function that writes the files of groups, and one that reads them."""

    def write(groups="", **files):
        (tmp_path / "groups").write_text(groups)
        for name, text in files.items():
            *folders, file = name.split("/")
            folder = tmp_path.joinpath("fs", *folders)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(f"{text}\n")
        return tmp_path / "fs", tmp_path / "groups"

    return write


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("max 100000", math.inf),
        ("200000 100000", 2.0),
        ("150000 100000", 1.5),
        ("50000 100000", 1.0),
        ("garbage", math.inf),
        ("0 0", math.inf),
    ],
)
def test_quota_of_version_2(tree, text, cores):
    assert cgroup.cpu_quota(*tree(**{"cpu.max": text})) == cores


@pytest.mark.parametrize(
    ("quota", "period", "cores"),
    [
        ("200000", "100000", 2.0),
        ("-1", "100000", math.inf),
        ("x", "1", math.inf),
        ("1", "0", math.inf),
    ],
)
def test_quota_of_version_1(tree, quota, period, cores):
    files = {"cpu/cpu.cfs_quota_us": quota, "cpu/cpu.cfs_period_us": period}
    assert cgroup.cpu_quota(*tree(**files)) == cores


def test_the_least_of_all_groups_around_the_process_counts(tree):
    where = tree(
        "0::/a.slice/b.scope\n",
        **{
            "a.slice/cpu.max": "300000 100000",
            "a.slice/b.scope/cpu.max": "max 100000",
            "other/cpu.max": "100000 100000",
            "a.slice/memory.max": 3 * GIB,
            "a.slice/b.scope/memory.max": 2 * GIB,
        },
    )
    assert cgroup.cpu_quota(*where) == 3.0
    assert cgroup.memory_limit(*where) == 2 * GIB


def test_version_1_has_a_tree_for_each_controller(tree):
    where = tree(
        "9:name=systemd:/\n4:memory:/job\n3:cpu,cpuacct:/job/step\n0::/\n",
        **{
            "memory/memory.limit_in_bytes": 0x7FFFFFFFFFFFF000,
            "memory/job/memory.limit_in_bytes": 4 * GIB,
            "cpu/job/step/cpu.cfs_quota_us": 250000,
            "cpu/job/step/cpu.cfs_period_us": 100000,
        },
    )
    assert cgroup.cpu_quota(*where) == 2.5
    assert cgroup.memory_limit(*where) == 4 * GIB


@pytest.mark.parametrize("path", ["/../../other", "/not/there", ""])
def test_where_the_own_group_cannot_be_seen_the_root_counts(tree, path):
    files = {"cpu.max": "200000 100000", "memory.max": GIB}
    where = tree(f"0::{path}\n", **files)
    assert cgroup.cpu_quota(*where) == 2.0
    assert cgroup.memory_limit(*where) == GIB


@pytest.mark.parametrize("groups", ["", "garbage\n", "1:cpu\n"])
def test_no_groups_no_limits(tree, groups):
    where = tree(groups)
    assert cgroup.cpu_quota(*where) == math.inf
    assert cgroup.memory_limit(*where) is None
    assert cgroup.memory_left(*where) is None


def test_what_is_left_of_the_memory(tree):
    where = tree(
        "0::/a/b\n",
        **{
            "a/memory.max": 4 * GIB,
            "a/memory.current": 3 * GIB,
            "a/b/memory.max": "max",
            "a/b/memory.current": GIB,
        },
    )
    assert cgroup.memory_left(*where) == GIB
    tree("0::/a/b\n", **{"a/memory.stat": f"anon 5\ninactive_file {GIB}\nslab 1"})
    assert cgroup.memory_left(*where) == 2 * GIB
    tree("0::/a/b\n", **{"a/memory.current": 6 * GIB})
    assert cgroup.memory_left(*where) == 0


def test_what_is_left_in_version_1(tree):
    files = {
        "memory/memory.limit_in_bytes": 2 * GIB,
        "memory/memory.usage_in_bytes": GIB,
        "memory/memory.stat": f"inactive_file 9\ntotal_inactive_file {GIB // 2}",
    }
    assert cgroup.memory_left(*tree("", **files)) == 1.5 * GIB
