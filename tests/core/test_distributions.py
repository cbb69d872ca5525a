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

import autocalc as ac
from autocalc import distributions as dist
from autocalc.distributions import _draws, _special, constraints
from autocalc.errors import ArgumentError, AutocalcError, DTypeError, ShapeError


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
    "independent": lambda: dist.Independent(dist.Gamma(double(2.0, 3.0), 1.5), 1),
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
     "half normal"],
)  # fmt: skip
def test_draws_are_distributed_as_cdf_says(name):
    ac.manual_seed(1)
    cauchy = dist.Cauchy(double(-1.0, 3.0), double(0.5, 2.0))
    d = cauchy if name == "cauchy" else CASES[name]()
    x = d.sample((COUNT,))
    u = np.sort(d.cdf(x).numpy(), axis=0)
    steps = (np.arange(COUNT) + 0.5)[:, None] / COUNT
    assert np.abs(u - steps).max() < 2 / math.sqrt(COUNT)  # Kolmogorov: 1 in 1000
    inside = x[:100]
    back = d.icdf(d.cdf(inside))
    assert np.allclose(back, inside, rtol=1e-6, atol=1e-9)


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


def test_gradients_of_dirichlet_s_draws():
    ac.manual_seed(0)
    a = double(0.5, 1.5, 4.0).requires_grad_()
    weights = double(1.0, -2.0, 0.5)
    exact = ac.autograd.grad((dist.Dirichlet(a).mean * weights).sum(), a)[0]
    drawn = dist.Dirichlet(a).rsample((COUNT,)).mean(0)
    found = ac.autograd.grad((drawn * weights).sum(), a)[0]
    assert np.allclose(found, exact, atol=0.01)


@pytest.mark.parametrize(
    "name", ["normal", "uniform", "laplace", "gumbel", "log normal"]
)
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


# ---- functions -----------------------------------------------------------------------


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


def test_densities_of_float32_stay_float32():
    for d in (dist.Gamma(2.0, 3.0), dist.Beta(2.0, 3.0), dist.Normal(0, 1)):
        assert d.mean.dtype is ac.float32
        assert d.log_prob(ac.tensor(0.5)).dtype is ac.float32
        assert d.rsample().dtype is ac.float32
        assert d.entropy().dtype is ac.float32


@pytest.mark.parametrize("name", ["Normal", "Uniform", "Exponential", "Laplace",
                                  "Gumbel", "Gamma", "Beta", "Bernoulli"])  # fmt: skip
