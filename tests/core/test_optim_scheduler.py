# SPDX-License-Identifier: MIT
"""Schedulers of the learning rate."""

from __future__ import annotations

import json
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


def test_lambdas_are_not_in_the_state_but_what_objects_know_is():
    class Rule:
        def __init__(self, power):
            self.power = power

        def __call__(self, epoch):
            return self.power**epoch

    sgd = make(1.0, 1.0)
    scheduler = lr_scheduler.LambdaLR(sgd, [Rule(0.5), lambda _: 2.0])
    state = scheduler.state_dict()
    assert state["lr_lambdas"] == [{"power": 0.5}, None]
    other = lr_scheduler.LambdaLR(make(1.0, 1.0), [Rule(3.0), lambda _: 2.0])
    other.load_state_dict(state)
    other.step()
    assert other.get_last_lr() == [0.5, 2.0]


def test_states_survive_json():
    scheduler = lr_scheduler.MultiStepLR(make(1.0), [2, 4], gamma=0.5)
    state = json.loads(json.dumps(scheduler.state_dict()))
    other = lr_scheduler.MultiStepLR(make(1.0), [])
    other.load_state_dict(state)
    assert [rate for (rate,) in rates(other, 5)] == [1.0, 1.0, 0.5, 0.5, 0.25]


def test_schedulers_one_after_the_other_begin_at_their_own_first_rate():
    sgd = make(1.0)
    parts = [
        lr_scheduler.LinearLR(sgd, 0.5, total_iters=2),
        lr_scheduler.ChainedScheduler(
            [lr_scheduler.ConstantLR(sgd, 0.5), lr_scheduler.ExponentialLR(sgd, 0.5)]
        ),
    ]
    scheduler = lr_scheduler.SequentialLR(sgd, parts, milestones=[2])
    found = [rate for (rate,) in rates(scheduler, 4)]
    assert found == pytest.approx([0.5, 0.75, 0.5, 0.25])


def test_a_sequence_inside_a_sequence_changes_at_its_own_milestone():
    sgd = make(1.0)
    inner = lr_scheduler.SequentialLR(
        sgd,
        [lr_scheduler.ConstantLR(sgd, 0.5, 9), lr_scheduler.ExponentialLR(sgd, 0.5)],
        milestones=[2],
    )
    last = lr_scheduler.StepLR(sgd, 1, 0.1)
    scheduler = lr_scheduler.SequentialLR(sgd, [inner, last], milestones=[4])
    assert [rate for (rate,) in rates(scheduler, 6)] == [0.5, 0.5, 1.0, 0.5, 1.0, 0.1]


def test_the_cycle_moves_momentum_against_the_rate():
    adam = optim.Adam([ac.zeros(1)])
    lr_scheduler.OneCycleLR(adam, 1.0, total_steps=10)
    assert adam.param_groups[0]["betas"] == (0.95, 0.999)
    sgd = make(1.0)
    cycle = lr_scheduler.OneCycleLR(sgd, 1.0, total_steps=3, pct_start=1 / 3)
    assert sgd.param_groups[0]["momentum"] == 0.85  # the rise is one step long
    rates(cycle, 3)
    with pytest.raises(ArgumentError, match="OneCycleLR: step 4 of 3; the cycle is ov"):
        cycle.step()


def test_a_plateau_is_told_of_new_groups():
    sgd = make(1.0)
    plateau = lr_scheduler.ReduceLROnPlateau(sgd, patience=0)
    plateau.step(ac.tensor(1.0))
    sgd.add_param_group({"params": [ac.zeros(1)], "lr": 1.0})
    with pytest.raises(ArgumentError, match=r"has 2 parameter groups now and had 1"):
        plateau.step(1.0)
    plateau.min_lrs.append(0.5)
    plateau.step(1.0)
    assert plateau.get_last_lr() == [0.1, 0.5]


