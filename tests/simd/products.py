# SPDX-License-Identifier: MIT
"""Samples of products, and calls of every SIMD set within their error budgets."""

import functools

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.oracle import expected as expected_of
from tests.oracle import limits_of

import autocalc as ac
from autocalc.testing.conformance import Subject

FLOAT32 = np.dtype(np.float32)
SETS = [name for name in ac.kernels.available() if name.startswith("simd-")]
needs_sets = pytest.mark.skipif(not SETS, reason="the SIMD package is not installed")
subject_of = functools.lru_cache(Subject.named)


def judge(name, sample, dtype=FLOAT32, accumulate=0, prior=(), **how):
    """Run a call on every set, and hold the results to the budget."""
    spec = TABLE[name]
    expected = expected_of(spec, sample, dtype, accumulate, prior)
    limits = limits_of(spec, sample, dtype, expected)
    for subject in map(subject_of, SETS):
        outs = subject.run(
            spec, sample, dtype, accumulate=accumulate, prior=prior, **how
        )
        subject.judge(spec, sample, dtype, outs, expected, limits=limits)


def same_bits_on_threads(run):
    """Check that `run` of the best set gives the same bits on any number of threads."""
    with subject_of(SETS[0]).threads() as set_threads:
        seen = []
        for count in (1, 2, 5, 64):
            set_threads(count)
            outs = run(subject_of(SETS[0]))
            seen.append([None if out is None else out.tobytes() for out in outs])
    assert all(bits == seen[0] for bits in seen)


def normal(rng, *shape):
    return rng.standard_normal(shape, FLOAT32)


def gemm_sample(rng, m, n, k, bias=False, activation="none", want=1, scale=1.0):
    operands = (normal(rng, m, k), normal(rng, k, n), normal(rng, n) if bias else None)
    return Sample(f"{m}x{n}x{k}", operands, (scale, 1.0, activation), want=want)


def check(subject, name, sample, **how):
    """Run a call and hold it to the set's budget."""
    spec = TABLE[name]
    prior = how.get("prior", ())
    expected = expected_of(spec, sample, FLOAT32, how.get("accumulate", 0), prior)
    outputs = subject.run(spec, sample, FLOAT32, **how)
    subject.judge(spec, sample, FLOAT32, outputs, expected)
    return outputs
