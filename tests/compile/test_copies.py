# SPDX-License-Identifier: MIT
"""Copies that are not needed."""

from __future__ import annotations

from typing import Any

from tests.compile.passes import check

import autocalc as ac

PASS = "copies"


def test_the_original_is_read() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)
        return lambda: x.clone().exp() + x.exp().clone().tanh()

    without, with_it = check(make, PASS)
    assert without.count("copy") == 2
    assert with_it.count("copy") == 0


def test_an_original_that_is_written_is_copied() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)

        def step() -> Any:
            before = x.clone()
            x.mul_(0.5)
            return before - x, before.exp()

        return step

    without, with_it = check(make, PASS)
    assert without == with_it


def test_the_copy_is_written_by_who_makes_it() -> None:
    def make() -> Any:
        x, total = ac.randn(4, 5), ac.zeros(4, 5)

        def step() -> Any:
            total.copy_(total * 0.5 + x.exp())
            return total.sum()

        return step

    without, with_it = check(make, PASS)
    assert "copy" in without
    assert "copy" not in with_it


def test_the_copy_is_left_where_it_is_read_in_between() -> None:
    def make() -> Any:
        x, total = ac.randn(4, 4), ac.ones(4, 4)

        def step() -> Any:
            new = x.exp()
            old = total.sum()
            total.copy_(new)
            transposed = total.t() @ x
            total.copy_(transposed)
            return old, total.sum()

        return step

    without, with_it = check(make, PASS)
    assert without.count("copy") == 2
    assert with_it.count("copy") == 2


def test_parts_of_rows_are_written_in_place() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)
        return lambda: ac.cat([x.exp(), x.tanh()]).sum(0)

    without, with_it = check(make, PASS)
    assert without.count("copy") == 2
    assert with_it.count("copy") == 0


def test_other_layouts_are_copied() -> None:
    def make() -> Any:
        x = ac.randn(4, 5)
        return lambda: x.t().contiguous().exp() + ac.cat([x.exp(), x], 1)[:, :1].sum()

    without, with_it = check(make, PASS)
    assert without.count("copy") == with_it.count("copy")
