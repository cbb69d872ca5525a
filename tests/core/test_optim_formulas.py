# SPDX-License-Identifier: MIT
"""SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta and Lion against their formulas."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim


def sgd(
    p, grads, lr=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False
):
    b = None
    for g in grads:
        g = g + weight_decay * p  # noqa: PLW2901  as it is written
        if momentum:
            b = g if b is None else momentum * b + (1 - dampening) * g
            g = g + momentum * b if nesterov else b  # noqa: PLW2901
        p = p - lr * g
    return p


def adam(p, grads, lr, betas, eps, weight_decay=0.0, amsgrad=False, decoupled=False):
    m = v = most = np.zeros_like(p)
    for t, g in enumerate(grads, 1):
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


def adamw(*args, **words):
    return adam(*args, **words, decoupled=True)


def rmsprop(p, grads, lr, alpha, eps, weight_decay=0.0, momentum=0.0, centered=False):
    v, m, b = (np.zeros_like(p) for _ in range(3))
    for g in grads:
        g = g + weight_decay * p  # noqa: PLW2901  as it is written
        v = alpha * v + (1 - alpha) * g * g
        m = alpha * m + (1 - alpha) * g
        spread = v - m * m if centered else v
        b = momentum * b + g / (np.sqrt(spread) + eps)
        p = p - lr * b
    return p


def adagrad(
    p,
    grads,
    lr=0.01,
    lr_decay=0,
    weight_decay=0,
    initial_accumulator_value=0,
    eps=1e-10,
):
    s = np.full_like(p, initial_accumulator_value)
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


BETAS = {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-6}
OPTIONS = [
    ("SGD", sgd, {}),
    ("SGD", sgd, {"momentum": 0.9}),
    ("SGD", sgd, {"momentum": 0.9, "dampening": 0.3}),
    ("SGD", sgd, {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
    ("SGD", sgd, {"weight_decay": 0.1}),
    ("SGD", sgd, {"momentum": 0.5, "dampening": 0.1, "weight_decay": 0.2}),
    *(
        (name, formula, {**BETAS, "weight_decay": decay, "amsgrad": amsgrad})
        for name, formula in (("Adam", adam), ("AdamW", adamw))
        for decay in (0.0, 0.1)
        for amsgrad in (False, True)
    ),
    ("RMSprop", rmsprop, {"alpha": 0.9, "eps": 1e-6}),
    ("RMSprop", rmsprop, {"alpha": 0.8, "eps": 1e-6, "momentum": 0.9}),
    ("RMSprop", rmsprop, {"alpha": 0.9, "eps": 1e-6, "weight_decay": 0.1}),
    ("RMSprop", rmsprop, {"alpha": 0.8, "eps": 1e-3, "centered": True}),
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
    settings = {"lr": 0.05, **settings}
    optimizer = getattr(optim, name)(params, maximize=maximize, **settings)
    with ac.kernels.use(*([] if kernels == "best" else [kernels])):
        for i in range(5):
            for p, g in zip(params, grads, strict=True):
                p.grad = ac.tensor(g[i])
            optimizer.step()
    for p, start, g in zip(params, starts, grads, strict=True):
        expected = formula(start, [-x for x in g] if maximize else g, **settings)
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-9)


def counts(optimizer, params):
    return [optimizer.state[p]["step"].item() for p in params]


def test_parameters_that_began_together_share_their_count_until_they_part():
    params = [ac.zeros(2, requires_grad=True) for _ in range(3)]
    made = optim.Adam(params)

    def step(*which):
        for i, p in enumerate(params):
            p.grad = ac.ones(2) if i in which else None
        made.step()

    step(0, 1)
    step(0, 1)
    assert made.state[params[0]]["step"] is made.state[params[1]]["step"]
    assert params[2] not in made.state
    step(0, 2)
    step(0, 1, 2)
    step(0, 1, 2)
    assert counts(made, params) == [5, 4, 3]
    for p, n in zip(params, (5, 4, 3), strict=True):
        expected = adam(np.zeros(2), [np.ones(2)] * n, 1e-3, (0.9, 0.999), 1e-8)
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-4)


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


def test_a_late_parameter_begins_its_own_momentum():
    a = ac.zeros(1, requires_grad=True)
    b = ac.zeros(1, requires_grad=True)
    sgd = optim.SGD([a, b], lr=1.0, momentum=0.5, dampening=0.5)
    a.grad = ac.ones(1)
    sgd.step()
    b.grad = ac.ones(1)
    sgd.step()
    # a: 1, then 0.5 * 1 + 0.5 * 1; b: the gradient itself at its first step.
    assert a.item() == -2
    assert b.item() == -1


def test_a_late_parameter_begins_with_its_own_sum():
    params = [ac.ones(1, requires_grad=True) for _ in range(2)]
    adagrad = optim.Adagrad(params, lr=1.0, initial_accumulator_value=3.0)
    for p in params:
        p.grad = ac.ones(1)
        adagrad.step()
        p.grad = None
    assert params[0].tolist() == params[1].tolist() == [0.5]  # 1 - 1 / sqrt(3 + 1)


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


def test_the_state_holds_what_the_settings_need():
    w = ac.zeros(2, requires_grad=True)
    w.grad = ac.ones(2)
    for settings, kept in (
        ({}, {"square_avg"}),
        ({"momentum": 0.5}, {"square_avg", "momentum_buffer"}),
        ({"centered": True}, {"square_avg", "grad_avg"}),
    ):
        rmsprop = optim.RMSprop([w], **settings)
        rmsprop.step()
        rmsprop.step()
        state = rmsprop.state_dict()["state"][0]
        assert set(state) == {"step", *kept}
        assert state["step"].item() == 2


def test_a_constant_gradient_does_not_end_in_nan():
    """The variance is 0; of 1000 gradients rounding makes it negative for about 25."""
    w = ac.zeros(1000, requires_grad=True)
    w.grad = ac.linspace(0.05, 3.0, 1000)
    rmsprop = optim.RMSprop([w], centered=True)
    for _ in range(2000):
        rmsprop.step()
    assert np.isfinite(w.detach().numpy()).all()


def test_settings_are_pytorchs():
    p = [ac.zeros(1)]
    assert optim.SGD(p, foreach=True, fused=True).defaults == {
        "lr": 1e-3,
        "momentum": 0.0,
        "dampening": 0.0,
        "weight_decay": 0.0,
        "nesterov": False,
        "maximize": False,
    }
    assert optim.AdamW(p, fused=True).defaults["weight_decay"] == 1e-2
    assert optim.Adam(p, foreach=False).defaults == {
        "lr": 1e-3,
        "betas": (0.9, 0.999),
        "eps": 1e-8,
        "weight_decay": 0.0,
        "amsgrad": False,
        "maximize": False,
    }
