# SPDX-License-Identifier: MIT
"""uint16, uint32 and uint64: dtypes for storage."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import DTypeError

NAMES = ["uint16", "uint32", "uint64"]


@pytest.fixture(params=NAMES)
def dtype(request):
    """Each of the three dtypes."""
    return getattr(ac, request.param)


def test_properties(dtype):
    bits = 8 * dtype.itemsize
    assert dtype.name == f"uint{bits}"
    assert not dtype.is_signed
    assert not dtype.is_floating_point
    assert ac.iinfo(dtype).max == 2**bits - 1
    assert pickle.loads(pickle.dumps(dtype)) is dtype


def test_memory_of_numpy_is_shared(dtype):
    array = np.array([0, 1, 2], dtype.numpy)
    x = ac.from_numpy(array)
    assert x.dtype is dtype
    x[0] = 7
    assert array[0] == 7
    assert np.shares_memory(ac.from_dlpack(x).numpy(), array)
    assert np.shares_memory(ac.frombuffer(array, dtype=dtype).numpy(), array)


def test_the_largest_number_stays_exact(dtype):
    largest = ac.iinfo(dtype).max
    x = ac.tensor([0, largest], dtype=dtype)
    assert x.tolist() == [0, largest]
    assert ac.full((2,), largest, dtype=dtype)[1].item() == largest
    assert (x == largest).tolist() == [False, True]
    assert copy.deepcopy(x).tolist() == [0, largest]
    assert ac.stack([x, x]).t().contiguous().tolist() == [[0, 0], [largest, largest]]
    assert x.sort(descending=True).values.tolist() == [largest, 0]


@pytest.mark.parametrize("kernels", ["reference", None])
def test_conversions(dtype, kernels):
    with ac.kernels.use(kernels) if kernels else ac.no_grad():
        for name in ("float32", "float64", "int64", "uint8", "bool"):
            other = getattr(ac, name)
            x = ac.tensor([0, 1, 1], dtype=other).to(dtype)
            assert x.dtype is dtype
            assert x.tolist() == [0, 1, 1]
            assert x.to(other).tolist() == [0, 1, 1]
        largest = ac.iinfo(dtype).max
        assert ac.tensor([-1]).to(dtype).tolist() == [largest]
        assert ac.zeros(1, dtype=dtype).copy_(ac.tensor([-1])).item() == largest


def test_views_as_other_dtypes(dtype):
    x = ac.tensor([1, 2], dtype=dtype)
    assert x.view(ac.uint8).numel() == 2 * dtype.itemsize
    assert x.view(ac.uint8).view(dtype).tolist() == [1, 2]


def test_random_integers(dtype):
    x = ac.randint(0, 10, (100,), dtype=dtype)
    assert x.dtype is dtype
    assert set(x.tolist()) <= set(range(10))
    assert set(x.random_(3, 5).tolist()) <= {3, 4}


def test_where_and_comparison(dtype):
    x, y = ac.tensor([1, 2], dtype=dtype), ac.tensor([2, 2], dtype=dtype)
    assert ac.where(x == y, x, ac.zeros_like(x)).tolist() == [0, 2]
    assert ac.equal(x, x.clone())


def test_floats_decide_with_a_float(dtype):
    assert ac.promote_types(dtype, ac.float32) is ac.float32
    assert ac.promote_types(dtype, dtype) is dtype
    assert (ac.tensor([3], dtype=dtype) + 1.5).tolist() == [4.5]


@pytest.mark.parametrize("other", ["int64", "uint8", "bool", "int8"])
def test_there_is_no_promotion_with_integers(dtype, other):
    for pair in ((dtype, getattr(ac, other)), (getattr(ac, other), dtype)):
        with pytest.raises(
            DTypeError, match="promotion for uint16, uint32 and uint64 is not supported"
        ):
            ac.promote_types(*pair)


def test_arithmetic_is_refused(dtype):
    x = ac.tensor([1, 2], dtype=dtype)
    with pytest.raises(DTypeError, match=f"add: `a` is {dtype.name}; it must be"):
        x + x


def test_kernels_in_c_do_not_get_them(dtype):
    x = ac.ones(2, dtype=dtype)
    shown = ac.kernels.explain("copy", x)
    refusals = [one.refusal for one in shown.candidates if one.refusal is not None]
    assert shown.chosen == "reference"
    if any(one.name.startswith("simd") for one in shown.candidates):
        assert any(f"has no {dtype.name}" in str(one) for one in refusals)


def test_a_compiled_function(dtype):
    compiled = ac.compile(lambda x: x.to(dtype).clone())
    for _ in range(4):
        assert compiled(ac.tensor([1.0, 2.0])).tolist() == [1, 2]
