# SPDX-License-Identifier: MIT
"""Containers by name, and lists of parameters."""

from __future__ import annotations

from collections import OrderedDict

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
    with pytest.raises(ModuleError, match="there is no 'b'; the keys are a"):
        modules["b"]
    with pytest.raises(DTypeError, match="ModuleDict: it can hold only modules, not a"):
        modules["b"] = 1
    with pytest.raises(ArgumentError, match="already has the attribute"):
        modules["keys"] = nn.ReLU()
    params = nn.ParameterDict({"a": ac.ones(1), "n": 1.0})
    for key in ("keys", "training", "_order"):
        with pytest.raises(ArgumentError, match=f"already has the attribute '{key}'"):
            params[key] = 1.0
    with pytest.raises(
        ArgumentError, match=r"`name`='a\.b' must not be empty nor hold"
    ):
        params["a.b"] = 1.0
    with pytest.raises(DTypeError, match="ParameterDict: parameter name should be"):
        params[3] = 1.0
    with pytest.raises(DTypeError, match="'a' is given a str; it must be a Parameter"):
        params["a"] = "x"
    with pytest.raises(
        DTypeError, match="requires_grad: Only Tensors of floating point and"
    ):
        params["new"] = ac.tensor([1])
    assert list(params) == ["a", "n"]
    with pytest.raises(ModuleError, match="ParameterDict: no entry can be removed,"):
        nn.ParameterDict().popitem()
    with pytest.raises(DTypeError, match="update: `modules` is 3; it must be a list"):
        nn.ParameterDict() | 3
    with pytest.raises(DimensionError, match="ParameterList: index 1 is out of range"):
        nn.ParameterList([ac.ones(1)])[1]


def mixed(m):
    weight = m.nn.Parameter(m.ones(2, 3))
    return [weight, m.zeros(1), "text", 3, None, m.nn.Linear(1, 2), (1, 2)]


def test_lists_hold_other_values_beside_parameters():
    held = nn.ParameterList(mixed(ac))
    assert [type(x).__name__ for x in held] == [
        *("Parameter", "Parameter", "str", "int", "NoneType", "Linear", "tuple")
    ]
    assert list(held.state_dict()) == ["0", "1", "5.weight", "5.bias"]
    assert len(held) == 7
    assert "text" in held
    held[2] = ac.ones(4)
    held[-1] = "other"
    assert held[6] == "other"
    assert [name for name, _ in held.named_parameters()][:3] == ["0", "1", "2"]
    with pytest.raises(DTypeError, match="'0' is given a str; it must be a Parameter"):
        held[0] = "x"
    held += {"a": 1}
    assert held[-1] == "a"
    assert nn.ParameterList("ab")[0] == "a"
    assert held.double()[0].dtype is ac.float64
    assert held[0] is next(held.parameters())
    assert held[1:3][1] is held[2]
    assert repr(held[3:6]) == (
        "ParameterList(\n    (0): Object of type: int\n"
        "    (1): Object of type: NoneType\n    (2): Object of type: Linear\n)"
    )


def test_dicts_hold_other_values_beside_parameters():
    held = nn.ParameterDict({"w": ac.ones(2), "n": 3, "layer": nn.Linear(1, 1)})
    assert list(held) == ["layer", "n", "w"]  # as PyTorch, a plain dict is sorted
    assert list(nn.ParameterDict([("w", 1), ("n", 2)])) == ["w", "n"]
    assert list(nn.ParameterDict(OrderedDict(w=1, n=2))) == ["w", "n"]
    assert sorted(held.state_dict()) == ["layer.bias", "layer.weight", "w"]
    assert held.n == held["n"] == held.get("n") == held.setdefault("n", 5) == 3
    assert held.get("x") is None
    assert held.get("x", 4) == held.setdefault("x", 4) == 4
    assert list(reversed(held)) == ["x", "w", "n", "layer"]
    assert held.popitem() == ("x", 4)
    assert held.pop("n") == 3
    assert "n" not in held
    copied = held.copy()
    assert copied["w"] is held["w"]
    assert dict((held | {"z": 1}).items())["z"] == 1
    assert list({"a": 1} | nn.ParameterDict({"b": 2})) == ["a", "b"]
    held |= nn.ParameterDict({"q": "r"})
    assert held["q"] == "r"
    assert dict(held.fromkeys(["k", "l"], 1).items()) == {"k": 1, "l": 1}
    del held["layer"]
    assert list(held.state_dict()) == ["w"]
    held["q"] = ac.ones(1)
    assert list(held.state_dict()) == ["w", "q"]
    held.clear()
    assert len(held) == 0
    assert not hasattr(held, "q")
    assert "Object of type: str" in repr(nn.ParameterDict({"a": "b"}))


@pytest.mark.torch
def test_what_is_held_is_what_pytorch_holds():
    torch = pytest.importorskip("torch")

    def seen(m):
        rows = m.nn.ParameterList(mixed(m))
        named = m.nn.ParameterDict(dict(zip("gfedcba", mixed(m), strict=True)))
        named.update({"z": m.ones(1), "y": 2})
        kinds = [type(x).__name__ for x in rows]
        kinds += [(key, type(x).__name__) for key, x in named.items()]
        states = [list(rows.state_dict()), list(named.state_dict())]
        return kinds, states, [tuple(p.shape) for p in named.parameters()]

    assert seen(ac) == seen(torch)


def test_none_keeps_a_place_empty():
    modules = nn.ModuleDict({"act": nn.ReLU(), "norm": None})
    assert modules["norm"] is None
    assert len(modules) == 2
    assert [type(m) for m in modules.children()] == [nn.ReLU]
