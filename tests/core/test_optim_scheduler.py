# SPDX-License-Identifier: MIT
"""Schedulers of the learning rate."""

from __future__ import annotations

import math

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError
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


def test_an_epoch_to_begin_with_needs_the_first_rate():
    sgd = make(1.0)
    with pytest.raises(ArgumentError, match="StepLR: `last_epoch`=2 continues a"):
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
    with pytest.raises(ArgumentError, match="OneCycleLR: step 4 of 3: the cycle"):
        cycle.step()


def test_a_plateau_is_told_of_new_groups():
    sgd = make(1.0)
    plateau = lr_scheduler.ReduceLROnPlateau(sgd, patience=0, min_lr=[0.0])
    plateau.step(ac.tensor(1.0))
    sgd.add_param_group({"params": [ac.zeros(1)], "lr": 1.0})
    with pytest.raises(
        ArgumentError, match="number of param groups in the optimizer is 2"
    ):
        plateau.step(1.0)
    plateau.min_lrs.append(0.5)
    plateau.step(1.0)
    assert plateau.get_last_lr() == [0.1, 0.5]


def test_one_lowest_rate_of_a_plateau_applies_to_new_groups():
    sgd = make(1.0)
    plateau = lr_scheduler.ReduceLROnPlateau(sgd, patience=0, min_lr=ac.tensor(0.25))
    plateau.step(1.0)
    sgd.add_param_group({"params": [ac.zeros(1)], "lr": 0.75})
    plateau.step(1.0)
    assert plateau.get_last_lr() == [0.25, 0.25]


class Sign(optim.Optimizer):
    """An optimizer of a user, with a step of its own."""

    def __init__(self, params):
        super().__init__(params, {"lr": 1.0})

    def step(self):
        for p in self.param_groups[0]["params"]:
            p.data -= 1.0


def lbfgs_step(optimizer):
    optimizer.step(lambda: ac.zeros(()))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("make_one", "step"),
    [
        (lambda p: optim.SGD(p, lr=1.0), optim.SGD.step),
        (optim.Adam, optim.Adam.step),
        (optim.LBFGS, lbfgs_step),
        (Sign, Sign.step),
    ],
)
def test_an_epoch_should_end_after_a_step_of_the_optimizer(make_one, step):
    optimizer = make_one([ac.zeros(1)])
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="StepLR.step: the optimizer has not changed"):
        scheduler.step()
    scheduler.step()  # it warns once
    optimizer = make_one([ac.zeros(1, requires_grad=True)])
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    step(optimizer)  # without gradients it changes no parameter
    scheduler.step()


@pytest.mark.filterwarnings("error")
def test_a_resumed_training_begins_with_a_step_of_the_optimizer():
    sgd = make(1.0)
    scheduler = lr_scheduler.StepLR(sgd, 2)
    sgd.step()
    scheduler.step()
    other = lr_scheduler.StepLR(make(1.0), 2)
    other.load_state_dict(scheduler.state_dict())
    other.step()  # the epoch of the state had its step
    sgd = make(1.0)
    sgd.param_groups[0]["initial_lr"] = 1.0
    resumed = lr_scheduler.StepLR(sgd, 2, last_epoch=0)
    with pytest.warns(UserWarning, match="StepLR.step: the optimizer has not changed"):
        resumed.step()


def test_settings_of_schedulers_are_read_from_tensors_once():
    rate, momentum = ac.tensor(0.5), ac.tensor(0.75)
    sgd = optim.SGD([ac.zeros(1)], lr=1.0, momentum=0.5)
    cycle = lr_scheduler.CyclicLR(sgd, 0.25, rate, 2, max_momentum=momentum)
    one = lr_scheduler.OneCycleLR(
        optim.SGD([ac.zeros(1)], lr=1.0, momentum=0.5), rate, 4, max_momentum=momentum
    )
    swa = optim.swa_utils.SWALR(make(1.0), rate)
    rate.fill_(9.0)
    momentum.fill_(9.0)
    assert cycle.max_lrs == [swa.optimizer.param_groups[0]["swa_lr"]] == [0.5]
    groups = cycle.optimizer.param_groups[0], one.optimizer.param_groups[0]
    assert [g["max_momentum"] for g in groups] == [0.75, 0.75]
    assert [g["base_momentum"] for g in groups] == [0.8, 0.85]
    assert groups[1]["max_lr"] == 0.5


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


