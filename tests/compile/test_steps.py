# SPDX-License-Identifier: MIT
"""Compiled training steps leave what eager ones leave, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.compile.passes import Compiled

import autocalc as ac
from autocalc import nn, optim
from autocalc.nn import functional as F

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: optim.Adam(p, lr=1e-3),
    "adamw": lambda p: optim.AdamW(p, lr=1e-3, amsgrad=True),
    "rmsprop": lambda p: optim.RMSprop(p, lr=1e-3, momentum=0.5),
    "lion": lambda p: optim.Lion(p, lr=1e-3),
}


def perceptron(dropout: float = 0.0) -> nn.Module:
    ac.manual_seed(1)
    return nn.Sequential(
        nn.Linear(12, 16), nn.GELU(), nn.Dropout(dropout), nn.Linear(16, 4)
    )


def batches(count: int) -> list[tuple[ac.Tensor, ac.Tensor]]:
    g = ac.Generator().manual_seed(2)
    return [
        (ac.randn(8, 12, generator=g), ac.randint(0, 4, (8,), generator=g))
        for _ in range(count)
    ]


def trained(
    compiled: bool, make: Callable[[Any], Any], dropout: float = 0.0, steps: int = 8
) -> tuple[list[float], nn.Module]:
    model = perceptron(dropout)
    optimizer = make(model.parameters())

    def step(x: ac.Tensor, y: ac.Tensor) -> ac.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run: Any = Compiled(step) if compiled else step
    ac.manual_seed(3)
    losses = []
    for i, (x, y) in enumerate(batches(steps)):
        for group in optimizer.param_groups:
            group["lr"] *= 0.9 if i % 3 == 2 else 1
        losses.append(run(x, y).item())
    if compiled:
        assert len(run.programs) == 1
    return losses, model


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_eager_code(name: str) -> None:
    losses, model = trained(compiled=False, make=OPTIMIZERS[name])
    again, twin = trained(compiled=True, make=OPTIMIZERS[name])
    assert losses == again
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        assert p.tolist() == q.tolist()
        assert p.grad.tolist() == q.grad.tolist()


def test_dropout_draws_fresh_numbers_at_each_replay() -> None:
    losses, _ = trained(compiled=False, make=OPTIMIZERS["sgd"], dropout=0.5)
    again, _ = trained(compiled=True, make=OPTIMIZERS["sgd"], dropout=0.5)
    assert losses == again
