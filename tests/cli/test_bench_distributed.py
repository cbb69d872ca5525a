# SPDX-License-Identifier: MIT
"""``autocalc bench distributed`` in one process, and its model."""

from __future__ import annotations

import json

import pytest

from autocalc.cli._cost_model import Link, StepModel

TINY = ("--steps", 1, "--d-model", 16, "--batch-size", 2, "--seq-len", 8)
SMALL = ("--heads", 2, "--layers", 1)

SLOW = Link(latency=1e-3, bandwidth=1e8)


def test_an_all_reduce_sends_all_but_a_part_twice():
    assert SLOW.all_reduce(1e8, 2) == pytest.approx(2e-3 + 1.0)
    assert SLOW.all_reduce(1e8, 4) == pytest.approx(6e-3 + 1.5)


def test_backward_hides_what_is_sent_but_for_the_last_bucket():
    step = StepModel(per_sample=1.0, nbytes=10**8, last=10**7)
    assert step.seconds(3, SLOW, 1) == 3.0
    assert step.seconds(3, SLOW, 2) == pytest.approx(3.0 + 0.002 + 0.1)
    assert step.seconds(0.3, SLOW, 2) == pytest.approx(0.3 + 1.002 - 0.2)
    assert step.efficiency(3, SLOW, 2) == pytest.approx(3 / 3.102)


@pytest.mark.parametrize("last", [10**4, 9 * 10**7])
@pytest.mark.parametrize("n", [2, 4, 64])
def test_at_the_break_even_hosts_are_as_fast_as_one(n, last):
    step = StepModel(per_sample=0.01, nbytes=10**8, last=last)
    batch = step.break_even(SLOW, n)
    alone, together = (step.seconds(batch / m, SLOW, m) for m in (1, n))
    assert together == pytest.approx(alone)
    assert step.seconds(2 * batch / n, SLOW, n) < step.seconds(2 * batch, SLOW, 1)


def test_one_rank_is_told_what_it_would_send(run):
    out = run("bench", "distributed", *TINY, *SMALL).output
    assert out.startswith("1 rank: start several with mpirun")
    assert "MB of gradients, in buckets: 1" in out
    assert "1 Gb/s" in out
    found = json.loads(run("bench", "distributed", *TINY, *SMALL, "--json").output)
    assert found["bytes"] == 4 * found["parameters"]
    assert found["compute_seconds"] > 0
    slow, fast = (found["break_even"][net]["8"] for net in ("1", "100"))
    assert slow > fast > 0
