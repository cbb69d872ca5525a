# SPDX-License-Identifier: MIT
"""Schedulers of the learning rate."""

from __future__ import annotations

import math

import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim import lr_scheduler


def make(*rates):
    return optim.SGD([{"params": [ac.zeros(1)], "lr": lr} for lr in rates])


def rates(scheduler, epochs):
    found = []
    for _ in range(epochs):
        found.append(scheduler.get_last_lr())
        scheduler.optimizer.step()
        scheduler.step()
    return found


def test_step_lr():
    scheduler = lr_scheduler.StepLR(make(1.0, 10.0), step_size=3, gamma=0.1)
    expected = [
        [base * 0.1 ** (epoch // 3) for base in (1.0, 10.0)] for epoch in range(8)
    ]
    assert rates(scheduler, 8) == [pytest.approx(e, rel=1e-12) for e in expected]


@pytest.mark.parametrize("eta_min", [0.0, 0.1])
def test_cosine_annealing_goes_down_and_up_again(eta_min):
    scheduler = lr_scheduler.CosineAnnealingLR(make(1.0), T_max=5, eta_min=eta_min)
    expected = [
        eta_min + (1.0 - eta_min) * (1 + math.cos(math.pi * epoch / 5)) / 2
        for epoch in range(17)
    ]
    found = [rate for (rate,) in rates(scheduler, 17)]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    "kind",
    [
        lambda sgd, **more: lr_scheduler.StepLR(sgd, 2, **more),
        lambda sgd, **more: lr_scheduler.CosineAnnealingLR(sgd, 6, **more),
    ],
)
def test_training_goes_on(kind):
    whole = rates(kind(make(1.0)), 8)
    sgd = make(1.0)
    scheduler = kind(sgd)
    rates(scheduler, 3)
    other = make(1.0)
    other.load_state_dict(sgd.state_dict())
    resumed = kind(other)
    resumed.load_state_dict(scheduler.state_dict())
    other.param_groups[0]["lr"] = sgd.param_groups[0]["lr"]
    assert rates(resumed, 5) == whole[3:]
    assert "optimizer" not in scheduler.state_dict()


def test_an_epoch_to_begin_with_needs_the_first_rate():
    sgd = make(1.0)
    with pytest.raises(
        ArgumentError, match=r"StepLR: `last_epoch`=2 goes on .* 'initial_"
    ):
        lr_scheduler.StepLR(sgd, 2, last_epoch=2)
    sgd.param_groups[0]["initial_lr"] = 1.0
    assert lr_scheduler.StepLR(sgd, 2, last_epoch=2).last_epoch == 3


def test_errors():
    with pytest.raises(ArgumentError, match="StepLR: `step_size` is 0"):
        lr_scheduler.StepLR(make(1.0), 0)
    with pytest.raises(ArgumentError, match="CosineAnnealingLR: `T_max` is -1"):
        lr_scheduler.CosineAnnealingLR(make(1.0), -1)
    with pytest.raises(DTypeError, match="StepLR: `optimizer` is a float"):
        lr_scheduler.StepLR(1.0, 2)
