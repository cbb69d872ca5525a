# SPDX-License-Identifier: MIT
"""Dtypes, and what two of them become together."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import autocalc as ac
from autocalc._tensor import dtypes
from autocalc.errors import DTypeError

NAMES = [dtype.name for dtype in dtypes.ALL]
#: torch.promote_types, row and column in the order of `ORDER`.
ORDER = ["uint8", "int8", "int16", "int32", "int64", "float32", "float64", "bool"]
PROMOTED = {
    "uint8": "uint8 int16 int16 int32 int64 float32 float64 uint8",
    "int8": "int16 int8 int16 int32 int64 float32 float64 int8",
    "int16": "int16 int16 int16 int32 int64 float32 float64 int16",
    "int32": "int32 int32 int32 int32 int64 float32 float64 int32",
    "int64": "int64 int64 int64 int64 int64 float32 float64 int64",
    "float32": "float32 float32 float32 float32 float32 float32 float64 float32",
    "float64": "float64 float64 float64 float64 float64 float64 float64 float64",
    "bool": "uint8 int8 int16 int32 int64 float32 float64 bool",
}
TABLE = [
    (a, b, result)
    for a, row in PROMOTED.items()
    for b, result in zip(ORDER, row.split(), strict=True)
]


@pytest.fixture(params=["float32", "float64"])
def default(request):
    """Each of the two default dtypes."""
    before = ac.get_default_dtype()
    ac.set_default_dtype(getattr(ac, request.param))
    yield request.param
    ac.set_default_dtype(before)


@pytest.mark.parametrize(("a", "b", "result"), TABLE)
def test_promotion_of_two_tensors(a, b, result):
    first, second = getattr(ac, a), getattr(ac, b)
    assert ac.promote_types(first, second).name == result
    x, y = ac.ones(2, dtype=first), ac.ones(2, dtype=second)
    assert (x * y).dtype.name == result


def test_division_and_functions_give_floats():
    for dtype in dtypes.ALL:
        x = ac.ones(2, dtype=dtype)
        expected = dtype if dtype.is_floating_point else ac.float32
        assert (x / x).dtype is expected
        assert x.exp().dtype is expected
        assert (x > 0).dtype is ac.bool
        assert x.sum().dtype is (dtype if dtype.is_floating_point else ac.int64)


@pytest.mark.parametrize(
    ("operand", "number", "result"),
    [
        ("int8", 1, "int8"),
        ("int8", 1.5, "default"),
        ("uint8", True, "uint8"),
        ("bool", 1, "int64"),
        ("bool", True, "bool"),
        ("bool", 1.5, "default"),
        ("float32", 1.5, "float32"),
        ("float32", 1, "float32"),
        ("float64", 1.5, "float64"),
        ("int64", np.float64(1.5), "default"),
        ("float32", np.float64(1.5), "float32"),
    ],
)
@pytest.mark.parametrize("shape", [(2,), ()])
def test_numbers_take_the_tensors_dtype_within_a_category(
    operand, number, result, shape, default
):
    x = ac.ones(shape, dtype=getattr(ac, operand))
    expected = default if result == "default" else result
    assert (x + number).dtype.name == expected
    assert (number + x).dtype.name == expected


@pytest.mark.parametrize(
    ("with_dims", "without", "result"),
    [
        ("float32", "float64", "float32"),
        ("int32", "float64", "float64"),
        ("int8", "int64", "int8"),
        ("bool", "uint8", "uint8"),
        ("float64", "float32", "float64"),
    ],
)
def test_0d_tensors_weigh_less(with_dims, without, result):
    x = ac.ones(2, dtype=getattr(ac, with_dims))
    y = ac.ones((), dtype=getattr(ac, without))
    assert (x + y).dtype.name == result
    assert (y + x).dtype.name == result


def test_the_default_dtype(default):
    assert ac.tensor([1.5]).dtype.name == default
    assert ac.zeros(2).dtype.name == default
    assert ac.arange(2.0).dtype.name == default
    assert ac.tensor([1]).float().dtype is ac.float32


def test_the_default_is_a_float():
    with pytest.raises(DTypeError, match="int64 is not a floating-point dtype"):
        ac.set_default_dtype(ac.int64)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("float32", ac.float32),
        (np.int16, ac.int16),
        (np.dtype("u1"), ac.uint8),
        (float, ac.float64),
        (int, ac.int64),
        (bool, ac.bool),
        (ac.int8, ac.int8),
    ],
)
def test_spellings(given, expected):
    assert dtypes.as_dtype(given) is expected
    assert ac.ones(2, dtype=given).dtype is expected


@pytest.mark.parametrize(
    "given", ["complex32", np.clongdouble, np.dtype("U3"), "nonsense"]
)
def test_other_dtypes_are_named(given):
    with pytest.raises(DTypeError, match=r"is not supported; AutoCalc has float32, fl"):
        ac.zeros(2, dtype=given)


def test_what_a_dtype_knows():
    assert repr(ac.float32) == "autocalc.float32"
    assert ac.int8.is_signed
    assert not ac.uint8.is_signed
    assert ac.float64.itemsize == 8
    assert (ac.float, ac.double, ac.long) == (ac.float32, ac.float64, ac.int64)


def test_numbers_beyond_the_range_of_a_float_are_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (ac.ones(1) * 1e300).item() == float("inf")


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16, ac.float32], ids=str)
def test_casts_beyond_the_range_of_a_float_are_infinite(dtype):
    a = ac.tensor([1e300, -1e300], dtype=ac.float64)
    with warnings.catch_warnings(), ac.kernels.use("reference"):
        warnings.simplefilter("error")
        assert a.to(dtype).tolist() == [float("inf"), -float("inf")]


@pytest.mark.torch
def test_promotion_against_pytorch():
    torch = pytest.importorskip("torch")
    shapes = [(), (2,)]
    for a, b, m, n in itertools.product(NAMES, NAMES, shapes, shapes):
        x = torch.ones(m, dtype=getattr(torch, a)) * torch.ones(
            n, dtype=getattr(torch, b)
        )
        y = ac.ones(m, dtype=getattr(ac, a)) * ac.ones(n, dtype=getattr(ac, b))
        assert str(x.dtype) == f"torch.{y.dtype.name}", (a, m, b, n)
    for a, m, number in itertools.product(NAMES, shapes, [True, 2, 2.5]):
        x = torch.ones(m, dtype=getattr(torch, a)) * number
        y = ac.ones(m, dtype=getattr(ac, a)) * number
        assert str(x.dtype) == f"torch.{y.dtype.name}", (a, m, number)


@pytest.mark.parametrize(
    ("x", "low", "high", "result"),
    [
        ((2,), (), (2,), "bool float64 float32 float32"),
        ((2,), (2,), (), "bool float32 float64 float32"),
        ((2,), (), (), "bool float32 float64 float64"),
        ((2,), (), (), "int32 float64 float32 float64"),
        ((2,), (), (), "float32 float64 float64 float32"),
        ((), (), (2,), "float64 float64 int32 float64"),
    ],
)
def test_operands_of_one_rank_are_promoted_together(x, low, high, result):
    """What `torch.clamp` gives."""
    *given, expected = result.split()
    a, b, c = (
        ac.ones(shape, dtype=getattr(ac, name))
        for shape, name in zip((x, low, high), given, strict=True)
    )
    assert ac.clamp(a, b, c).dtype.name == expected


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
@pytest.mark.parametrize("order", [1, -1, 2, "nuc", "fro", float("inf")])
def test_norms_of_matrices_in_another_dtype(dtype, order):
    x = ac.ones(3, 3, dtype=dtype)
    assert ac.linalg.norm(x, order, dtype=ac.float64).dtype is ac.float64
    assert ac.linalg.matrix_norm(x, order, dtype=ac.float32).dtype is ac.float32
    assert ac.linalg.matrix_norm(x, order).dtype is dtype


def test_integers_of_more_than_64_bits_become_floats():
    assert ac.tensor(2**64, dtype=ac.float64).item() == 2.0**64
    assert ac.tensor([2**70, 0.5], dtype=ac.float64).tolist() == [2.0**70, 0.5]
    for data, dtype in ((2**64, None), (2**64, ac.int64), (2**2000, ac.float64)):
        with pytest.raises(DTypeError, match="an integer of more than 64 bits"):
            ac.tensor(data, dtype=dtype)


def test_sort_without_a_choice_of_stability():
    assert ac.sort(ac.tensor([2, 1]), stable=None).indices.tolist() == [1, 0]