SETTINGS = [
    ("StepLR", {"step_size": 0}, "StepLR: `step_size` is 0; it must be an integer, 1"),
    ("StepLR", {"step_size": 2, "gamma": "a"}, "StepLR: `gamma` is 'a'; it must be a"),
    ("MultiStepLR", {"milestones": [1.5]}, r"MultiStepLR: `milestones` is \[1.5\]"),
    ("ExponentialLR", {"gamma": None}, "ExponentialLR: `gamma` is None"),
    ("LinearLR", {"start_factor": 0}, "`start_factor` is 0; it must be above 0: what"),
    ("LinearLR", {"end_factor": 2}, "LinearLR: `end_factor` is 2; it must be a numbe"),
    ("LinearLR", {"total_iters": 0}, "LinearLR: `total_iters` is 0"),
    ("ConstantLR", {"factor": 0.0}, "`factor` is 0.0; it must be above 0: it is div"),
    ("PolynomialLR", {"total_iters": 0}, "PolynomialLR: `total_iters` is 0"),
    ("LambdaLR", {"lr_lambda": [min, max]}, "`lr_lambda` has 2 values for 1 paramete"),
    ("MultiplicativeLR", {"lr_lambda": 2}, "Multiplicative.*`lr_lambda` is a int; it"),
    ("CosineAnnealingLR", {"T_max": -1}, "CosineAnnealingLR: `T_max` is -1"),
    ("CosineAnnealingWarmRestarts", {"T_0": 0}, "WarmRestarts: `T_0` is 0"),
    ("CosineAnnealingWarmRestarts", {"T_0": 1, "T_mult": 0.5}, "`T_mult` is 0.5"),
    ("OneCycleLR", {"max_lr": 1.0}, "OneCycleLR: `total_steps` is missing; give it"),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 0}, "`total_steps` is 0"),
    ("OneCycleLR", {"max_lr": [1, 2], "total_steps": 9}, "`max_lr` has 2 values for"),
    ("OneCycleLR", {"max_lr": 1, "total_steps": 9, "anneal_strategy": "up"}, "'cos' o"),
    ("OneCycleLR", {"max_lr": 1, "total_steps": 9, "pct_start": 3}, "`pct_start` is 3"),
    ("ReduceLROnPlateau", {"mode": "low"}, "`mode` is 'low'; it must be 'min' or 'max"),
    ("ReduceLROnPlateau", {"factor": 1.0}, "`factor` is 1.0; it must be a number bel"),
    ("ReduceLROnPlateau", {"threshold_mode": 1}, "`threshold_mode` is 1"),
    ("ReduceLROnPlateau", {"min_lr": [0.1, 0.2]}, "`min_lr` has 2 values for 1 param"),
]


@pytest.mark.parametrize(("name", "settings", "match"), SETTINGS)
def test_impossible_settings(name, settings, match):
    with pytest.raises((ArgumentError, DTypeError), match=match):
        getattr(lr_scheduler, name)(make(1.0), **settings)


def test_errors():
    with pytest.raises(DTypeError, match="StepLR: `optimizer` is a float"):
        lr_scheduler.StepLR(1.0, 2)
    adagrad = optim.Adagrad([ac.zeros(1)])
    with pytest.raises(ArgumentError, match="Adagrad has neither momentum nor betas"):
        lr_scheduler.OneCycleLR(adagrad, 1.0, total_steps=9)
    plateau = lr_scheduler.ReduceLROnPlateau(make(1.0))
    with pytest.raises(ArgumentError, match="`metrics` is 'good'; it must be a number"):
        plateau.step("good")
    restarts = lr_scheduler.CosineAnnealingWarmRestarts(make(1.0), 2)
    with pytest.raises(ArgumentError, match="`epoch` is -1; it must be a number"):
        restarts.step(-1)


def test_errors_of_combined_schedulers():
    sgd = make(1.0)
    step = lr_scheduler.StepLR(sgd, 2)
    with pytest.raises(ArgumentError, match="ChainedScheduler: `schedulers` is empty"):
        lr_scheduler.ChainedScheduler([])
    with pytest.raises(ArgumentError, match=r"`milestones` are \[2\] for 1 schedulers"):
        lr_scheduler.SequentialLR(sgd, [step], [2])
    with pytest.raises(ArgumentError, match=r"`schedulers\[0\]`, a StepLR, belongs to"):
        lr_scheduler.SequentialLR(make(1.0), [step], [])
    plateau = lr_scheduler.ReduceLROnPlateau(sgd)
    with pytest.raises(DTypeError, match=r"`schedulers\[0\]` is a ReduceLROnPlateau"):
        lr_scheduler.ChainedScheduler([plateau])


