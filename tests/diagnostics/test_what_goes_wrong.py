# SPDX-License-Identifier: MIT
"""Four mistakes, each named within one step, with layer and line."""

from __future__ import annotations

import pytest
from tests.diagnostics.marked import marked

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import activation_stats, find_nonfinite, watch
from autocalc.errors import NonFiniteError

pytestmark = pytest.mark.core


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.act = nn.ReLU()
        self.middle = nn.Linear(16, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        x = self.act(self.hidden(x))  # dead
        x = self.middle(x).sigmoid()  # saturated
        return self.out(x)


class LogOfZero(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        p = self.layer(x).relu()
        return p * p.log()  # log of zero


@pytest.fixture(params=["eager", "compiled"])
def step(request):
    """Make a training step, compiled or not."""

    def make(net, sgd):
        def run(x, y):
            sgd.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            sgd.step()  # step
            return loss

        return run if request.param == "eager" else ac.compile(run)

    return make


def batch():
    return ac.randn(32, 6), ac.randint(0, 3, (32,))


def kinds(flags):
    return {(flag.kind, flag.layer, flag.line and flag.line.number) for flag in flags}


def test_nothing_is_flagged_where_nothing_is_wrong(step):
    net = Net()
    run = step(net, ac.optim.SGD(net.parameters(), lr=0.1))
    looking = watch(net)
    for _ in range(3):
        with looking:
            run(*batch())
        assert looking.flags == []
    assert len(looking.report.activations) == 5


def test_a_dead_layer_is_named(step):
    net = Net()
    net.hidden.bias.data.fill_(-100.0)
    run = step(net, ac.optim.SGD(net.parameters(), lr=0.1))
    with watch(net) as looking:
        run(*batch())
    found = [flag for flag in looking.flags if flag.kind == "dead"]
    assert kinds(found) == {("dead", "act", marked(__file__, "dead"))}
    assert found[0].module == "ReLU"
    assert found[0].value == 1.0
    assert found[0].line.file == __file__
    # What it does to the layer before it is named as well.
    assert ("zero", "hidden.weight") in {(f.kind, f.layer) for f in looking.flags}


def test_a_learning_rate_that_is_too_large_is_named(step):
    net = Net()
    run = step(net, ac.optim.SGD(net.parameters(), lr=1e3))
    with watch(net) as looking:
        run(*batch())
    found = [flag for flag in looking.flags if flag.kind == "update"]
    weights = {f"{name}.weight" for name in ("hidden", "middle", "out")}
    line = marked(__file__, "step")
    assert ("update", "out.weight", line) in kinds(found)
    assert {flag.layer for flag in found} <= weights
    assert all(flag.value > 1.0 and "learning rate" in flag.advice for flag in found)


def test_a_saturated_sigmoid_is_named(step):
    net = Net()
    net.middle.weight.data.mul_(1e4)
    run = step(net, ac.optim.SGD(net.parameters(), lr=0.1))
    with watch(net) as looking:
        run(*batch())
    found = [flag for flag in looking.flags if flag.kind == "saturated"]
    assert kinds(found) == {("saturated", "middle", marked(__file__, "saturated"))}
    assert found[0].module == "sigmoid"


@pytest.mark.parametrize("compiled", [False, True])
def test_a_log_of_zero_is_named(compiled):
    net = LogOfZero()
    run = ac.compile(net) if compiled else net
    x = ac.randn(8, 4)
    line = marked(__file__, "log of zero")
    match = rf"`log` gave infinity in LogOfZero at .*{line}, in forward: `return p"
    with pytest.raises(NonFiniteError, match=match) as caught, find_nonfinite():
        run(x).sum().backward()
    found = caught.value.finding
    assert (found.operator, found.phase, found.made) == ("log", "forward", True)
    assert found.line.number == line
    assert found.inputs[0].finite
    assert found.inputs[0].low == 0.0


def test_the_nan_behind_it_is_named_where_infinity_is_meant():
    wrong = pytest.raises(NonFiniteError, match="`mul` gave NaN")
    with wrong as caught, find_nonfinite(inf=False):
        LogOfZero()(ac.randn(8, 4))
    assert [one.inf > 0 for one in caught.value.finding.inputs] == [False, True]


def test_a_model_is_as_before_when_nobody_looks_any_more():
    net = Net()
    with activation_stats(net):
        net(ac.randn(4, 6))
    assert all(not m._hooks.forward for m in net.modules())
    assert not ac.is_anomaly_enabled()
    assert ac._dispatch.selection.state.current().selection.wrap is None
