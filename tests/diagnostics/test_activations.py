# SPDX-License-Identifier: MIT
"""Statistics of what layers give, and what is flagged."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import activation_stats
from autocalc.errors import ArgumentError, DTypeError

pytestmark = pytest.mark.core


def test_the_numbers_are_those_of_numpy():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    x = ac.randn(16, 4)
    with activation_stats(net) as stats:
        net(x)
    wanted = net(x).detach().numpy().astype(np.float64)
    row = next(r for r in stats.rows if r.operator == "ReLU")
    assert row.layer == "1"
    assert row.shape == (16, 8)
    assert row.mean == pytest.approx(wanted.mean())
    assert row.variance == pytest.approx(wanted.var())
    assert (row.minimum, row.maximum) == (wanted.min(), wanted.max())
    assert row.zeros == pytest.approx((wanted == 0).mean())
    assert row.dead == pytest.approx((wanted == 0).all(0).mean())


def test_several_calls_are_joined():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    parts = [ac.randn(5, 4), ac.randn(11, 4)]
    with activation_stats(net) as stats:
        for x in parts:
            net(x)
    wanted = net(ac.cat(parts)).detach().numpy().astype(np.float64)
    row = next(r for r in stats.rows if r.operator == "ReLU")
    assert row.calls == 2
    assert row.mean == pytest.approx(wanted.mean(), rel=1e-6)
    assert row.variance == pytest.approx(wanted.var(), rel=1e-6)
    assert row.zeros == pytest.approx((wanted == 0).mean())
    stats.reset()
    assert stats.rows == []


def test_units_of_images_are_channels():
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1))
    net[0].bias.data[1:].fill_(-100.0)
    with activation_stats(net) as stats:
        net(ac.randn(2, 1, 6, 6))
    assert [(f.kind, f.layer, f.value) for f in stats.flags] == [("dead", "1", 0.75)]


def test_functions_without_a_module_are_seen_and_named_by_the_layer_before():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

        def forward(self, x):
            for layer in self.layers:
                x = ac.tanh(layer(x))
            return x

    net = Net()
    net.layers[1].weight.data.mul_(1e5)
    with activation_stats(net) as stats:
        net(ac.randn(16, 4)).sum().backward()
    rows = [(r.layer, r.operator) for r in stats.rows if r.operator == "tanh"]
    assert rows == [(f"layers.{i}", "tanh") for i in range(3)]
    assert [(f.kind, f.layer) for f in stats.flags] == [("saturated", "layers.1")]


def test_a_layer_that_gives_the_same_for_all_samples_has_collapsed():
    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2))
    net[1].weight.data.zero_()
    with activation_stats(net) as stats:
        net(ac.randn(16, 4))
    # The layers after it are not to blame.
    assert [(f.kind, f.layer) for f in stats.flags] == [("collapse", "1")]


def test_equal_samples_are_no_collapse():
    net = nn.Linear(4, 8)
    with activation_stats(net) as stats:
        net(ac.ones(16, 4))
    assert stats.flags == []


def test_nan_is_counted_and_flagged():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with activation_stats(net) as stats:
        net(ac.tensor([[1.0, float("nan")], [1.0, 2.0]]))
    assert {(f.kind, f.layer, f.value) for f in stats.flags} >= {
        ("nonfinite", "0", 2.0),
        ("nonfinite", "1", 2.0),
    }


def test_few_observations_say_nothing_of_units():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    net[0].bias.data[:7].fill_(-100.0)
    net[0].bias.data[7:].fill_(100.0)
    with activation_stats(net) as stats:
        net(ac.randn(2, 4))
        assert stats.flags == []
        net(ac.randn(8, 4))
    assert [f.kind for f in stats.flags] == ["dead"]


def test_lists_of_outputs_and_integers_do_no_harm():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(5, 4)
            self.rnn = nn.LSTM(4, 6, batch_first=True)

        def forward(self, x):
            out, _ = self.rnn(self.embed(x))
            return {"out": out}

    with activation_stats(Net()) as stats:
        Net()  # another model is not looked at
        stats._model(ac.randint(0, 5, (8, 3)))
    assert [r.layer for r in stats.rows] == ["embed", "rnn"]
    assert stats.flags == []


def test_it_prints_as_a_table_and_is_plain_data():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    assert "No layer ran" in repr(activation_stats(net))
    with activation_stats(net) as stats:
        net(ac.randn(16, 4))
    assert "Nothing is flagged." in repr(stats)
    data = stats.to_dict()
    assert data["rows"][0]["layer"] == "0"
    assert "_alive" not in data["rows"][0]
    assert "<td>ReLU</td>" in stats._repr_html_()


def test_a_compiled_model_is_looked_at():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    compiled = ac.compile(net)
    for _ in range(3):
        compiled(ac.ones(2, 4))
    with activation_stats(compiled) as stats:
        compiled(ac.ones(2, 4))
    assert [r.calls for r in stats.rows] == [1, 1]


def test_what_is_wrong_is_refused():
    with pytest.raises(DTypeError, match="activation_stats: `model` is a int"):
        activation_stats(3)
    net = nn.Linear(1, 1)
    with pytest.raises(ArgumentError, match="`dead` is 2; it must be from 0 to 1"):
        activation_stats(net, dead=2)
    with pytest.raises(DTypeError, match="`saturated` is 'x'"):
        activation_stats(net, saturated="x")


def test_functions_of_a_compiled_model_are_seen():
    class Net(nn.Module):
        def forward(self, x):
            return x.tanh() + 1

    with activation_stats(ac.compile(Net())) as stats:
        stats._model(ac.randn(3, 4))
    assert [r.operator for r in stats.rows] == ["tanh", "Net"]
