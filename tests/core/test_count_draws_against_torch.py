# SPDX-License-Identifier: MIT
"""`poisson` and `binomial` have PyTorch's moments, dtypes, shapes and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytestmark = pytest.mark.torch

COUNT = 20_000
RATES = np.array([0.0, 0.3, 9.5, 12.0, 300.0])
TRIALS = np.array([[3.0], [30.0], [400.0]])
CHANCES = np.array([0.0, 0.02, 0.4, 0.9, 1.0])
TRIALS, CHANCES = np.broadcast_arrays(TRIALS, CHANCES)


def moments(m, call):
    """Return mean and variance of many draws."""
    m.manual_seed(0)
    drawn = call(m, lambda a: m.tensor(np.broadcast_to(a, (COUNT, *a.shape)).copy()))
    assert drawn.dtype is m.float64
    drawn = drawn.numpy()
    return drawn.mean(0), drawn.var(0)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, rows: m.poisson(rows(RATES)),
        lambda m, rows: m.binomial(rows(TRIALS), rows(CHANCES)),
    ],
)
def test_moments(call):
    ours, theirs = moments(ac, call), moments(torch, call)
    spread = np.sqrt(theirs[1])
    assert (np.abs(ours[0] - theirs[0]) <= 6 * spread / COUNT**0.5).all()
    assert (np.abs(ours[1] - theirs[1]) <= 0.12 * theirs[1]).all()


def outcome(m, call):
    try:
        found = call(m)
    except Exception:
        return "an error"
    return str(found.dtype).rpartition(".")[2], tuple(found.shape), found.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.poisson(m.zeros(2, 3)),
        lambda m: m.poisson(m.zeros(2, dtype=m.float16)),
        lambda m: m.poisson(m.zeros(2, dtype=m.bfloat16)),
        lambda m: m.poisson(m.zeros(0, dtype=m.float64)),
        lambda m: m.poisson(m.zeros(2, dtype=m.int64)),
        lambda m: m.poisson(-m.ones(2)),
        lambda m: m.poisson(m.tensor([float("nan")])),
        lambda m: m.poisson(1.0),
        lambda m: m.binomial(m.full((2, 3), 7.0), m.ones(2, 3)),
        lambda m: m.binomial(m.full((3,), 7.0), m.zeros(3)),
        lambda m: m.binomial(m.full((2, 3), 7.0), m.ones(3)),
        lambda m: m.binomial(m.full((2,), 7.0, dtype=m.float64), m.ones(2)),
        lambda m: m.binomial(m.full((2,), 7), m.ones(2)),
        lambda m: m.binomial(7.0, m.ones(2)),
        lambda m: m.binomial(m.ones(2), 0.5),
    ],
)
def test_dtypes_shapes_and_refusals(call):
    assert outcome(ac, call) == outcome(torch, call)
