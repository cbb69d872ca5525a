# SPDX-License-Identifier: MIT
"""One thread budget for all kernel sets."""

from __future__ import annotations

import warnings

import pytest
from tests.dispatcher import config, cpu, thread_budget, threads

import autocalc as ac
from autocalc.errors import ArgumentError, ConfigWarning
from autocalc.plugin import KernelSet


@pytest.fixture(autouse=True)
def same_budget(monkeypatch):
    monkeypatch.setattr(thread_budget, "_budget", None)
    yield
    monkeypatch.undo()
    threads.apply_budget(None)


@pytest.fixture
def told(install):
    """The calls that a loaded set got, and a function that loads it."""
    told = []
    install(
        mine=[
            KernelSet(
                "mine",
                family="mine",
                rank=1000,
                load=lambda: {"add": lambda out, a, b: out.fill(0)},
                set_num_threads=told.append,
            )
        ]
    )
    return told


def test_the_budget_comes_from_the_cores(environment, monkeypatch):
    environment()
    monkeypatch.setattr(thread_budget, "usable_cores", lambda: 7)
    assert ac.get_num_threads() == 7


def test_the_environment_comes_first(environment):
    environment(AUTOCALC_NUM_THREADS="3")
    assert ac.get_num_threads() == 3


def test_and_the_program_before_that(environment):
    environment(AUTOCALC_NUM_THREADS="3")
    ac.set_num_threads(2)
    assert ac.get_num_threads() == 2


def test_sets_are_told_when_they_load_and_at_each_change(told):
    ac.set_num_threads(2)
    assert told == []
    ac.ones(1) + 1
    assert told == [2]
    ac.set_num_threads(5)
    assert told == [2, 5]
    with ac.serial():
        assert ac.get_num_threads() == 1
    assert told == [2, 5, 1, 5]


def test_serial_ends_with_an_error(told):
    ac.set_num_threads(4)
    with pytest.raises(KeyError), ac.serial():
        raise KeyError
    assert ac.get_num_threads() == 4


def test_serial_leaves_an_unset_budget_unset(environment, monkeypatch):
    environment()
    with ac.serial():
        pass
    monkeypatch.setattr(thread_budget, "usable_cores", lambda: 7)
    assert ac.get_num_threads() == 7


@pytest.mark.parametrize(
    ("text", "count"), [("3", 3), (" 4 ", 4), ("5,2", 5), ("1,x", 1), ("4096", 4096)]
)
def test_openmps_number_counts_where_there_is_no_other(environment, text, count):
    environment(OMP_NUM_THREADS=text, AUTOCALC_NUM_THREADS="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfigWarning)  # of more threads than cores
        assert ac.get_num_threads() == count
        environment(OMP_NUM_THREADS=text, AUTOCALC_NUM_THREADS="2")
        assert ac.get_num_threads() == 2


def test_openmps_number_reaches_kernel_sets(environment, told):
    environment(OMP_NUM_THREADS="1")
    ac.ones(1) + 1
    assert told == [1]


@pytest.mark.parametrize("text", ["many", "0", "-2", "9" * 20, ",2", "1.5"])
def test_a_wrong_number_of_openmp_is_passed_over_with_a_warning(
    environment, monkeypatch, text
):
    environment()
    monkeypatch.setattr(thread_budget, "usable_cores", lambda: 7)
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    config.reload()
    with pytest.warns(ConfigWarning, match="OMP_NUM_THREADS=.* has no effect on AutoC"):
        assert ac.get_num_threads() == 7


def test_more_threads_of_openmp_than_cores_warn(cores, environment):
    cores(2, 2)
    thread_budget._warn_once.cache_clear()
    environment(OMP_NUM_THREADS="3")
    with pytest.warns(ConfigWarning, match="^OMP_NUM_THREADS=3: 3 threads are more"):
        assert ac.get_num_threads() == 3


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True, None, 4097, 99999999999999])
def test_a_budget_is_a_positive_number(count):
    with pytest.raises(ArgumentError, match=r"set_num_threads: `count` is .*1 or more"):
        ac.set_num_threads(count)


# ---- more threads than cores ---------------------------------------------------------


@pytest.fixture
def cores(monkeypatch):
    """Return a function that says how many cores there are, and why no more."""

    def put(affine, there, quota=float("inf")):
        monkeypatch.setattr(cpu, "affine_cores", lambda: affine)
        monkeypatch.setattr(cpu.os, "cpu_count", lambda: there)
        monkeypatch.setattr(cpu, "cpu_quota", lambda: quota)

    return put


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ((4, 4), "the 4 cores of this machine"),
        ((4, 16), "the 4 cores of 16 that its CPU affinity leaves it"),
        ((4, 4, 2.5), "the 2 cores that its cgroup's quota of 2.5 allows"),
        ((1, 1), "the 1 core of this machine"),
    ],
)
def test_a_budget_above_the_cores_warns(cores, machine, words):
    cores(*machine)
    message = f"^set_num_threads: 5 threads are more than {words}. .*Ask for"
    with pytest.warns(ConfigWarning, match=message):
        ac.set_num_threads(5)
    assert ac.get_num_threads() == 5


def test_a_budget_within_the_cores_does_not(cores, recwarn):
    cores(4, 4)
    ac.set_num_threads(4)
    with ac.serial():
        pass
    assert not recwarn.list


def test_the_environments_budget_warns_once(cores, environment, recwarn):
    cores(2, 2)
    environment(AUTOCALC_NUM_THREADS="3")
    thread_budget._warn_once.cache_clear()
    with pytest.warns(ConfigWarning, match="^AUTOCALC_NUM_THREADS=3: 3 threads are"):
        assert ac.get_num_threads() == 3
    recwarn.clear()
    assert ac.get_num_threads() == 3
    assert not recwarn.list


def test_the_warning_names_the_users_line(cores):
    cores(2, 2)
    with pytest.warns(ConfigWarning) as caught:
        ac.set_num_threads(3)
    assert caught[0].filename == __file__
