# SPDX-License-Identifier: MIT
"""SGD against its formula."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError


def formula(p, grads, lr, momentum, dampening, weight_decay, nesterov, maximize):
    b = None
    for g in grads:
        g = (-g if maximize else g) + weight_decay * p  # noqa: PLW2901  as it is written
        if momentum:
            b = g if b is None else momentum * b + (1 - dampening) * g
            g = g + momentum * b if nesterov else b  # noqa: PLW2901
        p = p - lr * g
    return p


OPTIONS = [
    (0.0, 0.0, 0.0, False, False),
    (0.9, 0.0, 0.0, False, False),
    (0.9, 0.3, 0.0, False, False),
    (0.9, 0.0, 0.1, True, False),
    (0.0, 0.0, 0.1, False, True),
    (0.5, 0.1, 0.2, False, True),
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kernels", ["best", "reference"])
def test_the_trajectory_is_the_formula(options, kernels):
    momentum, dampening, weight_decay, nesterov, maximize = options
    rng = np.random.default_rng(0)
    starts = [rng.normal(size=shape) for shape in [(3, 4), (5,), ()]]
    grads = [[rng.normal(size=s.shape) for _ in range(4)] for s in starts]
    params = [ac.tensor(s, requires_grad=True) for s in starts]
    sgd = optim.SGD(
        params, 0.1, momentum, dampening, weight_decay, nesterov, maximize=maximize
    )
    with ac.kernels.use(*([] if kernels == "best" else [kernels])):
        for i in range(4):
            for p, g in zip(params, grads, strict=True):
                p.grad = ac.tensor(g[i])
            sgd.step()
    for p, start, g in zip(params, starts, grads, strict=True):
        expected = formula(start, g, 0.1, *options)
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-12)


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


def test_settings_are_pytorchs():
    sgd = optim.SGD([ac.zeros(1)], foreach=True, fused=True)
    assert sgd.defaults == {
        "lr": 1e-3,
        "momentum": 0.0,
        "dampening": 0.0,
        "weight_decay": 0.0,
        "nesterov": False,
        "maximize": False,
    }


def test_impossible_settings_are_refused():
    p = [ac.zeros(1)]
    with pytest.raises(
        ArgumentError, match=r"SGD: `lr` is -0\.1; it must be a number, 0"
    ):
        optim.SGD(p, lr=-0.1)
    with pytest.raises(ArgumentError, match="SGD: `momentum` is -1"):
        optim.SGD(p, momentum=-1)
    with pytest.raises(ArgumentError, match="SGD: `weight_decay` is -1"):
        optim.SGD(p, weight_decay=-1)
    with pytest.raises(ArgumentError, match=r"`nesterov` with `momentum`=0\.0 and"):
        optim.SGD(p, nesterov=True)
    with pytest.raises(
        ArgumentError, match="needs a momentum above 0 and no dampening"
    ):
        optim.SGD(p, momentum=0.9, dampening=0.1, nesterov=True)
    with pytest.raises(ArgumentError, match="SGD: `lr` is 'fast'; it must be a number"):
        optim.SGD(p, lr="fast")
    with pytest.raises(ArgumentError, match="SGD: `lr` is nan"):
        optim.SGD(p, lr=float("nan"))
    with pytest.raises(ArgumentError, match="SGD: `dampening` is None; it must be a n"):
        optim.SGD(p, dampening=None)
    with pytest.raises(ArgumentError, match="SGD: `lr` is -2"):
        optim.SGD(p).add_param_group({"params": [ac.zeros(1)], "lr": -2})
