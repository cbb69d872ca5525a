# SPDX-License-Identifier: MIT
"""Gradients in the arena: less memory, and what is referenced is not written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compile.passes import Compiled, eager, names, run, same

import autocalc as ac
from autocalc import nn, optim
from autocalc.nn import functional as F

PASS = "shared_gradients"


class Trainer:
    """A step of a perceptron whose weights and activations are of a size."""

    def __init__(self, *, keep: bool = False) -> None:
        layers = [nn.Sequential(nn.Linear(40, 40), nn.ReLU()) for _ in range(4)]
        self.model = nn.Sequential(*layers)
        self.sgd = optim.SGD(self.model.parameters(), lr=0.1)
        self.keep = keep

    def __call__(self, x: Any, labels: Any) -> Any:
        if not self.keep:
            self.sgd.zero_grad()
        loss = F.cross_entropy(self.model(x), labels)
        loss.backward()
        self.sgd.step()
        return loss

    @property
    def grads(self) -> list[Any]:
        return [p.grad for p in self.model.parameters()]


def batch(seed: int, rows: int = 50) -> tuple[Any, Any]:
    g = ac.Generator().manual_seed(seed)
    return ac.randn(rows, 40, generator=g), ac.randint(0, 40, (rows,), generator=g)


def ready(**words: Any) -> tuple[Trainer, Any]:
    """Return a trainer and its compiled step, which has a program."""
    ac.manual_seed(0)
    trainer = Trainer(**words)
    step = Compiled(trainer)
    for i in range(4):
        step(*batch(i))
    return trainer, step


def memory(step: Any) -> Any:
    (program,) = step.programs
    return program.memory


def test_it_takes_less_memory_and_gives_the_same() -> None:
    def make() -> Callable[[], Any]:
        trainer, given = Trainer(), batch(0)

        def step() -> Any:
            loss = trainer(*given)
            return loss, *(p.detach().clone() for p in trainer.model.parameters())

        return step

    want = eager(make)
    apart, first = run(make, off=(PASS,))
    together, second = run(make, off=())
    same(want, apart, exact=False)
    same(apart, together)
    assert names(first)
    before = memory(first).peak + memory(first).results
    now = memory(second).peak + memory(second).results
    assert now < 0.85 * before


def test_gradients_are_those_of_eager_code() -> None:
    ac.manual_seed(0)
    twin = Trainer()
    for i in range(4):
        twin(*batch(i))
    trainer, step = ready()
    for i in range(4, 8):
        assert np.isclose(step(*batch(i)).item(), twin(*batch(i)).item(), rtol=1e-5)
        for a, b in zip(trainer.grads, twin.grads, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("hold", [lambda g: g, lambda g: g.detach().numpy()])
def test_what_somebody_holds_is_not_written(hold: Callable[[Any], Any]) -> None:
    trainer, step = ready()
    held, copies = [], []
    for i in range(4, 8):
        step(*batch(i))
        held.append([hold(g) for g in trainer.grads])
        copies.append([np.array(g.numpy()) for g in trainer.grads])
    for a, b in zip(held, copies, strict=True):
        for x, y in zip(a, b, strict=True):
            assert np.array_equal(np.asarray(x), y)


def test_memory_is_used_again_when_nobody_holds_it() -> None:
    trainer, step = ready()
    step(*batch(4))
    places = set()
    for i in range(5, 9):
        step(*batch(i))
        places.add(trainer.grads[0]._array.ctypes.data)
    assert len(places) == 1


def test_gradients_that_are_added_to_stay_where_they_are() -> None:
    trainer, step = ready(keep=True)
    twin, _ = ready(keep=True)
    for i in range(4, 7):
        step(*batch(i))
        twin(*batch(i))
    (program,) = step.programs[-1:]
    assert not program.program.shared
    for a, b in zip(trainer.grads, twin.grads, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)


def test_a_returned_gradient_has_memory_of_its_own() -> None:
    def make() -> Any:
        w, x = ac.randn(30, 30, requires_grad=True), ac.randn(30, 30)

        def step() -> Any:
            w.grad = None
            (x @ w).tanh().sum().backward()
            return w.grad, w.grad * 2.0

        return step

    have, step = run(make)
    same(eager(make), have)
    assert not step.programs[0].program.shared


def test_two_programs_take_turns() -> None:
    trainer, step = ready()
    ac.manual_seed(0)
    twin = Trainer()
    for i in range(4):
        twin(*batch(i))
    for i in range(4, 16):
        rows = 50 if i % 2 else 20
        assert np.isclose(
            step(*batch(i, rows)).item(), twin(*batch(i, rows)).item(), rtol=1e-4
        )
        if i % 5 == 0:
            trainer(*batch(i))
            twin(*batch(i))
    assert len(step.programs) == 2
    for a, b in zip(trainer.grads, twin.grads, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-5)


def test_after_an_error_there_are_no_gradients() -> None:
    trainer, step = ready()
    before = [np.array(p.detach().numpy()) for p in trainer.model.parameters()]
    x, labels = batch(9)
    with pytest.raises(IndexError, match="target"):
        step(x, labels + 100)
    assert trainer.grads == [None] * len(before)
    for p, value in zip(trainer.model.parameters(), before, strict=True):
        assert np.array_equal(p.detach().numpy(), value)
    step(x, labels)
    assert all(g is not None for g in trainer.grads)


def test_they_stand_in_the_table() -> None:
    _, step = ready()
    lines = memory(step).table().splitlines()
    assert sum(line.startswith("r") for line in lines) == 8
    assert memory(step).results == 4  # the loss alone


def test_a_callback_sees_the_gradients_of_the_last_step() -> None:
    ac.manual_seed(0)
    trainer, seen = Trainer(), []
    weight = trainer.model[0][0].weight

    def look(loss: Any) -> None:
        grad = weight.grad
        seen.append(None if grad is None else np.array(grad.numpy()))

    def step(x: Any, labels: Any) -> Any:
        loss = F.cross_entropy(trainer.model(x), labels)
        ac.callback(look, loss.detach())
        trainer.sgd.zero_grad()
        loss.backward()
        trainer.sgd.step()
        return loss

    run, grads = Compiled(step), []
    for i in range(6):
        run(*batch(i))
        grads.append(np.array(weight.grad.numpy()))
    assert not run.programs[0].program.shared
    for old, found in zip(grads, seen[1:], strict=False):
        assert np.array_equal(old, found)
