# SPDX-License-Identifier: MIT
"""Accelerated calls: switched off, and equal to their definitions."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import subprocess
import sys

import pytest
from tests.core.eager_programs import trace
from tests.dispatcher import eager

import autocalc as ac

accelerated = pytest.mark.skipif(eager.calls is None, reason="calls are Python's")

#: Programs in an ordinary run, and of a long one: 60 s.
PROGRAMS = [500, pytest.param(10_000, marks=pytest.mark.slow)]


# ---- the same as the definitions ----------------------------------------------------


@accelerated
@pytest.mark.parametrize("count", PROGRAMS)
def test_random_programs_give_the_same_both_ways(definitions, count):
    for seed in range(count):
        found, expected = trace(seed), definitions(trace, seed)
        assert found == expected, f"program {seed}"


def test_programs_do_not_only_fail():
    lines = [line for seed in range(20) for line in trace(seed)]
    failed = sum("Error:" in line for line in lines)
    assert failed < len(lines) / 3
    assert any("grad: Tensor" in line for line in lines)


@accelerated
def test_a_call_is_its_definition_in_all_but_speed():
    assert inspect.isfunction(ac.exp.__wrapped__)
    assert ac.exp.__doc__ is ac.exp.__wrapped__.__doc__
    assert inspect.signature(ac.sum) == inspect.signature(ac.sum.__wrapped__)
    assert copy.deepcopy(ac.sum) is ac.sum
    assert pickle.loads(pickle.dumps(ac.sum)) is ac.sum
    assert repr(ac.sum).startswith("<function sum at")


@accelerated
def test_a_method_is_bound_to_its_tensor():
    x = ac.tensor([1.0, 2.0])
    bound = x.sum
    assert bound().item() == 3
    assert ac.Tensor.sum is ac.sum


def test_nothing_is_left_behind():
    x = ac.ones(4, 4, requires_grad=True)

    def step():
        y = (x * 2.0 + x[0]).transpose(0, 1).reshape(16)
        ac.cat([y, y]).sum().backward()
        x.grad = None

    step()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(100):
        step()
    gc.collect()
    assert len(gc.get_objects()) - before < 20


# ---- switched off --------------------------------------------------------------------


PROGRAM = """
import autocalc as ac
print(ac.kernels.show().eager)
print(type(ac.exp).__name__, ac.exp(ac.zeros(1)).item())
"""


def test_it_can_be_switched_off(environment):
    environment(AUTOCALC_EAGER="python")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == [
        "Python; switched off by AUTOCALC_EAGER=python",
        "function 1.0",
    ]
