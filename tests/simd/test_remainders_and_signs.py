# SPDX-License-Identifier: MIT
"""Rests, functions of two, shifts and signs against NumPy, ends included."""

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import KernelDataError

FUNCTIONS = {
    "fmod": np.fmod,
    "remainder": np.remainder,
    "floor_divide": np.floor_divide,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
}
ULPS = {"atan2": 3, "hypot": 2}
FLOATS = ["float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8"]


def _pairs(dtype):
    limits = np.finfo(dtype)
    ends = [0.0, limits.smallest_subnormal, limits.tiny, 0.5, 1.0, 3.0, 7.5, 1e30]
    ends = np.array([*ends, limits.max, np.inf], dtype)
    ends = np.concatenate([ends, -ends, np.array([np.nan], dtype)])
    rng = np.random.default_rng(7)
    near = rng.normal(size=(2, 3000)) * np.exp2(rng.integers(-20, 20, (2, 3000)))
    multiples = rng.integers(1, 1 << 20, 2000) * 0.75
    a = [np.repeat(ends, len(ends)), near[0], multiples, multiples * (1 - 1e-7)]
    b = [np.tile(ends, len(ends)), near[1], *[np.full(2000, 0.75)] * 2]
    return np.concatenate(a).astype(dtype), np.concatenate(b).astype(dtype)


def _same(got, expected, ulps):
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    number = ~np.isnan(expected)
    got, expected = got[number], expected[number]
    assert np.array_equal(np.signbit(got), np.signbit(expected))
    if ulps == 0:
        assert np.array_equal(got, expected)
    else:
        np.testing.assert_array_max_ulp(got, expected, ulps, got.dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(kernels, name, dtype):
    a, b = _pairs(dtype)
    got = np.empty_like(a)
    kernels[name](got, a, b)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](a.astype(np.float64), b.astype(np.float64))
        _same(got, expected.astype(dtype), ULPS.get(name, 0))


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(kernels, name, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    ends = [low, low + 1, *range(-9 if low else 0, 10), high - 1, high]
    every = range(low, high + 1) if high < 256 else ends
    a, b = (x.ravel() for x in np.meshgrid(*[np.array(list(every), dtype)] * 2))
    a, b = a[b != 0], b[b != 0]
    got = np.empty_like(a)
    kernels[name](got, a, b)
    with np.errstate(all="ignore"):
        assert np.array_equal(got, FUNCTIONS[name](a, b))


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_an_integer_over_0(kernels, name):
    a = np.arange(100_000)
    b = np.ones_like(a)
    b[77_777] = 0
    with pytest.raises(KernelDataError, match=f"{name}: an integer is divided by 0"):
        kernels[name](np.empty_like(a), a, b)
    with pytest.raises(KernelDataError, match=f"{name}: an integer is divided by 0"):
        getattr(ac, name)(ac.tensor(a), ac.tensor(b))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(kernels, dtype):
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.max, 1, 3, 100], dtype)
    counts = np.arange(0, min(70, limits.max), dtype=dtype)
    a, b = (x.ravel() for x in np.meshgrid(values, counts))
    for name, oracle in (
        ("bitwise_left_shift", np.left_shift),
        ("bitwise_right_shift", np.right_shift),
    ):
        got = np.empty_like(a)
        kernels[name](got, a, b)
        assert np.array_equal(got, oracle(a, b)), name


@pytest.mark.parametrize("dtype", FLOATS)
def test_signbit_and_neighbours(kernels, dtype):
    a, b = _pairs(dtype)
    got = np.empty(a.shape, bool)
    kernels["signbit"](got, a)
    assert np.array_equal(got, np.signbit(a))
    integer = "int32" if dtype == "float32" else "int64"
    next_bits = np.empty(a.shape, integer)
    kernels["next_float_bits"](next_bits, a.view(integer), b.view(integer))
    with np.errstate(all="ignore"):
        _same(next_bits.view(dtype), np.nextafter(a, b), 0)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_sign(kernels, dtype):
    if dtype in FLOATS:
        a = _pairs(dtype)[0]
    else:
        limits = np.iinfo(dtype)
        a = np.array([limits.min, 0, 1, limits.max] * 20, dtype)
    got = np.empty_like(a)
    kernels["sign"](got, a)
    assert np.array_equal(got, np.nan_to_num(np.sign(a)))


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
@pytest.mark.parametrize("most", [9, 1 << 40, 1 << 51, 1 << 52, 1 << 62])
def test_int64_by_one_number_is_exact(kernels, name, most):
    """Blocks of 64 go through doubles, where they hold the numbers."""
    rng = np.random.default_rng(most % 1000)
    numbers = rng.integers(-most, most, 131)
    edges = np.array([most - 1, -most, most - 2, 1 - most, 0, -1, 1] * 10)
    for a in (numbers, np.abs(numbers), np.concatenate([edges, numbers])):
        for divisor in (1, -1, 2, 3, -7, 524287, 524289, most - 1, 1 - most, -most):
            b = np.full_like(a, divisor)
            multiples = a // divisor * divisor
            for dividend in (a, multiples):
                out = np.empty_like(a)
                kernels[name](out, dividend, b)
                assert np.array_equal(out, FUNCTIONS[name](dividend, b)), divisor
