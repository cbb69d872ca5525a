# SPDX-License-Identifier: MIT
"""Every optimizer and scheduler in a compiled step: the losses of eager code."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import CompileError, CompileWarning
from autocalc.nn import functional as F
from autocalc.optim import lr_scheduler, swa_utils

STEPS = 50
ADAM = {"weight_decay": 0.1}
#: Options besides the defaults, one dict for each way to make an optimizer; `lr` is
#: 0.01 where it is not given.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "ASGD": [{"weight_decay": 0.1, "t0": 5}, {"maximize": True, "lambd": 0.1}],
    "Adadelta": [{"weight_decay": 0.1, "lr": 1.0}, {"maximize": True}],
    "Adafactor": [{"weight_decay": 0.1, "d": 2.0}, {"maximize": True}],
    "Adagrad": [{"lr_decay": 0.1, "initial_accumulator_value": 0.5}],
    "Adam": [ADAM, {"amsgrad": True}, {"maximize": True}, {"foreach": True}],
    "AdamW": [ADAM, {"amsgrad": True, "fused": True}],
    "Adamax": [ADAM, {"maximize": True}],
    "Lion": [ADAM],
    "Muon": [{"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw"}],
    "NAdam": [ADAM, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [ADAM, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RMSprop": [{"momentum": 0.5, "centered": True}, {"weight_decay": 0.1}],
    "Rprop": [{"etas": (0.4, 1.3)}],
    "SGD": [
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"momentum": 0.5, "dampening": 0.2},
    ],
    "ZeroRedundancyOptimizer": [{"optimizer_class": optim.Adam}],
}
#: They decide by values, which no recording holds.
DECIDE = {"LBFGS", "ReduceLROnPlateau"}
#: It takes sparse gradients only, and no recording holds one.
SPARSE = {"SparseAdam"}
#: Bases that compute no step.
BASES = {"Optimizer", "LRScheduler"}


def classes(module: Any) -> list[str]:
    """Return the names of all public classes but the bases."""
    found = (name for name in module.__all__ if isinstance(getattr(module, name), type))
    return sorted(set(found) - BASES)


OPTIMIZERS = [
    (name, options)
    for name in classes(optim)
    if name not in DECIDE | SPARSE
    for options in [
        *([{}] if name != "ZeroRedundancyOptimizer" else []),
        *OPTIONS.get(name, []),
    ]
]
Make = Callable[[Any], Any]
SCHEDULERS: dict[str, Make] = {
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.LinearLR(o), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o, 0.5, total_iters=9),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=12),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(
        o, T_0=7, T_mult=2
    ),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, step_size_up=5),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
    "LinearLR": lambda o: lr_scheduler.LinearLR(o, total_iters=20),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [4, 9, 20]),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, lambda _: 0.95),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=60),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o, total_iters=30),
    "SWALR": lambda o: swa_utils.SWALR(o, 0.05, anneal_epochs=10),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o), lr_scheduler.ExponentialLR(o, 0.9)], [10]
    ),
    "StepLR": lambda o: lr_scheduler.StepLR(o, 7, gamma=0.5),
}
#: Where the scheduler's step is.
PLACES = ["outside", "after the optimizer", "before the optimizer"]


def losses(
    make: Make,
    schedule: Make | None = None,
    place: str = "outside",
    *,
    arguments: Callable[[Any], tuple[Any, ...]] = lambda _: (),
    compiled: bool,
    **words: Any,
) -> tuple[list[float], int]:
    """Return the losses of a training, the last rate and the number of programs."""
    ac.manual_seed(1)
    model = nn.Sequential(
        nn.Linear(6, 8, bias=False), nn.Tanh(), nn.Linear(8, 3, bias=False)
    )
    optimizer = make(model.parameters())
    scheduler = None if schedule is None else schedule(optimizer)

    def step(x: ac.Tensor, y: ac.Tensor) -> ac.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if scheduler is not None and place == "before the optimizer":
            scheduler.step(*arguments(loss))
        optimizer.step()
        if scheduler is not None and place == "after the optimizer":
            scheduler.step(*arguments(loss))
        return loss

    run: Any = ac.compile(step, exact=True, **words) if compiled else step
    g = ac.Generator().manual_seed(2)
    found = []
    for _ in range(STEPS):
        x, y = ac.randn(8, 6, generator=g), ac.randint(0, 3, (8,), generator=g)
        found.append(run(x, y).item())
        if scheduler is not None and place == "outside":
            scheduler.step()
    found.append(float(optimizer.param_groups[0]["lr"]))
    return found, len(run.programs) if compiled else 1


def assert_as_eager(*what: Any) -> None:
    found, programs = losses(*what, compiled=True)
    assert found == losses(*what, compiled=False)[0]
    assert programs == 1
    assert len(set(found)) > STEPS // 2, "it trains"


def maker(name: str, options: dict[str, Any]) -> Make:
    return lambda params: getattr(optim, name)(params, **{"lr": 0.01, **options})


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
def test_every_optimizer(name: str, options: dict[str, Any]) -> None:
    assert_as_eager(maker(name, options), SCHEDULERS["StepLR"])


def test_all_schedulers_are_tried() -> None:
    names = {*classes(lr_scheduler), "SWALR"}
    assert {*SCHEDULERS} == names - DECIDE


def test_a_sparse_gradient_is_refused() -> None:
    words = nn.Embedding(5, 2, sparse=True)
    optimizer = optim.SparseAdam(words.parameters())

    def step(index: ac.Tensor) -> None:
        words(index).square().sum().backward()
        optimizer.step()

    match = r"a sparse gradient: .* Make the layer with sparse=False\. It is read"
    with pytest.raises(CompileError, match=match):
        ac.compile(step)(ac.tensor([1, 2]))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SCHEDULERS)
def test_every_scheduler(name: str, place: str) -> None:
    assert_as_eager(maker("SGD", {"momentum": 0.9}), SCHEDULERS[name], place)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "name", ["Adam", "AdamW", "Adamax", "Lion", "Muon", "NAdam", "RAdam", "RMSprop"]
)
def test_momenta_that_are_cycled(name: str, place: str) -> None:
    assert_as_eager(maker(name, {}), SCHEDULERS["OneCycleLR"], place)


@pytest.mark.parametrize("name", ["SGD", "Adam", "NAdam", "Adafactor", "Muon", "Rprop"])
def test_a_rate_that_is_a_tensor(name: str) -> None:
    def make(params: Any) -> Any:
        return getattr(optim, name)(params, lr=ac.tensor(0.01))

    for place in PLACES:
        assert_as_eager(make, SCHEDULERS["ExponentialLR"], place)


def test_settings_that_are_set_between_calls() -> None:
    def run(compiled: bool) -> list[float]:
        w = ac.ones(3, requires_grad=True)
        adam = optim.Adam([w], lr=0.1)

        def step() -> ac.Tensor:
            adam.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            adam.step()
            return loss

        call = ac.compile(step) if compiled else step
        found = []
        for i in range(30):
            adam.param_groups[0]["weight_decay"] = 0.01 * (i // 7)
            adam.param_groups[0]["betas"] = (0.9 - 0.01 * (i // 5), 0.99)
            found.append(call().item())
        return found

    assert run(compiled=True) == run(compiled=False)


def test_a_momentum_that_becomes_zero() -> None:
    def run(compiled: bool) -> list[float]:
        w = ac.ones(3, requires_grad=True)
        sgd = optim.SGD([w], lr=0.1, momentum=0.9)

        def step() -> ac.Tensor:
            sgd.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            sgd.step()
            return loss

        call = ac.compile(step) if compiled else step
        found = []
        for i in range(24):
            sgd.param_groups[0]["momentum"] = 0.0 if i % 12 > 5 else 0.9 - 0.01 * i
            found.append(call().item())
        return found

    assert run(compiled=True) == run(compiled=False)


# ---- what decides by values ----------------------------------------------------------


def plateau(compiled: bool, **words: Any) -> list[float]:
    return losses(
        maker("SGD", {}),
        lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=2),
        "after the optimizer",
        arguments=lambda loss: (loss,),
        compiled=compiled,
        **words,
    )[0]


def lbfgs(compiled: bool, **words: Any) -> list[float]:
    w = ac.tensor([4.0, -1.0], requires_grad=True)
    optimizer = optim.LBFGS([w], lr=0.5, max_iter=2)

    def closure() -> ac.Tensor:
        optimizer.zero_grad()
        loss = (w**4).sum()
        loss.backward()
        return loss

    def step() -> Any:
        return optimizer.step(closure)

    run = ac.compile(step, **words) if compiled else step
    return [run().item() for _ in range(8)]


@pytest.mark.parametrize(
    ("run", "name"), [(plateau, "ReduceLROnPlateau"), (lbfgs, "LBFGS")]
)
def test_what_decides_by_values_is_refused_by_name(run: Any, name: str) -> None:
    match = (
        rf"{name}\.step: the value of a tensor is read while .* Call it outside of the "
        r"compiled function, or run the function eagerly: ac.compile\(step, "
        r"fallback=True\)\. It is read .*"
        rf"{__name__.rpartition('.')[2]}\.py:\d+, in step"
    )
    with pytest.raises(CompileError, match=match):
        run(compiled=True)


@pytest.mark.parametrize("run", [plateau, lbfgs])
def test_what_decides_by_values_runs_eagerly_with_one_warning(run: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run(compiled=True, fallback=True)
    assert [w.category for w in caught] == [CompileWarning]
    assert "It runs eagerly." in str(caught[0].message)
    assert found == run(compiled=False)


def test_a_place_in_a_cycle_is_refused_inside() -> None:
    with pytest.raises(CompileError, match=r"step\(epoch\).* Leave `epoch` out\."):
        losses(
            maker("SGD", {}),
            SCHEDULERS["CosineAnnealingWarmRestarts"],
            "after the optimizer",
            arguments=lambda _: (3,),
            compiled=True,
        )


@pytest.mark.parametrize(
    "words",
    [
        {"master_weights": True},
        {"stochastic_rounding": True},
        {"master_weights": True, "stochastic_rounding": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", sorted({name for name, _ in OPTIMIZERS}))
def test_halves_that_are_updated_in_float32(name: str, words: dict[str, Any]) -> None:
    """Writes between the steps, seen or not, are part of what follows."""

    def training(compiled: bool) -> list[float]:
        ac.manual_seed(1)
        model = nn.Sequential(nn.Linear(6, 8, bias=False), nn.Linear(8, 3, bias=False))
        model.bfloat16()
        optimizer = maker(name, {**OPTIONS.get(name, [{}])[0], **words})(
            model.parameters()
        )

        def step(x: ac.Tensor) -> ac.Tensor:
            optimizer.zero_grad()
            loss = model(x).float().square().mean()
            loss.backward()
            optimizer.step()
            return loss

        run: Any = ac.compile(step, exact=True) if compiled else step
        g = ac.Generator().manual_seed(2)
        found = []
        for i in range(12):
            found.append(run(ac.randn(8, 6, generator=g).bfloat16()).item())
            if i == 4:
                with ac.no_grad():
                    model[0].weight[0].fill_(0.5)
            if i == 8:
                model[1].weight.data[0].fill_(0.5)
        assert not compiled or len(run.programs) == 1
        return found

    found = training(compiled=True)
    assert found == training(compiled=False)
    assert len(set(found)) == len(found)


def test_a_sparse_gradient_of_another_model_is_no_hindrance() -> None:
    words = nn.Embedding(5, 2, sparse=True)
    words(ac.tensor([1])).sum().backward()
    w = ac.tensor([2.0], requires_grad=True)

    @ac.compile
    def step(x: ac.Tensor) -> ac.Tensor:
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss

    for n in range(5):
        assert step(ac.tensor([float(n)])).item() == 2 * n
        assert w.grad is not None
        assert w.grad.tolist() == [n]
    assert len(step.programs) == 1
    assert words.weight.grad is not None
    assert words.weight.grad.is_sparse
