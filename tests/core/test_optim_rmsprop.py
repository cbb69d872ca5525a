# SPDX-License-Identifier: MIT
"""RMSprop against its formula."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError


def formula(p, grads, alpha, eps, weight_decay, momentum, centered, maximize):
    v, m, b = (np.zeros_like(p) for _ in range(3))
    for g in grads:
        g = (-g if maximize else g) + weight_decay * p  # noqa: PLW2901  as it is written
        v = alpha * v + (1 - alpha) * g * g
        m = alpha * m + (1 - alpha) * g
        spread = v - m * m if centered else v
        b = momentum * b + g / (np.sqrt(spread) + eps)
        p = p - 0.05 * b
    return p


OPTIONS = [
    (0.9, 1e-6, 0.0, 0.0, False, False),
    (0.9, 1e-6, 0.1, 0.0, True, False),
    (0.8, 1e-6, 0.0, 0.9, False, True),
    (0.8, 1e-3, 0.1, 0.5, True, True),
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kernels", ["best", "reference"])
def test_the_trajectory_is_the_formula(options, kernels):
    *numbers, centered, maximize = options
    rng = np.random.default_rng(0)
    starts = [rng.normal(size=shape) for shape in [(3, 4), (5,), ()]]
    grads = [[rng.normal(size=s.shape) for _ in range(5)] for s in starts]
    params = [ac.tensor(s, requires_grad=True) for s in starts]
    rmsprop = optim.RMSprop(
        params, 0.05, *numbers, centered=centered, maximize=maximize
    )
    with ac.kernels.use(*([] if kernels == "best" else [kernels])):
        for i in range(5):
            for p, g in zip(params, grads, strict=True):
                p.grad = ac.tensor(g[i])
            rmsprop.step()
    for p, start, g in zip(params, starts, grads, strict=True):
        expected = formula(start, g, *options)
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-9)


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


def test_going_on_from_a_state_is_the_same_run():
    def run(steps, at=None):
        w = ac.ones(3, requires_grad=True)
        rmsprop = optim.RMSprop([w], momentum=0.9, centered=True)
        for i in range(steps):
            if i == at:
                state = rmsprop.state_dict()
                rmsprop = optim.RMSprop([w], lr=7.0)
                rmsprop.load_state_dict(state)
            w.grad = ac.tensor([0.1, -1.0, 10.0]) * (i + 1)
            rmsprop.step()
        return w.tolist()

    assert run(4) == run(4, at=2)


def test_a_constant_gradient_does_not_end_in_nan():
    """The variance is 0; of 1000 gradients rounding makes it negative for about 25."""
    w = ac.zeros(1000, requires_grad=True)
    w.grad = ac.linspace(0.05, 3.0, 1000)
    rmsprop = optim.RMSprop([w], centered=True)
    for _ in range(2000):
        rmsprop.step()
    assert np.isfinite(w.detach().numpy()).all()


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"lr": -1.0}, "RMSprop: `lr` is -1.0; it must be a number, 0 or more"),
        ({"alpha": 1.5}, "`alpha` is 1.5; it must be a number from 0 to 1"),
        ({"eps": -1e-8}, "`eps` is -1e-08"),
        ({"momentum": "much"}, "`momentum` is 'much'"),
        ({"weight_decay": -0.1}, "`weight_decay` is -0.1"),
        ({"differentiable": True}, "`differentiable` is not available; leave it out"),
        ({"differentiable": True}, "`differentiable` is not available"),
    ],
)
def test_impossible_settings(settings, match):
    with pytest.raises(ArgumentError, match=match):
        optim.RMSprop([ac.zeros(1, requires_grad=True)], **settings)
