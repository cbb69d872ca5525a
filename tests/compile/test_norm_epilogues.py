# SPDX-License-Identifier: MIT
"""Shortcuts and activations run in the batch norm before them, both ways."""

from __future__ import annotations

from typing import Any

import pytest
from tests.compile.passes import check

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F

PASS = "norm_epilogues"
ACTIVATIONS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "leaky_relu": F.leaky_relu,
    "hardswish": F.hardswish,
    "silu": F.silu,
}


def block(activation: Any, shortcut: str, training: bool) -> Any:
    """Return a step of two norms, of which the second may have a shortcut."""

    def make() -> Any:
        first, second, conv = nn.BatchNorm2d(4), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 1)
        modules = nn.ModuleList([first, second, conv]).train(training)
        for norm in (first, second):
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)
        x = ac.randn(3, 4, 5, 5, requires_grad=True)
        parameters = [*modules.parameters(), x]

        def step() -> Any:
            for p in parameters:
                p.grad = None
            with ac.set_grad_enabled(training):
                y = conv(activation(first(x)))
                z = second(y)
                if shortcut == "before":
                    z = x * 0.5 + z
                elif shortcut == "after":
                    z = z + (y.sum(1, keepdim=True) * ac.ones(4, 1, 1))
                z = activation(z)
            if not training:
                return z
            z.square().sum().backward()
            return [z.detach().sum(), first.running_var, *(p.grad for p in parameters)]

        return step

    return make


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("shortcut", ["none", "before", "after"])
def test_training(name: str, shortcut: str) -> None:
    make = block(ACTIVATIONS[name], shortcut, training=True)
    without, with_it = check(make, PASS, exact=False)
    gone = 4 + (shortcut != "none")
    assert len(with_it) == len(without) - gone
    assert with_it.count("batch_norm_activation") == 2
    assert with_it.count("batch_norm_activation_backward") == 2


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("shortcut", ["none", "before", "after"])
def test_inference(name: str, shortcut: str) -> None:
    make = block(ACTIVATIONS[name], shortcut, training=False)
    without, with_it = check(make, PASS, exact=False)
    assert len(with_it) == len(without) - 2 - (shortcut != "none")


def test_in_place_as_well() -> None:
    make = block(lambda x: F.relu(x, inplace=True), "before", training=True)
    without, with_it = check(make, PASS, exact=False)
    assert without.count("relu") == 2
    assert with_it.count("relu") == 0


def test_what_others_read_stays() -> None:
    def make() -> Any:
        norm, x = nn.BatchNorm1d(4), ac.randn(6, 4)

        @ac.no_grad()
        def step() -> Any:
            y = norm(x)
            return F.relu(y), F.silu(y + 1.0), y.sum()

        return step

    without, with_it = check(make, PASS)
    assert without == with_it


def test_a_gradient_told_by_what_is_gone_keeps_both_ways() -> None:
    def make() -> Any:
        norm, x = nn.BatchNorm1d(4), ac.randn(6, 4, requires_grad=True)

        def step() -> Any:
            x.grad = None
            y = norm(x)
            y.retain_grad()
            F.silu(y).square().sum().backward()
            return x.grad, y.grad.sum()

        return step

    check(make, PASS, exact=False)


def test_a_negative_slope_is_not_told_by_the_result() -> None:
    make = block(lambda x: F.leaky_relu(x, -0.5), "none", training=True)
    without, with_it = check(make, PASS)
    assert without == with_it
