# SPDX-License-Identifier: MIT
"""Convolutions take the shortcut and the activation after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.compile.passes import check, names, needs_conv_activation, run
from tests.compile.random_programs import patches

import autocalc as ac
from autocalc import nn

F = nn.functional
PASS = "conv_epilogues"

#: Without it convolutions run as products, and their parts stay apart.
ACTIVATIONS = {
    "relu": F.relu,
    "hardtanh": F.relu6,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "hardswish": F.hardswish,
    "silu": F.silu,
}


def convolved(
    activation: str, shortcut: bool = False, last: bool = True, **options: Any
) -> Callable[[], Callable[[], Any]]:
    """Return what makes an inference: activation(conv(x) + shortcut)."""

    def make() -> Callable[[], Any]:
        conv = nn.Conv2d(16, 32, 1, **options)
        x, r = ac.randn(2, 16, 5, 6), ac.randn(2, 32, 5, 6)
        if last:
            x, r = (t.contiguous(memory_format=ac.channels_last) for t in (x, r))

        def answer() -> Any:
            with ac.no_grad():
                y = conv(x)
                return ACTIVATIONS[activation](y + r if shortcut else y)

        return answer

    return make


@needs_conv_activation
@pytest.mark.parametrize("shortcut", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_convolution_takes_what_follows(activation: str, shortcut: bool) -> None:
    without, with_it = check(convolved(activation, shortcut), PASS)
    assert without == ["conv", *["add"] * shortcut, activation]
    assert with_it == ["conv_activation"]


@needs_conv_activation
def test_groups_without_bias() -> None:
    _, with_it = check(convolved("hardtanh", groups=16, bias=False), PASS)
    assert with_it == ["conv_activation"]


@needs_conv_activation
@pytest.mark.parametrize("activation", ["none", "relu"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    "seen", [patches, lambda x: x.flatten(2), lambda x: x.permute(0, 2, 3, 1)]
)
def test_a_shortcut_in_another_shape(
    seen: Callable[[Any], Any], last: bool, activation: str
) -> None:
    """Positions are added to patches after these became rows."""

    def make() -> Callable[[], Any]:
        conv, x = nn.Conv2d(3, 8, 2, 2), ac.randn(1, 3, 8, 6)
        if last:
            x = x.contiguous(memory_format=ac.channels_last)
        places = ac.randn(*seen(conv(x)).shape)

        def answer() -> Any:
            with ac.no_grad():
                y = seen(conv(x)) + places
                return y if activation == "none" else F.relu(y)

        return answer

    check(make, PASS)


@needs_conv_activation
def test_positions_of_patches_are_added_by_the_convolution() -> None:
    def make() -> Callable[[], Any]:
        conv = nn.Conv2d(3, 8, 2, 2)
        x = ac.randn(1, 3, 8, 6).contiguous(memory_format=ac.channels_last)
        places = ac.randn(1, 12, 8)

        def answer() -> Any:
            with ac.no_grad():
                return F.relu(patches(conv(x)) + places)

        return answer

    _, with_it = check(make, PASS)
    assert with_it == ["conv_activation"]


@needs_conv_activation
def test_in_training_the_result_tells_the_gradient() -> None:
    def make() -> Callable[[], Any]:
        conv = nn.Conv2d(8, 16, 1)
        x = ac.randn(2, 8, 4, 4).contiguous(memory_format=ac.channels_last)

        def step() -> Any:
            conv.zero_grad()
            loss = F.relu(conv(x)).sum()
            loss.backward()
            return loss, conv.weight.grad, conv.bias.grad

        return step

    without, with_it = check(make, PASS)
    assert "relu" in without
    assert "relu" not in with_it
    assert "relu_backward" in with_it


def test_who_is_read_elsewhere_stays() -> None:
    def make() -> Callable[[], Any]:
        conv, x = nn.Conv2d(4, 8, 3), ac.randn(1, 4, 6, 6)

        def answer() -> Any:
            with ac.no_grad():
                y = conv(x)
                return F.relu(y), y.sum()

        return answer

    _, with_it = check(make, PASS)
    assert "relu" in with_it


def test_a_slope_below_zero_stays() -> None:
    def make() -> Callable[[], Any]:
        conv, x = nn.Conv2d(4, 8, 3), ac.randn(1, 4, 6, 6)

        def answer() -> Any:
            with ac.no_grad():
                return F.leaky_relu(conv(x), -0.5)

        return answer

    _, with_it = check(make, PASS)
    assert with_it[-1] == "leaky_relu"


@needs_conv_activation
def test_a_shortcut_that_is_the_result_itself() -> None:
    def make() -> Callable[[], Any]:
        conv, x = nn.Conv2d(4, 8, 3), ac.randn(1, 4, 6, 6)

        def answer() -> Any:
            with ac.no_grad():
                y = conv(x)
                return F.relu(y + y)

        return answer

    _, step = run(make)
    assert "add" in names(step)
