# SPDX-License-Identifier: MIT
"""The functions that densities are made of; sums, divergences and modes by hand."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import autocalc as ac
from autocalc import distributions as dist
from autocalc.distributions import _special
from autocalc.distributions._incomplete_gamma import gammainc


def double(*values):
    return ac.tensor(list(values), dtype=ac.float64)


@pytest.mark.parametrize("x", [1e-8, 0.1, 0.5, 1.0, 1.5, 2.0, 7.999, 8.0, 50.0, 1e6])
def test_the_logarithm_of_gamma_and_its_derivatives(x):
    mpmath.mp.dps = 40
    z = double(x).requires_grad_()
    value = _special.lgamma(z)
    assert abs(value.item() - mpmath.loggamma(x)) <= 4e-15 * (1 + abs(value.item()))
    digamma = _special.digamma(z)
    exact = float(mpmath.digamma(x))
    assert abs(digamma.item() - exact) <= 1e-14 * (1 + abs(exact))
    slope = ac.autograd.grad(value.sum(), z, create_graph=True)[0]
    assert slope.item() == pytest.approx(exact, rel=1e-13, abs=1e-14)
    bend = ac.autograd.grad(digamma.sum(), z)[0].item()
    assert bend == pytest.approx(float(mpmath.polygamma(1, x)), rel=1e-12)


@pytest.mark.parametrize("p", [0.0, 1e-300, 1e-9, 0.1, -0.5, 0.9, -0.999999, 1 - 1e-12])
def test_the_inverse_of_erf(p):
    mpmath.mp.dps = 40
    found = _special.erfinv(double(p)).item()
    assert found == pytest.approx(float(mpmath.erfinv(mpmath.mpf(p))), rel=1e-14)


def test_the_inverse_of_erf_at_its_ends():
    assert _special.erfinv(double(1.0, -1.0)).tolist() == [math.inf, -math.inf]
    assert math.isnan(_special.erfinv(double(1.5)).item())
    x = double(-0.7, 0.0, 0.2, 0.9).requires_grad_()
    assert ac.autograd.gradcheck(_special.erfinv, (x,))
    assert ac.autograd.gradgradcheck(_special.erfinv, (x,))


@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0, 2.5, 10.0, 100.0, 3000.0])
@pytest.mark.parametrize("share", [1e-3, 0.5, 0.97, 1.0, 1.03, 1.2, 2.0, 5.0, 50.0])
def test_the_incomplete_gamma_function(a, share):
    mpmath.mp.dps = 40
    x = a * share

    def cdf(a):
        return mpmath.gammainc(a, 0, x, regularized=True)

    first, second = double(a).requires_grad_(), double(x).requires_grad_()
    found = gammainc(first, second)
    assert abs(found.item() - float(cdf(a))) < 1e-11
    if a < 1000 or share < 1.3:
        slopes = ac.autograd.grad(found.sum(), (first, second))
        h = mpmath.mpf(a) * mpmath.mpf("1e-13")
        exact = float((cdf(a + h) - cdf(a - h)) / (2 * h))
        assert slopes[0].item() == pytest.approx(exact, rel=1e-9, abs=1e-12)
        log = (a - 1) * mpmath.log(x) - x - mpmath.loggamma(a)
        assert slopes[1].item() == pytest.approx(float(mpmath.exp(log)), rel=1e-9)


@pytest.mark.parametrize("a", [9999.0, 10_001.0, 1e5, 1e7])
@pytest.mark.parametrize("away", [-5.0, -0.5, 0.0, 0.01, 1.0, 3.0])
def test_the_incomplete_gamma_function_of_large_shapes(a, away):
    mpmath.mp.dps = 30
    x = a + away * math.sqrt(a)

    def density(z):
        return mpmath.exp((a - 1) * mpmath.log(z) - z - mpmath.loggamma(a))

    parts = [a + n * math.sqrt(a) for n in (-20, -10, -7)]
    exact = float(mpmath.quad(density, [*parts, x]))
    assert abs(gammainc(double(a), double(x)).item() - exact) < 1e-10


def test_the_incomplete_gamma_function_at_its_ends():
    a = double(2.0, 1e6, 2.0, 1e6, 2.0)
    x = double(0.0, 0.0, math.inf, math.inf, -1.0)
    assert gammainc(a, x)[:4].tolist() == [0, 0, 1, 1]
    assert ac.isnan(gammainc(a, x)[4:]).all()
    a = double(2.0).requires_grad_()
    for end in (0.0, 1e4):
        slope = ac.autograd.grad(gammainc(a, double(end)).sum(), a)[0]
        assert slope.item() == 0
    d = dist.Gamma(a, double(3.0).requires_grad_())
    assert ac.autograd.gradcheck(d.cdf, (double(0.7).requires_grad_(),))


@pytest.mark.parametrize("name", ["Gamma", "InverseGamma", "Chi2"])
def test_shares_are_differentiable_in_all_parameters(name):
    cls = getattr(dist, name)
    value = double(0.3, 1.5, 4.0)
    given = (double(0.4, 1.2, 7.0).requires_grad_(), double(2.0).requires_grad_())
    given = given[: 1 + (name != "Chi2")]
    assert ac.autograd.gradcheck(lambda *p: cls(*p).cdf(value), given)
    fixed = cls(*(x.detach() for x in given))
    assert ac.autograd.gradgradcheck(fixed.cdf, (value.requires_grad_(),))


def test_slopes_of_shares_have_the_dtypes_of_what_they_belong_to():
    a = ac.tensor([2.0], requires_grad=True)
    value = double(1.5).requires_grad_()
    slopes = ac.autograd.grad(dist.Gamma(a, 1.0).cdf(value).sum(), (a, value))
    assert [x.dtype for x in slopes] == [ac.float32, ac.float64]


@pytest.mark.parametrize("c", [1e-9, 0.5, 3.0, 39.9, 40.1, 100.0, 1e4, 1e8])
def test_von_mises_everywhere(c):
    mpmath.mp.dps = 60
    given = double(c).requires_grad_()
    d = dist.VonMises(double(0.0), given)
    away = 0.7 / (1 + math.sqrt(c))
    i0, i1 = mpmath.besseli(0, c), mpmath.besseli(1, c)
    exact = float(c * mpmath.cos(away) - mpmath.log(2 * mpmath.pi * i0))
    log = d.log_prob(double(away))
    assert log.item() == pytest.approx(exact, rel=1e-13)
    slope = ac.autograd.grad(log.sum(), given, create_graph=True)[0]
    exact = float(mpmath.cos(away) - i1 / i0)
    assert slope.item() == pytest.approx(exact, rel=1e-11, abs=1e-15)
    assert d.variance.item() == pytest.approx(float(1 - i1 / i0), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("logits", [0.0, 1e-5, 9.9e-4, 1.01e-3, 0.3, 0.51, -0.7, 30.0,
                                    -900.0, 900.0])  # fmt: skip
def test_the_continuous_bernoulli_everywhere(logits):
    mpmath.mp.dps = 150
    t = mpmath.mpf(logits) + mpmath.mpf("1e-30")
    given = double(logits).requires_grad_()
    d = dist.ContinuousBernoulli(logits=given)
    x = 0.3
    pairs = [
        (d.mean, lambda t: 1 / (1 - mpmath.exp(-t)) - 1 / t),
        (d.variance, lambda t: 1 / t**2 - 1 / (4 * mpmath.sinh(t / 2) ** 2)),
        (d.log_prob(double(x)),
         lambda t: t * mpmath.mpf(x) - mpmath.log(mpmath.expm1(t) / t)),
        (d.cdf(double(x)), lambda t: mpmath.expm1(t * mpmath.mpf(x)) / mpmath.expm1(t)),
        (d.icdf(double(x)),
         lambda t: mpmath.log1p(mpmath.mpf(x) * mpmath.expm1(t)) / t),
    ]  # fmt: skip
    for found, formula in pairs:
        assert found.item() == pytest.approx(float(formula(t)), rel=1e-11, abs=1e-12)
        slope = ac.autograd.grad(found.sum(), given)[0].item()
        h = mpmath.mpf("1e-20")
        exact = float((formula(t + h) - formula(t - h)) / (2 * h))
        assert slope == pytest.approx(exact, rel=1e-10, abs=1e-11)


def test_generalized_pareto_is_smooth_at_concentration_0():
    c = double(-1e-4, 0.0, 1e-9, 1e-4, 0.02).requires_grad_()
    for what in ("log_prob", "cdf", "icdf"):

        def call(c, what=what):
            d = dist.GeneralizedPareto(0.0, 1.0, c)
            return getattr(d, what)(double(0.7))

        assert ac.autograd.gradcheck(call, (c,))


# ---- sums and modes that PyTorch lacks -----------------------------------------------


def test_entropies_of_counts_are_sums():
    n = double(3.0, 0.0, 6.0)
    d = dist.Binomial(n, double(0.3, 0.4, 0.5))
    for i, count in enumerate((3, 0, 6)):
        one = dist.Binomial(count, d.probs[i])
        p = one.log_prob(one.enumerate_support()).exp()
        assert d.entropy()[i].item() == pytest.approx(-(p * p.log()).sum().item())
    d = dist.Multinomial(3, double(0.2, 0.3, 0.5))
    every = [(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)]
    log = d.log_prob(ac.tensor(every, dtype=ac.float64))
    assert d.entropy().item() == pytest.approx(-(log.exp() * log).sum().item())


@pytest.mark.parametrize("total", [4, 5, 9])
def test_divergence_of_binomials_where_the_second_counts_more(total):
    p = dist.Binomial(4, double(0.3, 0.6))
    q = dist.Binomial(total, double(0.5))
    k = p.enumerate_support()
    log = p.log_prob(k)
    exact = (log.exp() * (log - q.log_prob(k))).sum(0)
    assert np.allclose(dist.kl_divergence(p, q), exact)
    if total > 4:
        assert dist.kl_divergence(q, p).tolist() == [math.inf] * 2


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (lambda: dist.Weibull(double(2.0), 1.5), lambda: dist.Weibull(double(1.0), 2)),
        (lambda: dist.Uniform(double(0.0), 1.0),
         lambda: dist.ContinuousBernoulli(double(0.2))),
        (lambda: dist.ContinuousBernoulli(double(0.2)),
         lambda: dist.Uniform(double(0.0), 1.0)),
        (lambda: dist.HalfCauchy(double(2.0)), lambda: dist.HalfCauchy(double(1.0))),
    ],
)  # fmt: skip
def test_divergences_are_means_of_logarithms(p, q):
    p, q = p(), q()
    u = (ac.arange(200_000, dtype=ac.float64) + 0.5) / 200_000
    x = p.icdf(u)
    mean = (p.log_prob(x) - q.log_prob(x)).mean().item()
    assert dist.kl_divergence(p, q).item() == pytest.approx(mean, abs=1e-4)


def test_divergences_where_p_is_certain_or_impossible():
    rates = dist.Poisson(double(0.0, 2.0, 0.0)), dist.Poisson(double(3.0, 0.0, 0.0))
    assert dist.kl_divergence(*rates).tolist() == [3.0, math.inf, 0.0]
    certain = dist.Bernoulli(double(0.0, 1.0)), dist.Poisson(double(2.0))
    found = dist.kl_divergence(*certain)
    assert np.allclose(found, [2.0, 2 - math.log(2)])


@pytest.mark.parametrize(
    "d",
    [dist.Weibull(2.0, double(2.5)), dist.Kumaraswamy(double(2.0), 3.0),
     dist.Kumaraswamy(double(1.0), 3.0), dist.Kumaraswamy(double(2.0), 1.0)],
)  # fmt: skip
def test_modes_are_where_the_density_is_largest(d):
    x = ac.linspace(1e-4, 1 - 1e-4, 9999, dtype=ac.float64)
    x = x * (4 if isinstance(d, dist.Weibull) else 1)
    assert d.mode.item() == pytest.approx(x[d.log_prob(x).argmax()].item(), abs=5e-4)


def test_modes_at_an_end_or_none():
    assert dist.Weibull(2.0, double(0.5, 1.0)).mode.tolist() == [0, 0]
    d = dist.Kumaraswamy(double(0.5, 1.0, 2.0), double(2.0, 1.0, 0.5))
    assert ac.isnan(d.mode).all()
