# SPDX-License-Identifier: MIT
"""Muon against its formula; PyTorch is asked in `tests/models`."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError, DTypeError, ShapeError

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


def test_going_on_from_a_state_is_the_same_run(tmp_path):
    def run(steps, at=None):
        w = ac.ones(2, 3, requires_grad=True)
        muon = optim.Muon([w])
        for i in range(steps):
            if i == at:
                ac.save(muon.state_dict(), tmp_path / "state")
                muon = optim.Muon([w], lr=7.0)
                muon.load_state_dict(ac.load(tmp_path / "state"))
            w.grad = ac.tensor([[0.1, -1.0, 10.0], [1.0, 2.0, 3.0]]) * (2.5 - i)
            muon.step()
        return w.tolist()

    assert run(5) == run(5, at=3)


def test_a_step_counts_as_a_write():
    w = ac.ones(2, 2, requires_grad=True)
    loss = (w * w).sum()
    w.grad = ac.ones(2, 2)
    optim.Muon([w]).step()
    with pytest.raises(ac.errors.GradError, match=r"written|changed"):
        loss.backward()


def test_it_takes_matrices():
    params = [ac.ones(2, 2, requires_grad=True), ac.ones(2, requires_grad=True)]
    with pytest.raises(
        ShapeError, match=r"`params\[1\]` has shape \(2,\); it must be a"
    ):
        optim.Muon(params)
    with pytest.raises(DTypeError, match=r"Muon: `params\[0\]` is a int"):
        optim.Muon([3])


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"lr": -1}, "Muon: `lr` is -1; it must be a number, 0 or more"),
        ({"momentum": "x"}, "Muon: `momentum` is 'x'; it must be a number, 0 or more"),
        ({"eps": None}, "Muon: `eps` is None; it must be a number"),
        ({"nesterov": 3}, "Muon: `nesterov` is 3; it must be True or False"),
        ({"ns_steps": 100}, "`ns_steps` is 100; it must be an integer from 0 to 99"),
        ({"ns_coefficients": (1, 2)}, r"is \(1, 2\); it must be three numbers"),
        ({"adjust_lr_fn": "x"}, "is 'x'; it must be None, 'original' or 'match_rms_"),
    ],
)
def test_impossible_settings(settings, match):
    with pytest.raises(ArgumentError, match=match):
        optim.Muon([ac.ones(1, 1, requires_grad=True)], **settings)
