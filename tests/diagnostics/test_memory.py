# SPDX-License-Identifier: MIT
"""What is alive, and what made it."""

from __future__ import annotations

import gc
import weakref

import pytest
from tests.diagnostics.marked import marked

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import _origins
from autocalc.errors import ArgumentError, CompileError, DTypeError

pytestmark = pytest.mark.core

#: Larger than what other tests leave.
LARGE = 3_000_017


def row_of(array_bytes):
    """Return the row of the one array with that many bytes."""
    found = [r for r in ac.memory.snapshot(limit=10**6).rows if r.bytes == array_bytes]
    assert len(found) == 1
    return found[0]


def test_an_array_counts_once_with_all_its_views():
    x = ac.zeros(LARGE)
    views = [x[1:], x.view(1, -1), x.detach()]
    row = row_of(4 * LARGE)
    assert row.shape == (LARGE,)
    assert row.tensors == 1 + len(views)
    assert row.dtype == "float32"
    assert (row.kind, row.name, row.line) == ("tensor", "", None)


def test_a_dead_proxy_of_somebody_is_no_hindrance():
    proxy = weakref.proxy(nn.ReLU())
    ac.memory.snapshot()
    with pytest.raises(ReferenceError, match="no longer exists"):
        isinstance(proxy, nn.Module)


def test_what_the_graph_keeps_is_found():
    x = ac.ones(LARGE, requires_grad=True)
    y = (x.exp() + 1).sum()
    kept = [r for r in ac.memory.snapshot(100).rows if r.bytes == 4 * LARGE]
    assert sorted(r.kind for r in kept) == ["saved", "tensor"]
    saved = next(r for r in kept if r.kind == "saved")
    assert saved.saved_for == ["exp"]
    del y
    assert row_of(4 * LARGE).kind == "tensor"


def test_parameters_gradients_and_states_have_names():
    model = nn.Sequential(nn.Linear(1013, 1019, bias=False))
    adam = ac.optim.Adam(model.parameters())
    model(ac.ones(2, 1013)).sum().backward()
    adam.step()
    n = 4 * 1013 * 1019
    rows = [r for r in ac.memory.snapshot(100).rows if r.bytes == n]
    names = {(r.kind, r.name) for r in rows}
    assert names == {
        ("parameter", "0.weight"),
        ("gradient", "0.weight.grad"),
        ("optimizer", "0.weight: exp_avg"),
        ("optimizer", "0.weight: exp_avg_sq"),
    }


def test_the_last_recorded_operator_is_known_without_tracing():
    x = ac.ones(LARGE, requires_grad=True)
    y = x * 2
    row = next(r for r in ac.memory.snapshot(5).rows if r.operator)
    assert row.operator == "mul"
    del y


class Net(nn.Module):
    def forward(self, x):
        return x.exp()  # made


def test_tracing_names_operator_layer_and_line():
    with ac.memory.trace(), ac.no_grad():
        y = Net()(ac.ones(LARGE))
    row = row_of(4 * LARGE)
    assert (row.operator, row.layer) == ("exp", "Net")
    assert (row.line.file, row.line.number) == (__file__, marked(__file__, "made"))
    del y


def test_tracing_names_gradients():
    x = ac.ones(LARGE, requires_grad=True)
    with ac.memory.trace():
        x.exp().sum().backward()
    rows = [r for r in ac.memory.snapshot(5).rows if r.kind == "gradient"]
    assert rows[0].operator == "exp, backward"
    assert rows[0].line.function == "test_tracing_names_gradients"


def test_nothing_is_kept_of_what_is_gone():
    gc.collect()
    before = len(_origins._origins)
    with ac.memory.trace():
        y = ac.ones(10).exp()
    assert len(_origins._origins) > before
    del y
    gc.collect()
    assert len(_origins._origins) == before


def test_it_prints_as_a_table_and_is_plain_data():
    x, *others = ac.zeros(LARGE), ac.zeros(2), ac.zeros(3), ac.zeros(4)
    found = ac.memory.snapshot(3)
    assert found.count >= 1 + len(others)
    assert len(found.rows) == 3
    assert found.bytes >= sum(r.bytes for r in found.rows)
    assert found.bytes == sum(found.by_kind.values())
    assert "11.44 MiB" in repr(found)
    assert "memory.trace() around the program" in repr(found)
    assert found.to_dict()["rows"][0]["bytes"] >= x.nbytes
    assert "<table>" in found._repr_html_()


def test_lazy_parameters_do_no_harm():
    model, x = nn.LazyLinear(3), ac.zeros(LARGE)
    assert row_of(x.nbytes).kind == "tensor"
    assert model.in_features == 0


def test_what_is_wrong_is_refused():
    with pytest.raises(ArgumentError, match=r"memory\.snapshot: `limit` is 0; it must"):
        ac.memory.snapshot(0)
    with pytest.raises(DTypeError, match=r"memory\.snapshot: `limit` is 'x'"):
        ac.memory.snapshot("x")

    @ac.compile
    def step(x):
        with ac.memory.trace():
            return x + 1

    with pytest.raises(CompileError, match=r"memory\.trace: this runs in a function"):
        step(ac.ones(2))
