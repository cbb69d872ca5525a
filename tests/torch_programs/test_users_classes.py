# SPDX-License-Identifier: MIT
"""Classes of users below AutoCalc's: tensors, modules, distributions."""

from __future__ import annotations

import math

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError

pytestmark = pytest.mark.core


class Tagged(ac.Tensor):
    def __new__(cls, x, tag):
        made = x.as_subclass(cls)
        made.tag = tag
        return made


class Named(ac.Tensor):
    def __new__(cls, data, name):
        return super().__new__(cls, data)

    def __init__(self, data, name):
        super().__init__()
        self.name_ = name


class Kept(ac.nn.Parameter):
    def __new__(cls, data=None, requires_grad=True, **words):
        made = super().__new__(cls, data, requires_grad)
        made.words = words
        return made


def test_a_subclass_makes_its_tensors_itself():
    x = ac.tensor([1, 2], dtype=ac.int8)
    tagged = Tagged(x, tag=3)
    assert (tagged.tag, tagged.dtype, tagged.tolist()) == (3, ac.int8, [1, 2])
    named = Named(x, "a")
    assert (named.name_, named.dtype, named.tolist()) == ("a", ac.int8, [1, 2])
    kept = Kept(ac.ones(2), key=1)
    assert (kept.words, kept.requires_grad, kept.tolist()) == ({"key": 1}, True, [1, 1])
    same = ac.Tensor._make_subclass(Tagged, ac.ones(2), True)
    assert (type(same), same.requires_grad) == (Tagged, True)


def test_a_tensor_of_a_tensor_is_the_same_memory():
    x = ac.tensor([1, 2])
    same = ac.Tensor(x)
    same[0] = 5
    assert (x.tolist(), same.dtype) == ([5, 2], ac.int64)
    w = ac.ones(2, requires_grad=True)
    ac.Tensor(w * 3).sum().backward()
    assert w.grad.tolist() == [3, 3]


class Counting(ac.nn.Module):
    def __init__(self):
        super().__init__()
        self.read = []
        self.weight = ac.nn.Parameter(ac.ones(1))
        self.inner = ac.nn.Linear(1, 1)
        self.register_buffer("mean", ac.zeros(1))
        self.plain = 3

    def __getattr__(self, name):
        self.read.append(name)
        return super().__getattr__(name)


def test_a_module_s_own_getattr_is_asked_for_what_is_registered():
    module = Counting()
    module.read.clear()
    assert (module.weight.item(), module.mean.item(), module.plain) == (1, 0, 3)
    assert isinstance(module.inner, ac.nn.Linear)
    assert module.read == ["weight", "mean", "inner"]
    with pytest.raises(AttributeError, match="nothing"):
        module.nothing  # noqa: B018  # reading it is the test
    assert len(list(module.parameters())) == 3


def test_hooks_are_read_by_their_tables():
    layer, seen = ac.nn.Linear(1, 1), []
    assert not layer._backward_hooks
    layer.register_forward_hook(lambda *_: seen.append(1))
    layer(ac.ones(1))
    assert len(layer._forward_hooks) == len(seen) == 1
    layer._forward_hooks.clear()
    layer(ac.ones(1))
    assert len(seen) == 1
    layer._forward_hooks = {1: lambda *_: seen.append(2)}
    layer(ac.ones(1))
    assert seen == [1, 2]
    del layer._forward_hooks[1]
    assert not layer._forward_hooks


class Mixed:
    def __init__(self):
        super().__init__()
        self.mixed = True


class OwnNormal(ac.distributions.Normal, Mixed):
    pass


class OwnTransform(ac.distributions.transforms.Transform, ac.nn.Module):
    def __init__(self):
        super().__init__(cache_size=1)
        self.inner = ac.nn.Linear(1, 1)


def test_distributions_and_transforms_go_on_to_a_mix_in():
    normal = OwnNormal(0.0, 1.0)
    assert normal.mixed
    normal._validate_sample(ac.zeros(1))
    with pytest.raises(ArgumentError, match="`value`"):
        normal._validate_sample(ac.tensor([math.nan]))
    assert len(list(OwnTransform().parameters())) == 2


@pytest.mark.parametrize("name", ["HalfNormal", "HalfCauchy"])
def test_halves_have_the_whole(name):
    half = getattr(ac.distributions, name)(2.0)
    assert half.base_dist.scale == 2
    assert half.base_dist.loc == 0