test_what_is_refused = refusals(
    r"""
    lr_scheduler.StepLR(make(1.0), step_size=0) -> ArgumentError: StepLR: `step_size` is
        0; it must be an integer, 1
    lr_scheduler.StepLR(make(1.0), step_size=2, gamma='a') -> ArgumentError: StepLR:
        `gamma` is 'a'; it must be a
    lr_scheduler.MultiStepLR(make(1.0), milestones=[1.5]) -> ArgumentError: MultiStepLR:
        `milestones` is \[1.5\]
    lr_scheduler.ExponentialLR(make(1.0), gamma=None) -> ArgumentError: ExponentialLR:
        `gamma` is None
    lr_scheduler.LinearLR(make(1.0), start_factor=0) -> ArgumentError: `start_factor` is
        0; it must be above 0: what
    lr_scheduler.LinearLR(make(1.0), end_factor=2) -> ArgumentError: LinearLR:
        `end_factor` is 2; it must be a numbe
    lr_scheduler.LinearLR(make(1.0), total_iters=0) -> ArgumentError: LinearLR:
        `total_iters` is 0
    lr_scheduler.ConstantLR(make(1.0), factor=0.0) -> ArgumentError: `factor` is 0.0; it
        must be above 0: it is div
    lr_scheduler.PolynomialLR(make(1.0), total_iters=0) -> ArgumentError: PolynomialLR:
        `total_iters` is 0
    lr_scheduler.LambdaLR(make(1.0), lr_lambda=[min, max]) -> ArgumentError: lr_lambda
        must have one value for each of the 1 paramete
    lr_scheduler.MultiplicativeLR(make(1.0), lr_lambda=2) -> DTypeError:
        Multiplicative.*`lr_lambda` is a int; it
    lr_scheduler.CosineAnnealingLR(make(1.0), T_max=-1) -> ArgumentError:
        CosineAnnealingLR: `T_max` is -1
    lr_scheduler.CosineAnnealingWarmRestarts(make(1.0), T_0=0) -> ArgumentError:
        WarmRestarts: `T_0` is 0
    lr_scheduler.CosineAnnealingWarmRestarts(make(1.0), T_0=1, T_mult=0.5) ->
        ArgumentError: `T_mult` is 0.5
    lr_scheduler.OneCycleLR(make(1.0), max_lr=1.0) -> ArgumentError: OneCycleLR:
        `total_steps` is missing; give it
    lr_scheduler.OneCycleLR(make(1.0), max_lr=1.0, total_steps=0) -> ArgumentError:
        `total_steps` is 0
    lr_scheduler.OneCycleLR(make(1.0), max_lr=[1, 2], total_steps=9) -> ArgumentError:
        max_lr must have one value for .* has 2
    lr_scheduler.OneCycleLR(make(1.0), max_lr=1, total_steps=9, anneal_strategy='up') ->
        ArgumentError: 'cos' o
    lr_scheduler.OneCycleLR(make(1.0), max_lr=1, total_steps=9, pct_start=3) ->
        ArgumentError: `pct_start` is 3
    lr_scheduler.ReduceLROnPlateau(make(1.0), mode='low') -> ArgumentError: `mode` is
        'low'; it must be 'min' or 'max
    lr_scheduler.ReduceLROnPlateau(make(1.0), factor=1.0) -> ArgumentError: `factor` is
        1.0; it must be a number bel
    lr_scheduler.ReduceLROnPlateau(make(1.0), threshold_mode=1) -> ArgumentError:
        `threshold_mode` is 1
    lr_scheduler.ReduceLROnPlateau(make(1.0), min_lr=[0.1, 0.2]) -> ArgumentError:
        min_lr must have one value for .* has 2
    lr_scheduler.CyclicLR(make(0.1), 0.1, 1.0, step_size_up=0) -> ArgumentError:
        CyclicLR: `step_size_up` is 0; it must be an integer, 1 or more
    lr_scheduler.CyclicLR(make(0.1), 0.1, 1.0, step_size_down=0) -> ArgumentError:
        CyclicLR: `step_size_down` is 0; it must be an integer
    lr_scheduler.CyclicLR(make(0.1), 0.1, 1.0, mode='square') -> ArgumentError:
        CyclicLR: `mode` is 'square'; it must be one of triangular, tri
    lr_scheduler.CyclicLR(make(0.1), 0.1, 1.0, scale_mode='x') -> ArgumentError:
        CyclicLR: `scale_mode` is 'x'; it must be 'cycle' or 'iter
    lr_scheduler.CyclicLR(make(0.1), 0.1, 1.0, base_momentum=[1, 2]) -> ArgumentError:
        CyclicLR: base_momentum must have one value for .* has 2
    lr_scheduler.CyclicLR(optim.Adagrad([ac.zeros(1)]), 0.1, 1.0) -> ArgumentError:
        CyclicLR: Adagrad has neither momentum nor betas that could be cycled;
    optim.swa_utils.SWALR(make(0.1), swa_lr='x') -> ArgumentError: SWALR: `swa_lr` is
        'x'; it must be a number
    optim.swa_utils.SWALR(make(0.1), swa_lr=[1, 2]) -> ArgumentError: SWALR: swa_lr must
        have one value for each of the 1 parameter groups
    optim.swa_utils.SWALR(make(0.1), swa_lr=1, anneal_epochs=-1) -> ArgumentError:
        SWALR: anneal_epochs must be an integer, 0 or more, not -1
    optim.swa_utils.SWALR(make(0.1), swa_lr=1, anneal_strategy='x') -> ArgumentError:
        SWALR: anneal_strategy must be 'cos' or 'linear', not 'x'
    lr_scheduler.StepLR(1.0, 2) -> DTypeError: StepLR: `optimizer` is a float
    lr_scheduler.OneCycleLR(optim.Adagrad([ac.zeros(1)]), 1.0, total_steps=9) ->
        ArgumentError: Adagrad has neither momentum nor betas
    lr_scheduler.ReduceLROnPlateau(make(1.0)).step('good') -> ArgumentError: `metrics`
        is 'good'; it must be a number
    lr_scheduler.CosineAnnealingWarmRestarts(make(1.0), 2).step(-1) -> ArgumentError:
        `epoch` is -1; it must be a number
    lr_scheduler.ChainedScheduler([]) -> ArgumentError: ChainedScheduler: `schedulers`
        is empty
    lr_scheduler.SequentialLR(s := make(1.0), [lr_scheduler.StepLR(s, 2)], [2]) ->
        ArgumentError: `milestones` are \[2\] for 1 schedulers
    lr_scheduler.SequentialLR(make(1.0), [lr_scheduler.StepLR(make(1.0), 2)], []) ->
        ArgumentError: `schedulers\[0\]`, a StepLR, belongs to
    lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(make(1.0))]) ->
        DTypeError: `schedulers\[0\]` is a ReduceLROnPlateau
    """,
    globals(),
)


@pytest.mark.parametrize(
    "kind",
    [
        lambda o: lr_scheduler.StepLR(o, 2),
        lambda o: lr_scheduler.ExponentialLR(o, 0.9),
        lambda o: lr_scheduler.CosineAnnealingLR(o, 10),
        lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.95**epoch),
    ],
)
def test_a_step_to_a_later_epoch(kind):
    far, near = kind(make(1.0)), kind(make(1.0))
    with pytest.warns(UserWarning, match="`epoch` is deprecated") as seen:
        far.step(5)
    assert lr_scheduler.EPOCH_DEPRECATION_WARNING in [str(w.message) for w in seen]
    for _ in range(5):
        near.step()
    assert far.get_last_lr() == near.get_last_lr()
    assert far.last_epoch == 5
    with pytest.warns(UserWarning, match="`epoch` is deprecated"):
        far.step(5)
    assert far.get_last_lr() == near.get_last_lr()
    for epoch in (4, 5.5):
        with (
            pytest.raises(ArgumentError, match=r"`epoch` is .*an integer, 5 or more"),
            pytest.warns(UserWarning, match="`epoch` is deprecated"),
        ):
            far.step(epoch)
