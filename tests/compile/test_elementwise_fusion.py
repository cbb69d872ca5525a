# SPDX-License-Identifier: MIT
"""Elementwise kernels in one call: the same bits, fewer calls, in the right order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compile.passes import check, names, run

import autocalc as ac
from autocalc.nn import functional as F

PASS = "elementwise_fusion"
CHAIN = "elementwise_chain"

pytest.importorskip("autocalc_kernels_simd")


def fused(step: Any) -> list[tuple[str, ...]]:
    """Return of each chain the kernels that it stands for."""
    (replay,) = step.programs
    return [i.fused for i in replay.program.instructions if i.name == CHAIN]


def test_a_chain_is_one_call() -> None:
    def make() -> Any:
        x, y = ac.randn(3, 700), ac.randn(700)
        return lambda: ac.where(x > 0.5, (x + y).exp(), x * 2.0)

    without, with_it = check(make, PASS)
    assert len(without) == 5
    assert with_it == [CHAIN]


def test_what_lies_between_is_not_written() -> None:
    def make() -> Any:
        x = ac.randn(1000)
        return lambda: (x.sigmoid() * x).tanh().sum()

    _, together = run(make, off=())
    assert together.programs[0].memory.peak == 4032  # the sum reads one array
    (chain, _) = together.programs[0].instructions
    assert [len(x) for x in (*chain.outputs, *chain.inputs)] == [1, 1]
    assert fused(together) == [("sigmoid", "mul", "tanh")]


def test_several_results() -> None:
    def make() -> Any:
        x, y = ac.randn(40, 33), ac.randn(40, 1)

        def step() -> Any:
            a = x - y
            b = a.abs()
            return a, b, a > 0.0, (b + 1.0).log()

        return step

    without, with_it = check(make, PASS)
    assert len(without) == 5
    assert with_it == [CHAIN]


def test_writes_in_place() -> None:
    def make() -> Any:
        x, state = ac.randn(500), ac.randn(500)

        def step() -> Any:
            before = state * 3.0
            state.mul_(0.5).add_(x)
            after = state * 3.0
            state.copy_(after - before)
            return before, after, state + 0.0

        return step

    without, with_it = check(make, PASS)
    assert len(with_it) < len(without)


def test_what_must_run_between_does() -> None:
    def make() -> Any:
        x = ac.randn(30, 20)

        def step() -> Any:
            e = (x - 1.0).exp()
            return e / e.sum(1, keepdim=True) + e

        return step

    _, with_it = check(make, PASS)
    assert with_it == [CHAIN, "sum", CHAIN]


def test_a_part_that_is_read_is_made_before() -> None:
    def make() -> Any:
        x = ac.randn(10, 20)

        def step() -> Any:
            y = x * 2.0
            return y[:, ::2] + 1.0, y.T * 3.0, y + y.mean()

        return step

    check(make, PASS)


def test_a_write_to_a_part_keeps_its_place() -> None:
    def make() -> Any:
        x = ac.randn(10, 20)

        def step() -> Any:
            y = x * 2.0
            z = y + 1.0
            y[2:4] = 0.0
            return z, y - 1.0, y

        return step

    check(make, PASS)


def test_other_dtypes() -> None:
    def make() -> Any:
        i = ac.arange(300)
        d = ac.randn(300, dtype=ac.float64)
        return lambda: ((i * 2 + 1).to(ac.float32), (d * d).exp() + i)

    without, with_it = check(make, PASS)
    assert len(with_it) < len(without)


def test_a_training_step() -> None:
    def make() -> Any:
        w = ac.randn(40, requires_grad=True)
        x = ac.randn(25, 40)

        def step() -> Any:
            w.grad = None
            loss = (F.silu(x * w).tanh() * F.softplus(x)).square().mean()
            loss.backward()
            return loss, w.grad

        return step

    without, with_it = check(make, PASS)
    assert len(with_it) < len(without)


UNARY = [
    *(ac.exp, ac.tanh, ac.sigmoid, ac.abs, ac.neg, ac.sqrt, ac.log, ac.reciprocal),
    *(F.relu, F.gelu, F.silu, F.softplus, F.leaky_relu, F.hardtanh, ac.square),
]
BINARY = [ac.add, ac.sub, ac.mul, ac.div, ac.maximum, ac.minimum]
SHAPES: list[tuple[int, ...]] = [(1,), (7,), (3, 5), (1, 1030), (33, 70), (4, 1, 513)]


def random_step(seed: int) -> Any:
    """Return a function of random operators, shapes, results and special numbers."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    given = [ac.randn(*shape), ac.randn(*shape), ac.randn(*shape[-1:]), ac.randn(1)]
    given.append(ac.randn(*shape[:-1], 1))
    if seed % 3 == 0:
        special = np.array([np.nan, np.inf, -np.inf, -0.0, 1e38, 1e-40], "f4")
        given.append(ac.tensor(rng.choice(special, shape)))
    plan = rng.integers(0, 1 << 30, (rng.integers(3, 25), 4))

    def step() -> Any:
        made = list(given)
        for what, a, b, c in plan:
            x, y = made[a % len(made)], made[b % len(made)]
            if what % 8 == 0:
                z = made[c % len(made)]
                made.append(ac.where(x > y, z, x))
            elif what % 8 == 1 and y.shape == x.shape and c % 4 == 0:
                x.mul_(0.75).add_(y)
            elif what % 2:
                made.append(UNARY[c % len(UNARY)](x))
            else:
                made.append(BINARY[c % len(BINARY)](x, y))
        return made[::3] + made[-1:]

    return step


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", range(24))
def test_random_chains(seed: int, threads: int) -> None:
    before = ac.get_num_threads()
    ac.set_num_threads(threads)
    try:
        with np.errstate(all="ignore"):
            have, step = run(lambda: random_step(seed), off=())
            want, apart = run(lambda: random_step(seed))
    finally:
        ac.set_num_threads(before)
    for a, b in zip(want, have, strict=True):
        for x, y in zip(a, b, strict=True):
            assert x.shape == y.shape
            assert np.array_equal(x, y, equal_nan=True)
            zeros = x == 0
            assert np.array_equal(np.signbit(x[zeros]), np.signbit(y[zeros]))
    assert len(names(step)) <= len(names(apart))


def test_threads_give_the_same_bits() -> None:
    def make() -> Any:
        x = ac.randn(300, 400)
        return lambda: (x * 2.0 - x.exp()).tanh() + 1.0

    found = []
    before = ac.get_num_threads()
    try:
        for threads in (1, 2):
            ac.set_num_threads(threads)
            results, step = run(make, off=())
            assert names(step) == [CHAIN]
            found.append(results[-1][0].tobytes())
    finally:
        ac.set_num_threads(before)
    assert found[0] == found[1]


def test_a_set_without_a_fuser_runs_one_by_one() -> None:
    def make() -> Any:
        x = ac.randn(50)
        return lambda: (x + 1.0) * 2.0

    with ac.kernels.use("reference", only=True):
        _, step = run(make, off=())
    assert names(step) == ["add", "mul"]


def test_a_chain_as_a_table() -> None:
    def make() -> Any:
        x = ac.randn(50)
        return lambda: (x + 1.0) * 2.0

    _, step = run(make, off=())
    assert "add + mul" in str(step.programs[0])
