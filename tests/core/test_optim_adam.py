# SPDX-License-Identifier: MIT
"""Adam and AdamW against their formulas."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError


def formula(p, grads, lr, betas, eps, weight_decay, decoupled, maximize, amsgrad=False):
    m = v = most = np.zeros_like(p)
    for t, g in enumerate(grads, 1):
        g = -g if maximize else g  # noqa: PLW2901  as it is written
        if decoupled:
            p = p * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * p  # noqa: PLW2901
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        most = np.maximum(most, v) if amsgrad else v
        m_hat, v_hat = m / (1 - betas[0] ** t), most / (1 - betas[1] ** t)
        p = p - lr * m_hat / (np.sqrt(v_hat) + eps)
    return p


@pytest.mark.parametrize("kind", [optim.Adam, optim.AdamW])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("amsgrad", [False, True])
def test_the_trajectory_is_the_formula(kind, weight_decay, maximize, amsgrad):
    rng = np.random.default_rng(0)
    starts = [rng.normal(size=shape) for shape in [(3, 4), (5,), ()]]
    grads = [[rng.normal(size=s.shape) for _ in range(5)] for s in starts]
    params = [ac.tensor(s, requires_grad=True) for s in starts]
    settings = {"betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": weight_decay}
    options = {"maximize": maximize, "amsgrad": amsgrad}
    optimizer = kind(params, lr=0.05, **options, **settings)
    for i in range(5):
        for p, g in zip(params, grads, strict=True):
            p.grad = ac.tensor(g[i])
        optimizer.step()
    for p, start, g in zip(params, starts, grads, strict=True):
        expected = formula(
            start, g, 0.05, **settings, **options, decoupled=kind is optim.AdamW
        )
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-10)


def counts(optimizer, params):
    return [optimizer.state[p]["step"].item() for p in params]


def test_parameters_that_began_together_share_their_count_until_they_part():
    params = [ac.zeros(2, requires_grad=True) for _ in range(3)]
    adam = optim.Adam(params)

    def step(*which):
        for i, p in enumerate(params):
            p.grad = ac.ones(2) if i in which else None
        adam.step()

    step(0, 1)
    step(0, 1)
    assert adam.state[params[0]]["step"] is adam.state[params[1]]["step"]
    assert params[2] not in adam.state
    step(0, 2)
    step(0, 1, 2)
    step(0, 1, 2)
    assert counts(adam, params) == [5, 4, 3]
    expected = [formula(np.zeros(2), [np.ones(2)] * n, 1e-3, (0.9, 0.999), 1e-8, 0.0,
                        False, False) for n in (5, 4, 3)]  # fmt: skip
    for p, e in zip(params, expected, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), e, rtol=1e-4)


def test_dtypes_count_apart():
    params = [
        ac.zeros(1, requires_grad=True, dtype=d) for d in (ac.float32, ac.float64)
    ]
    adam = optim.Adam(params)
    for _ in range(2):
        for p in params:
            p.grad = ac.ones_like(p)
        adam.step()
    state = copy.deepcopy(adam.state_dict())
    for steps in ([2, 2], [ac.tensor(2.0), ac.tensor(2.0)]):  # PyTorch's are floats
        for i, value in enumerate(steps):
            state["state"][i]["step"] = value
        adam.load_state_dict(state)
        adam.step()
        assert counts(adam, params) == [3, 3]
        assert adam.state[params[0]]["step"].dtype is ac.int64


def test_a_loaded_state_shares_equal_counts():
    params = [ac.zeros(1, requires_grad=True) for _ in range(3)]
    state = {
        "state": {
            i: {"step": n, "exp_avg": ac.zeros(1), "exp_avg_sq": ac.zeros(1)}
            for i, n in enumerate([7, 7, 2])
        },
        "param_groups": [{"lr": 0.1, "params": [0, 1, 2]}],
    }
    adamw = optim.AdamW(params)
    adamw.load_state_dict(state)
    assert adamw.param_groups[0]["betas"] == (0.9, 0.999)  # missing ones by default
    cells = {id(adamw.state[p]["step"]) for p in params}
    assert len(cells) == 2
    for p in params:
        p.grad = ac.ones(1)
    with ac.kernels.count() as calls:
        adamw.step()
    assert sum(n for (name, _), n in calls.items() if name == "adamw") == 2
    assert counts(adamw, params) == [8, 8, 3]


def test_settings_are_pytorchs():
    p = [ac.zeros(1)]
    assert optim.AdamW(p, fused=True).defaults["weight_decay"] == 1e-2
    assert optim.Adam(p, foreach=False).defaults == {
        "lr": 1e-3,
        "betas": (0.9, 0.999),
        "eps": 1e-8,
        "weight_decay": 0.0,
        "amsgrad": False,
        "maximize": False,
    }


def test_impossible_settings_are_refused():
    p = [ac.zeros(1)]
    with pytest.raises(
        ArgumentError, match=r"AdamW: `betas` is \(0.9, 1.0\); it must be"
    ):
        optim.AdamW(p, betas=(0.9, 1.0))
    with pytest.raises(ArgumentError, match=r"Adam: `betas` is \(0.9,\)"):
        optim.Adam(p, betas=(0.9,))
    with pytest.raises(ArgumentError, match="Adam: `betas` is 0"):
        optim.Adam(p, betas=0.9)
    with pytest.raises(ArgumentError, match=r"Adam: `betas` is \('a', 0"):
        optim.Adam(p, betas=("a", 0.9))
    with pytest.raises(ArgumentError, match="Adam: `eps` is -1"):
        optim.Adam(p, eps=-1)
    with pytest.raises(ArgumentError, match="AdamW: `lr` is -1"):
        optim.AdamW(p, lr=-1)
    with pytest.raises(ArgumentError, match="AdamW: `differentiable` is not available"):
        optim.AdamW(p, differentiable=True)
