# SPDX-License-Identifier: MIT
"""Adagrad, Adadelta and Lion against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError


def adagrad(p, grads, lr=0.01, lr_decay=0, weight_decay=0, start=0, eps=1e-10):
    s = np.full_like(p, start)
    for t, g in enumerate(grads):
        g = g + weight_decay * p  # noqa: PLW2901  as it is written
        s = s + g * g
        p = p - lr / (1 + t * lr_decay) * g / (np.sqrt(s) + eps)
    return p


def adadelta(p, grads, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0):
    v, u = np.zeros_like(p), np.zeros_like(p)
    for g in grads:
        g = g + weight_decay * p  # noqa: PLW2901  as it is written
        v = rho * v + (1 - rho) * g * g
        change = np.sqrt(u + eps) / np.sqrt(v + eps) * g
        u = rho * u + (1 - rho) * change * change
        p = p - lr * change
    return p


def lion(p, grads, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
    m = np.zeros_like(p)
    for g in grads:
        p = p * (1 - lr * weight_decay)
        p = p - lr * np.sign(betas[0] * m + (1 - betas[0]) * g)
        m = betas[1] * m + (1 - betas[1]) * g
    return p


OPTIONS = [
    ("Adagrad", adagrad, {}),
    ("Adagrad", adagrad, {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.01}),
    ("Adagrad", adagrad, {"eps": 0.1, "initial_accumulator_value": 2.0}),
    ("Adadelta", adadelta, {}),
    ("Adadelta", adadelta, {"lr": 0.5, "rho": 0.5, "eps": 0.1, "weight_decay": 0.1}),
    ("Lion", lion, {}),
    ("Lion", lion, {"lr": 0.1, "betas": (0.5, 0.75), "weight_decay": 0.1}),
]


@pytest.mark.parametrize(("name", "formula", "settings"), OPTIONS)
@pytest.mark.parametrize("kernels", ["best", "reference"])
@pytest.mark.parametrize("maximize", [False, True])
def test_the_trajectory_is_the_formula(name, formula, settings, kernels, maximize):
    rng = np.random.default_rng(0)
    starts = [rng.normal(size=shape) for shape in [(3, 4), (5,), ()]]
    grads = [[rng.normal(size=s.shape) for _ in range(5)] for s in starts]
    params = [ac.tensor(s, requires_grad=True) for s in starts]
    optimizer = getattr(optim, name)(params, maximize=maximize, **settings)
    with ac.kernels.use(*([] if kernels == "best" else [kernels])):
        for i in range(5):
            for p, g in zip(params, grads, strict=True):
                p.grad = ac.tensor(g[i])
            optimizer.step()
    words = dict(settings)
    if "initial_accumulator_value" in words:
        words["start"] = words.pop("initial_accumulator_value")
    for p, start, g in zip(params, starts, grads, strict=True):
        expected = formula(start, [-x for x in g] if maximize else g, **words)
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Adagrad", {"step", "sum"}),
        ("Adadelta", {"step", "square_avg", "acc_delta"}),
        ("Lion", {"exp_avg"}),
    ],
)
def test_going_on_from_a_state_is_the_same_run(name, kept):
    def run(steps, at=None):
        w = ac.ones(3, requires_grad=True)
        optimizer = getattr(optim, name)([w])
        for i in range(steps):
            if i == at:
                state = optimizer.state_dict()
                assert set(state["state"][0]) == kept
                optimizer = getattr(optim, name)([w], lr=7.0)
                optimizer.load_state_dict(state)
            w.grad = ac.tensor([0.1, -1.0, 10.0]) * (i + 1)
            optimizer.step()
        return w.tolist()

    assert run(4) == run(4, at=2)


@pytest.mark.parametrize("name", ["Adagrad", "Adadelta", "Lion"])
def test_one_call_for_all_parameters_with_a_gradient(name):
    params = [ac.ones(2, requires_grad=True) for _ in range(3)]
    optimizer = getattr(optim, name)(params)
    for p in params[:2]:
        p.grad = ac.ones(2)
    optimizer.step()
    assert params[2].tolist() == [1, 1]
    params[2].grad = ac.ones(2)
    optimizer.step()
    assert params[0].tolist() == params[1].tolist()
    assert params[0].tolist() != params[2].tolist() != [1, 1]


def test_a_late_parameter_begins_with_its_own_sum():
    params = [ac.ones(1, requires_grad=True) for _ in range(2)]
    adagrad = optim.Adagrad(params, lr=1.0, initial_accumulator_value=3.0)
    for p in params:
        p.grad = ac.ones(1)
        adagrad.step()
        p.grad = None
    assert params[0].tolist() == params[1].tolist() == [0.5]  # 1 - 1 / sqrt(3 + 1)


@pytest.mark.parametrize(
    ("name", "settings", "match"),
    [
        ("Adagrad", {"lr": -1.0}, "Adagrad: `lr` is -1.0; it must be a number, 0 or"),
        ("Adagrad", {"lr_decay": -0.1}, "Adagrad: `lr_decay` is -0.1"),
        ("Adagrad", {"eps": "small"}, "Adagrad: `eps` is 'small'"),
        (
            "Adagrad",
            {"initial_accumulator_value": -1},
            "`initial_accumulator_value` is -1",
        ),
        ("Adagrad", {"differentiable": True}, "Adagrad: `differentiable` is not avail"),
        ("Adadelta", {"rho": 1.5}, "Adadelta: `rho` is 1.5; it must be a number from"),
        ("Adadelta", {"eps": -1e-6}, "Adadelta: `eps` is -1e-06"),
        (
            "Adadelta",
            {"differentiable": True},
            "Adadelta: `differentiable` is not available",
        ),
        ("Lion", {"betas": (0.9, 1.0)}, r"Lion: `betas` is \(0.9, 1.0\); it must be t"),
        ("Lion", {"betas": 0.9}, "Lion: `betas` is 0.9; it must be two numbers"),
        ("Lion", {"weight_decay": -0.1}, "Lion: `weight_decay` is -0.1"),
    ],
)
def test_impossible_settings(name, settings, match):
    with pytest.raises(ArgumentError, match=match):
        getattr(optim, name)([ac.zeros(1, requires_grad=True)], **settings)
