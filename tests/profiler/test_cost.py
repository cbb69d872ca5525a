# SPDX-License-Identifier: MIT
"""What a profile costs while it runs, and that it costs nothing otherwise."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import pytest
from tests.profiler.conftest import Training

import autocalc as ac


def seconds(step, times):
    """Return the median time of a step."""
    found = []
    for _ in range(times):
        started = perf_counter()
        step()
        found.append(perf_counter() - started)
    return median(found)


def ratios(rounds, one, other):
    """Return the median of the ratios of two times that are taken in turn."""
    return median(one() / other() for _ in range(rounds))


@pytest.fixture(scope="module")
def large():
    """A training whose step takes some five milliseconds."""
    training = Training(size=512, batch=256)
    for _ in range(3):
        training.step()
        training.compiled()
    return training


@pytest.mark.parametrize("way", ["step", "compiled"])
def test_a_profile_costs_little(large, way):
    step = getattr(large, way)

    def profiled():
        with ac.profiler.profile():
            step()  # kernels are chosen
            return seconds(step, 8)

    ratio = ratios(5, profiled, lambda: seconds(step, 8))
    print(f"{way}: {1e3 * seconds(step, 8):.2f} ms, profiled {ratio:.3f} of it")
    assert ratio < 1.25  # a twentieth, and what a busy machine adds


def test_after_a_profile_nothing_is_slower(training):
    step = training.step
    step()
    before = seconds(step, 300)
    with ac.profiler.profile():
        step()
    ratio = ratios(5, lambda: seconds(step, 100), lambda: before)
    assert ratio < 1.25


@pytest.mark.parametrize("by", ["kernel", "module"])
def test_times_add_up_to_what_a_clock_outside_says(large, by):
    with ac.profiler.profile(warmup=1) as prof:
        large.step()
        prof.step()
        started = perf_counter()
        for _ in range(10):
            large.step()
            prof.step()
        outside = perf_counter() - started
    rows = prof.table(by, limit=None).rows
    inside = sum(row.self_time + row.python for row in rows)
    assert inside == pytest.approx(outside, rel=0.03)
