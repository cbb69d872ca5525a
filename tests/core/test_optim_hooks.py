# SPDX-License-Identifier: MIT
"""Hooks of optimizers."""

from __future__ import annotations

import copy
import pickle

import pytest

import autocalc as ac
from autocalc import optim
from autocalc.errors import DTypeError, HookError


def optimizer(kind=optim.SGD, **settings):
    w = ac.ones(2, requires_grad=True)
    w.grad = ac.ones(2)
    return w, kind([w], lr=0.5, **settings)


class Own(optim.Optimizer):
    """An optimizer of one's own, with a step of its own."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data -= group["lr"] * p.grad
        return None if closure is None else closure()


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, Own])
def test_hooks_run_before_and_after_each_step(kind):
    w, opt = optimizer(kind)
    seen = []
    before = opt.register_step_pre_hook(lambda *x: seen.append(("pre", x, w.tolist())))
    after = opt.register_step_post_hook(lambda *x: seen.append(("post", x, w.tolist())))
    opt.step()
    given = (opt, (opt,), {})
    assert [one[:2] for one in seen] == [("pre", given), ("post", given)]
    assert seen[0][2] == [1.0, 1.0]
    assert seen[1][2] == w.tolist() != [1.0, 1.0]
    before.remove()
    opt.step()
    after.remove()
    opt.step()
    assert [one[0] for one in seen] == ["pre", "post", "post"]


def test_a_hook_may_change_the_arguments():
    _, opt = optimizer(Own)
    opt.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 7), kwargs))
    assert opt.step() == 7
    assert opt.step(lambda: 3) == 7


def test_a_hook_that_returns_something_else():
    _, opt = optimizer()
    opt.register_step_pre_hook(lambda *given: 3)
    with pytest.raises(HookError, match="must return None or a pair"):
        opt.step()


def test_what_is_no_function():
    _, opt = optimizer()
    with pytest.raises(DTypeError, match="`hook` is a int; it must be a function"):
        opt.register_step_post_hook(3)


def test_states_pass_through_hooks():
    _, opt = optimizer(optim.SGD, momentum=0.9)
    order = []
    opt.register_state_dict_pre_hook(lambda o: order.append("pre"))
    opt.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    opt.register_state_dict_post_hook(lambda o, state: order.append(len(state)), True)
    state = opt.state_dict()
    assert state["more"] == 1
    assert order == ["pre", 2]
    opt.register_load_state_dict_pre_hook(lambda o, state: state.pop("more") and None)
    opt.register_load_state_dict_post_hook(lambda o: order.append("loaded"))
    opt.load_state_dict(state)
    assert "more" in state, "a hook gets a copy"
    assert order == ["pre", 2, "loaded"]


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_have_no_hooks(copied):
    _, opt = optimizer()
    seen = []
    opt.register_step_post_hook(seen.append)
    other = copied(opt)
    for group in other.param_groups:
        for p in group["params"]:
            p.grad = ac.ones(2)
    other.step()
    assert seen == []


def test_a_compiled_step_sees_hooks_come_and_go():
    w, opt = optimizer()
    x = ac.ones(2)

    def step(x):
        w.grad = None
        (w * x).sum().backward()
        opt.step()

    compiled = ac.compile(step)

    def halve(opt, args, kwargs):
        with ac.no_grad():
            w.mul_(0.5)

    for i in range(12):
        if i == 4:
            handle = opt.register_step_post_hook(halve)
        if i == 8:
            handle.remove()
        before = w.tolist()
        compiled(x)
        expected = [(b - 0.5) * (0.5 if 4 <= i < 8 else 1.0) for b in before]
        assert w.tolist() == expected, i


def test_hooks_of_all_optimizers():
    seen = []
    _, old = optimizer(Own)
    old.register_step_pre_hook(lambda *_: seen.append("own before"))
    old.register_step_post_hook(lambda *_: seen.append("own after"))
    handles = [
        optim.optimizer.register_optimizer_step_pre_hook(
            lambda *given: seen.append(("before", given[0]))
        ),
        optim.optimizer.register_optimizer_step_post_hook(
            lambda *given: seen.append(("after", given[0]))
        ),
    ]
    w, new = optimizer(optim.Adam)
    old.step()
    new.step()
    assert seen == [
        *[("before", old), "own before", "own after", ("after", old)],
        *[("before", new), ("after", new)],
    ]
    assert w.tolist() == pytest.approx([0.5, 0.5])
    for handle in handles:
        handle.remove()
    del seen[:]
    new.step()
    assert seen == []
    with pytest.raises(
        DTypeError, match="step_pre_hook: `hook` is a int; it must be a"
    ):
        optim.optimizer.register_optimizer_step_pre_hook(3)
