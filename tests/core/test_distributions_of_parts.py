# SPDX-License-Identifier: MIT
"""Distributions made of others or of matrices: draws, gradients of draws, refusals."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import distributions as dist
from autocalc.errors import AutocalcError

pytestmark = pytest.mark.core
COUNT = 20_000


def double(values):
    return ac.tensor(values, dtype=ac.float64)


ROOT = double([[1.0, 0.0], [0.6, 0.5]])
LOC = double([[0.3, -1.0, 2.0], [1.0, 0.0, -0.5]])
FACTOR = double([[1.0, 0.5], [-0.3, 0.2], [0.0, 2.0]])

WITH_MOMENTS = {
    "wishart": lambda: dist.Wishart(double([2.5, 6.0]), scale_tril=ROOT),
    "low rank": lambda: dist.LowRankMultivariateNormal(LOC, FACTOR, LOC.exp()),
    "mixture": lambda: dist.MixtureSameFamily(
        dist.Categorical(double([1.0, 2.0, 1.0])), dist.Normal(LOC, 0.5)
    ),
    "mixture of vectors": lambda: dist.MixtureSameFamily(
        dist.Categorical(double([[0.2, 0.8], [0.5, 0.5]])),
        dist.Independent(dist.Gamma(double(np.full((2, 2, 3), 2.0)), LOC.exp()), 1),
    ),
    "straight through": lambda: dist.OneHotCategoricalStraightThrough(LOC.exp()),
}
OTHERS = {
    "relaxed bernoulli": lambda: dist.RelaxedBernoulli(0.4, logits=LOC),
    "relaxed one hot": lambda: dist.RelaxedOneHotCategorical(0.4, logits=LOC),
    "logistic normal": lambda: dist.LogisticNormal(LOC, LOC.exp()),
    "lkj": lambda: dist.LKJCholesky(3, double([0.5, 3.0])),
}
ALL = WITH_MOMENTS | OTHERS


@pytest.mark.parametrize("make", WITH_MOMENTS.values(), ids=WITH_MOMENTS)
def test_draws_have_the_moments(make):
    ac.manual_seed(0)
    d = make()
    x = d.sample((COUNT,)).numpy()
    mean, deviation = d.mean.numpy(), d.stddev.numpy()
    error = 5 / math.sqrt(COUNT)
    assert (np.abs(x.mean(0) - mean) < error * deviation).all()
    fourth = ((x - mean) ** 4).mean(0) / deviation**4
    spread = np.abs(x.var(0) / deviation**2 - 1)
    assert (spread < error * np.sqrt(fourth + 1)).all()


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_draws(make):
    d = make()
    drawn = []
    for _ in range(2):
        ac.manual_seed(5)
        drawn.append(d.sample((3,)))
    assert drawn[0].tolist() == drawn[1].tolist()
    assert drawn[0].shape == (3, *d.batch_shape, *d.event_shape)
    assert drawn[0].dtype == ac.float64
    assert not drawn[0].requires_grad
    assert d.support.check(drawn[0]).all()
    for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        log = other.log_prob(drawn[0])
        assert log.shape == (3, *d.batch_shape)
        assert log.tolist() == d.log_prob(drawn[0]).tolist()
    assert d.sample((0,)).shape == (0, *d.batch_shape, *d.event_shape)


def test_relaxed_values_are_rounded_as_often_as_probable():
    ac.manual_seed(1)
    d = OTHERS["relaxed bernoulli"]()
    share = (d.sample((COUNT,)) > 0.5).double().mean(0)
    assert (share - d.probs).abs().max().item() < 0.02
    d = OTHERS["relaxed one hot"]()
    kinds = d.sample((COUNT,)).argmax(-1)
    for k in range(3):
        share = (kinds == k).double().mean(0)
        assert (share - d.probs[:, k]).abs().max().item() < 0.02


def test_logistic_normals_come_of_normal_numbers():
    ac.manual_seed(1)
    d = OTHERS["logistic normal"]()
    normal = dist.StickBreakingTransform().inv(d.sample((COUNT,)))
    error = 5 / math.sqrt(COUNT)
    assert ((normal.mean(0) - d.loc).abs() < error * d.scale).all()
    assert ((normal.std(0) / d.scale - 1).abs() < error).all()
    assert d.expand((4, 2)).loc.shape == (4, 2, 3)


def test_correlations_are_spread_as_beta_says():
    """Each is 2 b - 1 for a b of Beta(a, a), a = concentration - 1 + dim / 2."""
    ac.manual_seed(1)
    d = OTHERS["lkj"]()
    root = d.sample((COUNT,))
    correlation = root @ root.mT
    for i, j in ((0, 1), (0, 2), (1, 2)):
        x = correlation[..., i, j]
        variance = 1 / (2 * (d.concentration - 1 + 1.5) + 1)
        assert (x.mean(0).abs() < 5 * (variance / COUNT).sqrt()).all()
        assert ((x * x).mean(0) / variance - 1).abs().max().item() < 0.05


@pytest.mark.parametrize("count", [2, 3])
def test_densities_of_correlations_have_the_sum_1(count):
    """Over x before `CorrCholeskyTransform`, by draws of a wide normal one."""
    ac.manual_seed(2)
    t = dist.CorrCholeskyTransform()
    wide = dist.Independent(dist.Normal(ac.zeros(count * (count - 1) // 2), 1.0), 1)
    x = wide.sample((COUNT,))
    y = t(x)
    log = dist.LKJCholesky(count, 1.5).log_prob(y) + t.log_abs_det_jacobian(x, y)
    total = (log - wide.log_prob(x)).exp().mean().item()
    assert abs(total - 1) < 0.05


def test_gradients_of_draws():
    """By differences, with the same random numbers."""
    makers = {
        "relaxed bernoulli": lambda x: dist.RelaxedBernoulli(x[:1], logits=x),
        "relaxed one hot": lambda x: dist.RelaxedOneHotCategorical(x[0], logits=x),
        "logistic normal": lambda x: dist.LogisticNormal(x, x),
        "low rank": lambda x: dist.LowRankMultivariateNormal(x, FACTOR * x[0], x),
        "wishart root": lambda x: dist.Wishart(3.5, scale_tril=ROOT * x[0]),
    }
    for name, make in makers.items():

        def drawn(x, make=make):
            ac.manual_seed(3)
            result = make(x).rsample((2,))
            return (result * ac.arange(result.numel()).view(result.shape).cos()).sum()

        x = double([0.7, 1.2, 2.0]).requires_grad_()
        (slope,) = ac.autograd.grad(drawn(x), x)
        for i in range(3):
            step = double([1e-6 * (k == i) for k in range(3)])
            rise = (drawn(x.detach() + step) - drawn(x.detach() - step)).item()
            assert abs(rise / 2e-6 - slope[i].item()) < 1e-5, (name, i)


def test_the_gradient_of_straight_through_draws():
    logits = double([0.3, -1.0, 2.0]).requires_grad_()
    weights = double([1.0, 2.0, 3.0])
    drawn = dist.OneHotCategoricalStraightThrough(logits=logits).rsample((5,))
    assert ((drawn - 1).abs().min(-1).values < 1e-12).all()
    (found,) = ac.autograd.grad((drawn * weights).sum(), logits)
    needed = ac.autograd.grad((logits.softmax(-1) * weights).sum() * 5, logits)[0]
    assert np.allclose(found, needed, rtol=1e-12)


def test_gradients_of_triangles_are_of_their_part():
    root = ROOT.clone().requires_grad_()
    for d, x in (
        (dist.MultivariateNormal(ac.zeros(2).double(), scale_tril=root), LOC[0, :2]),
        (dist.Wishart(4.0, scale_tril=root), ROOT @ ROOT.mT + 1),
    ):
        (grad,) = ac.autograd.grad(d.log_prob(x), root)
        assert grad[0, 1].item() == 0
        assert (grad[1, 0] != 0).item()


def test_mixtures_of_one_weight_for_all_of_a_batch():
    """PyTorch draws no samples of them."""
    one = dist.Categorical(double([0.25, 0.75]))
    d = dist.MixtureSameFamily(one, dist.Normal(double([[0.0, 9.0]] * 3), 0.1))
    assert d.sample((5,)).shape == (5, 3)
    assert d.mean.tolist() == [6.75] * 3
    assert d.expand((2, 3)).sample().shape == (2, 3)
    assert d.mixture_distribution is one
    assert "Categorical" in repr(d)


def test_wisharts_are_drawn_again_where_they_are_singular():
    ac.manual_seed(0)
    d = dist.Wishart(1.001, ac.eye(2))
    assert d.support.check(d.sample((2000,))).double().mean().item() > 0.99


NORMAL = dist.Normal(ac.zeros(3), 1.0)
KINDS = dist.Categorical(ac.ones(3))


test_errors = refusals(
    r"""
    dist.RelaxedBernoulli(0.5) -> ArgumentError: none are given, give only
    dist.RelaxedBernoulli('a', 0.5) -> DTypeError: `temperature` is 'a'
    dist.RelaxedBernoulli(-1.0, 0.5) -> ArgumentError: `temperature` of
    dist.RelaxedBernoulli(1.0, 1.5) -> ArgumentError: `probs` of shape
    dist.RelaxedBernoulli(ac.ones(2), ac.ones(3)) -> ShapeError: broadc
    dist.RelaxedBernoulli(1.0, 0.5).log_prob(ac.tensor(1.5)) -> ArgumentError:
        `value`.*numbers from 0 to 1
    dist.RelaxedOneHotCategorical(1.0, 0.5) -> ShapeError: `probs` is 0-d
    dist.RelaxedOneHotCategorical(0.0, ac.ones(2)) -> ArgumentError: `temperature` of
        shape
    dist.RelaxedOneHotCategorical(ac.ones(2), ac.ones(3, 4)) -> ShapeError: broadcast
    dist.RelaxedOneHotCategorical(1.0, ac.ones(2)).log_prob(ac.ones(2)) ->
        ArgumentError: sum to 1
    dist.LogisticNormal(0.0, -1.0) -> ArgumentError: `scale` of shape
    dist.LKJCholesky(1) -> ArgumentError: `dim` is 1; it must be 2
    dist.LKJCholesky('a') -> DTypeError: `dim` is 'a'; it must be an int
    dist.LKJCholesky(2, 0.0) -> ArgumentError: `concentration` of shape
    dist.LKJCholesky(2).log_prob(ac.ones(2, 2)) -> ArgumentError: rows of
    dist.Wishart(3.0) -> ArgumentError: Wishart: 0 of `covariance_matrix`
    dist.Wishart(3.0, ac.eye(2), ac.eye(2)) -> ArgumentError: 2 of `cov
    dist.Wishart(1.0, ac.eye(2)) -> ArgumentError: numbers above 1, which is K
    dist.Wishart('a', ac.eye(2)) -> DTypeError: `df` is 'a'; it must be
    dist.Wishart(3.0, ac.ones(2)) -> ShapeError: be \[..., K, K\]
    dist.Wishart(ac.ones(2) * 3, ac.eye(2).expand(3, 2, 2)) -> ShapeError: do not
        broadcast
    dist.Wishart(3.0, -ac.eye(2)) -> ArgumentError: positive definite
    dist.Wishart(3.0, ac.eye(2)).nothing -> AttributeError: no attribute
    dist.kl_divergence(dist.Wishart(3.0, ac.eye(2)), dist.Wishart(3.0, ac.eye(3))) ->
        ShapeError: values of \(2, 2\) and \(3, 3\); both distributions must
    dist.LowRankMultivariateNormal(ac.ones(2), ac.ones(2), ac.ones(2)) -> ShapeError:
        `cov_factor` has shape \(2,\) and `cov_diag` has shape
    dist.LowRankMultivariateNormal(1.0, ac.ones(2, 1), ac.ones(2)) -> ShapeError: `loc`
        has shape \(\)
    dist.LowRankMultivariateNormal(ac.ones(2), ac.ones(2, 1), -ac.ones(2)) ->
        ArgumentError: `cov_diag` of
    dist.MixtureSameFamily(NORMAL, NORMAL) -> DTypeError: `mixture_distribution` is
        Normal.*must be a Categorical
    dist.MixtureSameFamily(dist.OneHotCategorical(ac.ones(3)), NORMAL) -> DTypeError: a
        Categorical
    dist.MixtureSameFamily(KINDS, 3) -> DTypeError: `component_distribution` is 3; it
        must be a distribution
    dist.MixtureSameFamily(KINDS, dist.Normal(0.0, 1.0)) -> ShapeError: the batch shape
        \(\) and the mixture \(3,\)\. They must be
    dist.MixtureSameFamily(dist.Categorical(ac.ones(2, 3)), NORMAL) -> ShapeError: with
        the same K
    dist.MixtureSameFamily(KINDS, NORMAL).entropy() -> NotImplementedError:
        MixtureSameFamily has no `entropy`
    dist.MixtureSameFamily(KINDS,
        dist.Exponential(ac.ones(3))).log_prob(ac.tensor(-1.0)) -> ArgumentError: values
        of all components: numbers
    """,
    globals(),
)


NONSENSE = (None, True, "a", 1j, [], -1.0, math.nan, 2**70, ac.zeros(0), ac.zeros(2, 2),
            ac.tensor([True]), ac.tensor(3), NORMAL, KINDS)  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: dist.LowRankMultivariateNormal(a, b, a),
        dist.MixtureSameFamily,
        lambda a, b: dist.Wishart(a, scale_tril=b),
        dist.TransformedDistribution,
        dist.AffineTransform,
        dist.CatTransform,
        dist.ReshapeTransform,
        dist.IndependentTransform,
        lambda a, b: dist.CorrCholeskyTransform(a)(b),
        lambda a, b: dist.StackTransform([dist.ExpTransform()], a)(b),
        lambda a, b: dist.constraints.cat([dist.constraints.real], a).check(b),
        lambda a, b: dist.constraints.independent(dist.constraints.real, a).check(b),
    ],
)
def test_nonsense_is_an_error_of_autocalc_s_or_a_result(make):
    for a in NONSENSE:
        for b in NONSENSE:
            with contextlib.suppress(AutocalcError):
                made = make(a, b)
                if isinstance(made, dist.Distribution):
                    made.log_prob(ac.ones(1))
                    made.sample((2,))
