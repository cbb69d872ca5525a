# SPDX-License-Identifier: MIT
import numpy as np
import pytest

from autocalc.plugin import DispatchKey
from autocalc_kernels_blas import _axpy


@pytest.fixture
def axpy(library):
    return library[1]["axpy"].function


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 17, 200_000])
@pytest.mark.parametrize("factor", [1.0, -0.25, 0.0])
def test_axpy_adds_in_place(axpy, dtype, size, factor):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(size).astype(dtype) for _ in range(2))
    value = y.astype(np.float64) + factor * x.astype(np.float64)
    axpy(y, np.array(factor, dtype), x)
    np.testing.assert_allclose(y, value, rtol=4 * np.finfo(dtype).eps, atol=1e-6)


def test_axpy_on_views_and_scalars(axpy):
    x, y = np.ones((4, 6), np.float32), np.ones((4, 6), np.float32)
    axpy(y[:, ::2], np.array(2, np.float32), x.T[:3].T)
    assert np.all(y[:, ::2] == 3)
    assert np.all(y[:, 1::2] == 1)
    scalar = np.array(1.0)
    axpy(scalar, np.array(3.0), np.array(2.0))
    assert scalar == 7


def test_zero_times_nan_is_nan(axpy):
    y = np.zeros(3)
    axpy(y, np.array(0.0), np.array([1.0, np.nan, np.inf]))
    assert list(np.isnan(y)) == [False, True, True]


def test_axpy_refuses_integers():
    i8 = np.dtype(np.int64)
    assert "not int64" in _axpy.supports(DispatchKey("axpy", (i8, i8, i8)))
    f4 = np.dtype(np.float32)
    assert _axpy.supports(DispatchKey("axpy", (f4, f4, f4))) is None
