# SPDX-License-Identifier: MIT
"""Integers at random and in order: their range, and what a dtype cannot hold."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autocalc as ac
from autocalc._ops.random.random_integers import largest_exact
from autocalc.errors import ArgumentError

GAPS = pytest.mark.filterwarnings("ignore:.* does not hold all integers")

pytestmark = pytest.mark.core

INTEGERS = [ac.uint8, ac.int8, ac.int16, ac.int32, ac.int64]
#: Up to where a float dtype holds all integers.
FLOATS = {ac.float16: 2**11, ac.bfloat16: 2**8, ac.float32: 2**24, ac.float64: 2**53}
COUNT = 20_000

#: What draws from low to high - 1 into a dtype.
DRAWS = {
    "randint": lambda low, high, dtype: ac.randint(low, high, (COUNT,), dtype=dtype),
    "randint of a size": lambda low, high, dtype: ac.randint(
        low, high, size=[COUNT], dtype=dtype
    ),
    "randint out": lambda low, high, dtype: ac.randint(
        low, high, (COUNT,), out=ac.empty(0, dtype=dtype)
    ),
    "randint_like": lambda low, high, dtype: ac.randint_like(
        ac.zeros(COUNT, dtype=dtype), low, high
    ),
    "randint_like dtype": lambda low, high, dtype: ac.randint_like(
        ac.zeros(COUNT), low, high, dtype=dtype
    ),
    "random_": lambda low, high, dtype: ac.zeros(COUNT, dtype=dtype).random_(low, high),
}


def limits(dtype):
    if dtype is ac.bool:
        return 0, 1
    info = ac.finfo(dtype) if dtype.is_floating_point else ac.iinfo(dtype)
    return int(info.min), int(info.max)


@pytest.mark.parametrize("dtype", [*INTEGERS, ac.bool], ids=str)
@pytest.mark.parametrize("name", DRAWS)
def test_a_range_beyond_that_of_the_dtype_is_refused(name, dtype):
    low, high = limits(dtype)
    for wrong in [
        (low, high + 2),
        (low - 1, high),
        (0, 2**63 + 1),
        (high + 1, high + 9),
    ]:
        match = "here; use a smaller range or"
        with pytest.raises(ArgumentError, match=match):
            DRAWS[name](*wrong, dtype)
    found = DRAWS[name](low, high + 1, dtype)
    assert found.dtype is dtype
    assert found.min() < low + (high - low) / 50 + 1
    assert found.max() > high - (high - low) / 50 - 1


@GAPS
@pytest.mark.parametrize(
    "bounds", [(0, 1000), (-3, 5), (0, 70_000), (0, 2**31), (7, 8)]
)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", DRAWS)
def test_no_draw_is_rounded_out_of_the_range(name, dtype, bounds):
    low, high = bounds
    if high - 1 > limits(dtype)[1]:
        with pytest.raises(ArgumentError, match="do not fit into float16"):
            DRAWS[name](low, high, dtype)
        return
    found = DRAWS[name](low, high, dtype).double()
    assert found.min() >= low
    assert found.max() <= high - 1
    assert found.max() >= (high - 1) * 0.98 - 1
    assert found.equal(found.round())


@GAPS
def test_a_range_without_a_number_of_the_dtype_is_refused():
    with pytest.raises(ArgumentError, match="bfloat16 has no number between 257 and"):
        ac.randint(257, 258, (2,), dtype=ac.bfloat16)


@pytest.mark.parametrize("dtype", [*INTEGERS, ac.bool, *FLOATS], ids=str)
def test_random_without_bounds_draws_all_that_the_dtype_counts(dtype):
    top = FLOATS.get(dtype) or limits(dtype)[1]
    for found in (
        ac.zeros(COUNT, dtype=dtype).random_(),
        ac.zeros(COUNT, dtype=dtype).random_(0, None),
    ):
        assert found.min().item() >= 0
        assert found.min().item() <= top / 100
        assert top * 0.99 <= found.max().item() <= top
    whole = ac.zeros(COUNT, dtype=dtype).random_().double()
    assert whole.mean().item() == pytest.approx(top / 2, rel=0.03)


@pytest.mark.parametrize("dtype", [ac.int8, ac.int16, ac.int32, ac.int64], ids=str)
def test_random_from_a_number_to_the_end_of_the_dtype(dtype):
    low, high = limits(dtype)
    found = ac.zeros(COUNT, dtype=dtype).random_(low, None).double()
    assert found.min().item() <= low * 0.99
    assert found.max().item() >= high * 0.99
    assert abs(found.mean().item()) < high * 0.03
    assert ac.zeros(COUNT, dtype=dtype).random_(100, None).min().item() >= 100


def test_one_bound_is_the_end():
    assert set(ac.zeros(COUNT).random_(3).tolist()) == {0, 1, 2}
    for wrong in [(0,), (-1,), (5, 5), (5, 2), (1.5,)]:
        with pytest.raises(
            ArgumentError,
            match=r"random_ expects 'from' to be less than .* both must be integers",
        ):
            ac.zeros(2).random_(*wrong)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 2**63),
        (0, 2**63 - 1),
        (-(2**63), 2**63),
        (-(2**63), 2**63 - 1),
        (-(2**62), 2**62 + 1),
        (-(2**63), 3),
        (2**62 + 5, 2**63),
        (5, 2**62 + 7),
    ],
)
def test_wide_ranges_are_drawn_evenly(low, high):
    found = ac.randint(low, high, (COUNT,)).numpy()
    assert found.min() >= low
    assert found.max() < high
    parts = [(int(x) - low) * 8 // (high - low) for x in found]
    counts = np.bincount(parts, minlength=8)
    assert abs(counts - COUNT / 8).max() < 6 * (COUNT / 8) ** 0.5
    for bits in (1, 3):  # the last bits, too
        counts = np.bincount(found & (2**bits - 1), minlength=2**bits)
        assert abs(counts - COUNT / 2**bits).max() < 6 * (COUNT / 2**bits) ** 0.5


def test_a_wide_range_is_the_same_from_a_seed_in_every_kernel_set():
    drawn = []
    for name in ("reference", None):
        ac.manual_seed(5)
        if name is None:
            drawn.append(ac.randint(-(2**63), 2**63 - 7, (100,)))
        else:
            with ac.kernels.use(name):
                drawn.append(ac.randint(-(2**63), 2**63 - 7, (100,)))
    assert drawn[0].equal(drawn[1])


@pytest.mark.parametrize("dtype", [*INTEGERS, ac.bool, *FLOATS], ids=str)
def test_permutations_that_a_dtype_can_count(dtype):
    top = FLOATS.get(dtype) or limits(dtype)[1]
    n = min(top + 1, 3000)
    assert ac.randperm(n, dtype=dtype).double().sort()[0].equal(ac.arange(n).double())
    if top < 2**20:
        match = "randperm: .*: integers from 0 to .* do not fit into"
        with pytest.raises(ArgumentError, match=match):
            ac.randperm(top + 2, dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_numbers_in_order_that_an_integer_dtype_holds(dtype):
    low, high = limits(dtype)
    assert ac.arange(high - 2, high, dtype=dtype)[-1].item() == high - 1
    makes = [
        lambda: ac.arange(high - 2, high + 2, dtype=dtype),
        lambda: ac.arange(low - 1, low + 2, dtype=dtype),
        lambda: ac.arange(high + 1, high - 2, -1, dtype=dtype),
        lambda: ac.arange(float(low) * 2 - 3, float(low), 1e18, dtype=dtype),
        lambda: ac.linspace(0, high * 1.5, 3, dtype=dtype),
        lambda: ac.linspace(low * 1.5 - 2, 0, 3, dtype=dtype),
        lambda: ac.linspace(0, float("nan"), 3, dtype=dtype),
        lambda: ac.logspace(0, 20, 3, dtype=dtype),
        lambda: ac.linspace(0, high * 1.5, 3, out=ac.empty(0, dtype=dtype)),
    ]
    for make in makes[3:] if dtype is ac.int64 else makes:
        match = r"(arange|linspace|logspace): .* does not fit into .*which holds"
        with pytest.raises(ArgumentError, match=match):
            make()


def test_randint_by_words_begins_at_0():
    ac.manual_seed(3)
    drawn = ac.randint(high=5, size=(1000,))
    ac.manual_seed(3)
    assert ac.equal(drawn, ac.randint(0, 5, (1000,)))


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16, ac.float32, ac.float64])
def test_a_range_with_gaps_warns(dtype):
    most = largest_exact(dtype)
    x = ac.zeros(8, dtype=dtype)
    with pytest.warns(UserWarning, match=rf"from is out of bounds \[-{most}, "):
        x.random_(-2 * most, 1)
    with pytest.warns(UserWarning, match=rf"to - 1 is out of bounds .*{most}\]"):
        x.random_(0, 2 * most)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.random_(-most, most + 1)
