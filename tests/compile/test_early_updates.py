# SPDX-License-Identifier: MIT
"""Parameters are updated as soon as their gradients are complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compile.passes import Compiled, eager, early_updates, names, run, same
from tests.kernel_table import TABLE

import autocalc as ac
from autocalc import nn, optim
from autocalc.nn import functional as F

PASS = "early_updates"

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "nesterov": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.01),
    "adam": lambda p: optim.Adam(p, lr=0.01, weight_decay=0.1),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.01),
    "adadelta": lambda p: optim.Adadelta(p, lr=0.5),
    "lion": lambda p: optim.Lion(p, lr=0.01),
}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a part be of any size: the steps here are small."""
    monkeypatch.setattr(early_updates, "PART", 1)
    monkeypatch.setattr(early_updates, "KEPT", 1)


class Trainer:
    """A step of a perceptron, whose tensors it returns as well."""

    def __init__(self, make: Any = OPTIMIZERS["sgd"], layers: int = 3) -> None:
        parts = [nn.Sequential(nn.Linear(12, 12), nn.Tanh()) for _ in range(layers)]
        self.model = nn.Sequential(*parts)
        self.optimizer = make(list(self.model.parameters()))
        self.x, self.labels = ac.randn(7, 12), ac.randint(0, 12, (7,))

    def backward(self) -> Any:
        loss = F.cross_entropy(self.model(self.x), self.labels)
        loss.backward()
        return loss.detach()

    def seen(self) -> list[Any]:
        parameters = [p.detach().clone() for p in self.model.parameters()]
        return [*parameters, *(p.grad for p in self.model.parameters())]

    def __call__(self) -> list[Any]:
        self.optimizer.zero_grad()
        loss = self.backward()
        self.optimizer.step()
        return [loss, *self.seen()]


def both(make: Any, **words: Any) -> tuple[list[str], list[str]]:
    """Return the kernels without the pass and with it, after bits were compared."""
    others = ("accumulate", "epilogues", "norm_epilogues", "shared_gradients")
    want = eager(make)
    without, first = run(make, off=(*others, PASS), **words)
    with_it, second = run(make, off=others, **words)
    same(want, without)
    same(want, with_it)
    return names(first), names(second)


def updates(kernels: list[str]) -> list[int]:
    """Return the places of the optimizer's calls."""
    return [i for i, k in enumerate(kernels) if early_updates.is_update(TABLE.get(k))]


def last_backward(kernels: list[str]) -> int:
    return max(i for i, k in enumerate(kernels) if k == "linear_backward")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_has_the_same_bits(optimizer: str) -> None:
    without, with_it = both(lambda: Trainer(OPTIMIZERS[optimizer]))
    assert len(updates(without)) == 1
    assert len(updates(with_it)) == 3  # a layer's weight and bias are complete together
    assert updates(with_it)[0] < last_backward(with_it)
    assert updates(with_it)[0] > with_it.index("linear_backward")


def test_the_host_fills_cells_before_the_first_part() -> None:
    _, with_it = both(lambda: Trainer(OPTIMIZERS["adamw"]))
    first = updates(with_it)[0]
    assert with_it[first - 2 : first] == ["host", "host"]
    assert with_it.count("host") == 2


def test_a_rate_that_changes_is_seen_by_all_parts() -> None:
    def made(compiled: bool) -> list[Any]:
        ac.manual_seed(0)
        trainer = Trainer(OPTIMIZERS["momentum"])
        step: Any = Compiled(trainer) if compiled else trainer
        schedule = optim.lr_scheduler.StepLR(trainer.optimizer, 2, gamma=0.5)
        for _ in range(8):
            result = step()
            schedule.step()
        return [np.array(x.numpy()) for x in result]

    for a, b in zip(made(True), made(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_few_bytes_stay_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_updates, "PART", 1 << 20)
    without, with_it = both(Trainer)
    assert with_it == without


def test_few_gradients_that_stay_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_updates, "KEPT", 1 << 20)
    without, with_it = both(Trainer)
    assert with_it == without


def test_a_part_has_at_least_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    one_layer = (12 * 12 + 12) * 4
    monkeypatch.setattr(early_updates, "PART", one_layer + 1)
    _, with_it = both(lambda: Trainer(layers=5))
    assert len(updates(with_it)) == 2  # of two layers and of three


def test_clipping_of_all_gradients_comes_first() -> None:
    class Clipped(Trainer):
        def backward(self) -> Any:
            loss = super().backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 0.01)
            return loss

    without, with_it = both(Clipped)
    assert with_it == without


def test_a_norm_that_is_only_read_may_come_later() -> None:
    class Looked(Trainer):
        def backward(self) -> Any:
            loss = super().backward()
            return loss + sum(p.grad.sum() for p in self.model.parameters())

    _, with_it = both(Looked)
    assert len(updates(with_it)) == 3
    assert updates(with_it)[0] < last_backward(with_it)


