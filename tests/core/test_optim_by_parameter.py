# SPDX-License-Identifier: MIT
"""NAdam, RAdam, Adamax, ASGD, Rprop, Adafactor and LBFGS; PyTorch is asked elsewhere.

`tests/models/test_nn_against_torch.py` compares each step with PyTorch's.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError
from autocalc.optim._strong_wolfe import Point, Search, strong_wolfe


def test_asgd_keeps_the_mean_from_t0_plus_2_on():
    w = ac.tensor([0.0], requires_grad=True)
    asgd = optim.ASGD([w], lr=1.0, lambd=0.0, t0=2)
    seen = []
    for i in range(5):
        w.grad = ac.tensor([-float(i)])
        asgd.step()
        seen.append(w.item())
    assert seen == [0, 1, 3, 6, 10]
    assert asgd.state[w]["ax"].item() == pytest.approx(np.mean(seen[3:]))


def test_adafactor_of_no_elements():
    w = ac.zeros(0, 3, requires_grad=True)
    adafactor = optim.Adafactor([w])
    w.grad = ac.zeros(0, 3)
    adafactor.step()
    assert w.shape == (0, 3)


def test_adafactor_refuses_a_state_of_another_shape():
    w = ac.ones(2, 3, requires_grad=True)
    adafactor = optim.Adafactor([w])
    w.grad = ac.ones(2, 3)
    adafactor.step()
    state = adafactor.state_dict()
    state["state"][0]["row_var"] = ac.ones(2, 3)
    match = r"of parameter 0 has shape \(2, 3\); for a parameter of shape"
    with pytest.raises(
        ArgumentError, match=match + r" \(2, 3\) it must have shape \(2, 1\)"
    ):
        adafactor.load_state_dict(state)


# ---- LBFGS ---------------------------------------------------------------------------


def rosenbrock(optimizer, w):
    def closure():
        optimizer.zero_grad()
        loss = 100 * (w[1] - w[0] ** 2) ** 2 + (1 - w[0]) ** 2
        loss.backward()
        return loss

    return closure


def test_lbfgs_finds_the_minimum_of_rosenbrocks_valley():
    w = ac.tensor([-1.2, 1.0], dtype=ac.float64, requires_grad=True)
    lbfgs = optim.LBFGS([w], line_search_fn="strong_wolfe", max_iter=60)
    first = lbfgs.step(rosenbrock(lbfgs, w))
    assert first.item() == pytest.approx(24.2)
    np.testing.assert_allclose(w.tolist(), [1, 1], rtol=1e-4)
    assert lbfgs.state[w]["func_evals"] < 70


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_goes_on_from_a_saved_state(search, tmp_path):
    def run(save):
        w = ac.tensor([-1.2, 1.0], dtype=ac.float64, requires_grad=True)
        words = {"lr": 0.01, "max_iter": 3, "line_search_fn": search}
        lbfgs = optim.LBFGS([w], **words)
        for i in range(4):
            if save and i == 2:
                ac.save(lbfgs.state_dict(), tmp_path / "state")
                lbfgs = optim.LBFGS([w])
                lbfgs.load_state_dict(ac.load(tmp_path / "state"))
            lbfgs.step(rosenbrock(lbfgs, w))
        return w.tolist()

    assert run(False) == run(True)


def test_lbfgs_takes_parameters_without_a_gradient_and_zeroed_ones():
    used, unused = (ac.ones(2, requires_grad=True) for _ in range(2))
    lbfgs = optim.LBFGS([used, unused])

    def closure():
        lbfgs.zero_grad(set_to_none=False)
        (loss := ((used - 3) ** 2).sum()).backward()
        return loss

    for _ in range(3):
        lbfgs.step(closure)
    np.testing.assert_allclose(used.tolist(), [3, 3], rtol=1e-5)
    assert unused.tolist() == [1, 1]


def line(function, slope):
    """Return a search on a function of one number."""

    def at(t):
        return Point(t, function(t), None, slope(t))

    return Search(at, at(0.0), 25)


def power(t):
    return abs(t - 1) ** 1.5


def slope_of_power(t):
    return 1.5 * math.copysign(abs(t - 1) ** 0.5, t - 1)


@pytest.mark.parametrize("t", [1e-3, 0.5, 2.0, 10.0])
@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
        (lambda t: -t * math.exp(-t), lambda t: (t - 1) * math.exp(-t)),
        (lambda t: -math.sin(t), lambda t: -math.cos(t)),
        (power, slope_of_power),
    ],
)
def test_a_search_ends_where_wolfes_conditions_hold(function, slope, t):
    search = line(function, slope)
    point = strong_wolfe(search, t, 1e-12)
    assert point.loss <= search.start.loss + 1e-4 * point.t * search.start.slope
    assert abs(point.slope) <= 0.9 * abs(search.start.slope)


def test_a_search_gives_up_where_there_is_no_minimum():
    search = line(lambda t: -t, lambda t: -1.0)
    assert strong_wolfe(search, 1.0, 1e-9).t > 1e10
    assert search.evaluations == 26


def test_a_search_bears_what_is_no_number():
    search = line(lambda t: -t if t < 1 else math.nan, lambda t: -1.0)
    point = strong_wolfe(search, 2.0, 1e-9)
    assert search.evaluations <= 26
    assert math.isnan(point.loss) or point.loss <= 0