@pytest.mark.parametrize(
    ("settings", "factors"),
    [
        ({}, [1] * 13),
        ({"mode": "triangular2"}, [1] * 6 + [0.5] * 6 + [0.25]),
        ({"mode": "exp_range", "gamma": 0.9}, [0.9**i for i in range(13)]),
        ({"scale_fn": lambda x: 1 / x}, [1] * 6 + [1 / 2] * 6 + [1 / 3]),
    ],
)
def test_cyclic(settings, factors):
    sgd = ac.optim.SGD([ac.zeros(1)], lr=0.5, momentum=0.5)
    cycle = ac.optim.lr_scheduler.CyclicLR(
        sgd, 0.25, 1.25, step_size_up=2, step_size_down=4, **settings
    )
    parts = [0, 0.5, 1, 0.75, 0.5, 0.25] * 2 + [0]
    for part, factor in zip(parts, factors, strict=True):
        height = part * factor
        assert cycle.get_last_lr() == [pytest.approx(0.25 + height)]
        assert sgd.param_groups[0]["momentum"] == pytest.approx(0.9 - 0.1 * height)
        cycle.step()


def test_cyclic_goes_on_from_its_state():
    def make():
        adam = ac.optim.Adam([ac.zeros(1)], lr=0.5)
        return ac.optim.lr_scheduler.CyclicLR(adam, 0.1, 0.9, 3, mode="triangular2")

    one, other = make(), make()
    for _ in range(8):
        one.step()
    other.load_state_dict(one.state_dict())
    one.step(), other.step()
    assert one.get_last_lr() == other.get_last_lr()
    betas = [cycle.optimizer.param_groups[0]["betas"] for cycle in (one, other)]
    assert betas[0] == betas[1] != (0.9, 0.999)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"step_size_up": 0}, "`step_size_up` is 0; it must be an integer, 1 or more"),
        ({"step_size_down": 0}, "`step_size_down` is 0; it must be an integer"),
        ({"mode": "square"}, "`mode` is 'square'; it must be one of triangular, tri"),
        ({"scale_mode": "x"}, "`scale_mode` is 'x'; it must be 'cycle' or 'iter"),
        ({"base_momentum": [1, 2]}, "`base_momentum` has 2 values for 1 parameter g"),
        ({}, "Adagrad has neither momentum nor betas to cycle; pass cycle_momentum"),
    ],
)
def test_cyclic_refuses(settings, match):
    kind = ac.optim.SGD if settings else ac.optim.Adagrad
    with pytest.raises(ArgumentError, match=f"CyclicLR: {match}"):
        ac.optim.lr_scheduler.CyclicLR(kind([ac.zeros(1)], 0.1), 0.1, 1.0, **settings)


@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_swa(strategy):
    sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    swa = ac.optim.swa_utils.SWALR(sgd, 0.2, 4, strategy)
    for epoch in range(8):
        share = min(epoch / 4, 1)
        way = share if strategy == "linear" else (1 - math.cos(math.pi * share)) / 2
        assert swa.get_last_lr() == [pytest.approx(1 - 0.8 * way)]
        swa.step()


def test_swa_without_a_way():
    sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    assert ac.optim.swa_utils.SWALR(sgd, 0.2, 0).get_last_lr() == [0.2]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"swa_lr": "x"}, "`swa_lr` is 'x'; it must be a number"),
        ({"swa_lr": [1, 2]}, "`swa_lr` has 2 values for 1 parameter groups"),
        ({"swa_lr": 1, "anneal_epochs": -1}, "`anneal_epochs` is -1; it must be an in"),
        ({"swa_lr": 1, "anneal_strategy": "x"}, "`anneal_strategy` is 'x'; it must be"),
    ],
)
def test_swa_refuses(settings, match):
    with pytest.raises(ArgumentError, match=f"SWALR: {match}"):
        ac.optim.swa_utils.SWALR(ac.optim.SGD([ac.zeros(1)], 0.1), **settings)