@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
def test_two_bytes_a_number(name, dtype):
    p = ac.tensor([0.25, 0.5], dtype=dtype)
    cls = getattr(dist, name)
    d = cls(p) if name in {"Exponential", "Bernoulli"} else cls(p, p + 1)
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
    with pytest.raises(NotImplementedError, match="Named has an `__init__` of its own"):
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


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dist.Normal(0.0, -1.0), ArgumentError,
         r"Normal: `scale` of shape \(\) must hold numbers above 0; it is tensor\(-1"),
        (lambda: dist.Normal(math.nan, 1.0), ArgumentError, "`loc`.* real numbers"),
        (lambda: dist.Normal("a", 1.0), DTypeError, "Normal: `loc` is 'a'; it must be"),
        (lambda: dist.Normal(True, 1.0), DTypeError, "Normal: `loc` is True"),
        (lambda: dist.Normal(ac.zeros(2), ac.ones(3)), ShapeError, r"\(2,\).*\(3,\)"),
        (lambda: dist.Normal(0, 1, validate_args=3), ArgumentError, "validate_args"),
        (lambda: dist.Uniform(1.0, 1.0), ArgumentError, "`low` must be below `high`"),
        (dist.Bernoulli, ArgumentError, "`probs` and `logits` .* none are"),
        (lambda: dist.Bernoulli(0.5, 0.5), ArgumentError, "both are given, give one"),
        (lambda: dist.Bernoulli(1.5), ArgumentError, "`probs`.*numbers from 0 to 1"),
        (lambda: dist.Categorical(ac.tensor(0.5)), ShapeError, "`probs` is 0-d"),
        (lambda: dist.Categorical(ac.tensor([-1.0, 2.0])), ArgumentError,
         "`probs`.*probabilities that sum to 1"),
        (lambda: dist.Dirichlet(1.0), ShapeError, "`concentration` is 0-d"),
        (lambda: dist.Gamma(0.0, 1.0), ArgumentError, "`concentration`.*above 0"),
        (lambda: dist.MultivariateNormal(ac.zeros(2)), ArgumentError, "0 of `covar"),
        (lambda: dist.MultivariateNormal(ac.zeros(2), ac.eye(3)), ShapeError,
         r"`loc` has shape \(2,\) and `covariance_matrix` \(3, 3\)"),
        (lambda: dist.MultivariateNormal(ac.zeros(2), ac.ones(2, 2) - 2),
         ArgumentError, "`covariance_matrix`.*positive definite"),
        (lambda: dist.MultivariateNormal(ac.zeros(2), scale_tril=ac.ones(2, 2)),
         ArgumentError, "`scale_tril`.*lower triangular"),
        (lambda: dist.Independent(dist.Normal(0.0, 1.0), 1), ArgumentError,
         r"`reinterpreted_batch_ndims`=1, but the batch has shape \(\)"),
        (lambda: dist.Independent(3, 1), DTypeError, "`base_distribution` is 3"),
        (lambda: dist.Normal(0, 1).log_prob(0.0), DTypeError, "Normal.log_prob: .*fl"),
        (lambda: dist.Normal(0, 1).icdf("x"), DTypeError, "Normal.icdf: .*str"),
        (lambda: dist.Normal(0, 1).cdf(None), DTypeError, "Normal.cdf: .*NoneType"),
        (lambda: dist.Gamma(1.0, 1.0).log_prob(ac.tensor(-1.0)), ArgumentError,
         "Gamma: `value`.* must hold numbers of 0 or more"),
        (lambda: dist.Uniform(0.0, 1.0).log_prob(ac.tensor(2.0)), ArgumentError,
         r"`value`.* numbers from tensor\(0.\) to tensor\(1.\)"),
        (lambda: dist.Categorical(ac.ones(3)).log_prob(ac.tensor(3)), ArgumentError,
         "integers from 0 to 2"),
        (lambda: dist.Dirichlet(ac.ones(3)).log_prob(ac.ones(2) / 2), ShapeError,
         r"a value of \(2,\) is given, one has \(3,\)"),
        (lambda: dist.Normal(0.0, 1.0).sample(-1), ShapeError, "holds a negative"),
        (lambda: dist.Normal(0, 1).sample("a"), DTypeError, "`sample_shape` is 'a'"),
        (lambda: dist.Normal(0, 1).expand(1.5), DTypeError, "Normal.expand: `batch"),
        (lambda: dist.Normal(ac.zeros(2), 1.0).expand((3,)), ShapeError, "expand"),
        (lambda: dist.Normal(0, 1).expand((3,), _instance=2), DTypeError,
         "Normal.expand: `_instance` is 2; it must be a distribution"),
        (lambda: dist.kl_divergence(1, dist.Normal(0, 1)), DTypeError, "`p` is 1; it"),
        (lambda: dist.kl_divergence(dist.Cauchy(0, 1), dist.Normal(0, 1)),
         ArgumentError, "no formula for Cauchy and Normal; .*register_kl"),
        (lambda: dist.kl_divergence(*(dist.MultivariateNormal(ac.zeros(n), ac.eye(n))
                                      for n in (2, 3))), ShapeError,
         r"vectors of \(2,\) and \(3,\)"),
        (lambda: dist.kl_divergence(*(dist.Independent(CASES["normal"](), n)
                                      for n in (0, 1))), ShapeError,
         "values of 0 and 1 batch dimensions"),
        (lambda: dist.register_kl(int, dist.Normal), DTypeError, "`type_p` is <class"),
        (lambda: dist.Distribution.set_default_validate_args(2), ArgumentError, "2"),
        (lambda: constraints.real.check(1.0), DTypeError, "needs a Tensor, not float"),
        (lambda: constraints.independent(3, 1), DTypeError, "`base_constraint` is 3"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


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
                more = (first,) if name == "LowRankMultivariateNormal" else ()
                d = cls(first, second, *more)
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
