# SPDX-License-Identifier: MIT
"""A training that is resumed goes on with the rates of one that was not interrupted."""

from __future__ import annotations

import copy
import json

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError
from autocalc.optim import lr_scheduler
from autocalc.optim.lr_scheduler import (
    ChainedScheduler,
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    OneCycleLR,
    PolynomialLR,
    ReduceLROnPlateau,
    SequentialLR,
    StepLR,
)
from autocalc.optim.swa_utils import SWALR

pytestmark = pytest.mark.core


class Halved(LRScheduler):
    def get_lr(self):
        return [lr / 2**self.last_epoch for lr in self.base_lrs]


def falling(epoch):
    return 1 / (1 + epoch)


def in_order(optimizer, parts=None, **number):
    given = parts or {}
    schedulers = [
        LinearLR(optimizer, 0.1, total_iters=5, **given),
        ChainedScheduler(
            [ConstantLR(optimizer, 0.5, 2, **given), Halved(optimizer, **given)]
        ),
        CosineAnnealingWarmRestarts(optimizer, 2, 2, **given),
    ]
    return SequentialLR(optimizer, schedulers, [3, 8], **number)


#: Each makes a scheduler of an optimizer, given `last_epoch` where it takes one.
CASES = {
    "LRScheduler": [Halved],
    "_LRScheduler": [Halved],
    "StepLR": [lambda o, **n: StepLR(o, 3, 0.5, **n), lambda o, **n: StepLR(o, 1, **n)],
    "MultiStepLR": [lambda o, **n: MultiStepLR(o, [0, 1, 4, 4, 9, 20], 0.5, **n)],
    "ExponentialLR": [lambda o, **n: ExponentialLR(o, 0.9, **n)],
    "LinearLR": [
        lambda o, **n: LinearLR(o, 0.1, total_iters=6, **n),
        lambda o, **n: LinearLR(o, 1.0, 0.0, 7, **n),
    ],
    "ConstantLR": [
        lambda o, **n: ConstantLR(o, 0.1, 4, **n),
        lambda o, **n: ConstantLR(o, 0.5, 1, **n),
    ],
    "PolynomialLR": [lambda o, **n: PolynomialLR(o, 9, 2.0, **n)],
    "LambdaLR": [lambda o, **n: LambdaLR(o, falling, **n)],
    "MultiplicativeLR": [lambda o, **n: MultiplicativeLR(o, falling, **n)],
    "CosineAnnealingLR": [lambda o, **n: CosineAnnealingLR(o, 5, 0.01, **n)],
    "CosineAnnealingWarmRestarts": [
        lambda o, **n: CosineAnnealingWarmRestarts(o, 3, 2, 0.01, **n),
        lambda o, **n: CosineAnnealingWarmRestarts(o, 4, **n),
    ],
    "OneCycleLR": [
        lambda o, **n: OneCycleLR(o, 0.9, 40, **n),
        lambda o, **n: OneCycleLR(o, 0.9, 30, three_phase=True, **n),
    ],
    "CyclicLR": [
        lambda o, **n: CyclicLR(o, 0.1, 0.9, 4, mode="triangular2", **n),
        lambda o, **n: CyclicLR(o, 0.1, 0.9, 3, scale_fn=falling, **n),
    ],
    "ReduceLROnPlateau": [],  # it takes no `last_epoch`
    "SWALR": [
        lambda o, **n: SWALR(o, 0.05, 6, **n),
        lambda o, **n: SWALR(o, 0.05, 5, "linear", **n),
        lambda o, **n: SWALR(o, 0.05, 0, **n),
    ],
    "ChainedScheduler": [
        lambda o, **n: ChainedScheduler(
            [ConstantLR(o, 0.1, 4, **n), ExponentialLR(o, 0.9, **n)]
        ),
        lambda o, **n: ChainedScheduler(
            [LambdaLR(o, falling, **n), StepLR(o, 3, **n), ExponentialLR(o, 0.9, **n)]
        ),
        lambda o, **n: ChainedScheduler(
            [ExponentialLR(o, 0.9, **n), CosineAnnealingWarmRestarts(o, 3, 2, **n)]
        ),
        lambda o, **n: ChainedScheduler([in_order(o, **n), StepLR(o, 2, 0.5, **n)]),
        lambda o, **n: ChainedScheduler(
            [ChainedScheduler([StepLR(o, 2, **n), StepLR(o, 3, **n)]), Halved(o, **n)]
        ),
    ],
    "SequentialLR": [
        in_order,
        lambda o, **n: in_order(o, **n, parts=n),
        lambda o, **n: SequentialLR(
            o, [in_order(o), *every_part(o)], [12, 13, 14, 15, 16, 17, 18, 19, 22], **n
        ),
        lambda o, **n: SequentialLR(
            o, every_part(o)[::-1], [2, 4, 5, 9, 12, 14, 17, 19], **n
        ),
        lambda o, **n: SequentialLR(o, [Halved(o), Halved(o)], [0], **n),
    ],
}


def every_part(optimizer):
    """Return one of each kind that a sequence can begin in the middle."""
    return [
        CosineAnnealingLR(optimizer, 4),
        CyclicLR(optimizer, 0.1, 0.9, 2, mode="exp_range", gamma=0.9),
        MultiplicativeLR(optimizer, falling),
        MultiStepLR(optimizer, [1, 2]),
        PolynomialLR(optimizer, 6),
        SWALR(optimizer, 0.2, 3),
        LambdaLR(optimizer, falling),
        StepLR(optimizer, 2),
        SequentialLR(
            optimizer, [Halved(optimizer), ExponentialLR(optimizer, 0.9)], [2]
        ),
    ]