def test_parameters_that_are_read_after_backward_wait() -> None:
    class Decayed(Trainer):
        def backward(self) -> Any:
            loss = super().backward()
            return loss + sum(p.detach().sum() for p in self.model[-1].parameters())

    _, with_it = both(Decayed)
    sums = [i for i, k in enumerate(with_it) if k == "sum"]
    assert updates(with_it)[1] < sums[0]
    assert updates(with_it)[-1] > sums[-1]


def test_shared_weights_wait_for_both_uses() -> None:
    class Tied(Trainer):
        def __init__(self) -> None:
            super().__init__()
            self.model[0][0].weight = self.model[2][0].weight
            self.optimizer = optim.SGD(list(self.model.parameters()), lr=0.1)

    _, with_it = both(Tied)
    assert len(updates(with_it)) == 4  # the bias next to it does not wait
    assert updates(with_it)[-1] > last_backward(with_it)


def test_python_may_look_at_parameters() -> None:
    noted: list[Any] = []

    class Watched(Trainer):
        def backward(self) -> Any:
            loss = super().backward()
            weight = self.model[2][0].weight
            ac.callback(lambda _: noted.append(np.array(weight.detach())), loss)
            return loss

    without, with_it = both(Watched)
    assert updates(with_it)[0] > with_it.index("callback")
    for i in range(5):
        assert np.array_equal(noted[i], noted[5 + i])
        assert np.array_equal(noted[i], noted[10 + i])
    assert len(without) <= len(with_it)


def test_after_a_refused_index_parameters_are_as_they_were() -> None:
    class Picking(Trainer):
        def __init__(self) -> None:
            super().__init__()
            self.index = ac.tensor([0, 3])

        def backward(self) -> Any:
            loss = super().backward()
            return loss + self.x.detach().index_select(0, self.index).sum()

    trainer = Picking()
    step = Compiled(trainer)
    for _ in range(4):
        step()
    before = [np.array(p.detach()) for p in trainer.model.parameters()]
    trainer.index.fill_(100)
    with pytest.raises(IndexError, match="index"):
        step()
    for p, value in zip(trainer.model.parameters(), before, strict=True):
        assert np.array_equal(p.detach(), value)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_division_by_integers_may_be_refused(name: str) -> None:
    a, b = ac.tensor([7, 5]), ac.tensor([2, 3])
    step = Compiled(lambda: getattr(ac, name)(a, b))
    for _ in range(3):
        step()
    (instruction,) = step.programs[0].instructions
    assert early_updates.may_refuse(instruction)


def test_groups_and_optimizers_take_turns() -> None:
    class Two(Trainer):
        def __init__(self) -> None:
            super().__init__()
            a, b, c = (list(part.parameters()) for part in self.model)
            groups = [{"params": a, "lr": 0.2}, {"params": b}]
            self.optimizer = optim.AdamW(groups, lr=0.01)
            self.other = optim.SGD(c, lr=0.1, momentum=0.9)

        def __call__(self) -> list[Any]:
            self.other.zero_grad()
            result = super().__call__()
            self.other.step()
            return [*result, *self.seen()]

    without, with_it = both(Two)
    assert len(updates(without)) == 3
    assert len(updates(with_it)) == 4  # a copy of a weight comes before its bias
    assert updates(with_it)[0] < last_backward(with_it)


def test_two_steps_of_one_optimizer_count_twice() -> None:
    class Twice(Trainer):
        def __call__(self) -> list[Any]:
            return [*super().__call__(), *super().__call__()]

    _, with_it = both(lambda: Twice(OPTIMIZERS["adamw"]))
    assert len(updates(with_it)) == 6
    assert with_it.count("host") == 4


def test_gradients_that_nobody_keeps_take_less_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Forgetful(Trainer):
        def __init__(self) -> None:
            layers = [nn.Sequential(nn.Linear(64, 64), nn.Tanh()) for _ in range(6)]
            self.model = nn.Sequential(*layers)
            self.optimizer = optim.SGD(self.model.parameters(), lr=0.1)
            self.x, self.labels = ac.randn(4, 64), ac.randint(0, 64, (4,))

        def __call__(self) -> list[Any]:
            loss = self.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            return [loss, *(p.detach().clone() for p in self.model.parameters())]

    monkeypatch.setattr(early_updates, "KEPT", 1 << 30)
    want = eager(Forgetful)
    exact = ("accumulate", "epilogues")
    late, first = run(Forgetful, off=(*exact, PASS))
    early, second = run(Forgetful, off=exact)
    same(want, late)
    same(want, early)
    before, now = first.programs[0].memory.peak, second.programs[0].memory.peak
    assert now < 0.5 * before


def test_the_kernels_of_optimizers_are_known() -> None:
    found = {name for name, spec in TABLE.items() if early_updates.is_update(spec)}
    assert found == {
        *("adadelta", "adagrad", "adamw", "amsgrad", "lion", "rmsprop", "sgd")
    }
