# SPDX-License-Identifier: MIT
"""Arithmetic that gives back its operand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.compile.passes import check

import autocalc as ac

PASS = "identities"
SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-42, 3.0]


@pytest.mark.parametrize("name", ["x * 1", "1 * x", "x / 1", "x - 0"])
def test_the_operand_itself_is_read(name: str) -> None:
    def make() -> Any:
        x = ac.tensor(SPECIAL)
        return lambda: ac.exp(eval(name, {"x": ac.copysign(x, x)})) + x

    without, with_it = check(make, PASS)
    assert len(with_it) == len(without) - 1


@pytest.mark.parametrize("name", ["x + 0", "1 / x", "0 - x", "x * 1.5", "x - 1"])
def test_what_is_not_exact_stays(name: str) -> None:
    def make() -> Any:
        x = ac.tensor(SPECIAL)
        return lambda: ac.exp(eval(name, {"x": ac.copysign(x, x)})) + x

    without, with_it = check(make, PASS)
    assert without == with_it


def test_the_gradient_of_a_loss_starts_with_no_product() -> None:
    def make() -> Any:
        x, target = ac.randn(8, 4, requires_grad=True), ac.arange(8) % 4

        def step() -> Any:
            x.grad = None
            loss = ac.nn.functional.cross_entropy(x, target)
            loss.backward()
            return loss, x.grad

        return step

    without, with_it = check(make, PASS)
    assert "mul" in without
    assert with_it == ["cross_entropy"]


def test_a_result_of_another_shape_stays() -> None:
    def make() -> Any:
        x = ac.randn(3)
        return lambda: x * ac.ones(2, 3)

    without, with_it = check(make, PASS)
    assert without == with_it == ["mul"]


def test_integers_plus_0_are_themselves() -> None:
    def make() -> Any:
        i = ac.arange(3)
        return lambda: (i + 0) * (i + 1)

    without, with_it = check(make, PASS)
    assert without == ["add", "add", "mul"]
    assert with_it == ["add", "mul"]
