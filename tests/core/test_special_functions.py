# SPDX-License-Identifier: MIT
"""Special functions against mpmath's arbitrary precision, at their poles and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError

mpmath = pytest.importorskip("mpmath")
pytestmark = pytest.mark.core

INF, NAN = math.inf, math.nan
RNG = np.random.default_rng(0)
AROUND_1 = np.concatenate(
    [1 + 10.0 ** -RNG.uniform(0.3, 12, 20), 1 - np.logspace(-9, -1)]
)
POSITIVE = np.concatenate(
    [10.0 ** RNG.uniform(-300, 300, 60), RNG.uniform(0, 30, 99), AROUND_1, 1 + AROUND_1]
)
#: Between the poles, and roots, at which a relative error has no bound.
NEGATIVE = -np.floor(RNG.uniform(1, 90, 60)) + RNG.uniform(0.6, 0.95, 60)
SMALL = np.concatenate([RNG.uniform(-1, 1, 60), 10.0 ** RNG.uniform(-300, -1, 30)])
PROBABILITIES = np.concatenate(
    [RNG.uniform(0, 1, 60), 10.0 ** RNG.uniform(-300, 0, 30)]
)
ANY = np.concatenate([RNG.uniform(-60, 60, 80), 10.0 ** RNG.uniform(-20, 2.8, 30)])
MODERATE = RNG.uniform(-25, 60, 80)


def double(*values):
    return ac.tensor(values, dtype=ac.float64)


def normal_quantile(p):
    """Return the root of log(erfc(-z / sqrt(2)) / 2) = log(p), by Newton's steps."""
    z = mpmath.mpf(ac.special.ndtri(double(float(p))).item())
    for _ in range(3):
        below = mpmath.erfc(-z / mpmath.sqrt(2)) / 2
        slope = mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi) / below
        z -= (mpmath.log(below) - mpmath.log(p)) / slope
    return z


def log_normal(x):
    return mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2)


FUNCTIONS = {
    "lgamma": (ac.lgamma, mpmath.loggamma, POSITIVE),
    "lgamma of negative numbers": (
        ac.lgamma,
        lambda x: mpmath.log(abs(mpmath.gamma(x))),
        NEGATIVE,
    ),
    "digamma": (ac.digamma, mpmath.digamma, POSITIVE),
    "digamma of negative numbers": (ac.digamma, mpmath.digamma, NEGATIVE),
    "trigamma": (
        lambda x: ac.polygamma(1, x),
        lambda x: mpmath.polygamma(1, x),
        np.concatenate([POSITIVE[60:], NEGATIVE]),
    ),
    "polygamma of order 4": (
        lambda x: ac.polygamma(4, x),
        lambda x: mpmath.polygamma(4, x),
        np.concatenate([POSITIVE[60:], NEGATIVE]),
    ),
    "mvlgamma": (
        lambda x: ac.mvlgamma(x, 3),
        lambda x: sum(
            (mpmath.loggamma(x - i / mpmath.mpf(2)) for i in range(3)),
            start=mpmath.log(mpmath.pi) * 3 / 2,
        ),
        RNG.uniform(4, 50, 40),
    ),
    "zeta of exponent 2.5": (
        lambda x: ac.special.zeta(2.5, x),
        lambda x: mpmath.zeta(2.5, x),
        RNG.uniform(0, 50, 60),
    ),
    "erfinv": (ac.erfinv, mpmath.erfinv, SMALL),
    "erfcx": (ac.special.erfcx, lambda x: mpmath.exp(x * x) * mpmath.erfc(x), MODERATE),
    "ndtr": (
        ac.special.ndtr,
        lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
        RNG.uniform(-5, 9, 60),
    ),
    "ndtri": (ac.special.ndtri, normal_quantile, PROBABILITIES),
    "log_ndtr": (ac.special.log_ndtr, log_normal, RNG.uniform(-60, 5, 60)),
    "entr": (ac.special.entr, lambda x: -x * mpmath.log(x), PROBABILITIES),
    "i0": (ac.i0, lambda x: mpmath.besseli(0, x), ANY),
    "i1": (ac.special.i1, lambda x: mpmath.besseli(1, x), ANY),
    "i0e": (ac.special.i0e, lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), ANY),
    "i1e": (ac.special.i1e, lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), ANY),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name):
    function, exact, xs = FUNCTIONS[name]
    with mpmath.workdps(40):
        expected = [mpmath.re(exact(mpmath.mpf(float(x)))) for x in xs]
        found = function(ac.tensor(xs, dtype=ac.float64)).tolist()
        for x, y, z in zip(xs, found, expected, strict=True):
            if abs(z) < 1e308:
                assert abs(mpmath.mpf(y) - z) <= 3e-14 * abs(z) + 1e-300, x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_is_rounded_once(name):
    function, _, xs = FUNCTIONS[name]
    xs = xs[(np.abs(xs) < 60) & (np.abs(xs) > 1e-3)][:20].astype(np.float32)
    found, wide = function(ac.tensor(xs)), function(ac.tensor(xs.astype(np.float64)))
    assert found.dtype is ac.float32
    if name in {"mvlgamma", "ndtr", "log_ndtr"}:  # of several operators
        np.testing.assert_allclose(found.numpy(), wide.numpy(), 2e-5, 1e-6)
    elif name in {"erfinv", "ndtri"}:  # by kernels in their own precision: 4 ULP
        np.testing.assert_allclose(found.numpy(), wide.numpy(), 4.8e-7)
    else:
        np.testing.assert_array_equal(found.numpy(), wide.to(ac.float32).numpy())


