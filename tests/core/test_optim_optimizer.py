# SPDX-License-Identifier: MIT
"""What all optimizers share: groups, steps, state, errors."""

from __future__ import annotations

import copy

import pytest

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import ArgumentError, DTypeError


def leaf(*values, dtype=ac.float32):
    return ac.tensor(list(values), dtype=dtype, requires_grad=True)


def step(optimizer, *params):
    for p in params:
        p.grad = ac.ones_like(p)
    optimizer.step()


def test_groups_have_their_own_settings():
    a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    sgd = optim.SGD([{"params": a}, {"params": [b], "lr": 0.5}], lr=0.1)
    sgd.add_param_group({"params": iter([c]), "lr": 0.25})
    step(sgd, a, b, c)
    assert [a.item(), b.item(), c.item()] == pytest.approx([0.9, 0.5, 0.75])
    sgd.param_groups[0]["lr"] = 1.0
    step(sgd, a)
    assert a.item() == pytest.approx(-0.1)


def test_the_rate_can_change_at_any_time():
    a = leaf(0.0)
    sgd = optim.SGD([a], lr=1.0)
    for lr in (1.0, 0.5, 0.25, 0.25):
        sgd.param_groups[0]["lr"] = lr
        step(sgd, a)
    assert a.item() == -2


def test_one_kernel_call_for_each_dtype():
    params = [leaf(1.0), leaf(1.0, 2.0), leaf(1.0, dtype=ac.float64), leaf(3.0)]
    for optimizer, kernel in (
        (optim.SGD(params, lr=0.1, momentum=0.9), "sgd"),
        (optim.AdamW(params), "adamw"),
    ):
        step(optimizer, *params)
        with ac.kernels.count() as calls:
            step(optimizer, *params)
        ran = [(name, n) for (name, _), n in calls.items() if name == kernel]
        assert ran == [(kernel, 2)]


@pytest.mark.parametrize("kind", [optim.SGD, optim.AdamW, optim.Adam])
def test_parameters_without_a_gradient_stay(kind):
    a, b, frozen = leaf(1.0), leaf(1.0), ac.tensor([1.0])
    optimizer = kind([a, b, frozen], lr=0.1)
    optimizer.step()
    assert not optimizer.state_dict()["state"]
    step(optimizer, a)
    assert a.item() != 1
    assert [b.item(), frozen.item()] == [1, 1]


def test_gradients_are_dropped_or_zeroed():
    a, b = leaf(1.0), leaf(1.0)
    sgd = optim.SGD([a, b])
    a.grad = a.detach() * 2
    sgd.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0]
    assert b.grad is None
    sgd.zero_grad()
    assert a.grad is None


def test_a_step_leaves_no_history():
    before = ac.live_node_count()
    a = leaf(2.0)
    optimizer = optim.AdamW([a])
    for _ in range(3):
        optimizer.zero_grad()
        (a * a).sum().backward()
        optimizer.step()
    assert a.is_leaf
    assert ac.live_node_count() == before


def test_a_closure_runs_with_gradients_recorded():
    a = leaf(1.0)
    sgd = optim.SGD([a], lr=0.5)

    def closure():
        sgd.zero_grad()
        loss = (a * a).sum()
        loss.backward()
        return loss

    with ac.no_grad():
        loss = sgd.step(closure)
    assert loss.item() == 1
    assert a.item() == 0
    assert sgd.step() is None


def test_state_has_pytorchs_layout_and_numbers_through_groups():
    a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    sgd = optim.SGD([{"params": [a, b]}, {"params": [c], "lr": 9.0}], momentum=0.5)
    step(sgd, a, c)
    state = sgd.state_dict()
    assert sorted(state["state"]) == [0, 2]
    assert list(state["state"][2]) == ["momentum_buffer"]
    assert [g["params"] for g in state["param_groups"]] == [[0, 1], [2]]
    assert [g["lr"] for g in state["param_groups"]] == [1e-3, 9.0]


def test_loading_copies_and_takes_over_settings():
    a, b = leaf(1.0), leaf(1.0)
    first = optim.SGD([a], lr=0.3, momentum=0.9, weight_decay=0.1)
    step(first, a)
    second = optim.SGD([b], lr=1.0)
    second.load_state_dict(first.state_dict())
    assert second.param_groups[0]["lr"] == 0.3
    assert second.param_groups[0]["momentum"] == 0.9
    assert second.param_groups[0]["params"] == [b]
    step(first, a)
    assert second.state[b]["momentum_buffer"].item() == pytest.approx(1.1)


