# SPDX-License-Identifier: MIT
"""Accelerated calls: found, refused, switched off, and equal to their definitions."""

from __future__ import annotations

import copy
import gc
import importlib.metadata
import inspect
import pickle
import subprocess
import sys
from types import SimpleNamespace

import pytest
from tests.core.eager_programs import trace

import autocalc as ac
from autocalc._dispatch import _eager as eager

accelerated = pytest.mark.skipif(
    eager.runtime().module is None, reason="calls are Python's"
)

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


# ---- found and refused ---------------------------------------------------------------


@pytest.fixture
def announced(monkeypatch):
    """Let a package announce this module, and look for runtimes anew."""

    def announce(load, name="fast-calls", version="3.1"):
        dist = SimpleNamespace(name=name, version=version)
        point = SimpleNamespace(name="fast", value="fast_calls", dist=dist, load=load)
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
        eager._search.cache_clear()
        return eager.describe()

    monkeypatch.setattr(eager, "_refused", {})
    yield announce
    monkeypatch.undo()
    eager._search.cache_clear()


def test_a_runtime_of_another_version_is_not_used(announced):
    told = announced(lambda: SimpleNamespace(EAGER_API_VERSION=99))
    assert told == (
        f"Python; fast-calls 3.1: it was made for eager API 99, autocalc-core "
        f"{ac.__version__} has 1. Run: pip install --upgrade autocalc-core"
    )
    assert eager.accelerated("unary", len, 0) is len


def test_a_runtime_of_another_series_is_not_even_imported(announced):
    def load():
        raise AssertionError

    told = announced(load, "autocalc-kernels-simd", "9.8.7")
    assert told.startswith("Python; autocalc-kernels-simd 9.8.7: version 9.8.7 does")
    assert told.endswith(
        "Run: pip install --upgrade "
        '"autocalc-core==9.8.*" "autocalc-kernels-simd==9.8.*"'
    )


def test_a_runtime_that_fails_is_not_used(announced):
    def load():
        message = "no such symbol"
        raise ImportError(message)

    assert announced(load).endswith("it failed: ImportError: no such symbol")


def test_a_runtime_may_have_some_kinds_alone(announced):
    calls = {"unary": lambda definition, *known: (definition, known)}
    announced(lambda: SimpleNamespace(EAGER_API_VERSION=1, **calls))
    assert eager.accelerated("unary", len, 7) == (len, (7,))
    assert eager.accelerated("binary", len, 7) is len


def test_a_kind_that_a_runtime_refuses_is_pythons(announced):
    def refuse(definition, *known):
        message = "needs a definition and 3 arguments, got 2"
        raise TypeError(message)

    announced(lambda: SimpleNamespace(EAGER_API_VERSION=1, unary=refuse))
    assert eager.accelerated("unary", len, 7) is len
    assert eager.describe() == (
        "accelerated by fast-calls 3.1; not unary: TypeError: needs a definition and 3 "
        "arguments, got 2"
    )


def test_a_runtime_that_cannot_read_a_class_is_not_used(announced):
    def bind(name, value):
        message = f"{value!r}.count is no slot"
        raise TypeError(message)

    announced(lambda: SimpleNamespace(EAGER_API_VERSION=1, bind=bind))
    eager.bind(Version=int)
    assert eager.describe() == (
        "Python; fast-calls 3.1: it failed: TypeError: <class 'int'>.count is no slot"
    )


def test_without_a_package_calls_are_pythons(monkeypatch, announced):
    announced(lambda: None)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    eager._search.cache_clear()
    assert eager.describe() == "Python; no installed package has one"


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