REGIONS = {
    "small": (RNG.uniform(0, 30, 50), 1.0),
    "tiny": (10.0 ** RNG.uniform(-10, 0, 50), 3.0),
    "around the middle": (10.0 ** RNG.uniform(1.4, 4, 50), 0.02),
    "large": (10.0 ** RNG.uniform(1.4, 2.5, 30), 0.7),
}


@pytest.mark.parametrize("region", REGIONS)
def test_incomplete_gamma_functions(region):
    shapes, spread = REGIONS[region]
    xs = shapes * np.exp(spread * RNG.normal(size=len(shapes)))
    for function, ends in ((ac.igamma, (0, None)), (ac.igammac, (None, mpmath.inf))):
        found = function(double(*shapes), double(*xs)).tolist()
        for a, x, y in zip(shapes.tolist(), xs.tolist(), found, strict=True):
            with mpmath.workdps(60):
                low, high = (mpmath.mpf(x) if end is None else end for end in ends)
                exact = mpmath.gammainc(mpmath.mpf(a), low, high, regularized=True)
                if exact > 1e-290:
                    limit = 1e-13 * (1 - mpmath.log(exact) / 100)
                    assert abs(mpmath.mpf(y) - exact) <= limit * exact, (a, x)


SPECIAL = [
    (ac.lgamma, [0.0, -1.0, -720.0, INF, -INF, NAN], [INF, INF, INF, INF, INF, NAN]),
    (ac.digamma, [0.0, -0.0, -1.0, INF, -INF], [-INF, INF, NAN, INF, NAN]),
    (lambda x: ac.polygamma(1, x), [0.0, -3.0, INF, NAN], [INF, INF, 0.0, NAN]),
    (lambda x: ac.polygamma(2, x), [0.0, 1e-200], [-INF, -INF]),
    (ac.erfinv, [1.0, -1.0, 1.5, -0.0, NAN], [INF, -INF, NAN, -0.0, NAN]),
    (ac.i0, [0.0, INF, -INF, NAN], [1.0, INF, INF, NAN]),
    (ac.special.i1, [0.0, INF, -INF, NAN], [0.0, INF, -INF, NAN]),
    (ac.special.i0e, [INF, -INF], [0.0, 0.0]),
    (ac.special.erfcx, [INF, -INF, -30.5, NAN], [0.0, INF, INF, NAN]),
    (ac.special.ndtri, [0.0, 1.0, -0.1, 1.1], [-INF, INF, NAN, NAN]),
    (ac.special.ndtr, [INF, -INF, NAN], [1.0, 0.0, NAN]),
    (ac.special.log_ndtr, [INF, -INF, NAN], [-0.0, -INF, NAN]),
    (ac.special.entr, [0.0, -1.0, INF, NAN], [0.0, -INF, -INF, NAN]),
    (lambda x: ac.special.zeta(x, 2.0), [1.0, 0.5, INF, NAN], [INF, NAN, 0.0, NAN]),
    (lambda x: ac.special.zeta(2.5, x), [0.0, -1.0, -1.5], [INF, INF, NAN]),
    (lambda x: ac.special.xlog1py(0.0, x), [-1.0, INF, NAN], [0.0, 0.0, NAN]),
    (lambda x: ac.igamma(x, double(2.0)), [0.0, INF, -1.0], [1.0, 0.0, NAN]),
    (lambda x: ac.igamma(x * 0 + 2, x), [0.0, -1.0, NAN], [0.0, NAN, NAN]),
]


