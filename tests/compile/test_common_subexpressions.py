# SPDX-License-Identifier: MIT
"""The same call of the same values runs once."""

from __future__ import annotations

from typing import Any

from tests.compile.passes import APART, check, names, run

import autocalc as ac
from autocalc.utils.checkpoint import checkpoint

PASS = "common_subexpressions"


def test_the_same_call_runs_once() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)
        return lambda: ac.exp(x) * ac.exp(x) + ac.tanh(ac.exp(x))

    without, with_it = check(make, PASS)
    assert without.count("exp") == 3
    assert with_it.count("exp") == 1


def test_what_follows_from_it_runs_once_as_well() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)
        return lambda: (ac.tanh(ac.exp(x)).sum(), ac.tanh(ac.exp(x)).mean())

    _, with_it = check(make, PASS)
    assert with_it == ["exp", "tanh", "sum", "mean"]


def test_a_write_between_keeps_both() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)

        def step() -> Any:
            first = ac.exp(x)
            x.mul_(0.5)
            return first.sum() + ac.exp(x).sum()

        return step

    without, with_it = check(make, PASS)
    assert without == with_it
    assert with_it.count("exp") == 2


def test_a_copy_that_is_written_stays_its_own() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)

        def step() -> Any:
            first, second = ac.exp(x), ac.exp(x)
            first[0] = 7.0
            return first.sum(), second.sum()

        return step

    _, with_it = check(make, PASS)
    assert with_it.count("exp") == 2


def test_other_attributes_and_draws_are_other_values() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)
        drop = ac.nn.functional.dropout

        def step() -> Any:
            sums = x.sum(0), x.sum(1), ac.nan_to_num(x, 0.0), ac.nan_to_num(x, -0.0)
            return (*sums, drop(x, 0.5), drop(x, 0.5))

        return step

    without, with_it = check(make, PASS)
    assert without == with_it


def test_a_checkpoint_still_saves_memory() -> None:
    def make() -> Any:
        weights = [ac.randn(64, 64, requires_grad=True) for _ in range(6)]
        x = ac.randn(256, 64)

        def block(y: ac.Tensor, w: ac.Tensor) -> ac.Tensor:
            for _ in range(4):
                y = ac.tanh(y @ w)
            return y

        def step() -> Any:
            y = x
            for w in weights:
                w.grad = None
                y = checkpoint(block, y, w)
            y.sum().backward()
            return y.sum(), weights[0].grad

        return step

    _, step = run(make)
    _, without = run(make, off=(PASS, *APART))
    assert names(step).count("tanh") == names(without).count("tanh") > 24
    check(make, PASS)
