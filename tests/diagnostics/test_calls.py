# SPDX-License-Identifier: MIT
"""Kernel calls that are shown to observers."""

from __future__ import annotations

import dataclasses

import pytest
from tests.dispatcher import Decomposed, arrays
from tests.kernel_table import PRIMITIVES, TABLE, adapt

import autocalc as ac
from autocalc.diagnostics import _calls, find_nonfinite, summary
from autocalc.plugin import KernelImpl, KernelSet

pytestmark = pytest.mark.core


@pytest.fixture
def _primitives(install):
    """Let a set that has nothing but primitives run everything."""
    kernels = {name: KernelImpl(adapt(TABLE[name])) for name in PRIMITIVES}
    install(mine=[KernelSet("mine", family="mine", rank=900, load=lambda: kernels)])
    with ac.kernels.use("mine"):
        yield


def seen_in(function, *args):
    names = []

    def look(seen, run):
        run()
        assert all(x is None or x.size >= 0 for x in seen.outputs)
        names.append(seen.spec.name)

    with _calls.calls_seen("test", look):
        function(*args)
    return names


@pytest.mark.usefixtures("_primitives")
def test_a_decomposition_is_seen_as_one_call():
    layer = ac.nn.Linear(4, 3)
    x = ac.randn(2, 4)
    with ac.kernels.count() as calls:
        layer(x)
    assert ("gemm", "mine") in calls
    assert seen_in(layer, x) == ["linear"]


@pytest.mark.usefixtures("_primitives")
def test_flops_of_a_decomposition_are_those_of_the_composite():
    layer = ac.nn.Linear(4, 3)
    found = summary(layer, input_size=(2, 4)).flops
    with ac.kernels.use("reference", only=True):
        assert summary(layer, input_size=(2, 4)).flops == found


def test_what_a_decomposition_makes_on_its_way_is_no_finding():
    def by_infinity(k, a):
        return k.exp(k.log(k.mul(a, k.constant(0.0, a))))

    spec = dataclasses.replace(TABLE["relu"], decomposition=by_infinity)
    x, y = ac.ones(2)._array, ac.ones(2)._array
    with find_nonfinite(stop=False) as found:
        result = Decomposed(spec).compute((x,), (), 1)
        Decomposed(spec)(y, x)
    assert result.tolist() == y.tolist() == [0.0, 0.0]
    assert found.findings == []
    with find_nonfinite(stop=False) as found:
        by_infinity(arrays, x)
    assert [one.operator for one in found.findings] == ["log"]


def test_all_who_look_see_each_call():
    outer, inner = [], []
    x = ac.ones(3)
    with (
        _calls.calls_seen("outer", lambda s, run: (run(), outer.append(s.spec.name))),
        _calls.calls_seen("inner", lambda s, run: (run(), inner.append(s.spec.name))),
    ):
        x.exp() + 1
    assert outer == inner == ["exp", "add"]


def test_what_a_look_computes_is_not_shown():
    def look(seen, run):
        run()
        ac.ones(2) + 1
        names.append(seen.spec.name)

    names = []
    with _calls.calls_seen("test", look):
        ac.ones(3).exp()
    assert names[-1] == "exp"
    assert "add" not in names


def test_an_error_in_the_block_ends_the_looking():
    with pytest.raises(ZeroDivisionError), find_nonfinite():
        raise ZeroDivisionError
    assert Decomposed.compute is _calls._compute
    assert ac._dispatch.selection.state.current().selection.wrap is None
    assert seen_in(lambda: ac.ones(2).exp())[-1] == "exp"


def test_counting_goes_on_below_and_above():
    count = ac.kernels.count
    with count() as around, find_nonfinite(), count() as inside:
        ac.ones(3).exp()
    assert sum(n for (name, _), n in around.items() if name == "exp") == 1
    assert sum(n for (name, _), n in inside.items() if name == "exp") == 1


def test_halves_are_one_call_for_all_who_look():
    outer, inner = [], []
    x = ac.ones(3).half()
    with (
        ac.kernels.count() as calls,
        _calls.calls_seen("outer", lambda s, run: (run(), outer.append(s.spec.name))),
        _calls.calls_seen("inner", lambda s, run: (run(), inner.append(s.spec.name))),
    ):
        x.exp()
    assert outer == inner == ["exp"]
    assert {name for name, _ in calls} >= {"exp"}
