# SPDX-License-Identifier: MIT
"""The oracle of float64 kernels, against mpmath's arbitrary precision."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernel_table import TABLE, Make, Sample
from tests.oracle import HAS_WIDER, expected, widened

from autocalc._kernels.budgets import ulp

mpmath = pytest.importorskip("mpmath")
pytestmark = pytest.mark.core

FUNCTIONS = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "sqrt": mpmath.sqrt,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_unary(name, dtype):
    make = Make(np.dtype(dtype))
    a = np.concatenate([make.normal(60, scale=10.0), make.any_size(60)])
    if name in {"log", "sqrt"}:
        a = np.abs(a)
    (found,) = expected(TABLE[name], Sample("", (a,)), a.dtype)
    assert found.dtype == widened(a.dtype)
    with mpmath.workprec(1200):
        exact = [FUNCTIONS[name](mpmath.mpf(float(x))) for x in a]
    error = _error(found, exact)
    limit = 0.002 if HAS_WIDER or dtype == "float32" else 1.1
    eps = float(np.finfo(dtype).eps)
    close = error <= limit * ulp(np.array([float(x) for x in exact]), eps)
    too_large = np.array([abs(x) > np.finfo(dtype).max for x in exact])
    assert (close | too_large).all(), a[~close]


def _error(found, exact):
    """Return |found - exact| where long double is taken apart into two float64."""
    high = found.astype(np.float64)
    with np.errstate(invalid="ignore"):
        low = (found - high).astype(np.float64)
    with mpmath.workprec(1200):
        return np.array(
            [
                0.0
                if np.isinf(h) and x > np.finfo(np.float64).max
                else float(abs(mpmath.mpf(float(h)) + mpmath.mpf(float(w)) - x))
                for h, w, x in zip(high, low, exact, strict=True)
            ]
        )


def test_pow_and_gelu():
    rng = np.random.default_rng(0)
    a, b = np.exp(rng.normal(size=99)), rng.normal(size=99) * 9
    (found,) = expected(TABLE["pow"], Sample("", (a, b)), a.dtype)
    with mpmath.workprec(200):
        exact = [mpmath.mpf(x) ** mpmath.mpf(y) for x, y in zip(a, b, strict=True)]
    limit = 0.002 if HAS_WIDER else 1.1
    assert (_error(found, exact) <= limit * ulp(found, np.finfo(float).eps)).all()

    x = rng.normal(size=(3, 1)) * 3
    sample = Sample("", (x, np.ones((1, 1)), None), (1.0, 1.0, "gelu"))
    (found, _) = expected(TABLE["gemm"], sample, x.dtype)
    with mpmath.workprec(200):
        exact = [
            mpmath.mpf(v) / 2 * (1 + mpmath.erf(mpmath.mpf(v) / mpmath.sqrt(2)))
            for v in x.ravel()
        ]
    # 1 + erf loses 8 of the 64 bits at x = -3, and the quotient by sqrt(2) is float64's
    assert (_error(found.ravel(), exact) <= 1e-15).all()
