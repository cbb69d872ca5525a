# SPDX-License-Identifier: MIT
"""Learning rates that are tensors: read at each step, written by schedulers."""

from __future__ import annotations

import copy

import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError

KINDS = ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "NAdam", "RAdam",
         "Adamax", "Rprop", "ASGD", "LBFGS", "Adafactor", "Muon", "Lion"]  # fmt: skip

SCHEDULERS = {
    "StepLR": lambda s, o: s.StepLR(o, 1, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [1, 3], 0.5),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.5, 2),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.5, 1.0, 3),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.5),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda n: 1 / (n + 1)),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda n: 0.75),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 3),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 3),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.8, 5),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.125, 0.75, 2, cycle_momentum=False),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)], [2]
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)], o
    ),
}


def trained(m, kind, lr, steps=3):
    """Return the weights after some steps."""
    w = m.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    optimizer = getattr(m.optim, kind)([w], lr=lr)

    def closure():
        optimizer.zero_grad()
        loss = (w * w + 1).sqrt().sum()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return w.detach()


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_is_as_good_as_its_number(kind):
    number = trained(ac, kind, 0.125)
    assert ac.equal(trained(ac, kind, ac.tensor(0.125)), number)
    assert ac.equal(trained(ac, kind, ac.tensor([0.125], dtype=ac.float64)), number)
    assert not ac.equal(trained(ac, kind, ac.tensor(0.25)), number)


def test_a_rate_that_is_written_holds_from_the_next_step_on():
    w = ac.ones(1, requires_grad=True)
    lr = ac.tensor(0.5)
    sgd = optim.SGD([w], lr=lr)
    assert sgd.param_groups[0]["lr"] is lr
    for rate, left in ((0.5, 0.5), (0.25, 0.25), (0.125, 0.125)):
        lr.fill_(rate)
        w.grad = ac.ones(1)
        sgd.step()
        assert w.item() == left
    sgd.param_groups[0]["lr"] = ac.tensor(0.125)
    sgd.step()
    assert w.item() == 0.0


@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedulers_write_into_the_tensor(name):
    def rates(lr):
        sgd = optim.SGD([ac.ones(1, requires_grad=True)], lr=lr)
        scheduler = SCHEDULERS[name](optim.lr_scheduler, sgd)
        found = []
        for _ in range(5):
            (group,) = sgd.param_groups
            assert float(group["lr"]) == scheduler.get_last_lr()[0]
            assert isinstance(scheduler.get_last_lr()[0], float)
            found.append(float(group["lr"]))
            scheduler.step()
        return found, sgd.param_groups[0]["lr"]

    tensor = ac.tensor(0.5, dtype=ac.float64)
    found, held = rates(tensor)
    assert held is tensor
    assert found == pytest.approx(rates(0.5)[0], rel=1e-12)


def test_a_plateau_lowers_the_tensor():
    lr = ac.tensor(1.0)
    sgd = optim.SGD([ac.ones(1, requires_grad=True)], lr=lr)
    plateau = optim.lr_scheduler.ReduceLROnPlateau(sgd, factor=0.5, patience=0)
    for loss in (1.0, 1.0, 1.0):
        plateau.step(loss)
    assert lr.item() == 0.25


def test_states_and_copies_have_a_tensor_of_their_own():
    w = ac.ones(1, requires_grad=True)
    old = optim.SGD([w], lr=ac.tensor(0.5))
    new = optim.SGD([w], lr=0.1)
    new.load_state_dict(old.state_dict())
    (group,) = new.param_groups
    assert group["lr"].item() == 0.5
    old.param_groups[0]["lr"].zero_()
    assert group["lr"].item() == 0.5
    copied = copy.deepcopy(new)
    group["lr"].zero_()
    assert copied.param_groups[0]["lr"].item() == 0.5


@pytest.mark.parametrize(
    "lr", [ac.tensor([0.1, 0.2]), ac.tensor(-1.0), ac.tensor(ac.nan), ac.zeros(0)]
)
@pytest.mark.parametrize("kind", ["SGD", "Adam", "LBFGS", "Rprop"])
def test_what_is_refused(kind, lr):
    w = ac.ones(1, requires_grad=True)
    text = f"{kind}: `lr` is tensor.*; it must be a tensor of one number, 0 or more"
    with pytest.raises(ArgumentError, match=text):
        getattr(optim, kind)([w], lr=lr)
    good = getattr(optim, kind)([w], lr=0.5)
    if kind != "LBFGS":  # which has one group
        with pytest.raises(ArgumentError, match=text):
            good.add_param_group({"params": [ac.ones(1)], "lr": lr})
    assert len(good.param_groups) == 1


@pytest.mark.torch
@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("Lion", "Muon")])
def test_steps_are_those_of_pytorch(kind):
    torch = pytest.importorskip("torch")
    steps = 1 if kind == "LBFGS" else 3  # of which each has twenty of its own
    mine, theirs = (trained(m, kind, m.tensor(0.125), steps) for m in (ac, torch))
    assert mine.flatten().tolist() == pytest.approx(
        theirs.flatten().tolist(), rel=1e-4, abs=1e-5
    )


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedules_are_those_of_pytorch(name):
    torch = pytest.importorskip("torch")

    def rates(m):
        lr = m.tensor(0.5, dtype=m.float64)
        sgd = m.optim.SGD([m.ones(1, requires_grad=True)], lr=lr)
        scheduler = SCHEDULERS[name](m.optim.lr_scheduler, sgd)
        found = []
        for _ in range(5):
            found.append(float(sgd.param_groups[0]["lr"]))
            sgd.step()
            scheduler.step()
        return found

    assert rates(ac) == pytest.approx(rates(torch), rel=1e-6)
