# SPDX-License-Identifier: MIT
"""Compiled functions under `autocast`: what they cast, and for which contexts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autocalc as ac

F = ac.nn.functional


def step(autocast: Callable[[], Any]) -> Callable[[], Any]:
    ac.manual_seed(1)
    x, labels = ac.randn(16, 8), ac.randint(0, 3, (16,))
    model = ac.nn.Sequential(
        ac.nn.Linear(8, 12), ac.nn.LayerNorm(12), ac.nn.GELU(), ac.nn.Linear(12, 3)
    )
    optimizer = ac.optim.AdamW(model.parameters(), lr=0.01)

    def run() -> Any:
        optimizer.zero_grad()
        with autocast():
            loss = F.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss

    return run


@pytest.mark.parametrize("dtype", [ac.bfloat16, ac.float16], ids=str)
def test_a_step_gives_the_losses_of_eager_code(dtype: Any) -> None:
    def autocast() -> Any:
        return ac.autocast("cpu", dtype=dtype)

    eager, compiled = step(autocast), ac.compile(step(autocast))
    expected = [eager().item() for _ in range(20)]
    assert [compiled().item() for _ in range(20)] == expected
    assert expected[-1] < expected[0]
    assert len(compiled.programs) == 1


def casts_of(keeps: bool) -> int:
    """Return how many casts a step has that uses one weight three times."""
    w, x = ac.randn(4, 4, requires_grad=True), ac.randn(4, 4)

    @ac.compile
    def run() -> Any:
        w.grad = None
        with ac.autocast("cpu", cache_enabled=keeps):
            y = x @ w @ w @ w
        y.float().sum().backward()
        return y.detach()

    for _ in range(3):
        run()
    return sum(i.name == "copy" for i in run.programs[0].instructions)


def test_a_weight_is_cast_once_in_a_step() -> None:
    assert casts_of(keeps=True) <= casts_of(keeps=False) - 2


def test_a_program_holds_for_its_context() -> None:
    layer, x = ac.nn.Linear(4, 3), ac.randn(2, 4)
    run = ac.compile(ac.no_grad()(lambda: layer(x)))
    for _ in range(2):
        for _ in range(4):
            assert run().dtype is ac.float32
        for dtype in (ac.bfloat16, ac.float16):
            with ac.autocast("cpu", dtype=dtype):
                for _ in range(4):
                    assert run().dtype is dtype
    assert len(run.programs) == 3


def test_a_weight_that_changes_is_cast_again() -> None:
    layer, x = ac.nn.Linear(4, 3), ac.randn(2, 4)
    run = ac.compile(ac.no_grad()(lambda: layer(x)))
    with ac.autocast("cpu"):
        for i in range(6):
            with ac.no_grad():
                layer.weight.mul_(0.5 + i)
                expected = layer(x)
            assert ac.equal(run(), expected)
    assert len(run.programs) == 1
