# SPDX-License-Identifier: MIT
"""Products of bfloat16 and float16 by each of their loops: blocks, dots, rows."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import autocalc as ac
from autocalc.nn import functional as F

SETS = [
    name for name in ac.kernels.available() if name.startswith(("simd-", "bfloat16-"))
]
DTYPES = {"bfloat16": (ml_dtypes.bfloat16, 2.0**-8), "float16": (np.float16, 2.0**-11)}

#: Rows, columns and terms: few rows and many, whole words and registers, and rests.
SHAPES = [
    (1, 64, 1), (1, 65, 33), (1, 1100, 70), (2, 200, 95), (3, 7, 64), (4, 129, 31),
    (5, 66, 130), (8, 70, 257), (9, 64, 64), (49, 130, 67), (100, 96, 2100),
]  # fmt: skip


@pytest.fixture(params=[(s, d) for s in SETS for d in DTYPES], ids="-".join)
def dtype(request):
    """Return each dtype, while each set is asked first."""
    name, dtype = request.param
    with ac.kernels.use(name), ac.no_grad():
        yield DTYPES[dtype]


def numbers(rng, shape, dtype):
    return rng.standard_normal(shape).astype(dtype)


def check(result, a, b, eps):
    """Hold a product to one in float64, rounded once."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    exact, sizes = a @ b, np.abs(a) @ np.abs(b)
    limit = eps * np.abs(exact) + 1e-6 * sizes
    error = np.abs(result.numpy().astype(np.float64) - exact)
    assert (error <= limit).all(), (error / limit).max()


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_products_are_rounded_once(dtype, rng, m, n, k):
    dtype, eps = dtype
    a, b = numbers(rng, (m, k), dtype), numbers(rng, (k, n), dtype)
    across = np.ascontiguousarray(b.T)
    apart = np.zeros((k, 2 * n), dtype)
    apart[:, ::2] = b
    check(ac.from_numpy(a) @ ac.from_numpy(b), a, b, eps)
    check(F.linear(ac.from_numpy(a), ac.from_numpy(across)), a, b, eps)
    check(ac.from_numpy(a) @ ac.from_numpy(apart[:, ::2]), a, b, eps)
    left = np.ascontiguousarray(a.T).T
    check(ac.from_numpy(left) @ ac.from_numpy(b), a, b, eps)


@pytest.mark.parametrize("rows", [1, 3, 200])
def test_threads_change_no_bit(dtype, rng, rows):
    dtype, _ = dtype
    a, b = numbers(rng, (rows, 700), dtype), numbers(rng, (700, 1500), dtype)
    across = np.ascontiguousarray(b.T)
    threads = ac.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            ac.set_num_threads(count)
            of_rows = ac.from_numpy(a) @ ac.from_numpy(b)
            of_columns = F.linear(ac.from_numpy(a), ac.from_numpy(across))
            found.append(of_rows.numpy().tobytes() + of_columns.numpy().tobytes())
    finally:
        ac.set_num_threads(threads)
    assert found[0] == found[1] == found[2]


def test_infinities_and_nan_stay_in_their_rows_and_columns(dtype):
    dtype, _ = dtype
    a, b = np.ones((2, 33), dtype), np.ones((33, 80), dtype)
    a[1, 32], b[32, 5] = np.inf, np.nan
    for product in (
        ac.from_numpy(a) @ ac.from_numpy(b),
        F.linear(ac.from_numpy(a), ac.from_numpy(np.ascontiguousarray(b.T))),
    ):
        result = product.numpy().astype(np.float32)
        assert np.isnan(result[:, 5]).all()
        others = np.delete(result, 5, axis=1)
        assert (others[0] == 33).all()
        assert (others[1] == np.inf).all()
