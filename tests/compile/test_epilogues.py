# SPDX-License-Identifier: MIT
"""Biases and activations run in the product before them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.compile.passes import check, run

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F

PASS = "epilogues"
ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("training", [False, True])
def test_an_activation_runs_in_the_layer_before_it(name: str, training: bool) -> None:
    activation = ACTIVATIONS[name]

    def make() -> Any:
        one, two = nn.Linear(5, 20), nn.Linear(20, 3)
        x = ac.randn(2, 6, 5)
        parameters = [*one.parameters(), *two.parameters()]

        def step() -> Any:
            for p in parameters:
                p.grad = None
            with ac.set_grad_enabled(training):
                out = two(activation(one(x)))
            if not training:
                return out
            out.square().sum().backward()
            return [out, *(p.grad for p in parameters)]

        return step

    without, with_it = check(make, PASS, exact=False)
    assert len(with_it) == len(without) - 1 - (training and name == "relu")
    _, step = run(make)
    first = step.programs[0].instructions[0]
    assert first.attributes == (name,)
    assert first.fused == ("linear", name.split("_", maxsplit=1)[0])
    assert (first.outputs[1] is not None) == (training and name != "relu")


@pytest.mark.parametrize("shared", [False, True])
def test_the_layer_behind_a_relu_masks_its_gradient(shared: bool) -> None:
    def make() -> Any:
        layer, a = nn.Linear(20, 3), ac.randn(2, 6, 20, requires_grad=True)
        parameters = [a, *layer.parameters()]

        def step() -> Any:
            for p in parameters:
                p.grad = None
            x = F.relu(a)
            out = layer(x).square().sum() + (x.sum() if shared else 0)
            out.backward()
            return [out, *(p.grad for p in parameters)]

        return step

    without, with_it = check(make, PASS, exact=False)
    assert {"linear_backward", "relu_backward"} <= {*without}
    if shared:  # the gradient of x is a sum
        assert with_it == without
    else:
        assert "linear_relu_backward" in with_it
        assert len(with_it) == len(without) - 1


def test_a_row_that_is_added_is_a_bias() -> None:
    def make() -> Any:
        a, b, c = ac.randn(6, 5), ac.randn(5, 7), ac.randn(7)
        return lambda: (F.relu(a @ b + c), c + a[1:] @ b)

    without, with_it = check(make, PASS, exact=False)
    assert without == ["gemm", "add", "relu", "gemm", "add"]
    assert with_it == ["gemm", "gemm"]


def test_other_additions_stay() -> None:
    def make() -> Any:
        a, b = ac.randn(7, 5), ac.randn(5, 7)
        column, whole = ac.randn(7, 1), ac.randn(7, 7)
        return lambda: (a @ b + column, a @ b + whole, a @ b + 1.0)

    without, with_it = check(make, PASS, alone=True)
    assert without == with_it


def test_a_product_that_others_read_is_kept() -> None:
    def make() -> Any:
        layer, x = nn.Linear(5, 7), ac.randn(6, 5)

        @ac.no_grad()
        def step() -> Any:
            y = layer(x)
            return F.relu(y).sum() + y.sum()

        return step

    without, with_it = check(make, PASS, exact=False)
    assert "relu" in without
    assert "relu" not in with_it


def test_a_bias_that_is_made_after_the_product_is_waited_for() -> None:
    def make() -> Any:
        a, b, c = ac.randn(6, 5), ac.randn(5, 7), ac.randn(7)

        def step() -> Any:
            product = a @ b
            c.mul_(0.5)
            return product + c

        return step

    _, with_it = check(make, PASS, exact=False)
    assert with_it == ["mul", "gemm"]


def test_a_product_before_its_operand_changes_is_not_moved() -> None:
    def make() -> Any:
        a, b, c = ac.randn(6, 5), ac.randn(5, 7), ac.randn(7)

        def step() -> Any:
            product = a @ b
            a.mul_(0.5)
            c.copy_(a.sum() * c)
            return product + c

        return step

    without, with_it = check(make, PASS, exact=False)
    assert without == with_it


def test_a_row_that_is_added_to_itself_is_no_bias() -> None:
    def make() -> Any:
        a, b = ac.randn(1, 5), ac.randn(5, 7)

        def step() -> Any:
            product = a @ b
            return product + product

        return step

    without, with_it = check(make, PASS, alone=True)
    assert without == with_it == ["gemm", "add"]


def test_a_product_of_vectors_takes_no_bias() -> None:
    v, x = ac.ones(3) * 2, ac.tensor([1.0, 2.0, 3.0])
    step = ac.compile(lambda a: a @ v + a)
    for _ in range(3):
        assert step(x).tolist() == [13.0, 14.0, 15.0]
    assert step.programs
