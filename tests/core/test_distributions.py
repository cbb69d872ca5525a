# SPDX-License-Identifier: MIT
"""Distributions: draws by their moments, gradients of draws, checks of arguments."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle

import mpmath
import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import distributions as dist
from autocalc.distributions import _draws, constraints  # noqa: F401  the table uses it
from autocalc.errors import ArgumentError, AutocalcError


def double(*values):
    return ac.tensor(list(values), dtype=ac.float64)


CASES = {
    "normal": lambda: dist.Normal(double(-1.0, 3.0), double(0.5, 2.0)),
    "half normal": lambda: dist.HalfNormal(double(0.5, 2.0)),
    "log normal": lambda: dist.LogNormal(double(-1.0, 0.2), double(0.5, 0.3)),
    "uniform": lambda: dist.Uniform(double(-1.0, 3.0), double(0.5, 20.0)),
    "exponential": lambda: dist.Exponential(double(0.3, 4.0)),
    "laplace": lambda: dist.Laplace(double(-1.0, 3.0), double(0.5, 2.0)),
    "gumbel": lambda: dist.Gumbel(double(-1.0, 3.0), double(0.5, 2.0)),
    "gamma": lambda: dist.Gamma(double(0.2, 1.0, 9.0), double(2.0, 0.5, 3.0)),
    "beta": lambda: dist.Beta(double(0.3, 1.0, 9.0), double(0.2, 2.0, 4.0)),
    "dirichlet": lambda: dist.Dirichlet(double(0.3, 1.0, 5.0)),
    "bernoulli": lambda: dist.Bernoulli(double(0.1, 0.7)),
    "geometric": lambda: dist.Geometric(double(0.1, 0.7)),
    "one hot": lambda: dist.OneHotCategorical(double(1.0, 2.0, 7.0)),
    "multivariate normal": lambda: dist.MultivariateNormal(
        double(1.0, -2.0), ac.tensor([[2.0, 0.6], [0.6, 0.5]], dtype=ac.float64)
    ),
    "chi squared": lambda: dist.Chi2(double(1.0, 7.0)),
    "inverse gamma": lambda: dist.InverseGamma(double(9.0, 20.0), double(2.0, 0.5)),
    "fisher": lambda: dist.FisherSnedecor(double(3.0, 20.0), double(20.0, 30.0)),
    "student": lambda: dist.StudentT(double(9.0, 40.0), double(-1.0, 3.0), 2.0),
    "pareto": lambda: dist.Pareto(double(1.0, 3.0), double(9.0, 20.0)),
    "generalized pareto": lambda: dist.GeneralizedPareto(
        double(1.0, 3.0, -1.0), double(0.5, 2.0, 1.0), double(-0.7, 0.1, 0.0)
    ),
    "weibull": lambda: dist.Weibull(double(2.0, 0.3), double(0.9, 3.0)),
    "kumaraswamy": lambda: dist.Kumaraswamy(double(0.3, 2.0), double(0.7, 5.0)),
    "continuous bernoulli": lambda: dist.ContinuousBernoulli(double(0.1, 0.5, 0.99)),
    "poisson": lambda: dist.Poisson(double(0.3, 9.9, 10.0, 50.0, 1e6, 1e9)),
    "binomial": lambda: dist.Binomial(
        double(1.0, 20.0, 30.0, 1e3, 1e9, 40.0), double(0.3, 0.45, 0.6, 0.99, 0.3, 0.5)
    ),
    "negative binomial": lambda: dist.NegativeBinomial(
        double(0.4, 3.0, 90.0), double(0.5, 0.8, 0.6)
    ),
    "multinomial": lambda: dist.Multinomial(
        7, ac.tensor([[1.0, 2.0, 5.0], [3.0, 1.0, 1.0]], dtype=ac.float64)
    ),
    "independent": lambda: dist.Independent(dist.Gamma(double(2.0, 3.0), 1.5), 1),
}
#: Whose draws have no mean.
WITHOUT_MEAN = {
    "cauchy": lambda: dist.Cauchy(double(-1.0, 3.0), double(0.5, 2.0)),
    "half cauchy": lambda: dist.HalfCauchy(double(0.5, 2.0)),
}
COUNT = 40_000


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_draws_have_the_moments(make):
    ac.manual_seed(0)
    d = make()
    x = d.sample((COUNT,)).numpy()
    assert x.dtype == np.float64
    assert x.shape == (COUNT, *d.batch_shape, *d.event_shape)
    mean, deviation = d.mean.numpy(), d.stddev.numpy()
    assert np.allclose(d.variance.sqrt(), deviation)
    error = 5 / math.sqrt(COUNT)
    assert (np.abs(x.mean(0) - mean) < error * deviation).all()
    fourth = ((x - mean) ** 4).mean(0) / deviation**4
    spread = np.abs(x.var(0) / deviation**2 - 1)
    assert (spread < error * np.sqrt(fourth + 1)).all()
    assert d.support.check(ac.tensor(x)).all()


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_draws_follow_the_seed_and_have_no_history(make):
    d = make()
    drawn = []
    for _ in range(2):
        ac.manual_seed(5)
        drawn.append(d.sample((3,)))
    assert drawn[0].tolist() == drawn[1].tolist()
    assert not drawn[0].requires_grad


@pytest.mark.parametrize(
    "name",
    ["normal", "gumbel", "laplace", "uniform", "cauchy", "exponential", "log normal",
     "half normal", "half cauchy", "gamma", "chi squared", "inverse gamma", "pareto",
     "generalized pareto", "weibull", "kumaraswamy", "continuous bernoulli"],
)  # fmt: skip
def test_draws_are_distributed_as_cdf_says(name):
    ac.manual_seed(1)
    d = WITHOUT_MEAN[name]() if name in WITHOUT_MEAN else CASES[name]()
    x = d.sample((COUNT,))
    u = np.sort(d.cdf(x).numpy(), axis=0)
    steps = (np.arange(COUNT) + 0.5)[:, None] / COUNT
    assert np.abs(u - steps).max() < 2 / math.sqrt(COUNT)  # Kolmogorov: 1 in 1000
    if name in {"gamma", "chi squared", "inverse gamma"}:
        return  # no icdf
    inside = x[:100]
    back = d.icdf(d.cdf(inside))
    assert np.allclose(back, inside, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("d", "most"),
    [
        (dist.Poisson(double(0.7)), 6),
        (dist.Poisson(double(12.0)), 30),
        (dist.Binomial(9, double(0.3)), 9),
        (dist.Binomial(40, double(0.6)), 40),
        (dist.Binomial(40, double(0.35)), 40),
        (dist.NegativeBinomial(2.5, double(0.6)), 20),
    ],
)
def test_counts_are_drawn_as_often_as_probable(d, most):
    ac.manual_seed(0)
    k = d.sample((COUNT,)).flatten().numpy().astype(int)
    expected = COUNT * d.log_prob(ac.arange(most + 1)).exp().numpy()
    found = np.bincount(np.minimum(k, most + 1), minlength=most + 2)[: most + 1]
    common = expected > 5
    squares = (found - expected)[common] ** 2 / expected[common]
    assert squares.sum() < common.sum() + 4 * math.sqrt(2 * common.sum())


@pytest.mark.parametrize("c", [1e-6, 0.3, 2.0, 500.0, 1e6])
@pytest.mark.parametrize("loc", [0.0, 3.0, -40.0])
def test_angles_are_drawn_around_their_mean(c, loc):
    ac.manual_seed(0)
    d = dist.VonMises(double(loc), double(c))
    x = d.sample((COUNT,)).numpy()
    assert x.shape == (COUNT, 1)
    assert (np.abs(x) <= math.pi).all()
    away = np.cos(x - loc)
    assert abs(away.mean() - (1 - d.variance.item())) < 4 * away.std() / COUNT**0.5
    assert abs(np.sin(x - loc).mean()) < 4 * np.sin(x - loc).std() / COUNT**0.5
    if c <= 2:  # Kolmogorov, with the density summed
        grid = np.linspace(-math.pi, math.pi, 2001)
        density = d.log_prob(ac.tensor(grid)).exp().numpy()
        ends = np.cumsum((density[1:] + density[:-1]) / 2) * (grid[1] - grid[0])
        shares = np.interp(np.sort(x[:, 0]), grid[1:], ends)
        steps = (np.arange(COUNT) + 0.5) / COUNT
        assert np.abs(shares - steps).max() < 2 / math.sqrt(COUNT)


def test_draws_of_impossible_counts_are_nan_and_end():
    for rate in (math.inf, math.nan, -1.0):
        drawn = dist.Poisson(double(rate, 0.0), validate_args=False).sample()
        assert math.isnan(drawn[0].item())
        assert drawn[1].item() == 0
    for n, p in ((math.inf, 0.5), (-1.0, 0.5), (3.0, math.nan), (3.0, -0.5)):
        d = dist.Binomial(double(n, 4.0), double(p, 1.0), validate_args=False)
        drawn = d.sample()
        assert math.isnan(drawn[0].item())
        assert drawn[1].item() == 4
    assert dist.Multinomial(0, ac.ones(3)).sample((2,)).tolist() == [[0.0] * 3] * 2
    d = dist.VonMises(double(0.0), double(math.inf), validate_args=False)
    assert math.isnan(d.sample().item())


def test_kinds_are_drawn_as_often_as_probable():
    ac.manual_seed(0)
    d = dist.Categorical(ac.tensor([[1.0, 2.0, 7.0], [5.0, 5.0, 0.0]]))
    kinds = d.sample((COUNT,)).numpy()
    assert kinds.shape == (COUNT, 2)
    for i in range(2):
        shares = np.bincount(kinds[:, i], minlength=3) / COUNT
        assert np.abs(shares - d.probs[i].numpy()).max() < 0.015
    assert d.sample().shape == (2,)
    assert d.sample((0,)).shape == (0, 2)


# ---- gradients of draws --------------------------------------------------------------


@pytest.mark.parametrize("a", [1.0, 1.3, 4.0, 30.0, 800.0])
@pytest.mark.parametrize("u", [1e-4, 0.1, 0.5, 0.9, 0.9999])
def test_the_slope_of_gamma_s_draws(a, u):
    """By differences of the quantile, in 40 digits."""
    mpmath.mp.dps = 40

    def cdf(a, z):
        return mpmath.gammainc(a, 0, z, regularized=True)

    root = mpmath.sqrt(a)
    guess = a * (1 - 1 / (9 * a) + mpmath.mpf(_normal_quantile(u)) / (3 * root)) ** 3
    z = mpmath.findroot(lambda z: cdf(a, z) - u, max(guess, mpmath.mpf("1e-5")))
    h = mpmath.mpf("1e-15")
    density = mpmath.exp((a - 1) * mpmath.log(z) - z - mpmath.loggamma(a))
    exact = -(cdf(a + h, z) - cdf(a - h, z)) / (2 * h) / density
    found = _draws.slope(double(a), double(float(z))).item()
    assert abs(found / float(exact) - 1) < 1e-9


def _normal_quantile(u):
    return math.sqrt(2) * float(mpmath.erfinv(2 * u - 1))


@pytest.mark.parametrize("a", [2e4, 1e6, 1e9])
def test_the_slope_for_large_shapes(a):
    """z is near a + x sqrt(a) + (x^2 - 1) / 3 for a normal x."""
    x = double(-2.0, -0.5, 0.0, 1.0, 3.0)
    z = a * (1 - 1 / (9 * a) + x / (3 * math.sqrt(a))) ** 3
    exact = 1 + x / (2 * math.sqrt(a))
    assert (_draws.slope(x * 0 + a, z) - exact).abs().max().item() < 1 / a
    if a < 1e5:  # as the series says
        series = _draws._slope_of_series(x * 0 + a, z)
        assert (series - _draws.slope(x * 0 + a, z)).abs().max().item() < 1e-6


@pytest.mark.parametrize(
    ("make", "slope"),
    [
        (lambda p: dist.Gamma(p, 1.0), 1.0),
        (lambda p: dist.Gamma(3.0, p), -3.0),
        (dist.Exponential, -1.0),
        (lambda p: dist.Beta(p, 2.0), 2.0),
        (lambda p: dist.Beta(2.0, p), -2.0),
        (dist.Chi2, 1.0),
        (lambda p: dist.InverseGamma(p + 4, 1.0), -1.0),
        (lambda p: dist.InverseGamma(5.0, p), 1.0),
        (lambda p: dist.FisherSnedecor(9.0, p + 9), -1.0),
        (lambda p: dist.StudentT(9.0, p), 1.0),
        (lambda p: dist.Pareto(1.0, p + 3), -1.0),
        (lambda p: dist.GeneralizedPareto(0.0, 1.0, p / 9), 1.0),
        (lambda p: dist.Weibull(1.0, 1 / (1 + p / 5)), 1.0),
        (lambda p: dist.Kumaraswamy(p, 2.0), 1.0),
        (lambda p: dist.ContinuousBernoulli(logits=p), 1.0),
    ],
)
@pytest.mark.parametrize("value", [0.4, 1.0, 2.5])
def test_the_mean_s_gradient_is_that_of_the_draws(make, slope, value):
    ac.manual_seed(0)
    p = ac.tensor(value, dtype=ac.float64, requires_grad=True)
    exact = ac.autograd.grad(make(p).mean, p)[0].item()
    assert (exact > 0) == (slope > 0)
    drawn = make(p).rsample((COUNT,))
    found = ac.autograd.grad(drawn.mean(), p)[0].item()
    assert abs(found / exact - 1) < 0.06


def test_the_variance_s_gradient_is_that_of_student_s_draws():
    ac.manual_seed(0)
    df = double(9.0).requires_grad_()
    exact = ac.autograd.grad(dist.StudentT(df).variance, df)[0].item()
    drawn = dist.StudentT(df).rsample((10 * COUNT,))
    found = ac.autograd.grad((drawn * drawn).mean(), df)[0].item()
    assert abs(found / exact - 1) < 0.1


def test_gradients_of_dirichlet_s_draws():
    ac.manual_seed(0)
    a = double(0.5, 1.5, 4.0).requires_grad_()
    weights = double(1.0, -2.0, 0.5)
    exact = ac.autograd.grad((dist.Dirichlet(a).mean * weights).sum(), a)[0]
    drawn = dist.Dirichlet(a).rsample((COUNT,)).mean(0)
    found = ac.autograd.grad((drawn * weights).sum(), a)[0]
    assert np.allclose(found, exact, atol=0.01)


@pytest.mark.parametrize(
    "name",
    ["normal", "uniform", "laplace", "gumbel", "log normal", "pareto", "weibull",
     "kumaraswamy"],
)  # fmt: skip
def test_draws_by_place_and_scale_are_differentiable(name):
    first, second = double(0.3), double(0.9)
    cls = type(CASES[name]())

    def draw(a, b):
        ac.manual_seed(2)
        return cls(a, b).rsample((5,))

    inputs = (first.requires_grad_(), second.requires_grad_())
    assert ac.autograd.gradcheck(draw, inputs)
    assert ac.autograd.gradgradcheck(draw, inputs)


def test_small_shapes_do_not_underflow_in_proportions():
    ac.manual_seed(0)
    x = dist.Dirichlet(ac.full((1000, 3), 1e-3)).rsample()
    assert ac.isfinite(x).all()
    assert np.allclose(x.sum(-1), 1)


def test_draws_of_impossible_shapes_are_nan_and_end():
    for a in (math.inf, math.nan, -2.0):
        d = dist.Gamma(double(a, 1.0), 1.0, validate_args=False)
        assert ac.isnan(d.sample()).tolist() == [True, False]


# ---- dtypes -------------------------------------------------------------------------


def test_densities_of_float32_stay_float32():
    for d in (dist.Gamma(2.0, 3.0), dist.Beta(2.0, 3.0), dist.Normal(0, 1)):
        assert d.mean.dtype is ac.float32
        assert d.log_prob(ac.tensor(0.5)).dtype is ac.float32
        assert d.rsample().dtype is ac.float32
        assert d.entropy().dtype is ac.float32


@pytest.mark.parametrize("name", ["Normal", "Uniform", "Exponential", "Laplace",
                                  "Gumbel", "Gamma", "Beta", "Bernoulli", "Poisson",
                                  "Pareto", "Weibull", "StudentT", "InverseGamma",
                                  "VonMises", "Kumaraswamy", "ContinuousBernoulli",
                                  "HalfCauchy", "Chi2"])  # fmt: skip
@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
def test_two_bytes_a_number(name, dtype):
    p = ac.tensor([0.25, 0.5], dtype=dtype)
    cls = getattr(dist, name)
    alone = {"Exponential", "Bernoulli", "Poisson", "ContinuousBernoulli", "HalfCauchy"}
    p = p + 9 if name in {"StudentT", "InverseGamma"} else p  # else they overflow
    d = cls(p) if name in alone | {"Chi2"} else cls(p, p + 1)
    drawn = d.sample((100,))
    assert drawn.dtype is dtype
    assert ac.isfinite(drawn).all()
    assert d.log_prob(drawn).dtype is dtype


# ---- shapes and checks ---------------------------------------------------------------


def test_shapes():
    d = dist.Normal(ac.zeros(3, 1), ac.ones(4))
    assert d.batch_shape == (3, 4)
    assert d.event_shape == ()
    assert d.sample(2).shape == (2, 3, 4)
    assert d.log_prob(ac.zeros(5, 1, 1)).shape == (5, 3, 4)
    assert d.perplexity().shape == (3, 4)
    m = dist.MultivariateNormal(ac.zeros(5, 2), ac.eye(2))
    assert (m.batch_shape, m.event_shape) == ((5,), (2,))
    assert m.rsample((3,)).shape == (3, 5, 2)
    assert m.expand((4, 5)).log_prob(ac.zeros(2)).shape == (4, 5)


class Shifted(dist.Normal):
    """A subclass in the manner of users, with a parameter of its own."""

    def __init__(self, loc, scale, shift):
        self.shift = shift
        super().__init__(loc, scale)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Shifted, _instance)
        new.shift = self.shift + 1
        return super().expand(batch_shape, _instance=new)


class Named(Shifted):
    def __init__(self):
        super().__init__(ac.zeros(2), 1.0, 5)


class Blocks(dist.Independent):
    """A subclass that leaves `expand` as it is."""


class Warped(dist.TransformedDistribution):
    """A subclass that leaves `expand` as it is."""


def test_subclasses_fill_the_instance_they_expand():
    d = Shifted(ac.zeros(2), ac.ones(2), 5)
    new = d.expand((3, 2))
    assert type(new) is Shifted
    assert (new.shift, d.shift) == (6, 5)
    assert new.log_prob(ac.zeros(())).shape == (3, 2)
    given = object.__new__(Shifted)
    assert d.expand((4, 2), _instance=given) is given
    assert given.loc.shape == given.batch_shape == (4, 2)
    with pytest.raises(NotImplementedError, match="defines its own `__init__`, so"):
        Named().expand((3, 2))


def test_subclasses_of_wrappers_stay_what_they_are():
    d = Blocks(dist.Normal(ac.zeros(4, 2), 1.0), 1).expand((3, 4))
    assert (type(d), d.batch_shape, d.event_shape) == (Blocks, (3, 4), (2,))
    assert d.log_prob(ac.zeros(2)).shape == (3, 4)
    base = dist.Independent(dist.Normal(ac.zeros(2), 1.0), 1)
    d = Warped(base, dist.TanhTransform()).expand((3,))
    assert (type(d), d.batch_shape, d.event_shape) == (Warped, (3,), (2,))
    assert d.log_prob(ac.zeros(2)).shape == (3,)
    assert d.sample((5,)).shape == (5, 3, 2)


def test_they_print():
    assert repr(dist.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(dist.Bernoulli(logits=ac.zeros(2))) == "Bernoulli(logits: (2,))"
    one = dist.Independent(dist.Normal(ac.zeros(2), 1.0), 1)
    assert repr(one) == "Independent(Normal(loc: (2,), scale: (2,)), 1)"


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_they_are_copied_and_pickled(make):
    d = make()
    for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert other.mean.tolist() == d.mean.tolist()
        assert repr(other) == repr(d)


test_errors = refusals(
    r"""
    dist.Normal(0.0, -1.0) -> ArgumentError: Normal: `scale` of shape \(\) must
    dist.Normal(math.nan, 1.0) -> ArgumentError: `loc`.* real numbers
    dist.Normal('a', 1.0) -> DTypeError: Normal: `loc` is 'a'; it must be
    dist.Normal(True, 1.0) -> DTypeError: Normal: `loc` is True
    dist.Normal(ac.zeros(2), ac.ones(3)) -> ShapeError: \(2,\).*\(3,\)
    dist.Normal(0, 1, validate_args=3) -> ArgumentError: validate_args
    dist.Uniform(1.0, 1.0) -> ArgumentError: `low` must be below `high`
    dist.Poisson(-1.0) -> ArgumentError: `rate`.*numbers of 0 or more
    dist.Poisson(1.0).log_prob(ac.tensor(0.5)) -> ArgumentError: Poisson: `value`.*
        integers of 0 or more
    dist.Chi2(0.0) -> ArgumentError: Chi2: `df`.*numbers above 0
    dist.Binomial(2.5, 0.5) -> ArgumentError: Binomial: `total_count`.*integers of 0 or
        more
    dist.Binomial(3) -> ArgumentError: `probs` and `logits` .* none are
    dist.Binomial(3, 0.5).log_prob(ac.tensor(4)) -> ArgumentError: `value`.* integers
        from 0 to tensor\(3.\)
    dist.Binomial(ac.tensor([1, 2]), 0.5).enumerate_support() -> ArgumentError:
        enumerate_support: `total_count` is .* must be equal
    dist.NegativeBinomial(1.0, 1.0) -> ArgumentError: `probs`.*numbers from 0 to below 1
    dist.NegativeBinomial('a', 0.5) -> DTypeError: `total_count` is 'a'
    dist.Multinomial(2.5, ac.ones(2)) -> DTypeError: `total_count` is 2.5
    dist.Multinomial(-1, ac.ones(2)) -> ArgumentError: `total_count`=-1; it must be 0 or
        more
    dist.Multinomial(2, 1.0) -> ShapeError: Multinomial: `probs` is 0-d
    dist.Multinomial(2, ac.ones(2)).log_prob(ac.tensor([2.0, 1.0])) -> ArgumentError:
        vectors of numbers of 0 or more that sum to 2 at most
    dist.Pareto(2.0, 1.0).cdf(ac.tensor(1.0)) -> ArgumentError: Pareto: `value`.*
        numbers of tensor\(2.\) or more
    dist.GeneralizedPareto(0, 1, -0.5).log_prob(ac.tensor(3.0)) -> ArgumentError:
        numbers from tensor\(0.\) to tensor\(2.\)
    dist.ContinuousBernoulli(0.5, lims=(0.6, 0.4)) -> ArgumentError:
        `lims` is \(0\.6, 0\.4\); it must be two numbers between 0 and 1, the
    dist.ContinuousBernoulli(0.5, lims=0.4) -> DTypeError: `lims` is 0.4
    dist.VonMises(0.0, 0.0) -> ArgumentError: `concentration`.*above 0
    dist.Bernoulli() -> ArgumentError: `probs` and `logits` .* none are
    dist.Bernoulli(0.5, 0.5) -> ArgumentError: both are given, give
    dist.Bernoulli(1.5) -> ArgumentError: `probs`.*numbers from 0 to 1
    dist.Categorical(ac.tensor(0.5)) -> ShapeError: `probs` is 0-d
    dist.Categorical(ac.tensor([-1.0, 2.0])) -> ArgumentError: `probs`.*probabilities
        that sum to 1
    dist.Dirichlet(1.0) -> ShapeError: `concentration` is 0-d
    dist.Gamma(0.0, 1.0) -> ArgumentError: `concentration`.*above 0
    dist.MultivariateNormal(ac.zeros(2)) -> ArgumentError: 0 of `covar
    dist.MultivariateNormal(ac.zeros(2), ac.eye(3)) -> ShapeError:
        `loc` has shape \(2,\) and `covariance_matrix` has shape \(3,
    dist.MultivariateNormal(ac.zeros(2), ac.ones(2, 2) - 2) -> ArgumentError:
        `covariance_matrix`.*positive definite
    dist.MultivariateNormal(ac.zeros(2), scale_tril=ac.ones(2, 2)) -> ArgumentError:
        `scale_tril`.*lower triangular
    dist.Independent(dist.Normal(0.0, 1.0), 1) -> ArgumentError:
        `reinterpreted_batch_ndims`=1, but the batch has shape \(\)
    dist.Independent(3, 1) -> DTypeError: `base_distribution` is 3
    dist.Normal(0, 1).log_prob(0.0) -> DTypeError: Normal.log_prob: .*fl
    dist.Normal(0, 1).icdf('x') -> DTypeError: Normal.icdf: .*str
    dist.Normal(0, 1).cdf(None) -> DTypeError: Normal.cdf: .*NoneType
    dist.Gamma(1.0, 1.0).log_prob(ac.tensor(-1.0)) -> ArgumentError:
        Gamma: `value` of shape \(\) must contain numbers of 0 or
    dist.Uniform(0.0, 1.0).log_prob(ac.tensor(2.0)) -> ArgumentError: `value`.* numbers
        from tensor\(0.\) to tensor\(1.\)
    dist.Categorical(ac.ones(3)).log_prob(ac.tensor(3)) -> ArgumentError: integers from
        0 to 2
    dist.Dirichlet(ac.ones(3)).log_prob(ac.ones(2) / 2) -> ShapeError:
        one value of
    dist.Normal(0.0, 1.0).sample(-1) -> ShapeError: a negative number\.
    dist.Normal(0, 1).sample('a') -> DTypeError: `sample_shape` is 'a'
    dist.Normal(0, 1).expand(1.5) -> DTypeError: Normal.expand: `batch
    dist.Normal(ac.zeros(2), 1.0).expand((3,)) -> ShapeError: expand
    dist.Normal(0, 1).expand((3,), _instance=2) -> DTypeError: Normal.expand:
        `_instance` is 2; it must be a distribution
    dist.kl_divergence(1, dist.Normal(0, 1)) -> DTypeError: `p` is 1; it
    dist.kl_divergence(dist.Cauchy(0, 1), dist.Normal(0, 1)) -> ArgumentError: no
        formula for Cauchy and Normal; .*register_kl
    dist.kl_divergence(*(dist.MultivariateNormal(ac.zeros(n), ac.eye(n)) for n in (2,
        3))) -> ShapeError: vectors of \(2,\) and \(3,\)
    dist.kl_divergence(*(dist.Independent(CASES['normal'](), n) for n in (0, 1))) ->
        ShapeError: values with 0 and 1 reinterpreted batch dim
    dist.register_kl(3, dist.Normal) -> DTypeError: `type_p` is 3; it must be a class
    dist.Distribution.set_default_validate_args(2) -> ArgumentError: 2
    constraints.real.check(1.0) -> DTypeError: needs a Tensor, not float
    constraints.independent(3, 1) -> DTypeError: `base_constraint` is 3
    """,
    globals(),
)


@pytest.mark.parametrize("what", ["rsample", "log_prob", "entropy", "cdf", "icdf"])
def test_what_a_distribution_lacks_is_said(what):
    args = () if what in {"rsample", "entropy"} else (ac.zeros(1),)
    with pytest.raises(NotImplementedError, match=f"Distribution has no `{what}`"):
        getattr(dist.Distribution(), what)(*args)
    for name in ("mean", "mode", "variance", "stddev", "support"):
        with pytest.raises(NotImplementedError, match="Distribution has no"):
            getattr(dist.Distribution(), name)
    with pytest.raises(NotImplementedError, match="Bernoulli has no `rsample`"):
        dist.Bernoulli(0.5).rsample()


def test_checks_can_be_left_out():
    assert math.isnan(dist.Normal(0.0, -1.0, validate_args=False).entropy().item())
    d = dist.Exponential(1.0, validate_args=False)
    assert d.log_prob(ac.tensor(-1.0)).item() == 1.0
    dist.Distribution.set_default_validate_args(False)
    try:
        dist.Normal(0.0, -1.0)
    finally:
        dist.Distribution.set_default_validate_args(True)
    with pytest.raises(ArgumentError, match="above 0"):
        dist.Normal(0.0, -1.0)


CLASSES = [n for n in dist.__all__ if isinstance(getattr(dist, n), type)
           and issubclass(getattr(dist, n), dist.Distribution)
           and n not in {"Distribution", "ExponentialFamily"}]  # fmt: skip
NONSENSE = (None, True, "a", 1j, object(), [], {}, -1.0, math.nan, math.inf, 2**70,
            ac.zeros(0), ac.zeros(2, 2), ac.tensor([True]), ac.tensor(3))  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_nonsense_is_an_error_of_autocalc_s_or_a_result(name):
    cls = getattr(dist, name)
    for first in NONSENSE:
        for second in NONSENSE:
            with contextlib.suppress(AutocalcError):
                more = {"GeneralizedPareto": 0.5, "LowRankMultivariateNormal": first}
                d = cls(first, second, *([more[name]] if name in more else []))
                d.log_prob(ac.ones(1))
                d.sample((2,))


def test_register_kl_takes_the_nearest_classes():
    class Mine(dist.Normal):
        pass

    p, q = Mine(0.0, 1.0), Mine(1.0, 2.0)
    plain = dist.kl_divergence(dist.Normal(0.0, 1.0), dist.Normal(1.0, 2.0))
    assert dist.kl_divergence(p, q).item() == plain.item()

    @dist.register_kl(Mine, dist.Normal)
    def _(p, q):
        return ac.tensor(5.0)

    assert dist.kl_divergence(p, q).item() == 5
    assert dist.kl_divergence(dist.Normal(0.0, 1.0), q).item() == plain.item()


def test_a_density_of_gamma_at_a_number():
    gamma = dist.Gamma(double(0.5, 1.0, 2.0), 1.0)
    assert gamma.log_prob(0).tolist() == [float("inf"), 0.0, float("-inf")]
    assert gamma.log_prob(2.5).tolist() == gamma.log_prob(double(2.5)).tolist()
