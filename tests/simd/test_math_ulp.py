# SPDX-License-Identifier: MIT
"""Errors of the vector maths in units in the last place, over all binades.

Floats: every 8191st of the 2^32 bit patterns (every 257th was measured once, with the
same results) against float64. Doubles: samples of each function's interesting ranges
against mpmath.
"""

import math

import mpmath
import numpy as np
import pytest

# The largest errors seen on any instruction set, rounded up; budgets are 2 and 4.
FLOAT_BOUNDS = {
    "exp": 1.1,
    "log": 0.9,
    "tanh": 2.0,
    "sigmoid": 1.6,
    "erf": 1.4,
    "sin": 1.6,
    "cos": 1.6,
    "sqrt": 0.5,
    "exp2": 1.1,
    "expm1": 1.1,
    "log2": 1.6,
    "log10": 1.9,
    "log1p": 0.9,
    "sinh": 2.2,
    "cosh": 1.6,
    "tan": 3.4,
    "asin": 1.9,
    "acos": 1.2,
    "atan": 1.9,
    "asinh": 1.8,
    "acosh": 1.9,
    "atanh": 2.0,
    "erfc": 3.6,
}
DOUBLE_BOUNDS = {
    "exp": 1.1,
    "log": 0.9,
    "tanh": 1.9,
    "sigmoid": 1.6,
    "erf": 1.4,
    "sin": 2.1,
    "cos": 2.1,
    "exp2": 1.1,
    "expm1": 1.3,
    "log2": 0.8,
    "log10": 0.8,
    "log1p": 0.9,
    "sinh": 2.1,
    "cosh": 1.3,
    "tan": 3.4,
    "asin": 1.3,
    "acos": 1.3,
    "atan": 1.7,
    "asinh": 1.9,
    "acosh": 2.0,
    "atanh": 2.0,
    "erfc": 2.0,
    "erfcx": 2.0,
}
BIT_STEP = 8191


def _sigmoid(x):
    decay = np.exp(-np.abs(x))
    return np.where(x < 0, decay, 1.0) / (1.0 + decay)


def normal_or_zero(exact):
    """Return what kernels with a tail write: 0 in place of a subnormal float."""
    return np.where(np.abs(exact) < 2.0**-126, np.copysign(0, exact), exact)


ORACLES = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sigmoid": lambda x: normal_or_zero(_sigmoid(x)),
    "erf": np.frompyfunc(math.erf, 1, 1),
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erfc": np.frompyfunc(math.erfc, 1, 1),
}


