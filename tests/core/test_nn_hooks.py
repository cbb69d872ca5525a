# SPDX-License-Identifier: MIT
"""Hooks of modules: their order, what they see, what they may change."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import AutocalcWarning, GradError, HookError

A = ac.ones(2, requires_grad=True)


class Add(nn.Module):
    def forward(self, x, *, by=1):
        return x + by


def test_hooks_run_around_forward_in_order():
    seen = []
    net = Add()
    net.register_forward_pre_hook(lambda m, args: seen.append(("pre", m is net, args)))
    net.register_forward_hook(lambda m, args, out: seen.append(("post", args, out)))
    net.register_forward_hook(lambda m, args, out: seen.append("last"))
    net.register_forward_hook(lambda m, args, out: seen.append("first"), prepend=True)
    assert net(1) == 2
    assert seen == [("pre", True, (1,)), "first", ("post", (1,), 2), "last"]


def test_hooks_may_change_what_passes():
    net = Add()
    net.register_forward_pre_hook(lambda m, args: args[0] * 10)
    assert net(1) == 11
    net.register_forward_pre_hook(lambda m, args: (args[0] + 5,))
    assert net(1) == 16
    net.register_forward_hook(lambda m, args, out: -out)
    assert net(1) == -16


def test_hooks_may_want_the_keywords():
    net = Add()
    net.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {**kwargs, "by": kwargs["by"] + 1}),
        with_kwargs=True,
    )
    seen = []
    net.register_forward_hook(
        lambda m, args, kwargs, out: seen.append((args, kwargs, out)), with_kwargs=True
    )
    assert net(1, by=3) == 5
    assert seen == [((1,), {"by": 4}, 5)]


def test_handles_take_hooks_away():
    net = Add()
    seen = []
    handle = net.register_forward_hook(lambda m, args, out: seen.append(out))
    with net.register_forward_pre_hook(lambda m, args: (0,)):
        assert net(1) == 1
    assert net(1) == 2
    handle.remove()
    handle.remove()
    net(1)
    assert seen == [1, 2]


def test_a_hook_may_remove_itself():
    net = Add()
    handles = []

    def once(module, args, out):
        handles[0].remove()
        return out * 100

    handles.append(net.register_forward_hook(once))
    assert net(1) == 200
    assert net(1) == 2


def test_hooks_of_inner_modules_see_activations():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    shapes = {}
    for name, module in net.named_modules():
        module.register_forward_hook(
            lambda m, args, out, name=name: shapes.update({name: out.shape})
        )
    net(ac.zeros(2, 3))
    assert shapes == {"0": (2, 4), "1": (2, 4), "": (2, 4)}


def values(grads):
    return [None if g is None else g.tolist() for g in grads]


class Scale(nn.Module):
    def forward(self, x, y, word="", *, by=1.0):
        return x * 2 * by, y * 3, 7


def test_backward_hooks_see_all_gradients_of_a_call():
    seen = []
    net = Scale()
    net.register_full_backward_pre_hook(lambda m, out: seen.append(values(out)))
    net.register_full_backward_hook(
        lambda m, into, out: seen.append((m is net, values(into), values(out)))
    )
    x, y = ac.ones(2, requires_grad=True), ac.ones(1)
    first, second, number = net(x, y, "word", by=5.0)
    assert number == 7
    assert not second.requires_grad
    (first * ac.tensor([1.0, -1.0])).sum().backward()
    out = [[1.0, -1.0], None, None]
    assert seen == [out, (True, [[10.0, -10.0], None, None], out)]
    assert x.grad.tolist() == [10.0, -10.0]


def test_backward_hooks_may_change_gradients():
    net = nn.Linear(2, 1, bias=False)
    net.register_full_backward_pre_hook(lambda m, out: (out[0] * 2,))
    net.register_full_backward_hook(lambda m, into, out: (into[0] * 10,))
    handle = net.register_full_backward_hook(lambda m, into, out: (into[0] + 1,))
    x = ac.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    w = net.weight.detach()
    assert ac.allclose(x.grad, w * 20 + 1)
    assert net.weight.grad.tolist() == [[2.0, 2.0]]
    handle.remove()
    x.grad = None
    net(x).sum().backward()
    assert ac.allclose(x.grad, w * 20)


def test_backward_hooks_run_where_no_input_requires_a_gradient():
    seen = []
    net = nn.Linear(2, 1)
    net.register_full_backward_hook(lambda m, into, out: seen.append(values(into)))
    net(ac.ones(1, 2)).sum().backward()
    with ac.no_grad():
        net(ac.ones(1, 2))
    assert seen == [[None]]


def test_backward_hooks_say_what_is_wrong():
    net = nn.Linear(2, 1)
    net.register_full_backward_hook(lambda m, into, out: (None, None))
    with pytest.raises(GradError, match="backward hook: got 2, but expected 1 gra"):
        net(ac.ones(1, 2, requires_grad=True)).sum().backward()
    net = nn.Linear(2, 1)
    net.register_full_backward_hook(lambda m, into, out: (ac.ones(1, 2),))
    with pytest.raises(GradError, match="where no input requires gradient; return No"):
        net(ac.ones(1, 2)).sum().backward()


class Parts(NamedTuple):
    a: ac.Tensor
    b: ac.Tensor


class Gives(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return self.make(x)


def test_backward_hooks_of_outputs_of_other_kinds():
    seen = []
    x = ac.ones(2, requires_grad=True)
    for make in (lambda x: {"a": x * 2}, lambda x: Parts(x * 2, x * 3)):
        net = Gives(make)
        net.register_full_backward_hook(lambda m, into, out: seen.append(values(out)))
        if isinstance(make(x), dict):
            with pytest.warns(
                AutocalcWarning, match="a dict. The output should be a T"
            ):
                net(x)["a"].sum().backward()
        else:
            net(x).b.sum().backward()
    assert seen == [[[0.0, 0.0], [1.0, 1.0]]]


def test_hooks_of_the_last_step():
    seen = []
    net = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())
    handle = net[1].register_backward_hook(lambda m, into, out: seen.append((m, into)))
    x = ac.zeros(1, 2, requires_grad=True)
    net[1](x).sum().backward()
    assert seen[0][0] is net[1]
    assert values(seen[0][1]) == [[[0.25, 0.25]]]
    handle.remove()
    net[1].register_backward_hook(lambda m, into, out: (into[0] * 8,))
    x.grad = None
    net[1](x).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0]]
    with pytest.raises(GradError, match="hooks of the other kind"):
        net[1].register_full_backward_hook(print)
    net[0].register_full_backward_hook(print)
    with pytest.raises(GradError, match="hooks of the other kind"):
        net[0].register_backward_hook(print)
    pair = Gives(lambda x: {"a": (x * 2, x)})
    pair.register_backward_hook(lambda m, into, out: seen.append(values(out)))
    with pytest.warns(FutureWarning, match="does not return a single Tensor"):
        pair(x)["a"][0].sum().backward()
    assert seen[-1] == [[[1.0, 1.0]]]


def test_handles_have_the_numbers_of_their_hooks():
    net = nn.Identity()
    first, second = (net.register_forward_hook(print) for _ in range(2))
    assert first.id != second.id


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(ac.tensor([0.5, 2.0]))

    def forward(self, a, b):
        return a * self.w * b


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(self.inner(x).tanh())


MODULES = {
    "linear": (lambda: nn.Linear(2, 2), 1),
    "activation": (nn.Tanh, 1),
    "several inputs": (Product, 2),
    "no change": (nn.Identity, 1),
    "inner module called twice": (Twice, 1),
    "norm": (lambda: nn.LayerNorm(2), 1),
    "container": (
        lambda: nn.Sequential(nn.Linear(2, 3), nn.GELU(), nn.Linear(3, 2)),
        1,
    ),
    "convolution": (lambda: nn.Conv1d(3, 3, 1), 1),
    "recurrent cell": (lambda: nn.GRUCell(2, 2), 2),
}
#: Of the output: its gradient needs it, or does not.
LOSSES = {"sum": lambda y: y.sum(), "cubes": lambda y: (y**3).sum()}


def run_twice(name, loss, own):
    """Run backward with `create_graph`, then through what was recorded.

    Returns what backward hooks were given in either pass, as (kind, numbers).
    """
    build, n_inputs = MODULES[name]
    ac.manual_seed(0)
    net = build()
    seen = []
    for module in net.modules():
        module.register_full_backward_pre_hook(
            lambda m, out: seen.append((m, "pre", out[0].detach().clone()))
        )
        module.register_full_backward_hook(
            lambda m, grads, out: seen.append((m, "post", out[0].detach().clone()))
        )
    inputs = [ac.randn(3, 2, requires_grad=True) for _ in range(n_inputs)]
    wanted = [*inputs, *net.parameters()] if own else inputs
    value = LOSSES[loss](net(*inputs))
    grads = ac.autograd.grad(value, wanted, create_graph=True)
    first = seen.copy()
    seen.clear()
    total = sum((g**2).sum() for g in grads)
    if total.requires_grad:
        total.backward()
    return first, seen


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", MODULES)
def test_a_backward_hook_runs_once_for_each_way_through_the_output(name, loss, own):
    for walk in run_twice(name, loss, own):
        for module in {m for m, _, _ in walk}:
            before = [g for m, kind, g in walk if m is module and kind == "pre"]
            after = [g for m, kind, g in walk if m is module and kind == "post"]
            assert len(before) == len(after)
            assert all(any(a.equal(b) for b in before) for a in after)


def test_a_second_derivative_past_the_output_runs_no_backward_hook():
    layer = nn.Linear(2, 2)
    seen = []
    layer.register_full_backward_hook(lambda *given: seen.append(given))
    x = ac.ones(3, 2, requires_grad=True)
    layer(x).sum().backward(create_graph=True)
    assert len(seen) == 1
    (layer.weight.grad**2).sum().backward()  # leads to x, not by way of the output
    assert len(seen) == 1
    assert x.grad is not None


def test_a_walk_that_ends_before_the_input_leaves_nothing_for_the_next():
    layer = nn.Linear(2, 2)
    seen = []
    layer.register_full_backward_hook(lambda *given: seen.append(given))
    x = ac.ones(3, 2, requires_grad=True)
    (grad,) = ac.autograd.grad(layer(x).sum(), [layer.weight], create_graph=True)
    assert not seen  # it ends at the weight
    (grad**2).sum().backward()
    assert not seen  # it comes to the input, and has not been at the output
    assert x.grad is not None


def test_handles_know_the_hooks_of_their_kind():
    layer = nn.Linear(2, 2)
    plain = layer.register_forward_hook(lambda *_: None)
    kind = {"with_kwargs": True}
    other = layer.register_forward_hook(lambda *_: None, **kind)
    before = layer.register_forward_pre_hook(lambda *_: None, **kind)
    assert list(plain.hooks_dict_ref()) == [plain.id, other.id]
    assert list(layer._forward_hooks_with_kwargs) == [other.id]
    assert list(layer._forward_pre_hooks_with_kwargs) == [before.id]
    other.remove()
    assert list(plain.hooks_dict_ref()) == [plain.id]
    assert not layer._forward_hooks_with_kwargs


def test_deleting_a_table_of_hooks_removes_them():
    layer = nn.Linear(2, 2)
    layer.register_state_dict_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        layer.state_dict()
    del layer._state_dict_pre_hooks
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_a_hook_after_the_state_returns_none():
    layer = nn.Linear(2, 2)

    def hook(*_):
        return {}

    handle = layer.register_state_dict_post_hook(hook)
    with pytest.raises(HookError, match=r"post-hook must return None, .* a dict"):
        layer.state_dict()
    with pytest.raises(HookError, match="previously registered via register_state_"):
        layer._register_state_dict_hook(hook)
    handle.remove()
    layer._register_state_dict_hook(lambda *_: {})
    assert layer.state_dict() == {}
    layer.register_state_dict_post_hook([].extend)  # it takes no attributes


@pytest.mark.parametrize(
    ("forward", "args", "match"),
    [
        (lambda x: x[0], ([A],), "does not take as input a single Tensor or a tuple"),
        (lambda x: [x * 2], (A,), "does not return a single Tensor or a tuple of"),
        (lambda x: (x * 2, x * 3), (A,), "generated by different autograd Nodes"),
        (lambda x: x * 2 * 3, (A,), "the forward contains multiple autograd Nodes"),
    ],
)
def test_hooks_of_the_last_step_warn_of_what_they_miss(forward, args, match):
    module = nn.Module()
    module.forward = forward
    module.register_backward_hook(lambda *_: None)
    with pytest.warns(FutureWarning, match=match):
        module(*args)


def test_hooks_of_a_single_step_warn_of_nothing(recwarn):
    module = nn.Module()
    module.forward = lambda x: x * 2
    module.register_backward_hook(lambda *_: None)
    module(module(A))
    assert not recwarn.list
