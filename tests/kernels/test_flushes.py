# SPDX-License-Identifier: MIT
"""Outputs in which a subnormal number is 0: their specs, and what users see."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernel_table import TABLE

import autocalc as ac
import autocalc.nn.functional as F
from autocalc._kernels.samples import Make
from autocalc.testing.conformance._oracle import expected

FLUSHING = [name for name, spec in TABLE.items() if spec.flushes]
TINY = float(np.finfo("f4").tiny)


def has_subnormals(x, dtype):
    """Return whether an array, or one of a list, has numbers below the normal ones."""
    if isinstance(x, (list, tuple)):
        return any(has_subnormals(one, dtype) for one in x)
    return x is not None and bool(
        np.any((np.abs(x) < np.finfo(dtype).tiny) & (np.abs(x) > 0))
    )


@pytest.mark.parametrize("name", FLUSHING)
def test_samples_have_subnormal_results(name):
    """Without one the conformance kit would prove nothing."""
    spec = TABLE[name]
    assert set(spec.flushes) <= {output.name for output in spec.outputs}
    dtype = np.dtype("f4")
    samples = [s for s in spec.samples(Make(dtype)) if not s.label.startswith("large")]
    assert any(
        has_subnormals(value, dtype)
        for sample in reversed(samples)
        for value, output in zip(
            expected(spec, sample, dtype), spec.outputs, strict=True
        )
        if output.name in spec.flushes
    )


def test_probabilities_and_their_gradients():
    """Logits as a tied head with PyTorch's default embedding has them."""
    logits = ac.linspace(0, -104, 64).expand(8, 64).clone().requires_grad_()
    F.cross_entropy(logits, ac.zeros(8, dtype=ac.int64)).backward()
    weights = logits.softmax(1)
    for x in (logits.grad, weights):
        values = np.abs(x.detach().numpy())
        assert (values == 0).any()
        assert values[values > 0].min() >= TINY


def test_what_is_exact_keeps_subnormal_numbers():
    small = ac.tensor([TINY / 4, -TINY / 2])
    assert (small * 2).tolist() == [TINY / 2, -TINY]
    assert ac.tensor([-90.0]).exp().item() > 0
    half = ac.tensor([-16.0], dtype=ac.float16).sigmoid()
    assert half.item() == 2.0**-23  # subnormal in float16


def test_the_tail_of_a_sigmoid():
    assert ac.tensor([-87.0]).sigmoid().item() > 0
    assert ac.tensor([-90.0, -200.0, -np.inf]).sigmoid().tolist() == [0, 0, 0]


def optimized(state, grad, **options):
    """Return a parameter after a step of Adam from this state, and its state."""
    p = ac.nn.Parameter(ac.ones(1))
    optimizer = ac.optim.Adam([p], lr=0.1, **options)
    p.grad = ac.ones(1)
    optimizer.step()
    for name in ("exp_avg", "exp_avg_sq"):
        optimizer.state[p][name].fill_(state)
    p.grad.fill_(grad)
    optimizer.step()
    return p, optimizer.state[p]


def test_a_moment_that_decays_ends_at_zero():
    _, state = optimized(1.1 * TINY, 0.0)
    assert state["exp_avg"].item() == 0
    _, state = optimized(1.0005 * TINY, 0.0)
    assert state["exp_avg_sq"].item() == 0


def test_a_small_gradient_counts_where_eps_is_none():
    p, _ = optimized(0.0, 1e-19, eps=0.0)
    assert np.isfinite(p.item())
    assert p.item() < 1
