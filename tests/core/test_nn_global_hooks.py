# SPDX-License-Identifier: MIT
"""Hooks on every module of the process."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, AutocalcWarning
from autocalc.nn.modules import module as hooks

pytestmark = pytest.mark.core

CALLS = [
    "register_module_forward_pre_hook",
    "register_module_forward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_full_backward_hook",
]
REGISTRATIONS = [
    "register_module_parameter_registration_hook",
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
]


@pytest.fixture
def register():
    """Return a function that registers a hook until the test ends."""
    handles = []

    def run(name, hook, **words):
        handles.append(getattr(hooks, name)(hook, **words))
        return handles[-1]

    yield run
    for handle in handles:
        handle.remove()
    nn.Identity()(1)  # the first call without hooks makes calls plain again


def net():
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU())


def run(model):
    model(ac.rand(3, 2).requires_grad_()).sum().backward()


def test_hooks_of_the_last_step_of_each_module(register):
    seen = []
    register("register_module_backward_hook", lambda m, *_: seen.append(type(m)))
    with pytest.warns(FutureWarning, match="Sequential: .* multiple autograd Nodes"):
        run(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    assert seen == [nn.ReLU, nn.Sequential, nn.Linear]


def test_order_of_hooks(register):
    seen = []

    def note(label):
        return lambda module, *_: seen.append(f"{label} {type(module).__name__}")

    model = nn.Sequential(nn.Linear(2, 2))
    for name in CALLS:
        kind = name.replace("module_", "")
        getattr(model[0], kind)(note("own"))
        register(name, note("all"))
    run(model)
    outer, inner = "all Sequential", ["all Linear", "own Linear"]
    assert seen == [outer, *inner, *inner, outer, outer, *inner, *inner, outer]


def test_all_layers_of_a_chain_are_seen_each_once(register):
    seen, model = [], net()
    run(model)
    register(CALLS[1], lambda module, args, output: seen.append(type(module).__name__))
    run(model)
    assert seen == ["Linear", "BatchNorm1d", "ReLU", "Sequential"]


def test_they_replace_what_passes(register):
    x = ac.ones(1, 2)
    first = register(CALLS[0], lambda m, args: (args[0] * 3,))
    assert nn.Identity()(x).tolist() == [[3, 3]]
    register(CALLS[1], lambda m, args, output: output + 1)
    assert nn.Identity()(x).tolist() == [[4, 4]]
    first.remove()
    assert nn.Identity()(x).tolist() == [[2, 2]]
    y = x.clone().requires_grad_()
    register(CALLS[2], lambda m, g: (g[0] * 10,))
    register(CALLS[3], lambda m, gi, go: (gi[0] + 1,))
    nn.Identity()(y).sum().backward()
    assert y.grad.tolist() == [[11, 11]]


def test_keyword_arguments_and_errors(register):
    seen = []
    register(CALLS[1], lambda m, a, k, y: seen.append((a, k, y)), with_kwargs=True)
    nn.Identity()(input=3)
    assert seen == [((), {"input": 3}, 3)]

    class Broken(nn.Module):
        def forward(self, x):
            raise ValueError("broken")

    register(CALLS[1], lambda m, a, y: seen.append(y), always_call=True)
    with pytest.raises(ValueError, match="broken"):
        Broken()(1)
    assert seen[1:] == [None]


def test_always_call_of_one_module():
    class Broken(nn.Module):
        def forward(self, x):
            raise ValueError("broken")

    seen, model = [], Broken()
    model.register_forward_hook(lambda m, a, y: seen.append("no"))
    model.register_forward_hook(lambda m, a, y: seen.append(y), always_call=True)
    model.register_forward_hook(lambda m, a, y: 1 / 0, always_call=True)
    with (
        pytest.warns(AutocalcWarning, match="raised ZeroDivisionError"),
        pytest.raises(ValueError, match="broken"),
    ):
        model(1)
    assert seen == [None]


def test_calls_cost_nothing_again_when_the_last_is_removed(register):
    plain = nn.Module.__call__
    handle = register(CALLS[1], lambda m, a, y: None)
    assert nn.Module.__call__ is not plain
    handle.remove()
    nn.Identity()(1)
    assert nn.Module.__call__ is plain


@pytest.mark.parametrize("name", CALLS)
def test_a_compiled_step_follows(name, register):
    model, seen = nn.Linear(2, 2), []

    @ac.compile
    def step(x):
        y = model(x).sum()
        y.backward()
        return y

    def gradient():
        model.zero_grad()
        value = step(ac.ones(1, 2).requires_grad_()).item()
        return value, model.weight.grad.tolist()

    plain = gradient(), gradient(), gradient()
    assert plain[0] == plain[2]
    change = {
        CALLS[0]: lambda m, args: (args[0] * 2,),
        CALLS[1]: lambda m, args, y: y * 2,
        CALLS[2]: lambda m, g: (g[0] * 2,),
        CALLS[3]: lambda m, gi, go: seen.append(1),
    }[name]
    handle = register(name, change)
    changed = gradient()
    assert changed == gradient()
    assert (changed != plain[0]) == (name != CALLS[3])
    assert bool(seen) == (name == CALLS[3])
    handle.remove()
    assert gradient() == plain[0]


def test_a_profile_ends_as_it_began(register):
    plain = nn.Module.__call__
    with ac.profiler.profile():
        handle = register(CALLS[1], lambda m, args, y: y + 1)
        assert nn.Identity()(ac.zeros(1)).item() == 1
    assert nn.Identity()(ac.zeros(1)).item() == 1
    handle.remove()
    nn.Identity()(1)
    assert nn.Module.__call__ is plain


def test_registrations_are_seen(register):
    seen = []
    for name in REGISTRATIONS:
        register(name, lambda m, name, value: seen.append((type(m).__name__, name)))
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model.foo = nn.Parameter(ac.ones(1))
    model.foo = None
    model.register_buffer("b", ac.ones(1))
    model.b = ac.zeros(2)
    norm = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert seen[:2] == [("Linear", "weight"), ("Linear", "bias")]
    assert sorted(seen[2:7]) == sorted(("BatchNorm1d", name) for name in norm)
    assert seen[7:] == [("Sequential", name) for name in ["0", "1", "foo", "b", "b"]]


def test_registrations_are_replaced(register):
    handle = register(
        REGISTRATIONS[0], lambda m, n, p: nn.Parameter(p.detach() * 0 + 7)
    )
    model = nn.Module()
    model.weight = nn.Parameter(ac.ones(1))
    handle.remove()
    model.other = nn.Parameter(ac.ones(1))
    assert (model.weight.item(), model.other.item()) == (7, 1)


@pytest.mark.parametrize("name", CALLS + REGISTRATIONS)
def test_hooks_are_functions(name):
    with pytest.raises(ArgumentError, match=f"{name}: `hook` is a int; give a"):
        getattr(hooks, name)(3)
