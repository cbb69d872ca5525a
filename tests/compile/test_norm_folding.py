# SPDX-License-Identifier: MIT
"""Batch norms by running statistics become part of the products before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.compile.passes import (
    REORDERING,
    check,
    eager,
    names,
    needs_conv_activation,
    run,
    same,
    values,
)

import autocalc as ac
from autocalc import nn

PASS = "norm_folding"

ACTIVATIONS = {
    "none": None,
    "relu": nn.ReLU(),
    "relu6": nn.ReLU6(),
    "leaky_relu": nn.LeakyReLU(0.1),
    "hardswish": nn.Hardswish(),
    "silu": nn.SiLU(),
}


def drawn(norm: Any) -> Any:
    """Give a norm parameters that are not 0 and 1."""
    for tensor in (norm.running_mean, norm.weight, norm.bias):
        if tensor is not None:
            tensor.data.uniform_(-1, 1)
    norm.running_var.uniform_(1, 2)
    return norm


def answering(model: Any, *shape: int) -> Callable[[], Any]:
    model.eval()
    x = ac.randn(*shape)
    return lambda: ac.no_grad()(model)(x)


def convolved(activation: str, **options: Any) -> Callable[[], Callable[[], Any]]:
    """Return what makes a convolution of more weights than elements, and its norm."""

    def make() -> Callable[[], Any]:
        layers = [nn.Conv2d(8, 24, 1, **options), drawn(nn.BatchNorm2d(24))]
        if ACTIVATIONS[activation] is not None:
            layers.append(ACTIVATIONS[activation])
        return answering(nn.Sequential(*layers), 1, 8, 3, 3)

    return make


def rows() -> Callable[[], Any]:
    norm = drawn(nn.BatchNorm1d(5))
    return answering(nn.Sequential(nn.Linear(4, 5), norm, nn.ReLU()), 3, 4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_convolution_takes_the_norm_behind_it(activation: str) -> None:
    without, with_it = check(convolved(activation), PASS, exact=False)
    assert without == ["conv", "batch_norm_running"]
    kernel = {"none": [], "relu6": ["hardtanh"]}.get(activation, [activation])
    assert with_it == ["conv", *kernel]


def test_a_convolution_without_bias_gets_one() -> None:
    without, with_it = check(convolved("relu", bias=False), PASS, exact=False)
    assert len(with_it) == len(without)
    assert "batch_norm_running" not in with_it


def test_channels_that_lie_side_by_side() -> None:
    def make() -> Callable[[], Any]:
        model = nn.Sequential(nn.Conv2d(8, 16, 3), drawn(nn.BatchNorm2d(16)))
        model = model.to(memory_format=ac.channels_last)
        return answering(model, 1, 8, 4, 4)

    _, with_it = check(make, PASS, exact=False)
    assert with_it.count("conv") == 1
    assert "batch_norm_running" not in with_it


def test_a_norm_without_parameters() -> None:
    def make() -> Callable[[], Any]:
        norm = drawn(nn.BatchNorm2d(24, affine=False))
        return answering(nn.Sequential(nn.Conv2d(8, 24, 1), norm), 1, 8, 2, 2)

    assert check(make, PASS, exact=False)[1] == ["conv"]


def test_rows_take_the_norm_and_its_activation() -> None:
    without, with_it = check(rows, PASS, exact=False)
    assert without == ["linear", "batch_norm_running"]
    assert with_it == ["linear"]


def test_a_norm_over_another_dimension_than_that_of_the_product_stays() -> None:
    def make() -> Callable[[], Any]:
        norm = drawn(nn.BatchNorm1d(5))
        return answering(nn.Sequential(nn.Linear(4, 5), norm), 3, 5, 4)

    without, with_it = check(make, PASS, exact=False)
    assert with_it == without


def test_a_result_that_others_read_is_not_normalised() -> None:
    def make() -> Callable[[], Any]:
        layer, norm = nn.Linear(4, 5), drawn(nn.BatchNorm1d(5)).eval()
        x = ac.randn(3, 4)

        def both() -> Any:
            with ac.no_grad():
                y = layer(x)
                return norm(y), y * 2

        return both

    without, with_it = check(make, PASS, exact=False)
    assert sorted(with_it) == sorted(without)


@pytest.mark.parametrize("shared", [False, True])
@needs_conv_activation
def test_a_norm_that_adds_a_shortcut_is_folded_too(shared: bool) -> None:
    def make() -> Callable[[], Any]:
        conv, norm = nn.Conv2d(8, 16, 1), drawn(nn.BatchNorm2d(16)).eval()
        x, r = ac.randn(1, 8, 3, 3), ac.randn(1, 16, 3, 3)
        x, r = (t.contiguous(memory_format=ac.channels_last) for t in (x, r))
        joined = ac.no_grad()(nn.utils.conv_norm_relu)
        return lambda: (
            (joined(conv, norm, x, r), r.sum()) if shared else joined(conv, norm, x, r)
        )

    without, with_it = check(make, PASS, exact=False)
    assert without[:2] == ["conv", "batch_norm_running"]
    assert with_it == ["conv_activation", *without[2:]]


def test_a_shortcut_stays_where_no_convolution_adds_it() -> None:
    def make() -> Callable[[], Any]:
        layer, norm = nn.Linear(8, 16), drawn(nn.BatchNorm1d(16)).eval()
        x, r = ac.randn(3, 8), ac.randn(3, 16)
        return lambda: ac.no_grad()(norm.relu)(layer(x).detach(), r)

    without, with_it = check(make, PASS, exact=False)
    assert with_it == without == ["linear", "batch_norm_running"]


def test_parameters_that_the_program_writes_are_not_folded() -> None:
    def make() -> Callable[[], Any]:
        layer, norm = nn.Linear(4, 5), drawn(nn.BatchNorm1d(5)).eval()
        x = ac.randn(3, 4)

        def shrinks() -> Any:
            with ac.no_grad():
                layer.weight.mul_(0.5)
                return norm(layer(x))

        return shrinks

    without, with_it = check(make, PASS, exact=False)
    assert sorted(with_it) == sorted(without)


def test_changed_parameters_are_folded_anew() -> None:
    def each(compiled: bool) -> list[Any]:
        ac.manual_seed(1)
        layer, norm = nn.Linear(4, 5), drawn(nn.BatchNorm1d(5))
        answer = answering(nn.Sequential(layer, norm), 3, 4)
        step = ac.compile(answer) if compiled else answer
        changed = [layer.weight, layer.bias, norm.weight, norm.bias]
        changed += [norm.running_mean, norm.running_var]
        found = []
        for i in range(10):
            found.append(values(step()))
            changed[i % len(changed)].data.mul_(1.5)
        return found

    same(each(compiled=False), each(compiled=True), exact=False)


def test_exact_programs_fold_nothing() -> None:
    found, step = run(rows, off=REORDERING)
    same(eager(rows), found)
    assert names(step) == ["linear", "batch_norm_running"]
