# SPDX-License-Identifier: MIT
"""Operators of a tensor and an operand of a class that AutoCalc does not know."""

from __future__ import annotations

import operator

import pytest

import autocalc as ac
from autocalc.errors import DTypeError

SYMBOLS = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "matmul",
]
OPERATORS = [f"__{kind}{name}__" for name in SYMBOLS for kind in ("", "r", "i")]
OPERATORS = [name for name in OPERATORS if name != "__imatmul__"]
COMPARISONS = [f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")]


class Unknown:
    """Has no operators."""


class Known:
    """Has each operator whose other side is a tensor."""


for name in SYMBOLS:
    setattr(Known, f"__r{name}__", lambda self, other, name=name: (name, other))


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "uint8"])
@pytest.mark.parametrize("name", OPERATORS + COMPARISONS)
def test_an_operator_leaves_a_foreign_operand_to_python(name, dtype):
    x = ac.ones(2, 2, dtype=getattr(ac, dtype))
    assert getattr(x, name)(Unknown()) is NotImplemented
    assert x.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", SYMBOLS)
def test_python_asks_the_foreign_operand(name):
    x = ac.ones(2, 2)
    function = getattr(operator, f"{name}_" if name in {"and", "or"} else name)
    assert function(x, Known()) == (name, x)
    written = getattr(operator, f"i{name}")
    assert written(x, Known()) == (name, x)


def test_an_operand_without_the_operator_is_a_type_error():
    x = ac.ones(2)
    with pytest.raises(TypeError, match="unsupported operand type"):
        x + Unknown()
    with pytest.raises(TypeError, match="unsupported operand type"):
        Unknown() * x
    with pytest.raises(TypeError, match="not supported between instances"):
        x < Unknown()  # noqa: B015  the error is what is tested


def test_methods_and_classes_of_python_and_numpy_are_an_error_of_ours():
    x = ac.ones(2)
    with pytest.raises(DTypeError, match="add: an operand is a Unknown"):
        x.add_(Unknown())
    with pytest.raises(DTypeError, match="mul: an operand is a Unknown"):
        ac.mul(x, Unknown())
    with pytest.raises(DTypeError, match="add: an operand is a str"):
        x += "a"
    with pytest.raises(DTypeError, match="sub: an operand is a NoneType"):
        None - x
