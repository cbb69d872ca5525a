# SPDX-License-Identifier: MIT
"""Errors of the activations over all binades, for every instruction set.

Floats: every 8191st of the 2^32 bit patterns (every 1021st was measured once, with the
same results) against float64. A bound is in units in the last place where the function
keeps its relative precision, and in eps times |x| (eps alone for the slopes, which are
measured with a gradient of one) where two terms cancel, as in the tail of gelu.
"""

import math

import numpy as np
import pytest

BIT_STEP = 8191
EPS = 2.0**-23
TINY = 2.0**-126  # the smallest normal number
ROOT = 2 * math.sqrt(2 / math.pi)
CUBIC = 0.044715


def _ulp(exact):
    exponent = np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-126)))
    return 2.0 ** (exponent - 23)


def _sigmoid(x):
    decay = np.exp(-np.abs(x))
    return np.where(x < 0, decay, 1.0) / (1.0 + decay)


def _below(x):
    """Return the normal distribution, precise in both tails."""
    erfc = np.frompyfunc(math.erfc, 1, 1)
    return 0.5 * erfc(-x / math.sqrt(2)).astype(np.float64)


def _gelu_slope(x):
    return _below(x) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _gelu_tanh_slope(x):
    square = np.minimum(x * x, 100)
    z = ROOT * x * (1 + CUBIC * square)
    inner = ROOT * (1 + 3 * CUBIC * square)
    return _sigmoid(z) + x * _sigmoid(z) * _sigmoid(-z) * inner


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _units(n):
    return lambda x, exact: n * _ulp(exact)


def _of_x(n):
    return lambda x, exact: n * EPS * np.abs(x) + _ulp(exact)


def _of_one(n):
    return lambda x, exact: n * EPS + _ulp(exact)


def _silu_bound(x, exact):
    """Allow for a sigmoid that is 0 in place of a subnormal number, |x| times."""
    return 2.9 * _ulp(exact) + TINY * np.abs(x)


NO_CUT = (1.0, 1e9)  # softplus's beta and threshold
# Kernel, attributes, exact values, bound: the largest error of any set, rounded up.
CASES = {
    "rsqrt": ("rsqrt", (), lambda x: 1 / np.sqrt(x), _units(1.6)),
    "silu": ("silu", (), lambda x: x * _sigmoid(x), _silu_bound),
    "gelu": ("gelu", ("none",), lambda x: x * _below(x), _of_x(0.7)),
    "gelu_tanh": (
        "gelu",
        ("tanh",),
        lambda x: x * _sigmoid(ROOT * (x + CUBIC * x**3)),
        _of_x(0.4),
    ),
    "softplus": ("softplus", NO_CUT, _softplus, _units(2.3)),
    "elu": (
        "elu",
        (1.0, 1.0, 1.0),
        lambda x: np.where(x > 0, x, np.expm1(x)),
        _units(3.2),
    ),
    "elu_backward": (
        "elu_backward",
        (1.0, 1.0, 1.0),
        lambda x: np.where(x > 0, 1.0, np.exp(x)),
        _units(1.5),
    ),
    "silu_backward": (
        "silu_backward",
        (),
        lambda x: _sigmoid(x) * (1 + x * _sigmoid(-x)),
        _of_one(1.2),
    ),
    "gelu_backward": ("gelu_backward", ("none",), _gelu_slope, _of_one(1.2)),
    "gelu_tanh_backward": ("gelu_backward", ("tanh",), _gelu_tanh_slope, _of_one(1.2)),
    "softplus_backward": ("softplus_backward", NO_CUT, _sigmoid, _units(1.9)),
}


@pytest.fixture(scope="module")
def every_binade():
    patterns = np.arange(0, 2**32, BIT_STEP, dtype=np.uint64).astype(np.uint32)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.0, -1.0])
    x = np.concatenate([patterns.view(np.float32), special])
    return x[~np.isnan(x) | (np.arange(x.size) >= patterns.size)]


@pytest.fixture(scope="module", params=CASES)
def case(request, every_binade):
    """A case's name and its exact values, computed once for all sets."""
    _, _, exact, _ = CASES[request.param]
    with np.errstate(all="ignore"):
        return request.param, exact(every_binade.astype(np.float64))


def _call(kernels, name, x):
    kernel, attributes, _, _ = CASES[name]
    got = np.empty_like(x)
    inputs = (np.ones_like(x), x) if kernel.endswith("_backward") else (x,)
    kernels[kernel](got, *inputs, *attributes)
    return got


def test_floats(kernels, every_binade, case):
    name, exact = case
    got = _call(kernels, name, every_binade)
    exact = np.where((got == 0) & (np.abs(exact) < TINY), 0, exact)  # tails may end so
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        bound = CASES[name][3](every_binade.astype(np.float64), exact)
        share = np.abs(got - exact) / bound
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    share = np.where(np.isfinite(rounded), share, np.where(same, 0.0, np.inf))
    worst = int(np.argmax(share))
    assert share[worst] <= 1, (every_binade[worst], got[worst], share[worst])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_value_does_not_depend_on_its_place(kernels, rng, name, dtype):
    """Tails are computed like whole vectors."""
    x = rng.uniform(0.01, 3.0, 67).astype(dtype)
    singles = np.concatenate([_call(kernels, name, x[i : i + 1]) for i in range(67)])
    assert np.array_equal(_call(kernels, name, x), singles)


@pytest.mark.parametrize("name", [name for name in CASES if "backward" not in name])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_negative_zero(kernels, name, dtype):
    """Odd at zero they keep its sign; 1 / sqrt(-0) is -infinity, softplus log 2."""
    got = _call(kernels, name, np.array([-0.0], dtype))[0]
    expected = {"rsqrt": -np.inf, "softplus": np.log(2)}.get(name, -0.0)
    assert got == pytest.approx(expected)
    assert np.signbit(got) == np.signbit(expected)
