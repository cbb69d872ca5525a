# SPDX-License-Identifier: MIT
"""Memory that is overwritten becomes another slot."""

from __future__ import annotations

from typing import Any

from tests.compile.passes import check, run

import autocalc as ac

PASS = "versions"


def in_place() -> Any:
    x = ac.randn(40, 50)

    def step() -> Any:
        y = x * 2
        y.add_(1.0).mul_(y).relu_()
        y[0] = 3.0
        y.tanh_()
        return y.sum(), y[0] * 2

    return step


def test_each_content_is_a_slot() -> None:
    check(in_place, PASS)
    check(in_place, PASS, alone=True)
    counts = []
    for off in ((), (PASS,)):
        _, step = run(in_place, off=off)
        counts.append(len(step.programs[0].program.temporaries))
    assert counts[0] > counts[1]


def test_they_lie_in_the_same_memory() -> None:
    sizes = []
    for off in ((), (PASS,)):
        _, step = run(in_place, off=off)
        sizes.append(step.programs[0].memory.peak)
    assert sizes[0] == sizes[1]


def test_other_passes_see_through_operators_in_place() -> None:
    def make() -> Any:
        layer, x = ac.nn.Linear(5, 4), ac.randn(6, 5)
        return ac.no_grad()(lambda: layer(x).relu_().sum())

    without, with_it = check(make, PASS)
    assert without == ["linear", "relu", "sum"]
    assert with_it == ["linear", "sum"]