@pytest.mark.parametrize(("function", "xs", "expected"), SPECIAL)
def test_poles_and_limits(function, xs, expected):
    found = function(double(*xs)).numpy()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        np.signbit(found)[found == 0], np.signbit(expected)[found == 0]
    )


INSIDE = double(0.15, 0.4, 0.77, 0.93)
WIDE = double(-1.6, 0.3, 2.2, 7.4)


def test_slopes_at_ends():
    x = double(0.0, 2.0).requires_grad_()
    ac.igamma(double(1.0, 1.0), x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1.0, math.exp(-2)])
    x = double(0.0).requires_grad_()
    ac.special.entr(x).sum().backward()
    assert x.grad.tolist() == [INF]
    x = double(0.0).requires_grad_()
    ac.special.i1(x).sum().backward()
    assert x.grad.tolist() == [0.5]


def test_methods_and_forms_in_place():
    x = double(0.25, 0.5)
    for name in ("lgamma", "digamma", "erfinv", "i0"):
        expected = getattr(ac, name)(x).tolist()
        assert getattr(x, name)().tolist() == expected
        assert getattr(x.clone(), f"{name}_")().tolist() == expected
    assert x.polygamma(1).tolist() == ac.polygamma(1, x).tolist()
    assert x.clone().polygamma_(1).tolist() == ac.polygamma(1, x).tolist()
    assert (x + 1).mvlgamma_(2).tolist() == ac.mvlgamma(x + 1, 2).tolist()
    assert x.clone().igamma_(x).tolist() == x.igamma(x).tolist()
    assert x.clone().igammac_(x).tolist() == x.igammac(x).tolist()
    assert ac.i0_(x.clone()).tolist() == ac.i0(x).tolist()


def test_integers_become_floats():
    assert ac.lgamma(ac.tensor([1, 4])).dtype is ac.float32
    assert ac.polygamma(1, ac.tensor([1, 4])).dtype is ac.float32
    assert ac.special.i0e(ac.tensor([True])).dtype is ac.float32


def test_what_is_refused():
    x = double(0.5)
    with pytest.raises(
        ArgumentError, match=r"polygamma\(n, x\) does not support negative n\. `n`"
    ):
        ac.polygamma(-1, x)
    with pytest.raises(ArgumentError, match="mvlgamma: `p` is 0; it is a dimension"):
        ac.mvlgamma(x, 0)
    with pytest.raises(DTypeError, match="igamma: needs a Tensor, not float"):
        ac.igamma(x, 2.0)
    with pytest.raises(DTypeError, match="log_ndtr: needs a Tensor, not str"):
        ac.special.log_ndtr("0.5")
    a = double(0.5).requires_grad_()
    for function in (ac.igamma, ac.igammac, ac.special.zeta):
        with pytest.raises(GradError, match=": has no gradient with respect to"):
            function(a, x).sum().backward()
