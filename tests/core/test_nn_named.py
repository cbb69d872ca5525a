# SPDX-License-Identifier: MIT
"""Containers by name, and lists of parameters."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ModuleError


def test_module_dict():
    modules = nn.ModuleDict({"a": nn.Linear(1, 2)})
    modules["b"] = nn.ReLU()
    modules.update([("c", nn.Tanh())])
    assert list(modules) == list(modules.keys()) == ["a", "b", "c"]
    assert "a" in modules
    assert len(modules) == 3
    assert list(modules.state_dict()) == ["a.weight", "a.bias"]
    assert repr(modules) == (
        "ModuleDict(\n  (a): Linear(in_features=1, out_features=2, bias=True)\n"
        "  (b): ReLU()\n  (c): Tanh()\n)"
    )
    taken = modules.pop("b")
    assert isinstance(taken, nn.ReLU)
    assert [name for name, _ in modules.items()] == ["a", "c"]
    assert modules.values()[1] is modules["c"]
    modules.clear()
    assert not len(modules)


def test_parameter_dict_and_list():
    params = nn.ParameterDict({"a": ac.ones(2, 3)})
    params["b"] = nn.Parameter(ac.zeros(1), requires_grad=False)
    assert [p.requires_grad for p in params.parameters()] == [True, False]
    assert repr(params) == (
        "ParameterDict(\n    (a): Parameter containing: [float32 of size 2x3]\n"
        "    (b): Parameter containing: [float32 of size 1]\n)"
    )
    rows = nn.ParameterList([ac.ones(2), ac.zeros(3)])
    rows += [ac.ones(4)]
    assert [p.shape for p in rows] == [(2,), (3,), (4,)]
    assert rows[-1] is rows[2]
    assert len(rows[1:]) == 2
    rows[0] = ac.zeros(5)
    assert list(rows.state_dict()) == ["0", "1", "2"]
    assert rows[0].shape == (5,)
    assert repr(nn.ParameterList()) == "ParameterList()"
    other = nn.ParameterList([ac.ones(5), ac.ones(3), ac.zeros(4)])
    other.load_state_dict(rows.state_dict())
    assert other[2].tolist() == [1] * 4


def test_errors():
    modules = nn.ModuleDict({"a": nn.ReLU()})
    with pytest.raises(ModuleError, match="ModuleDict: there is no 'b'; there is a"):
        modules["b"]
    with pytest.raises(DTypeError, match="ModuleDict: holds modules, not a int"):
        modules["b"] = 1
    with pytest.raises(ArgumentError, match="already has an attribute 'keys'"):
        modules["keys"] = nn.ReLU()
    with pytest.raises(DTypeError, match="ParameterDict: holds parameters, not a fl"):
        nn.ParameterDict({"a": 1.0})
    with pytest.raises(DimensionError, match="ParameterList: index 1 is out of range"):
        nn.ParameterList([ac.ones(1)])[1]


def test_none_keeps_a_place_empty():
    modules = nn.ModuleDict({"act": nn.ReLU(), "norm": None})
    assert modules["norm"] is None
    assert len(modules) == 2
    assert [type(m) for m in modules.children()] == [nn.ReLU]
