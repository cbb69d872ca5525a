# SPDX-License-Identifier: MIT
"""What is computed of numbers alone is computed once."""

from __future__ import annotations

from typing import Any

from tests.compile.passes import check, eager, run, same

import autocalc as ac

PASS = "constants"


def test_numbers_and_what_follows_from_them_run_once() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)

        def step() -> Any:
            weight = ac.full((5,), 2.0) + ac.ones(5)
            return x * weight.exp()

        return step

    without, with_it = check(make, PASS)
    assert without == ["fill", "fill", "add", "exp", "mul"]
    assert with_it == ["mul"]


def test_what_is_written_later_is_no_constant() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)

        def step() -> Any:
            total = ac.zeros(4, 5)
            total += x
            x.add_(1.0)
            total[0] += x[0]
            return total

        return step

    _, with_it = check(make, PASS, alone=True)
    assert "fill" in with_it


def test_a_background_stays_where_the_same_part_is_written_each_time() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)

        def step() -> Any:
            padded = ac.nn.functional.pad(x, (1, 1), value=3.0)
            x.mul_(0.5)
            return padded.sum(0)

        return step

    without, with_it = check(make, PASS, alone=True)
    assert without.count("fill") == 1
    assert with_it.count("fill") == 0


def test_results_are_memory_of_their_own() -> None:
    def make() -> Any:
        return lambda: ac.full((3,), 2.0)

    results, step = run(make)
    same(eager(make), results)
    first, second = step(), step()
    first.add_(1.0)
    assert second.tolist() == step().tolist() == [2.0, 2.0, 2.0]


def test_what_is_too_large_is_filled_each_time(monkeypatch: Any) -> None:
    monkeypatch.setattr("autocalc._compile._passes.constants.MAX_BYTES", 64)

    def make() -> Any:
        x = ac.randn(20)
        return lambda: x + ac.zeros(20) + ac.zeros(20).exp()[:4].sum()

    without, with_it = check(make, PASS, alone=True)
    assert without == with_it
