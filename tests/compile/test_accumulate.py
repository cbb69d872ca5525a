# SPDX-License-Identifier: MIT
"""What is added to a total is added by the kernel that computes it."""

from __future__ import annotations

from typing import Any

from tests.compile.passes import check

import autocalc as ac
from autocalc import nn

PASS = "accumulate"


def test_two_branches_meet_in_one_gradient() -> None:
    def make() -> Any:
        first = nn.Conv2d(3, 8, 3, padding=1)
        one, two = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 1)
        x = ac.randn(2, 3, 9, 9)
        parameters = [p for m in (first, one, two) for p in m.parameters()]

        def step() -> Any:
            for p in parameters:
                p.grad = None
            y = first(x)
            (one(y).sum() + two(y).square().sum()).backward()
            return [p.grad for p in parameters]

        return step

    without, with_it = check(make, PASS, exact=False)
    assert without.count("add") == with_it.count("add") + 1


def test_a_gradient_is_added_into() -> None:
    def make() -> Any:
        layer = nn.Linear(5, 4)
        x = ac.randn(6, 5)

        def step() -> Any:
            layer(x).square().sum().backward()
            return layer.weight.grad, layer.bias.grad

        return step

    without, with_it = check(make, PASS, exact=False)
    assert without.count("add") == with_it.count("add") + 2


def test_a_total_that_is_read_in_between_is_added_to_later() -> None:
    def make() -> Any:
        a, b, total = ac.randn(4, 4), ac.randn(4, 4), ac.ones(4, 4)

        def step() -> Any:
            product = a @ b
            before = total.sum()
            total.add_(product)
            return before, total.sum()

        return step

    without, with_it = check(make, PASS, exact=False)
    assert without.count("add") == 1
    assert with_it.count("add") == 0
    assert with_it[:2] == ["sum", "gemm"]


def test_an_operand_that_changes_keeps_the_addition() -> None:
    def make() -> Any:
        a, b, total = ac.randn(4, 4), ac.randn(4, 4), ac.ones(4, 4)

        def step() -> Any:
            product = a @ b
            before = total.sum()
            a.mul_(0.5)
            total.add_(product)
            return before, product.sum(), total.sum()

        return step

    without, with_it = check(make, PASS, exact=False)
    assert without == with_it


def test_zeros_are_not_added_to() -> None:
    def make() -> Any:
        x = ac.randn(4, 5, requires_grad=True)

        def step() -> Any:
            x.grad = None
            (x.exp()[1:3].tanh().sum() + x.exp()[0].sum()).backward()
            return x.grad

        return step

    without, with_it = check(make, PASS, exact=False)
    assert without.count("add") > with_it.count("add")
