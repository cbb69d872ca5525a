# SPDX-License-Identifier: MIT
"""Methods of `Tensor` are declared next to their operators."""

from __future__ import annotations

import pytest
from tests.operator_table import IN_PLACE, METHODS, _inplace, method

import autocalc as ac

pytestmark = pytest.mark.core


def test_a_method_is_the_function_itself():
    assert vars(ac.Tensor)["mul"] is ac.mul
    assert all(vars(ac.Tensor)[name] is function for name, function in METHODS.items())


def test_a_function_has_several_names():
    assert vars(ac.Tensor)["clamp"] is vars(ac.Tensor)["clip"] is ac.clamp
    assert vars(ac.Tensor)["mul_"] is vars(ac.Tensor)["multiply_"]


@pytest.mark.parametrize("name", ["mul", "mul_"])
def test_a_name_is_given_once(name):
    with pytest.raises(ValueError, match=f"Tensor.{name} is declared twice; give one"):
        method(name)(lambda input: input)


def test_reflected_operators_exchange_their_operands():
    x = ac.tensor([1.0, 2.0])
    assert (3 - x).tolist() == [2.0, 1.0]
    assert (2 / x).tolist() == [2.0, 1.0]
    assert (2**x).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("name", sorted(IN_PLACE))
def test_every_form_in_place_writes_into_the_tensor(name):
    function = IN_PLACE[name]
    call = _inplace.in_place(name, function)
    assert call.__name__ == name
    applied = f"Apply `{name[:-1]}` to the tensor in place; return the tensor."
    assert call.__doc__ == applied


def test_a_write_in_place_is_the_function():
    x = ac.tensor([0.25, -0.5])
    address = x.data_ptr()
    assert x.atan2_(ac.tensor(2.0)) is x
    assert x.data_ptr() == address
    assert ac.allclose(x, ac.atan2(ac.tensor([0.25, -0.5]), ac.tensor(2.0)))


@pytest.mark.parametrize("name", ["floor_divide_", "fmod_", "atan2_", "bitwise_and_"])
def test_an_operand_is_read_before_it_is_overwritten(name):
    given = [3, -5, 7] if "bitwise" in name else [3.0, -5.0, 7.0]
    x, y = ac.tensor(given), ac.tensor(given)
    expected = getattr(ac, name[:-1])(x, x)
    assert getattr(y, name)(y).tolist() == expected.tolist()


def test_a_recorded_write_keeps_what_its_rule_reads():
    w = ac.tensor([0.5, 1.5], requires_grad=True)
    x = w * 1
    x.atan2_(ac.tensor([2.0, 3.0]))
    x.sum().backward()
    expected = [2.0 / (0.25 + 4.0), 3.0 / (2.25 + 9.0)]
    assert ac.allclose(w.grad, ac.tensor(expected))
