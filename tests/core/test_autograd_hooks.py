# SPDX-License-Identifier: MIT
"""Hooks that see and replace gradients, and gradients kept of inner tensors."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import autograd
from autocalc.errors import ArgumentError, GradError


def leaf(*values):
    return ac.tensor(list(values), requires_grad=True)


def test_hooks_see_and_replace_gradients():
    x = leaf(1.0, 2.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [21.0, 21.0]


def test_hooks_see_the_sum():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 3 + y * 4).backward()
    assert seen == [7.0]


def test_removed_hooks_are_silent():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 100)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda g: g * 10):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.item() == 11.0


def test_a_hook_may_remove_itself():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: handle.remove())
    x.sum().backward()
    x.sum().backward()
    assert x.grad.item() == 2.0


def test_hooks_run_for_grad_too():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 3)
    y = x * 2
    y.register_hook(lambda g: g * 5)
    gy, gx = autograd.grad(y * 7, [y, x])
    # the gradient of an inner tensor is what its hooks made of what arrived
    assert (gy.item(), gx.item()) == (7.0 * 5, 7.0 * 5 * 2 * 3)


def test_hooks_are_recorded_with_the_walk():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = autograd.grad(y, x, create_graph=True)
    (second,) = autograd.grad(g, x)
    assert (g.item(), second.item()) == (8.0, 8.0)


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (lambda g: 3, "hook: returned 3 for a gradient of shape"),
        (lambda g: ac.ones(5), r"must return None or a tensor of that shape"),
        (
            lambda g: g.double(),
            "returned a tensor of float64 for a gradient of float32",
        ),
    ],
)
def test_hooks_that_return_something_else(hook, message):
    for make in (lambda x: x, lambda x: x * 2):
        x = leaf(1.0)
        y = make(x)
        y.register_hook(hook)
        with pytest.raises(GradError, match=message):
            (y * 2).sum().backward()


def test_retain_grad():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.register_hook(lambda g: g * 3)  # kept is what goes on
    z = (y * y).sum()
    z.backward(retain_graph=True)
    assert y.grad.tolist() == [12.0, 24.0]
    z.backward()
    assert y.grad.tolist() == [24.0, 48.0]
    y.grad = None
    assert y.grad is None
    x.retain_grad()
    assert x.grad is not None


def test_hooks_after_a_gradient_was_added():
    x, seen = leaf(1.0, 2.0), []
    handle = x.register_post_accumulate_grad_hook(
        lambda p: seen.append(p.grad.tolist())
    )
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert seen == [[2.0, 2.0], [5.0, 5.0]]
    autograd.grad((x * 2).sum(), x)
    handle.remove()
    x.sum().backward()
    assert len(seen) == 2


def test_a_step_within_the_backward_pass():
    x = leaf(1.0)

    def step(p):
        assert p is x
        assert not ac.is_grad_enabled()
        p.sub_(p.grad * 0.5)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    assert x.grad is None
    assert x.tolist() == [0.0]


def test_hooks_after_other_hooks_and_of_tensors_that_are_gone():
    x, seen = leaf(1.0), []
    x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.item()))
    y = (x * 2).sum()
    y.backward(retain_graph=True)
    assert seen == [20.0]
    del x
    y.backward()
    assert seen == [20.0]


def test_hooks_after_a_gradient_that_are_refused():
    x = leaf(1.0)
    with pytest.raises(GradError, match="register_post_accumulate_grad_hook: post"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(ArgumentError, match="`hook` is a int; give a function"):
        x.register_post_accumulate_grad_hook(3)
    x.register_post_accumulate_grad_hook(lambda p: 1)
    with pytest.raises(
        GradError, match=r"hooks should return None. This one returned a int"
    ):
        x.sum().backward()


def test_threads_of_the_walk_are_accepted():
    with autograd.set_multithreading_enabled(False):
        leaf(1.0).sum().backward()
    with pytest.raises(ArgumentError, match="set_multithreading_enabled"):
        autograd.set_multithreading_enabled("yes")
