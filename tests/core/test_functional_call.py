# SPDX-License-Identifier: MIT
"""Modules called with other parameters and buffers than their own."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, AutocalcError, DTypeError, ModuleError
from autocalc.func import functional_call

X = ac.tensor([[1.0, 2.0], [3.0, 4.0]])


def model():
    ac.manual_seed(3)
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))


def parameters(module):
    return {n: p.detach() * 2 for n, p in module.named_parameters()}


def test_it_computes_as_a_module_that_holds_them():
    module, other = model(), model()
    given = parameters(module)
    other.load_state_dict({**other.state_dict(), **given})
    found = functional_call(module, given, (X,))
    assert found.tolist() == other(X).tolist()


def test_the_module_keeps_its_own():
    module = model()
    before = {n: (id(p), p.tolist()) for n, p in module.named_parameters()}
    functional_call(module, parameters(module), X)
    with pytest.raises(AutocalcError):
        functional_call(module, parameters(module), ac.ones(2, 5))
    assert before == {n: (id(p), p.tolist()) for n, p in module.named_parameters()}


def test_gradients_go_to_what_is_given():
    module = nn.Linear(2, 1)
    weight = ac.ones(1, 2, requires_grad=True)
    functional_call(module, {"weight": weight}, X).sum().backward()
    assert weight.grad.tolist() == [[4.0, 6.0]]
    assert module.weight.grad is None
    assert module.bias.grad.item() == 2.0


def test_buffers_that_are_given_are_written():
    module = nn.BatchNorm1d(2)
    given = {"running_mean": ac.full((2,), 5.0)}
    functional_call(module, given, X)
    assert module.running_mean.tolist() == [0.0, 0.0]
    assert given["running_mean"].tolist() == pytest.approx([4.7, 4.8])


def test_a_few_dicts_and_words():
    bilinear = nn.Bilinear(2, 2, 1)
    weight, bias = {"weight": ac.ones(1, 2, 2)}, {"bias": ac.zeros(1)}
    found = functional_call(bilinear, (weight, bias), (X,), {"input2": X})
    assert found.tolist() == [[9.0], [49.0]]


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))


def test_tied_weights():
    module, twice = Tied(), {"a.weight": 2 * ac.eye(2)}
    assert functional_call(module, twice, X).tolist() == (4 * X).tolist()
    alone = functional_call(module, twice, X, tie_weights=False)
    expected = 2 * X @ module.b.weight.t()
    np.testing.assert_allclose(alone.tolist(), expected.tolist(), rtol=1e-6)
    assert module.a.weight is module.b.weight
    with pytest.raises(
        ArgumentError, match=r"multiple values for keys \['a.weight', 'b.weight'\]"
    ):
        functional_call(module, {**twice, "b.weight": ac.eye(2)}, X)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"weight": ac.ones(1, 2)}, r"given\. Missing key\(s\): 'bias'\.$"),
        (
            {"weight": ac.ones(1, 2), "bias": ac.ones(1), "c": ac.ones(1)},
            r"given\. Unexpected key\(s\): 'c'\.$",
        ),
        (
            {"c": ac.ones(1)},
            r"Unexpected key\(s\): 'c'\. Missing key\(s\): 'bias', 'weight'\.",
        ),
    ],
)
def test_strict(given, match):
    with pytest.raises(ArgumentError, match=match):
        functional_call(nn.Linear(2, 1), given, X, strict=True)


def test_refusals():
    layer, one = nn.Linear(2, 1), {"bias": ac.ones(1)}
    with pytest.raises(ArgumentError, match=r"\['bias'\] appeared in multiple dict"):
        functional_call(layer, [one, one], X)
    with pytest.raises(DTypeError, match="'bias' is given a list"):
        functional_call(layer, {"bias": [1.0]}, X)
    with pytest.raises(DTypeError, match=r"3.0 is not an instance of torch.Tensor"):
        functional_call(layer, {"bias": 3.0}, X)
    with pytest.raises(DTypeError, match="attribute `in_features`: 2 is not an inst"):
        functional_call(layer, {"in_features": ac.ones(1)}, X)
    with pytest.raises(ModuleError, match="Linear has no attribute `more` that is a"):
        functional_call(layer, {"more.bias": ac.ones(1)}, X)
    with pytest.raises(DTypeError, match="`module`"):
        functional_call(3, one, X)


def test_a_compiled_step():
    module = model()
    given = {n: p.detach().requires_grad_() for n, p in module.named_parameters()}

    def step(x):
        loss = functional_call(module, given, x).square().mean()
        return ac.autograd.grad(loss, list(given.values()))

    compiled = ac.compile(step)
    for i in range(6):
        if i == 4:
            given["2.bias"] = ac.ones(1, requires_grad=True)
        x = X + i
        expected = [g.numpy() for g in step(x)]
        found = [g.numpy() for g in compiled(x)]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = nn.Buffer(ac.zeros(1))

    def forward(self, x):
        self.count = self.count + 1
        return x + self.count, list(self.parameters())


def test_what_a_call_assigns_is_in_the_mapping():
    module, given = Counting(), {"count": ac.ones(1)}
    first = given["count"]
    functional_call(module, given, X)
    assert (module.count.item(), first.item(), given["count"].item()) == (0, 1, 2)
    functional_call(module, (MappingProxyType(given), {}), X)
    assert given["count"].item() == 2


def test_a_new_parameter_is_a_parameter_in_the_call():
    module, more = Counting(), nn.Parameter(ac.ones(1))
    _, inside = functional_call(module, {"more": more}, X)
    assert inside == [more]
    assert not list(module.parameters())
    assert not hasattr(module, "more")


def test_a_parameter_can_be_left_out_and_a_module_can_hold_itself():
    layer = nn.Linear(2, 1)
    out = functional_call(layer, {"bias": None, "weight": ac.ones(1, 2)}, X)
    assert out.tolist() == X.sum(1, keepdim=True).tolist()
    assert layer.bias is not None
    layer.self = layer
    given = {"self.self.bias": ac.zeros(1), "self.weight": ac.ones(1, 2)}
    again = functional_call(layer, given, X, tie_weights=False)
    assert again.tolist() == out.tolist()


def test_the_old_place_warns():
    from autocalc.nn.utils import stateless

    layer = nn.Linear(2, 1)
    with pytest.warns(FutureWarning, match="Please use `torch.func.functional_call`"):
        stateless.functional_call(layer, {}, X)
