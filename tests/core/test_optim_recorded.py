# SPDX-License-Identifier: MIT
"""Steps that are recorded: the values of plain ones, and gradients through them."""

from __future__ import annotations

import copy
import pickle

import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import ArgumentError, CompileError

CASES = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "dampening": 0.5, "maximize": True}),
    ("Adam", {"weight_decay": 0.1}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adadelta", {"weight_decay": 0.1}),
    ("RMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("Adamax", {}),
    ("ASGD", {}),
    ("NAdam", {}),
    ("RAdam", {}),
    ("Rprop", {}),
]

cases = pytest.mark.parametrize(("name", "settings"), CASES)


def double(*values, **words):
    return ac.tensor(values, dtype=ac.float64, **words)


def gradients(steps=8):
    return [double(0.3 + i, -0.7 * i) for i in range(steps)]


@cases
def test_values_are_those_of_plain_steps(name, settings):
    plain, w = (double(1.0, -2.0, requires_grad=True) for _ in range(2))
    through = w.clone()
    one = getattr(optim, name)([plain], lr=0.1, **settings)
    other = getattr(optim, name)([through], lr=0.1, differentiable=True, **settings)
    for g in gradients():
        plain.grad, through.grad = g, g.clone()
        one.step()
        other.step()
    assert ac.allclose(through, plain, rtol=1e-12)
    assert through.requires_grad
    assert not through.is_leaf


@cases
def test_gradients_through_two_steps(name, settings):
    if settings.get("amsgrad") or name == "Rprop":
        pytest.skip("a step of these is not smooth in the gradient")

    def train(w, g):
        w = w.clone()
        opt = getattr(optim, name)([w], lr=0.1, differentiable=True, **settings)
        for _ in range(2):
            w.grad = g * w.clone()
            opt.step()
        return w

    w, g = (double(*x, requires_grad=True) for x in ((1.0, -2.0), (0.7, 1.3)))
    assert ac.autograd.gradcheck(train, (w, g))


def test_a_rate_that_is_learned():
    lr = double(0.1, requires_grad=True).reshape(())
    for kind in (optim.SGD, optim.AdamW, optim.Adagrad, optim.RMSprop):
        w = double(1.0, 2.0, requires_grad=True).clone()
        w.grad = double(1.0, -1.0)
        opt = kind([w], lr=lr, differentiable=True)
        opt.step()
        (found,) = ac.autograd.grad(w.sum(), lr)
        assert found.shape == ()


def test_it_is_a_setting_of_the_group_where_it_is_asked_for():
    w = ac.ones(2, requires_grad=True)
    assert "differentiable" not in optim.SGD([w], lr=0.1).param_groups[0]
    opt = optim.SGD([w], lr=0.1, differentiable=True)
    assert opt.param_groups[0]["differentiable"]
    for way in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        again = way(opt)
        assert again._step_group._optimizer is again


@pytest.mark.parametrize("name", ["fused", "master_weights", "stochastic_rounding"])
def test_what_does_not_go_with_it(name):
    w = [ac.ones(2, requires_grad=True)]
    with pytest.raises(ArgumentError, match=f"`{name}` does not support `differenti"):
        optim.Adam(w, differentiable=True, **{name: True})


def test_it_is_not_compiled():
    w = ac.ones(2, requires_grad=True)
    opt = optim.SGD([w], lr=0.1, differentiable=True)

    @ac.compile
    def step():
        with ac.no_grad():
            w.grad = ac.ones(2)
        opt.step()

    with pytest.raises(CompileError, match="differentiable=True"):
        step()


def test_gradients_of_what_needs_none_are_followed():
    w = ac.ones(2)
    w.grad = ac.ones(2)
    opt = optim.SGD([w], lr=0.5)
    opt.step()
    assert w.tolist() == [0.5, 0.5]
    opt.zero_grad()
    assert w.grad is None
