# SPDX-License-Identifier: MIT
"""Random functions of a position that read and write a cache, compiled and eager."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import autocalc as ac

ROWS = 12

#: What makes a row of the cache, the position, and two rows.
MAKES: tuple[Callable[..., Any], ...] = (
    lambda c, t, x, y: c[:, t] + x,
    lambda c, t, x, y: c[:, t : t + 2].sum(1) * y,
    lambda c, t, x, y: c[:, : t + 1].sum(1) - x,
    lambda c, t, x, y: c[:, t:].amax(1) + y,
    lambda c, t, x, y: c[:, 3] * x,
    lambda c, t, x, y: c[:, ROWS - t].sigmoid() + x,
    lambda c, t, x, y: (c[:, : t + 1] @ x[0]).softmax(-1).unsqueeze(1).matmul(
        c[:, : t + 1]).squeeze(1),
    lambda c, t, x, y: x * y,
    lambda c, t, x, y: (x + y).tanh(),
    lambda c, t, x, y: x * t - y,
    lambda c, t, x, y: c[0].index_select(0, ac.tensor([t, 3])) + y,
)  # fmt: skip

#: What writes into the cache, or a row.
WRITES: tuple[Callable[..., Any], ...] = (
    lambda c, t, x, y: x.add_(y),
    lambda c, t, x, y: c.__setitem__((slice(None), t), x),
    lambda c, t, x, y: c.__setitem__((slice(None), 3), y),
    lambda c, t, x, y: c[:, t].mul_(0.5),
    lambda c, t, x, y: c[:, t : t + 2].copy_(x.unsqueeze(1)),
    lambda c, t, x, y: c[:, : t + 1].sub_(y.unsqueeze(1)),
    lambda c, t, x, y: c[:, 1 : t + 1].add_(x.unsqueeze(1)),
)  # fmt: skip


def drawn(seed: int) -> Callable[..., Any]:
    """Return a function of a cache, a row and a position."""
    draw = random.Random(seed)
    plan = [
        (draw.choice(MAKES + WRITES), draw.randrange(8), draw.randrange(8))
        for _ in range(12)
    ]

    def function(cache: ac.Tensor, row: ac.Tensor, t: int) -> Any:
        values = [row * 1, row * 2]
        for step, i, j in plan:
            x, y = values[i % len(values)], values[j % len(values)]
            made = step(cache, t, x, y)
            if step in MAKES:
                values.append(made)
        return values[-1] * 1, values[-2] + values[0]

    return function


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_random_functions_of_a_position(seed: int, exact: bool) -> None:
    function = drawn(seed)
    run = ac.compile(function, exact=exact)
    generator = ac.Generator().manual_seed(seed)
    mine = ac.randn(2, ROWS, 4, generator=generator)
    theirs = mine.clone()
    places = [6, 4, 7, *random.Random(seed).sample(range(2, 10), 8)]
    for t in places:
        row = ac.randn(2, 4, generator=generator)
        found, expected = run(mine, row, t), function(theirs, row, t)
        for a, b in zip((*found, mine), (*expected, theirs), strict=True):
            same = a.numpy().tobytes() == b.numpy().tobytes()
            assert same or (not exact and a.allclose(b, rtol=1e-4, atol=1e-5))
    assert len(run.programs) == 1
    assert run._replays == 8
