# SPDX-License-Identifier: MIT
"""Callbacks run as soon as what they are given is complete."""

from __future__ import annotations

from typing import Any

from tests.compile.passes import APART, eager, names, run, same

import autocalc as ac

PASS = "early_callbacks"


def look(*tensors: ac.Tensor) -> None:
    """Do nothing with tensors."""


def check(make: Any) -> tuple[list[str], list[str]]:
    """Return the kernels without the pass and with it, after results were compared."""
    want = eager(make)
    without, first = run(make, off=(*APART, PASS))
    with_it, second = run(make)
    same(want, without)
    same(want, with_it)
    return names(first), names(second)


def test_a_callback_follows_what_makes_its_tensor() -> None:
    def make() -> Any:
        x = ac.randn(4, 4)

        def step() -> Any:
            y = x.exp()
            z = x.matmul(x)
            ac.callback(look, y)
            return y, z

        return step

    assert check(make) == (["exp", "gemm", "callback"], ["exp", "callback", "gemm"])


def test_it_stays_behind_those_that_use_its_tensor() -> None:
    def make() -> Any:
        x, total = ac.randn(4, 4), ac.zeros(4, 4)

        def step() -> Any:
            y = x.exp()
            z = y.matmul(y)
            w = x.tanh()
            ac.callback(lambda y: y.mul_(2), y, mutates=y)
            total.copy_(y)
            return y, z, w

        return step

    without, with_it = check(make)
    assert without == ["exp", "gemm", "tanh", "callback", "copy"]
    assert with_it == ["exp", "gemm", "callback", "tanh", "copy"]


def test_callbacks_keep_their_order_and_wait_without_tensors() -> None:
    order: list[str] = []

    def make() -> Any:
        x = ac.randn(4, 4)

        def step() -> Any:
            y = x.exp()
            z = x.matmul(x)
            ac.callback(lambda z: order.append("z"), z)
            ac.callback(lambda y: order.append("y"), y)
            w = x.tanh()
            ac.callback(lambda: order.append("end"), mutates=(y, z))
            return y, z, w

        return step

    without, with_it = check(make)
    assert with_it == ["exp", "gemm", "callback", "callback", "tanh", "callback"]
    assert without == with_it
    assert order == ["z", "y", "end"] * (len(order) // 3)


def test_draws_of_random_numbers_keep_their_place() -> None:
    def make() -> Any:
        x = ac.randn(4, 4)

        def step() -> Any:
            y, noise = x.exp(), ac.rand(4, 4)
            ac.callback(lambda y: y.copy_(ac.rand(4, 4)), y, mutates=y)
            return y, noise

        return step

    without, with_it = check(make)
    assert with_it.index("host") < with_it.index("callback")
    assert sorted(without) == sorted(with_it)