def _float_ulps(got, exact):
    """Errors in units of the last place of float32; infinity for a wrong special."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        exponent = np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-126)))
        errors = np.abs(got.astype(np.float64) - exact) / 2.0 ** (exponent - 23)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return np.where(np.isfinite(rounded), errors, np.where(same, 0.0, np.inf))


@pytest.fixture(scope="module")
def every_binade():
    patterns = np.arange(0, 2**32, BIT_STEP, dtype=np.uint64).astype(np.uint32)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.0, -1.0])
    return np.concatenate([patterns.view(np.float32), special])


@pytest.mark.parametrize("name", FLOAT_BOUNDS)
def test_floats(kernels, every_binade, name):
    got = np.empty_like(every_binade)
    kernels[name](got, every_binade)
    with np.errstate(all="ignore"):
        exact = ORACLES[name](every_binade.astype(np.float64)).astype(np.float64)
    errors = _float_ulps(got, exact)
    worst = int(np.argmax(errors))
    assert errors[worst] <= FLOAT_BOUNDS[name], (every_binade[worst], got[worst])


ODD = ("tanh", "erf", "sin", "sqrt", "expm1", "log1p", "sinh", "tan", "asin", "atan")
ODD = (*ODD, "asinh", "atanh")


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_keep_their_sign(kernels, name, dtype):
    zeros = np.array([0.0, -0.0], dtype)
    got = np.ones_like(zeros)
    kernels[name](got, zeros)
    assert np.array_equal(got, zeros)
    assert np.array_equal(np.signbit(got), [False, True])


def _ranges(name):
    tiny = 10.0 ** np.linspace(-300, -1, 60)
    ranges = {
        "exp": [(-745.0, 709.7), (-1.0, 1.0)],
        "log": [(0.5, 2.0), (1e-3, 1e3), (0.9, 1.1)],
        "tanh": [(-1.5, 1.5), (-20.0, 20.0)],
        "sigmoid": [(-40.0, 40.0), (-708.3, -600.0), (-3.0, 3.0)],
        "erf": [(-1.2, 1.2), (-6.0, 6.0), (0.9, 1.5)],
        "sin": [(-10.0, 10.0), (-1e6, 1e6), (1e6, 1e12)],
        "cos": [(-10.0, 10.0), (-1e6, 1e6), (1e6, 1e12)],
        "exp2": [(-1074.0, 1024.0), (-1.0, 1.0)],
        "expm1": [(-40.0, 709.7), (-2.0, 2.0), (-0.4, 0.4)],
        "log2": [(0.5, 2.0), (1e-3, 1e3), (0.9, 1.1)],
        "log10": [(0.5, 2.0), (1e-3, 1e3), (0.9, 1.1)],
        "log1p": [(-0.999, 1.0), (-0.3, 0.45), (1.0, 1e3)],
        "sinh": [(-710.4, 710.4), (-2.0, 2.0), (-0.4, 0.4)],
        "cosh": [(-710.4, 710.4), (-2.0, 2.0)],
        "tan": [(-10.0, 10.0), (-1e6, 1e6), (1e6, 1e12)],
        "asin": [(-1.0, 1.0), (0.45, 0.6), (0.99, 1.0)],
        "acos": [(-1.0, 1.0), (0.45, 0.6), (0.99, 1.0)],
        "atan": [(-3.0, 3.0), (0.3, 0.6), (-1e3, 1e3)],
        "asinh": [(-3.0, 3.0), (-0.5, 0.5), (-1e3, 1e3)],
        "acosh": [(1.0, 2.0), (1.0, 1.01), (1.0, 1e3)],
        "atanh": [(-1.0, 1.0), (-0.4, 0.4), (0.9, 1.0)],
        "erfc": [(-6.0, 6.0), (0.4, 3.0), (0.5, 26.5)],
        "erfcx": [(-26.0, 6.0), (0.4, 3.0), (5.0, 40.0)],
    }[name]
    rng = np.random.default_rng(3)
    parts = [rng.uniform(low, high, 400) for low, high in ranges]
    if name in {"log", "log2", "log10"}:
        parts.append(10.0 ** rng.uniform(-323, 300, 200))
    elif name == "acosh":
        parts.append(10.0 ** rng.uniform(0, 300, 200))
    elif name not in {"sin", "cos", "tan"}:
        parts.append(tiny)
    return np.concatenate(parts)


def _mpmath(name, x):
    if name == "sigmoid":
        return 1 / (1 + mpmath.exp(-x))
    if name == "erfcx":
        return mpmath.exp(x * x) * mpmath.erfc(x)
    if name in {"exp2", "log2"}:
        return mpmath.mpf(2) ** x if name == "exp2" else mpmath.log(x, 2)
    return getattr(mpmath, name)(x)


def _double_ulps(got, exact):
    if mpmath.isinf(exact) or exact == 0:
        return 0.0 if got == exact else math.inf
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))), -1022)
    return float(abs(mpmath.mpf(float(got)) - exact) / mpmath.mpf(2) ** (exponent - 52))


@pytest.fixture(scope="module", params=DOUBLE_BOUNDS)
def double_case(request):
    """A function's name, arguments and exact values, computed once for all sets."""
    name = request.param
    x = _ranges(name)
    with mpmath.workprec(140):
        exact = [_mpmath(name, mpmath.mpf(float(v))) for v in x]
    return name, x, exact


def test_doubles(kernels, double_case):
    name, x, exact = double_case
    got = np.empty_like(x)
    kernels[name](got, x)
    errors = [_double_ulps(g, e) for g, e in zip(got, exact, strict=True)]
    worst = int(np.argmax(errors))
    assert errors[worst] <= DOUBLE_BOUNDS[name], (x[worst], got[worst])


def test_pow_of_floats(kernels, rng):
    x = np.exp2(rng.uniform(-126, 127, 40_000)).astype(np.float32)
    y = (rng.uniform(-130, 130, x.size) / np.log2(x)).astype(np.float32)
    got = np.empty_like(x)
    kernels["pow"](got, x, y)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    assert _float_ulps(got, exact).max() <= 1.0


SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, -2.5, 1e30)
SPECIAL = (*SPECIAL, -1e30, 1e-40, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pow_of_specials(kernels, dtype):
    x, y = (
        a.ravel()
        for a in np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype))
    )
    got = np.empty_like(x)
    kernels["pow"](got, x, y)
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    assert np.allclose(got, expected, rtol=1e-6, atol=0, equal_nan=True)
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("name", FLOAT_BOUNDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_value_does_not_depend_on_its_place(kernels, rng, name, dtype):
    """Tails are computed like whole vectors."""
    x = rng.uniform(0.01, 3.0, 67).astype(dtype)
    whole, single = np.empty_like(x), np.empty_like(x)
    kernels[name](whole, x)
    for i in range(x.size):
        kernels[name](single[i : i + 1], x[i : i + 1])
    assert np.array_equal(whole, single, equal_nan=True)
