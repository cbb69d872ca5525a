# SPDX-License-Identifier: MIT
"""Sequential and ModuleList."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import DimensionError, DTypeError


@pytest.fixture
def layers():
    return [nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4), nn.Tanh()]


def test_sequential_calls_in_order(layers):
    net = nn.Sequential(*layers)
    x = ac.randn(5, 2)
    expected = x
    for layer in layers:
        expected = layer(expected)
    assert net(x).tolist() == expected.tolist()
    assert nn.Sequential()(x) is x


def test_sequential_of_names():
    net = nn.Sequential(OrderedDict(inner=nn.Linear(2, 3), act=nn.ReLU()))
    assert list(net.state_dict()) == ["inner.weight", "inner.bias"]
    assert net.act is net[1]
    assert list(net[1:]._modules) == ["act"]
    del net[0]
    assert list(net._modules) == ["act"]


@pytest.mark.parametrize("kind", [nn.Sequential, lambda *m: nn.ModuleList(m)])
def test_both_are_lists(kind, layers):
    net = kind(*layers)
    assert len(net) == 4
    assert list(net) == layers
    assert net[-1] is layers[3]
    assert net[ac.tensor(1)] is layers[1]
    assert list(net[1:3]) == layers[1:3]
    assert type(net[1:3]) is type(net)
    assert layers[2] in net
    assert nn.ReLU() not in net
    extra = nn.Sigmoid()
    assert net.append(extra) is net
    assert list(net._modules) == ["0", "1", "2", "3", "4"]
    net[1] = extra
    assert net[1] is extra
    assert net.pop() is extra
    assert net.pop(1) is extra
    assert list(net._modules) == ["0", "1", "2"]
    net.insert(1, layers[1])
    assert list(net) == layers
    del net[1:3]
    assert list(net) == [layers[0], layers[3]]
    assert list(net + [extra]) == [layers[0], layers[3], extra]  # noqa: RUF005  the method
    net += [extra]
    assert list(net) == [layers[0], layers[3], extra]
    assert list(net._modules) == ["0", "1", "2"]


def test_module_list_extends_from_itself_and_is_not_called(layers):
    net = nn.ModuleList(layers[:1])
    net.extend(net)
    assert list(net) == [layers[0], layers[0]]
    with pytest.raises(NotImplementedError, match=": it is a container of modules"):
        net(ac.zeros(1))


def test_repr_of_a_module_list_merges_equal_neighbours():
    net = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh(), nn.Sequential(nn.ReLU())])
    assert repr(net) == (
        "ModuleList(\n"
        "  (0-1): 2 x ReLU()\n"
        "  (2): Tanh()\n"
        "  (3): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_bad_members_and_indices(layers):
    net = nn.Sequential(*layers)
    with pytest.raises(DTypeError, match="can hold only modules, not a function"):
        net.append(test_repr_of_a_module_list_merges_equal_neighbours)
    with pytest.raises(DTypeError, match="can hold only modules, not a int"):
        nn.ModuleList([1])
    with pytest.raises(DimensionError, match="index 4 is out of range for 4 modules"):
        net[4]
    with pytest.raises(DTypeError, match="'a' is not a"):
        net["a"]


def test_none_keeps_a_place_empty(layers):
    linear, relu, *_ = layers
    pair = nn.ModuleList([linear, None])
    assert len(pair) == 2
    assert pair[1] is None
    assert list(pair) == [linear, None]
    assert list(pair.children()) == [linear]
    assert list(pair.state_dict()) == ["0.weight", "0.bias"]
    pair.load_state_dict(pair.state_dict())
    pair.append(None).insert(0, relu)
    pair[1] = None
    assert list(pair) == [relu, None, None, None]
    assert repr(pair) == "ModuleList(\n  (0): ReLU()\n  (1-3): 3 x None\n)"
    with pytest.raises(DTypeError, match="can hold only modules, not a None"):
        nn.Sequential(None)
