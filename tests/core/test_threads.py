# SPDX-License-Identifier: MIT
"""One thread budget for all kernel sets."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc._dispatch import _thread_budget, _threads
from autocalc.errors import ArgumentError
from autocalc.plugin import KernelSet


@pytest.fixture(autouse=True)
def same_budget(monkeypatch):
    monkeypatch.setattr(_thread_budget, "_budget", None)
    yield
    monkeypatch.undo()
    _threads._tell_loaded_sets(ac.get_num_threads())


@pytest.fixture
def told(install):
    """What a loaded set was told, and a function that loads it."""
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
    monkeypatch.setattr(_thread_budget, "usable_cores", lambda: 7)
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
    monkeypatch.setattr(_thread_budget, "usable_cores", lambda: 7)
    assert ac.get_num_threads() == 7


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True, None])
def test_a_budget_is_a_positive_number(count):
    with pytest.raises(ArgumentError, match=r"set_num_threads: `count` is .*1 or more"):
        ac.set_num_threads(count)
