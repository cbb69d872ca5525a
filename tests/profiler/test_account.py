# SPDX-License-Identifier: MIT
"""Events made up by hand: every nanosecond of a step has one owner."""

from __future__ import annotations

import pytest
from tests.dispatcher import FORWARD, GRADIENT_SUM, Site
from tests.kernel_table import Work
from tests.profiler.made_up import ADD, GEMM, ran

import autocalc as ac
from autocalc.profiler._account import Account
from autocalc.profiler._recording import Kernel
from autocalc.profiler._rows import NO_KERNEL, OUTSIDE, rows_of


def rows(account, by):
    return {row.name: row for row in rows_of(account, by, None)}


def nanoseconds(row):
    return round(1e9 * row.self_time), round(1e9 * row.python)


def test_python_goes_to_the_kernel_behind_it_and_all_adds_up():
    events = [ran(10, 30, GEMM), ran(35, 40, ADD)]
    account = Account(events, 0, 50, 0)
    found = rows(account, "kernel")
    assert nanoseconds(found["gemm"]) == (20, 10)
    assert nanoseconds(found["add"]) == (5, 5)
    assert nanoseconds(found[NO_KERNEL]) == (0, 10)
    assert sum(row.share for row in found.values()) == pytest.approx(1)


def test_a_kernel_that_calls_others_has_the_rest_for_itself():
    events = [ran(12, 15, ADD), ran(16, 20, ADD), ran(10, 30, GEMM)]
    found = rows(Account(events, 0, 30, 0), "kernel")
    assert nanoseconds(found["gemm"]) == (13, 10)
    assert found["gemm"].total == pytest.approx(20e-9)
    assert nanoseconds(found["add"]) == (7, 0)
    assert found["add"].calls == 2


def test_kernels_three_deep():
    inner = Kernel("exp", "simd", "2", "float32", Work(2, 16))
    events = [ran(12, 14, inner), ran(11, 15, ADD), ran(10, 20, GEMM)]
    found = rows(Account(events, 10, 20, 0), "kernel")
    assert [nanoseconds(found[n])[0] for n in ("gemm", "add", "exp")] == [6, 2, 2]


def test_modules_have_what_runs_in_them_and_the_backward_of_their_nodes():
    outer = ac.nn.Sequential(ac.nn.Linear(2, 2))
    inner = outer[0]
    events = [
        (5, 1, outer),
        (10, 2, inner),
        ran(12, 20, GEMM),
        (22, 4, None),
        (30, 6, None),
        ran(40, 50, GEMM, Site("linear", "backward"), 3),  # the inner one's node
        ran(52, 60, ADD, GRADIENT_SUM, 5),  # a node of the outer one
        ran(61, 65, ADD, Site("add", "backward"), 0),  # one from before
    ]
    found = rows(Account(events, 0, 70, 0), "module")
    assert nanoseconds(found["Sequential.0"]) == (18, 2 + 2 + 10)
    assert nanoseconds(found["Sequential"]) == (8, 5 + 8 + 2)
    assert nanoseconds(found[OUTSIDE]) == (4, 5 + 1 + 5)
    assert found["Sequential"].total == pytest.approx(1e-9 * (18 + 14 + 8 + 15))


def test_python_up_to_a_mark_is_not_of_the_kernel_behind_it():
    module = ac.nn.Linear(1, 1)
    events = [
        (2, 0, module),
        (9,),
        ran(10, 15, GEMM, FORWARD, "Net.out"),
        (20, 1, None),
    ]
    found = rows(Account(events, 0, 20, 0), "module")
    assert nanoseconds(found["Linear"]) == (0, 7 + 5)
    assert nanoseconds(found["Net.out"]) == (5, 1)
    assert found["Linear"].total == pytest.approx(18e-9)


def test_operators_are_told_apart_by_their_phase():
    events = [
        ran(0, 10, GEMM, Site("linear", "forward")),
        ran(10, 20, GEMM, Site("linear", "backward"), 1),
        ran(20, 25, ADD, Site("", "optimizer")),
    ]
    found = rows(Account(events, 0, 25, 0), "operator")
    assert set(found) == {"linear", "linear backward", "add optimizer"}


def test_steps_before_those_that_count_are_left_out():
    events = [
        ran(10, 30, GEMM),
        (40, True),
        ran(45, 50, GEMM),
        (55, True),
        ran(60, 99, ADD),  # after the last step
    ]
    account = Account(events, 0, 100, 1)
    assert [(s.start, s.stop) for s in account.steps] == [(40, 55)]
    assert account.left_out == 1
    found = rows(account, "kernel")
    assert nanoseconds(found["gemm"]) == (5, 5)
    assert nanoseconds(found[NO_KERNEL]) == (0, 5)
    assert "add" not in found


def test_one_step_alone_counts_though_warming_up_was_asked_for():
    account = Account([ran(10, 30, GEMM), (40, True)], 0, 50, 1)
    assert len(account.steps) == 1
    assert account.left_out == 0


def test_the_users_steps_count_and_not_the_optimizers():
    events = [(10, False), (20, True), (30, False), (40, True)]
    account = Account(events, 0, 50, 0)
    assert [step.stop for step in account.steps] == [20, 40]
    account = Account([(10, False), (30, False)], 0, 50, 0)
    assert [step.stop for step in account.steps] == [10, 30]


def test_two_models_of_one_class_have_two_names():
    one, two = ac.nn.Linear(1, 1), ac.nn.Linear(1, 1)
    events = [(1, 0, one), (2, 1, None), (3, 2, two), (4, 3, None), (5, 4, one),
              (6, 5, None)]  # fmt: skip
    found = rows(Account(events, 0, 6, 0), "module")
    assert {"Linear", "Linear #2"} <= set(found)


def test_waiting_is_the_share_of_all_threads_time():
    events = [
        ran(10, 14, ADD, waited=2),  # called by the next one
        ran(10, 30, GEMM, waited=10),
    ]
    account = Account(events, 0, 30, 0, threads=2)
    found = rows(account, "kernel")
    assert found["gemm"].waiting == pytest.approx(8 / (2 * 16))
    assert found["add"].waiting == pytest.approx(2 / (2 * 4))
    unknown = rows(Account(events, 0, 30, 0), "kernel")
    assert unknown["gemm"].waiting is None