def test_loading_converts_and_reads_texts_as_numbers():
    a = leaf(1.0, dtype=ac.float64)
    sgd = optim.SGD([a], momentum=0.9)
    state = sgd.state_dict()
    state["state"] = {"0": {"momentum_buffer": ac.ones(1)}}
    sgd.load_state_dict(state)
    assert sgd.state[a]["momentum_buffer"].dtype is ac.float64
    state["state"] = {0: {"momentum_buffer": None}}
    sgd.load_state_dict(state)
    assert sgd.state[a] == {}


def test_a_state_that_does_not_fit_changes_nothing():
    a, b = leaf(1.0), leaf(1.0)
    sgd = optim.SGD([a, b], lr=0.1, momentum=0.9)
    step(sgd, a, b)
    before = sgd.state_dict()
    wrong = copy.deepcopy(before)
    wrong["state"][1]["momentum_buffer"] = ac.ones(3)
    wrong["param_groups"][0]["lr"] = 7.0
    where = "SGD.load_state_dict"
    with pytest.raises(
        ArgumentError, match=rf"{where}: 'momentum_buffer' of parameter 1"
    ):
        sgd.load_state_dict(wrong)
    wrong["state"] = {}
    wrong["param_groups"][0]["lr"] = -1.0
    with pytest.raises(
        ArgumentError, match=r"SGD: `lr` is -1\.0; it must be a number, 0 or"
    ):
        sgd.load_state_dict(wrong)
    wrong["param_groups"][0]["params"] = [0]
    with pytest.raises(
        ArgumentError, match=r": the state has groups of \[1\] parameters, but the"
    ):
        sgd.load_state_dict(wrong)
    with pytest.raises(DTypeError, match="must be a dict with 'state'"):
        sgd.load_state_dict({"state": {}})
    after = sgd.state_dict()
    assert after["param_groups"] == before["param_groups"]
    assert after["state"][1]["momentum_buffer"].tolist() == [1]


def test_repr_lists_the_groups():
    text = repr(optim.SGD([leaf(1.0)], lr=0.1))
    assert text == (
        "SGD (\n"
        "Parameter Group 0\n"
        "    dampening: 0.0\n"
        "    lr: 0.1\n"
        "    maximize: False\n"
        "    momentum: 0.0\n"
        "    nesterov: False\n"
        "    weight_decay: 0.0\n"
        ")"
    )


def test_a_gradient_of_another_dtype_is_refused():
    a = leaf(1.0)
    a.grad = ac.ones(1)
    a.data = a.data.double()
    with pytest.raises(DTypeError, match=r"sgd: .*float32"):
        optim.SGD([a]).step()


def test_a_converted_module_goes_on_with_its_optimizer():
    layer = nn.Linear(2, 2)
    sgd = optim.SGD(layer.parameters(), lr=0.1)
    layer.double()
    layer(ac.ones(1, 2, dtype=ac.float64)).sum().backward()
    before = layer.bias.tolist()
    sgd.step()
    assert layer.bias.tolist() == [value - 0.1 for value in before]


def test_users_optimizers_need_no_rate_and_no_decay():
    class Shrink(optim.Optimizer):
        def __init__(self, params, share):
            super().__init__(params, {"share": share})

        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    p.data *= 1 - group["share"]

    a, b = leaf(4.0), leaf(4.0)
    shrink = Shrink([{"params": [a]}, {"params": [b], "share": 0.5}], 0.25)
    shrink.step()
    assert (a.item(), b.item()) == (3.0, 2.0)
    shrink.load_state_dict(shrink.state_dict())
    shrink.step()
    assert (a.item(), b.item()) == (2.25, 1.0)
    with pytest.raises(ArgumentError, match=r"Shrink: `lr` is -1; it must be a number"):
        shrink.add_param_group({"params": [leaf(1.0)], "lr": -1})
    with pytest.raises(ArgumentError, match=r"Shrink: `weight_decay` is -1; it must"):
        shrink.add_param_group({"params": [leaf(1.0)], "weight_decay": -1})
    assert len(shrink.param_groups) == 2
