# SPDX-License-Identifier: MIT
"""Muon against its formula; PyTorch is asked in `tests/models`."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim

A, B, C = 3.4445, -4.775, 2.0315


def orthogonal(u, steps, eps):
    x = u.T if u.shape[0] > u.shape[1] else u
    x = x / max(np.linalg.norm(x), eps)
    for _ in range(steps):
        s = x @ x.T
        x = A * x + (B * s + C * s @ s) @ x
    return x.T if u.shape[0] > u.shape[1] else x


def formula(p, grads, ratio, *, lr=1e-3, decay=0.1, mu=0.95, nesterov=True, steps=5):
    m = np.zeros_like(p)
    for g in grads:
        m = mu * m + (1 - mu) * g
        u = mu * m + (1 - mu) * g if nesterov else m
        p = p * (1 - lr * decay) - lr * ratio * orthogonal(u, steps, 1e-7)
    return p


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 3), (1, 5)])
@pytest.mark.parametrize(
    ("settings", "words", "ratio"),
    [
        ({}, {}, lambda rows, columns: max(1, rows / columns) ** 0.5),
        (
            {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw", "weight_decay": 0.0},
            {"lr": 0.1, "decay": 0.0},
            lambda rows, columns: 0.2 * max(rows, columns) ** 0.5,
        ),
        (
            {"momentum": 0.5, "nesterov": False, "ns_steps": 3},
            {"mu": 0.5, "nesterov": False, "steps": 3},
            lambda rows, columns: max(1, rows / columns) ** 0.5,
        ),
    ],
)
def test_it_is_the_formula(shape, settings, words, ratio):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=shape), rng.normal(size=(4, *shape))
    w = ac.tensor(start, requires_grad=True)
    muon = optim.Muon([w], **settings)
    for g in grads:
        w.grad = ac.tensor(g)
        muon.step()
    expected = formula(start, grads, ratio(*shape), **words)
    np.testing.assert_allclose(w.detach(), expected, rtol=1e-10)
    assert set(muon.state[w]) == {"momentum_buffer"}


def test_singular_values_are_near_1():
    g = ac.randn(20, 30, dtype=ac.float64)
    w = ac.zeros(20, 30, dtype=ac.float64, requires_grad=True)
    muon = optim.Muon([w], lr=1.0, weight_decay=0.0)
    w.grad = g
    muon.step()
    values = np.linalg.svd(w.detach(), compute_uv=False)
    assert values.min() > 0.3
    assert values.max() < 1.3


def test_gradients_of_zero_and_empty_matrices():
    params = [ac.ones(2, 2, requires_grad=True), ac.ones(0, 3, requires_grad=True)]
    muon = optim.Muon(params, weight_decay=0.0)
    for p in params:
        p.grad = ac.zeros_like(p)
    muon.step()
    assert params[0].tolist() == [[1, 1], [1, 1]]
    assert params[1].shape == (0, 3)
