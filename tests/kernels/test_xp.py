# SPDX-License-Identifier: MIT
"""The functions of `xp` that stand in for NumPy's do what those do."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernel_table import xp

A = np.random.default_rng(1).standard_normal((3, 4, 5)).astype("f4")
ODD = np.array([[0.5, -0.0, np.nan], [2.5, -np.inf, -1.5]])
FLAGS = A > 0.3
I = np.array([[2, 0, 1, 1], [0, 3, 3, 2]])  # noqa: E741


CALLS = {
    "sum": lambda m: [m.sum(A), m.sum(A, axis=(0, 2)), m.sum(FLAGS, axis=1)],
    "sum, options": lambda m: [
        m.sum(A, axis=1, keepdims=True),
        m.sum(FLAGS, axis=0, dtype=np.int64),
        m.sum(A[:, :0], axis=1),
    ],
    "prod": lambda m: [m.prod(A), m.prod(A, axis=-1), m.prod(I, axis=0, keepdims=True)],
    "max": lambda m: [m.max(A), m.max(A, axis=1), m.max(ODD, axis=1, keepdims=True)],
    "max of nothing": lambda m: [m.max(A[:, :0], axis=1, initial=-np.inf)],
    "min": lambda m: [m.min(A), m.min(A, axis=(0, 1)), m.min(ODD, axis=0)],
    "any": lambda m: [m.any(FLAGS), m.any(A > 99), m.any(A[:0])],
    "take": lambda m: [m.take(A, I, axis=1)],
    "repeat": lambda m: [m.repeat(A, 3, axis=1)],
    "argmax": lambda m: [m.argmax(A), m.argmax(A, axis=1, keepdims=True)],
    "argsort": lambda m: [m.argsort(A, axis=1, kind="stable")],
    "searchsorted": lambda m: [m.searchsorted(np.arange(5.0), ODD, "right")],
    "cumsum": lambda m: [m.cumsum(A, axis=2)],
    "clip": lambda m: [m.clip(ODD, -1.0, 1.0)],
    "round": lambda m: [m.round(ODD)],
    "transpose": lambda m: [m.transpose(A, (2, 0, 1))],
    "swapaxes": lambda m: [m.swapaxes(A, 0, -1)],
    "full": lambda m: [m.full((2, 3), np.array(7), np.dtype("i4"))],
    "zeros_like": lambda m: [m.zeros_like(A)],
    "take_along_axis": lambda m: [
        m.take_along_axis(ODD, I[:, :2] % 3, 1),
        m.take_along_axis(I[0], I[1], 0),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_does_what_numpys_does(name):
    call = CALLS[name]
    for found, expected in zip(call(xp), call(np), strict=True):
        a, b = np.asarray(found), np.asarray(expected)
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 4), (64, 65)])
def test_a_grid_is_that_of_numpy(shape):
    expected = np.indices(shape, sparse=True)
    for a, b in zip(xp.open_grid(shape), expected, strict=True):
        assert (a.shape, a.tolist()) == (b.shape, b.tolist())


@pytest.mark.parametrize("size", [0, 1, 4, 2**40])
def test_integers_out_of_range_are_found(size):
    index = np.array([[-(2**63), -1, 0], [size - 1, size, 2**63 - 1]])
    expected = (index < 0) | (index >= size)
    assert xp.out_of_range(index, size).tolist() == expected.tolist()
    assert xp.out_of_range(index.T[::2], size).tolist() == expected.T[::2].tolist()
