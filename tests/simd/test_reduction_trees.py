# SPDX-License-Identifier: MIT
"""Reductions around the edges of their tiles, over any axes and strides."""

import itertools
import math

import numpy as np
import pytest

# Around 512 rows (a tile going down), 256 columns, 32 vectors, 32768 elements (a tile
# going along).
SHAPES = [
    (1,),
    (511,),
    (3, 5),
    (33, 511),
    (513, 10),
    (1025, 257),
    (65537,),
    (4, 5, 6, 7),
]


def _reduced(shape, axes):
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def _views(rng, shape, dtype):
    yield rng.normal(size=shape).astype(dtype)
    if len(shape) > 1:
        yield rng.normal(size=shape[::-1]).astype(dtype).T
        yield np.broadcast_to(rng.normal(size=shape[-1:]).astype(dtype), shape)
    doubled = rng.normal(size=tuple(2 * n for n in shape)).astype(dtype)
    yield doubled[tuple(slice(None, None, 2) for _ in shape)]


def _cases(shape):
    dims = range(len(shape))
    return itertools.chain.from_iterable(
        itertools.combinations(dims, n) for n in range(1, len(shape) + 1)
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sum_and_max_over_any_axes(kernels, rng, shape, dtype):
    eps = np.finfo(dtype).eps
    for axes in _cases(shape):
        out = np.empty(_reduced(shape, axes), dtype)
        n = math.prod(shape[i] for i in axes)
        for a in _views(rng, shape, dtype):
            kernels["sum"](out, a, axes, False)
            wide = a.astype(np.longdouble)
            bound = eps * max(math.log2(n), 1) * np.abs(wide).sum(axis=axes)
            assert (np.abs(out - wide.sum(axis=axes)) <= bound + 1e-300).all()
            kernels["max"](out, a, axes, False)
            assert np.array_equal(out, a.max(axis=axes))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_long_sum_is_pairwise(kernels, dtype):
    """A running sum of this many equal terms would be off by hundreds of units."""
    a = np.full(5_000_000, 0.1, dtype)
    out = np.empty((), dtype)
    kernels["sum"](out, a, (0,), False)
    exact = float(a[0]) * a.size
    assert abs(float(out) - exact) <= 2 * np.finfo(dtype).eps * exact


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("place", [0, 1, 15, 16, 63, 64, 1000, 2047])
def test_one_nan_wins(kernels, name, place):
    a = np.arange(2048, dtype=np.float32)
    a[place] = np.nan
    out = np.empty((), np.float32)
    kernels[name](out, a, (0,), False)
    assert np.isnan(out)
    down = np.empty(1, np.float32)
    kernels[name](down, np.ascontiguousarray(a[:, None]), (0,), False)
    assert np.isnan(down).all()


def test_argmax_takes_the_first_of_equals_and_nan_before_all(kernels):
    a = np.zeros((3, 100), np.float32)
    a[0, [40, 41, 99]] = 5
    a[1, [7, 70]] = np.nan
    a[1, 3] = np.inf
    out = np.empty(3, np.int64)
    kernels["argmax"](out, a, 1, False)
    assert out.tolist() == [40, 7, 0]
    kernels["argmax"](out, np.asfortranarray(a), 1, False)
    assert out.tolist() == [40, 7, 0]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "?"])
def test_integers_add_up_in_int64(kernels, rng, dtype):
    a = rng.integers(0, 2 if dtype == "?" else 120, (70, 300)).astype(dtype)
    for axes in [(0,), (1,), (0, 1)]:
        out = np.empty(_reduced(a.shape, axes), np.int64)
        for view in (a, np.asfortranarray(a)):
            kernels["sum"](out, view, axes, False)
            assert np.array_equal(out, a.sum(axis=axes, dtype=np.int64))


def test_empty_reductions(kernels):
    a = np.empty((3, 0), np.float32)
    out = np.ones(3, np.float32)
    kernels["sum"](out, a, (1,), False)
    assert (out == 0).all()
    kernels["logsumexp"](out, a, (1,), False)
    assert (out == -np.inf).all()
    kernels["mean"](out, a, (1,), False)
    assert np.isnan(out).all()


def test_variance_of_a_large_mean(kernels, rng):
    a = (1e4 + rng.normal(size=(40, 3000))).astype(np.float32)
    out, mean = np.empty(40, np.float32), np.empty(40, np.float32)
    kernels["var"](out, mean, a, (1,), False, 1.0)
    exact = a.astype(np.float64).var(axis=1, ddof=1)
    assert np.allclose(out, exact, rtol=1e-5)
    assert np.allclose(mean, a.astype(np.float64).mean(axis=1), rtol=1e-7)