def make(kind="SGD"):
    groups = [{"params": [ac.zeros(1)], "lr": lr} for lr in (0.5, 0.125)]
    more = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(ac.optim, kind)(groups, **more)


def now(optimizer):
    """Return what schedulers move."""
    return [
        (g["lr"], g.get("momentum"), g.get("betas")) for g in optimizer.param_groups
    ]


def follow(scheduler, epochs, figures=None):
    found = []
    for epoch in range(epochs):
        found.append(now(scheduler.optimizer))
        scheduler.step(*([] if figures is None else [figures[epoch]]))
    return found


BUILDS = [(name, i) for name, builds in CASES.items() for i in range(len(builds))]


def test_every_scheduler_has_a_case():
    public = {*lr_scheduler.__all__, "SWALR"}
    assert public <= CASES.keys()
    assert all(CASES[name] for name in public - {"ReduceLROnPlateau"})


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "i"), BUILDS)
def test_by_last_epoch(name, i, kind):
    build = CASES[name][i]
    optimizer = make(kind)
    scheduler, saved = build(optimizer), []
    for _ in range(21):
        scheduler.step()
        saved.append(copy.deepcopy(optimizer.state_dict()))
    whole = follow(build(make(kind)), 28)
    for epoch in range(21):
        resumed = make(kind)
        resumed.load_state_dict(saved[epoch])
        scheduler = build(resumed, last_epoch=epoch)
        assert scheduler.last_epoch == epoch + 1
        assert follow(scheduler, 27 - epoch) == whole[epoch + 1 :]


@pytest.mark.parametrize("order", ["optimizer first", "scheduler first", "JSON"])
@pytest.mark.parametrize(("name", "i"), BUILDS)
def test_by_load_state_dict(name, i, order):
    build = CASES[name][i]
    whole, scheduler = follow(build(make()), 28), build(make())
    for epoch in range(21):
        states = [scheduler.state_dict(), scheduler.optimizer.state_dict()]
        text = order == "JSON"
        states = json.loads(json.dumps(states)) if text else copy.deepcopy(states)
        optimizer = make()
        if order != "scheduler first":
            optimizer.load_state_dict(states[1])
        resumed = build(optimizer)
        resumed.load_state_dict(states[0])
        if order == "scheduler first":
            optimizer.load_state_dict(states[1])
        if text:  # which has no tuples
            assert [g[:2] for g in now(optimizer)] == [g[:2] for g in whole[epoch]]
        assert follow(resumed, 28 - epoch) == whole[epoch:]
        scheduler.step()


def test_a_plateau_by_load_state_dict():
    figures = [5, 4, 4, 4, 3, 3.5, 3.4, 3.3, 3.2, 9, 8, 7, 1, 1, 1]

    def build(optimizer):
        return ReduceLROnPlateau(optimizer, patience=1, cooldown=1, factor=0.5)

    whole, scheduler = follow(build(make()), 15, figures), build(make())
    assert whole[0] != whole[-1]
    for epoch in range(15):
        resumed = build(make())
        resumed.load_state_dict(copy.deepcopy(scheduler.state_dict()))
        assert follow(resumed, 15 - epoch, figures[epoch:]) == whole[epoch:]
        scheduler.step(figures[epoch])


def test_rates_changed_by_others_are_kept():
    optimizer = make()
    build = CASES["ChainedScheduler"][0]
    scheduler = build(optimizer)
    follow(scheduler, 3)
    optimizer.param_groups[0]["lr"] *= 0.5
    resumed = make()
    resumed.load_state_dict(optimizer.state_dict())
    assert follow(build(resumed, last_epoch=2), 9) == follow(scheduler, 9)


def test_absolute_schedules_need_no_saved_rate():
    for build in (Halved, CASES["LambdaLR"][0], CASES["SequentialLR"][0]):
        whole, optimizer = follow(build(make()), 9), make()
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
        assert follow(build(optimizer, last_epoch=3), 5) == whole[4:]


def test_tensors_as_rates():
    def tensors():
        return ac.optim.SGD([ac.zeros(1)], lr=ac.tensor(1.0))

    scheduler = StepLR(tensors(), 2, 0.5)
    follow(scheduler, 2)
    resumed = tensors()
    rate = resumed.param_groups[0]["lr"]
    other = StepLR(resumed, 2, 0.5)
    other.load_state_dict(scheduler.state_dict())
    assert resumed.param_groups[0]["lr"] is rate
    assert rate.item() == 0.5


def test_a_cycle_of_an_optimizer_that_another_scheduler_had_begins_at_its_own_rate():
    optimizer = make()
    StepLR(optimizer, 3)
    assert CyclicLR(optimizer, 0.1, 0.9, 3).get_last_lr() == [0.1, 0.1]


def test_what_does_not_fit_is_refused():
    with pytest.raises(
        ArgumentError, match=r"StepLR: `last_epoch` is -2; it must be an"
    ):
        StepLR(make(), 3, last_epoch=-2)
    with pytest.raises(
        ArgumentError, match=r"`last_epoch` is 1.5; it must be an integer"
    ):
        SequentialLR(optimizer := make(), [Halved(optimizer)], [], last_epoch=1.5)
    scheduler = StepLR(ac.optim.SGD([ac.zeros(1)], 0.1), 3)
    match = r"\.load_state_dict: the state has 2 learning rates, but the optimizer has"
    with pytest.raises(ArgumentError, match=match):
        scheduler.load_state_dict(StepLR(make(), 3).state_dict())
