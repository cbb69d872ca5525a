# SPDX-License-Identifier: MIT
"""Parts that are computed again in the backward pass."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import default_generator, nn
from autocalc.errors import ArgumentError, DTypeError, GradError
from autocalc.testing import gradcheck, gradgradcheck
from autocalc.utils.checkpoint import checkpoint, checkpoint_sequential


def gradients(run, net, x):
    net.zero_grad()
    x = x.detach().requires_grad_()
    (run(x) ** 2).sum().backward()
    return [x.grad.tolist(), *(p.grad.tolist() for p in net.parameters())]


def test_gradients_of_arguments_and_parameters_are_the_same():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x = ac.randn(5, 3)
    assert gradients(lambda x: checkpoint(net, x), net, x) == gradients(net, net, x)


def test_parameters_get_gradients_though_no_argument_wants_one():
    layer = nn.Linear(2, 1)
    checkpoint(layer, ac.ones(3, 2), use_reentrant=False).sum().backward()
    assert layer.weight.grad.tolist() == [[3.0, 3.0]]


def test_what_lies_inside_is_not_kept():
    def deep(x):
        for _ in range(50):
            x = (x * 1.01).tanh()
        return x

    x = ac.ones(3, requires_grad=True)
    before = ac.live_node_count()
    y = checkpoint(deep, x)
    assert ac.live_node_count() - before == 1
    y.sum().backward()
    z = x.detach().requires_grad_()
    deep(z).sum().backward()
    assert x.grad.tolist() == z.grad.tolist()


def test_dropout_drops_the_same_elements():
    x = ac.ones(1000, requires_grad=True)
    y = checkpoint(lambda x: nn.functional.dropout(x * 1.0, 0.5), x)
    ac.rand(7)  # the generator has moved on
    state = default_generator.get_state()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert default_generator.get_state() == state


def test_several_results_and_other_arguments():
    x = ac.tensor([1.0, 2.0], requires_grad=True)
    a, b = checkpoint(lambda x, n, scale: (x * n, x.sum() * scale), x, 3, scale=5)
    (a.sum() + b).backward()
    assert x.grad.tolist() == [8.0, 8.0]
    _, b = checkpoint(lambda x: (x * 2, x * 3), x)
    x.grad = None
    b.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_derivatives_of_any_order():
    w = ac.tensor([0.3, -0.7], dtype=ac.float64, requires_grad=True)
    x = ac.tensor([0.5, 1.5], dtype=ac.float64, requires_grad=True)

    inside = ac.tensor([1.1, 0.9], dtype=ac.float64, requires_grad=True)

    def run(x, y):
        return checkpoint(lambda a, b: (a * inside).tanh() * b, x, y)

    assert gradcheck(run, (x, w))
    assert gradgradcheck(run, (x, w))
    assert gradgradcheck(lambda x: run(x, x * x), (x,))


def test_hooks_of_parameters_run_once():
    layer = nn.Linear(2, 1, bias=False)
    calls = []
    layer.weight.register_hook(lambda g: calls.append(g.tolist()))
    checkpoint(layer, ac.ones(1, 2)).sum().backward()
    assert calls == [[[1.0, 1.0]]]


def test_nothing_is_recorded_where_nothing_is_wanted():
    layer = nn.Linear(2, 1)
    with ac.no_grad():
        assert not checkpoint(layer, ac.ones(1, 2)).requires_grad
    assert not checkpoint(lambda x: x * 2, ac.ones(2)).requires_grad


@pytest.mark.parametrize("segments", [1, 2, 3, 9])
def test_a_chain_in_segments(segments):
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.ReLU())
    x = ac.randn(3, 2)
    found = gradients(lambda x: checkpoint_sequential(net, segments, x), net, x)
    assert found == gradients(net, net, x)


def test_errors():
    x = ac.ones(2, requires_grad=True)
    hidden = x * 2
    with pytest.raises(GradError, match="checkpoint: `function` uses a tensor"):
        checkpoint(lambda y: y + hidden, x)
    with pytest.raises(
        DTypeError, match="`function` returned a object; it must return"
    ):
        checkpoint(lambda y: object(), x)
    with pytest.raises(ArgumentError, match="`segments` is 0; use 1 or more"):
        checkpoint_sequential(nn.Sequential(), 0, x)
    sizes = iter([1, 2])
    y = checkpoint(lambda x: x[: next(sizes)], x)
    with pytest.raises(GradError, match="checkpoint: the function returned the"):
        y.sum().backward()


def test_a_changed_argument_is_caught():
    x = ac.ones(2, requires_grad=True)
    hidden = ac.ones(2)
    y = checkpoint(lambda x, h: x * h, x, hidden)
    hidden.mul_(2)
    with pytest.raises(GradError, match="`checkpoint` needs was changed in place"):
        y.sum().backward()


def test_results_may_be_nested_and_hold_other_values():
    x = ac.ones(2, requires_grad=True)
    found = checkpoint(lambda x: {"a": (x * 3, None), "b": [2, "c", x + 1]}, x)
    assert found["a"][1] is None
    assert found["b"][:2] == [2, "c"]
    (found["a"][0] + found["b"][2]).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    assert checkpoint(lambda x: 3, x) == 3


def test_early_stops_have_no_effect():
    x = ac.ones(2, requires_grad=True)
    with ac.utils.checkpoint.set_checkpoint_early_stop(False):
        checkpoint(lambda x: x * 3, x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
