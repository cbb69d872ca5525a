# SPDX-License-Identifier: MIT
"""Attributes that users set on tensors and parameters, as in PyTorch."""

from __future__ import annotations

import copy
import pickle
import weakref

import pytest

import autocalc as ac
from autocalc import nn

pytestmark = pytest.mark.core

MAKERS = {
    "tensor": lambda: ac.ones(2),
    "leaf": lambda: ac.ones(2, requires_grad=True),
    "Parameter": lambda: nn.Parameter(ac.ones(2)),
    "Buffer": lambda: nn.Buffer(ac.ones(2)),
}

#: What gives the same object, or another one without the attributes.
SAME = {
    "requires_grad_": lambda x: x.requires_grad_(),
    "to": lambda x: x.to(ac.float32),
    "contiguous": lambda x: x.contiguous(),
    "as_tensor": ac.as_tensor,
    "cpu": lambda x: x.cpu(),
}
OTHER = {
    "detach": lambda x: x.detach(),
    "clone": lambda x: x.clone(),
    "view": lambda x: x.view(2),
    "data": lambda x: x.data,
    "double": lambda x: x.double(),
    "add": lambda x: x + 1,
    "Parameter": nn.Parameter,
}


@pytest.fixture(params=MAKERS)
def tagged(request):
    x = MAKERS[request.param]()
    x.is_expert = [True]
    return x


@pytest.mark.parametrize("name", SAME)
def test_the_same_tensor_has_it(tagged, name):
    assert SAME[name](tagged).is_expert == [True]


@pytest.mark.parametrize("name", OTHER)
def test_another_tensor_lacks_it(tagged, name):
    assert not hasattr(OTHER[name](tagged), "is_expert")


def test_copies(tagged):
    assert copy.copy(tagged).is_expert is tagged.is_expert
    assert pickle.loads(pickle.dumps(tagged)).is_expert == [True]
    deep = copy.deepcopy(tagged)
    if type(tagged) is nn.Parameter:  # as in PyTorch, where it is made of its data
        assert not hasattr(deep, "is_expert")
    else:
        assert deep.is_expert == [True]
        assert deep.is_expert is not tagged.is_expert


def test_it_is_listed_and_goes(tagged):
    assert vars(tagged) == {"is_expert": [True]}
    assert "is_expert" in dir(tagged)
    del tagged.is_expert
    with pytest.raises(AttributeError, match="has no attribute 'is_expert'"):
        tagged.is_expert  # noqa: B018  # reading it is the test


def test_a_parameter_keeps_it_in_its_module():
    layer = nn.Linear(2, 2)
    layer.weight.is_expert = True
    layer.double().load_state_dict(nn.Linear(2, 2).state_dict())
    ac.optim.SGD(layer.parameters(), 0.1).zero_grad()
    assert layer.weight.is_expert


@pytest.mark.parametrize("name", ["shape", "dtype", "is_leaf", "grad_fn", "T"])
def test_properties_are_not_overwritten(tagged, name):
    with pytest.raises(AttributeError, match=f"{name}.* has no setter|can't set"):
        setattr(tagged, name, 1)


def test_a_circle_is_collected():
    import gc

    x = ac.ones(2)
    x.itself = x
    seen = weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None
