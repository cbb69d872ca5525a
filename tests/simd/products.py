# SPDX-License-Identifier: MIT
"""Products of bfloat16 parts: samples of them, and their error budgets."""

import numpy as np
from tests.kernel_table import TABLE, Sample
from tests.oracle import expected as expected_of

FLOAT32 = np.dtype(np.float32)


def normal(rng, *shape):
    return rng.standard_normal(shape, FLOAT32)


def gemm_sample(rng, m, n, k, bias=False, activation="none", want=1, scale=1.0):
    operands = (
        normal(rng, m, k),
        normal(rng, k, n),
        normal(rng, n) if bias else None,
    )
    return Sample(f"{m}x{n}x{k}", operands, (scale, 1.0, activation), want=want)


def check(subject, name, sample, **how):
    """Run a call and hold it to the set's budget."""
    spec = TABLE[name]
    prior = how.get("prior", ())
    expected = expected_of(spec, sample, FLOAT32, how.get("accumulate", 0), prior)
    outputs = subject.run(spec, sample, FLOAT32, **how)
    subject.judge(spec, sample, FLOAT32, outputs, expected)
    return outputs
