# SPDX-License-Identifier: MIT
"""The sizes of gradients, and what is flagged."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import gradient_health
from autocalc.errors import ArgumentError, DTypeError

pytestmark = pytest.mark.core


def net():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


def flags(model, **limits):
    return [(f.kind, f.layer) for f in gradient_health(model, **limits).flags]


def test_the_numbers_are_those_of_numpy():
    model = net()
    model(ac.randn(5, 4)).square().sum().backward()
    health = gradient_health(model)
    row = health.rows[0]
    grad, weight = model[0].weight.grad.numpy(), model[0].weight.detach().numpy()
    assert row.name == "0.weight"
    assert row.norm == pytest.approx(np.linalg.norm(grad))
    assert row.maximum == pytest.approx(np.abs(grad).max())
    assert row.weight_norm == pytest.approx(np.linalg.norm(weight))
    assert row.ratio == pytest.approx(row.norm / row.weight_norm)
    assert health.norm == pytest.approx(
        nn.utils.clip_grad_norm_(model.parameters(), 1e9).item()
    )
    assert health.flags == []


def test_what_is_wrong_is_flagged():
    model = net()
    model(ac.randn(5, 4)).sum().backward()
    model[0].weight.grad.mul_(1e-12)
    model[2].weight.grad.mul_(1e6)
    model[2].bias.grad.fill_(0.0)
    model[0].bias.grad[0] = float("nan")
    assert flags(model) == [
        ("vanishing", "0.weight"),
        ("nonfinite", "0.bias"),
        ("exploding", "2.weight"),
        ("zero", "2.bias"),
    ]


def test_a_parameter_that_the_loss_does_not_depend_on_is_missing():
    model = net()
    model[0](ac.ones(1, 4)).sum().backward()
    assert flags(model) == [("missing", "2.weight"), ("missing", "2.bias")]
    model[2].requires_grad_(False)
    assert flags(model) == []


def test_thresholds():
    model = net()
    model(ac.randn(5, 4)).sum().backward()
    assert ("exploding", "2.bias") in flags(model, max_norm=1e-3)
    assert ("exploding", "2.weight") in flags(model, exploding=1e-3)
    assert ("vanishing", "2.weight") in flags(model, vanishing=1e6, exploding=1e9)


def test_large_numbers_do_not_overflow():
    model = nn.Linear(2, 2).double()
    model(ac.ones(1, 2).double()).sum().backward()
    model.weight.grad.fill_(1e200)
    assert gradient_health(model).rows[0].norm == pytest.approx(2e200)


def test_compiled_steps_leave_gradients_to_look_at():
    model = net()

    @ac.compile
    def step(x):
        model.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    for _ in range(4):
        step(ac.ones(3, 4))
    assert step.programs
    assert gradient_health(model).norm > 0


def test_it_prints_as_a_table_and_is_plain_data():
    model = net()
    model(ac.randn(5, 4)).sum().backward()
    health = gradient_health(model)
    assert "0.weight" in repr(health)
    assert "update" not in health._columns()
    assert health.to_dict()["rows"][0]["shape"] == [8, 4]
    assert math.isfinite(health.to_dict()["rows"][0]["norm"])


def test_what_is_wrong_is_refused():
    with pytest.raises(DTypeError, match="gradient_health: `model` is a str"):
        gradient_health("model")
    with pytest.raises(ArgumentError, match=r"no parameter has a gradient; call it"):
        gradient_health(net())
    with pytest.raises(ArgumentError, match="`exploding` is -1; it must be 0 or more"):
        gradient_health(net(), exploding=-1)
