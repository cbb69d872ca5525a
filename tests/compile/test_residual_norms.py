# SPDX-License-Identifier: MIT
"""A norm over the last axis makes the sum that it normalises."""

from __future__ import annotations

from typing import Any

import pytest
from tests.compile.passes import check

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F

PASS = "residual_norms"
NORMS = {"layer_norm": nn.LayerNorm, "rms_norm": nn.RMSNorm}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("training", [False, True])
def test_a_residual_is_added_by_the_norm_behind_it(name: str, training: bool) -> None:
    def make() -> Any:
        a, b = ac.randn(3, 4, 9), ac.randn(3, 4, 9, requires_grad=True)
        norm, linear = NORMS[name](9), nn.Linear(9, 9)
        parameters = [b, *norm.parameters(), *linear.parameters()]

        def step() -> Any:
            for p in parameters:
                p.grad = None
            with ac.set_grad_enabled(training):
                x = a + b
                out = x + linear(norm(x))
            if not training:
                return out
            out.square().sum().backward()
            return [out, *(p.grad for p in parameters)]

        return step

    # Gradients are added in another order by other passes.
    without, with_it = check(make, PASS, exact=not training)
    assert without[:2] == ["add", name]
    assert len(with_it) == len(without) - 1
    assert with_it[0] == f"add_{name}"


def test_sums_of_other_shapes_stay_apart() -> None:
    def make() -> Any:
        a, row, turned = ac.randn(6, 5), ac.randn(5), ac.randn(5, 6)

        def step() -> Any:
            t = turned.sin()
            return F.layer_norm(a.sin() + row, (5,)), F.rms_norm(a + t.T, (5,))

        return step

    without, with_it = check(make, PASS)
    assert with_it == without


def test_a_sum_that_is_written_again_stays_apart() -> None:
    def make() -> Any:
        a, b = ac.randn(6, 5), ac.randn(6, 5)

        def step() -> Any:
            x = a.sin() + b
            x[2:] *= 2
            return F.layer_norm(x, (5,))

        return step

    without, with_it = check(make, PASS)
    assert with_it == without


def test_gradients_of_a_residual_are_added_by_the_norm() -> None:
    def make() -> Any:
        x = ac.randn(6, 5, requires_grad=True)

        def step() -> Any:
            x.grad = None
            (
                F.rms_norm(x, (5,)).sin() + F.layer_norm(x, (5,)).cos() + x
            ).sum().backward()
            return x.grad

        return step

    without, with_it = check(make, "accumulate", exact=False)
    assert without.count("add") == with_it.count("add") + 1
