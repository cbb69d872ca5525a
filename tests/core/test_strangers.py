# SPDX-License-Identifier: MIT
"""Operators between a tensor and an object of another library."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import DTypeError

pytestmark = pytest.mark.core

BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
COMPARISONS = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def method(name):
    return lambda self, other: (name, other)


class Stranger:
    __hash__ = None


for _name in (*ARITHMETIC, *BITWISE):
    setattr(Stranger, f"__r{_name.strip('_')}__", method(_name))
for _name in COMPARISONS:
    setattr(Stranger, f"__{_name}__", method(_name))


def tensor_for(name):
    return ac.tensor([1, 2]) if name in BITWISE else ac.tensor([1.0, 2.0])


@pytest.mark.parametrize("name", [*ARITHMETIC, *BITWISE])
def test_a_stranger_s_reflected_operator_gets_its_turn(name):
    x = tensor_for(name)
    found, other = getattr(operator, name)(x, Stranger())
    assert found == name
    assert other is x
    assert getattr(x, f"__{name.strip('_')}__")(Stranger()) is NotImplemented


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_stranger_s_comparison_gets_its_turn(name):
    x = ac.ones(2)
    found, other = getattr(operator, name)(x, Stranger())
    assert found == COMPARISONS[name]
    assert other is x


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "lt", "matmul"])
def test_functions_refuse_strangers(name):
    with pytest.raises(DTypeError, match="Stranger"):
        getattr(ac, name)(ac.ones(2), Stranger())


@pytest.mark.parametrize("name", [*ARITHMETIC, *BITWISE])
def test_a_stranger_on_the_left_that_declines_is_named(name):
    with pytest.raises(TypeError, match=r"unsupported operand.*'Stranger'"):
        getattr(operator, name)(Stranger(), tensor_for(name))


@pytest.mark.parametrize("value", [None, "a", [1, 2], (1,), {}, object(), b"x"])
@pytest.mark.parametrize("name", [*ARITHMETIC, "lt", "ge"])
def test_values_of_python_keep_their_error(name, value):
    with pytest.raises(DTypeError, match=type(value).__name__):
        getattr(operator, name)(ac.ones(2), value)


@pytest.mark.parametrize("name", ["floordiv", "mod", "matmul", "lt", "ge"])
def test_what_complex_numbers_do_not_have_keeps_its_error(name):
    with pytest.raises(DTypeError, match="complex"):
        getattr(operator, name)(ac.ones(2), 1j)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow"])
def test_complex_numbers_of_python_are_operands(name):
    found = getattr(operator, name)(ac.full((2,), 2.0), 1j)
    assert found.dtype is ac.complex64
    np.testing.assert_allclose(found.numpy(), getattr(operator, name)(2, 1j), rtol=1e-6)


def test_one_who_declines_leaves_python_s_error():
    with pytest.raises(TypeError, match="unsupported operand"):
        ac.ones(2) + Fraction(1, 2)


def test_numbers_of_numpy_are_numbers():
    assert (ac.ones(2) * np.float64(2)).tolist() == [2, 2]
    assert (np.float64(2) * ac.ones(2)).tolist() == [2, 2]


@pytest.mark.torch
@pytest.mark.parametrize("name", [*ARITHMETIC, "lt", "eq"])
def test_a_tensor_of_pytorch_is_named_with_its_conversion(name):
    torch = pytest.importorskip("torch")
    theirs, mine = torch.ones(2), ac.ones(2)
    advice = r"Tensor of PyTorch.*ac\.from_dlpack\(x\.detach\(\)\)"
    with pytest.raises(DTypeError, match=advice):
        getattr(operator, name)(mine, theirs)
    with pytest.raises(DTypeError, match=advice):
        ac.exp(theirs)
    parameter = torch.nn.Parameter(theirs)
    with pytest.raises(DTypeError, match="a Parameter of PyTorch"):
        getattr(operator, name)(mine, parameter)
    shared = ac.from_dlpack(parameter.detach())
    assert (mine * shared).tolist() == [1, 1]
    assert (mine * ac.tensor(parameter.detach().numpy())).tolist() == [1, 1]


@pytest.mark.torch
@pytest.mark.parametrize("name", [*ARITHMETIC, *BITWISE, *COMPARISONS])
def test_strangers_get_their_turn_as_in_pytorch(name):
    torch = pytest.importorskip("torch")
    dtype = "int64" if name in BITWISE else "float32"
    theirs = torch.ones(2, dtype=getattr(torch, dtype))
    mine = ac.ones(2, dtype=getattr(ac, dtype))
    call = getattr(operator, name)
    assert call(mine, Stranger())[0] == call(theirs, Stranger())[0]
