# SPDX-License-Identifier: MIT
"""Elements of 16 bits, converted to float32 and back, of any length and layout."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import autocalc as ac
from autocalc.kernels import available

pytest.importorskip("autocalc_kernels_simd")

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
SETS = [name for name in available() if name.startswith("simd-")]
LENGTHS = (0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 100, 513, 5000)
RNG = np.random.default_rng(0)


@pytest.fixture(params=SETS)
def copy(request):
    from autocalc_kernels_simd import _loader

    return _loader.load(request.param.removeprefix("simd-"))["copy"]


def between_guards(n, dtype):
    """Return an array, and all of its memory with 16 elements before and after it."""
    whole = np.full(n + 32, 7, dtype)
    return whole[16 : 16 + n], whole


def expect_guards(whole):
    assert (whole[:16] == 7).all()
    assert (whole[-16:] == 7).all()


@pytest.mark.parametrize("half", HALVES, ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_conversions_write_no_element_too_many(copy, half, n):
    x = (100 * RNG.standard_normal(n)).astype(np.float32)
    narrow, whole = between_guards(n, half)
    copy(narrow, x)
    expect_guards(whole)
    assert np.array_equal(narrow, x.astype(half))
    wide, whole = between_guards(n, np.float32)
    copy(wide, narrow)
    expect_guards(whole)
    assert np.array_equal(wide, x.astype(half).astype(np.float32))


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_conversions_of_any_layout(copy, half):
    x = RNG.standard_normal((70, 40)).astype(np.float32)
    for given in (x.T, x[:, ::3], np.broadcast_to(x[0], (5, 40))):
        out = np.empty(given.shape, half)
        copy(out, given)
        assert np.array_equal(out, given.astype(half))
        wide = np.empty(given.shape, np.float32)
        copy(wide, given.astype(half))
        assert np.array_equal(wide, given.astype(half).astype(np.float32))


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_other_dtypes_are_left_to_numpy(copy, half):
    from autocalc.plugin import DispatchKey

    for other in (np.float64, np.int64, np.bool_):
        for dtypes in ((half, np.dtype(other)), (np.dtype(other), half)):
            assert "float32 alone" in copy.supports(DispatchKey("copy", dtypes))
    assert copy.supports(DispatchKey("copy", (half, half))) is None


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_every_value_comes_back(half):
    bits = np.arange(1 << 16, dtype=np.uint16)
    dtype = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}[half]
    x = ac.from_numpy(bits.view(dtype))
    there = x.float().to(getattr(ac, half)).numpy()
    number = ~np.isnan(bits.view(dtype).astype(np.float32))
    assert np.array_equal(there.view(np.uint16)[number], bits[number])
    assert np.isnan(there[~number].astype(np.float32)).all()
