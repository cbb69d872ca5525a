# SPDX-License-Identifier: MIT
"""Random numbers inside of `vmap`: other ones, the same ones, or an error."""

from __future__ import annotations

import numpy as np
import pytest
from tests.func.cases import numbers

import autocalc as ac
from autocalc import vmap
from autocalc.errors import ArgumentError, VmapError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def loop(function, *args):
    """Return the results of one call for each example, stacked."""
    return ac.stack([function(*one) for one in zip(*args, strict=True)])


def alike(found, expected, tolerance=1e-12):
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    a, b = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# ---- random numbers ------------------------------------------------------------------

DRAWS = {
    "rand": lambda x: ac.rand(4),
    "randn": lambda x: ac.randn(4),
    "rand_like": ac.rand_like,
    "randint": lambda x: ac.randint(0, 10**9, (4,)),
    "bernoulli": lambda x: ac.bernoulli(ac.full((40,), 0.5)),
    "dropout": lambda x: F.dropout(ac.ones(40), 0.5),
    "dropout of an example": lambda x: F.dropout(x.new_ones(40), 0.5),
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: x.clone().uniform_(),
    "randperm": lambda x: ac.randperm(50),
    "multinomial": lambda x: ac.multinomial(ac.ones(50), 20),
    "exponential_": lambda x: x.clone().exponential_(),
    "distribution": lambda x: ac.distributions.Normal(ac.zeros(4), 1.0).sample(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_different_draws_other_numbers_for_each_example(name):
    x = numbers(3, 4)
    a, b, c = vmap(DRAWS[name], randomness="different")(x)
    assert not ac.equal(a, b)
    assert not ac.equal(b, c)
    assert not ac.equal(a, c)


@pytest.mark.parametrize("name", DRAWS)
def test_same_draws_one_number_for_all_examples(name):
    x = numbers(3, 4)
    a, b, c = vmap(DRAWS[name], randomness="same")(x)
    alike(a, b, 1e-9)
    alike(b, c, 1e-9)


@pytest.mark.parametrize("name", DRAWS)
def test_random_functions_are_refused_unless_randomness_is_chosen(name):
    with pytest.raises(VmapError, match=r"random function.*called random operation "
                       r"while in randomness error mode"):  # fmt: skip
        vmap(DRAWS[name])(numbers(3, 4))


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_a_seed_repeats_the_numbers(randomness):
    def draw():
        ac.manual_seed(5)
        mapped = vmap(lambda x: x + ac.randn(3, dtype=x.dtype), randomness=randomness)
        return mapped(numbers(4, 3))

    assert ac.equal(draw(), draw())


def test_numbers_after_vmap_are_new_ones():
    ac.manual_seed(0)
    inside = vmap(lambda x: ac.rand(2), randomness="different")(numbers(3, 1))
    outside = ac.rand(2)
    assert not {*inside.flatten().tolist()} & {*outside.tolist()}


def test_nested_randomness_is_chosen_for_each_level():
    def draws(outer, inner):
        f = vmap(lambda x: ac.rand(()), randomness=inner)
        found = vmap(f, randomness=outer)(numbers(3, 4))
        return [len({*found[0].tolist()}), len({*found[:, 0].tolist()})]

    assert draws("different", "different") == [4, 3]
    assert draws("same", "different") == [4, 1]
    assert draws("different", "same") == [1, 3]
    assert draws("same", "same") == [1, 1]


@pytest.mark.filterwarnings("ignore::autocalc.errors.VmapWarning")
@pytest.mark.parametrize("name", ["rand_like", "dropout of an example", "normal_"])
def test_nested_randomness_of_tensors_with_both_levels(name):
    def draws(outer, inner):
        f = vmap(lambda x: DRAWS[name](x)[:40], randomness=inner)
        found = vmap(f, randomness=outer)(numbers(3, 4, 40))
        rows, columns = found[0].tolist(), found[:, 0].tolist()
        return [len({*map(tuple, rows)}), len({*map(tuple, columns)})]

    assert draws("different", "different") == [4, 3]
    assert draws("same", "different") == [4, 1]
    assert draws("different", "same") == [1, 3]
    assert draws("same", "same") == [1, 1]


def test_distributions_of_each_example():
    x = numbers(3, 4)
    normal = vmap(lambda m: ac.distributions.Normal(m, 1.0).log_prob(m + 1))(x)
    alike(normal, ac.distributions.Normal(x, 1.0).log_prob(x + 1))
    with pytest.raises(ArgumentError, match="`scale` of shape"):
        vmap(lambda s: ac.distributions.Normal(0.0, s).sample())(-x.abs() - 1)


DISTRIBUTIONS = {
    "Normal": lambda a: ac.distributions.Normal(a, a.exp()),
    "Uniform": lambda a: ac.distributions.Uniform(a, a + 1),
    "Laplace": lambda a: ac.distributions.Laplace(a, a.exp()),
    "Gamma": lambda a: ac.distributions.Gamma(a.exp(), a.exp()),
    "Beta": lambda a: ac.distributions.Beta(a.exp(), a.exp() + 1),
    "Dirichlet": lambda a: ac.distributions.Dirichlet(a.exp()),
    "Bernoulli": lambda a: ac.distributions.Bernoulli(logits=a),
    "Categorical": lambda a: ac.distributions.Categorical(logits=a),
    "Multinomial": lambda a: ac.distributions.Multinomial(5, logits=a),
    "MultivariateNormal": lambda a: ac.distributions.MultivariateNormal(
        a, ac.outer(a, a) + ac.eye(4, dtype=a.dtype)
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_with_parameters_of_each_example(name):
    x, make = numbers(3, 4), DISTRIBUTIONS[name]
    mapped = vmap(lambda a: make(a).sample((2,)), randomness="different")
    drawn = mapped(x)
    assert drawn.shape == (3, *make(x[0]).sample((2,)).shape)
    log_prob = vmap(lambda a, s: make(a).log_prob(s))
    alike(log_prob(x, drawn), loop(lambda a, s: make(a).log_prob(s), x, drawn))
    if name != "Multinomial":
        alike(
            vmap(lambda a: make(a).entropy())(x), loop(lambda a: make(a).entropy(), x)
        )


COUNTS = [
    lambda x: ac.poisson(x.exp() * 8),
    lambda x: ac.binomial((x.exp() * 30).floor(), x.sigmoid()),
]


@pytest.mark.parametrize("draw", COUNTS)
def test_counts_of_each_example_are_those_of_one_call(draw):
    once = vmap(draw, randomness="different")
    x, found = numbers(3, 4), []
    for function in (draw, once, vmap(once, randomness="different")):
        ac.manual_seed(1)
        found.append(function(x))
    assert ac.equal(found[1], found[0])
    assert ac.equal(found[2], found[0])


def test_counts_of_a_shared_mean_are_the_same_or_differ():
    rate, x = ac.full((1000,), 20.0), ac.ones(2)
    same = vmap(lambda a: ac.poisson(rate) + 0 * a, randomness="same")(x)
    assert ac.equal(same[0], same[1])
    other = vmap(lambda a: ac.poisson(rate) + 0 * a, randomness="different")(x)
    assert not ac.equal(other[0], other[1])


@pytest.mark.parametrize("draw", COUNTS)
def test_the_same_counts_of_other_means_are_refused(draw):
    with pytest.raises(
        VmapError, match=r"Vmap does not currently support same randomness"
    ):
        vmap(draw, randomness="same")(numbers(3, 4))


def test_a_mean_that_is_not_allowed_is_named():
    with pytest.raises(ArgumentError, match=r"poisson: `input` holds -1; it must"):
        vmap(ac.poisson, randomness="different")(ac.tensor([[1.0], [-1.0]]))


def test_other_numbers_for_each_example_need_room():
    shared = ac.ones(3)
    for draw in (shared.normal_, shared.bernoulli_, shared.exponential_):
        with pytest.raises(
            VmapError, match=r"different inplace randomness on an unbatched tensor"
        ):
            vmap(lambda a, draw=draw: draw() + a, randomness="different")(ac.ones(2))


def test_chunks_draw_the_same_numbers():
    def add(a):
        return a + ac.rand(3)

    x = ac.zeros(5, 3)
    ac.manual_seed(0)
    whole = vmap(add, randomness="same")(x)
    ac.manual_seed(0)
    assert ac.equal(vmap(add, randomness="same", chunk_size=2)(x), whole)


def test_dropped_elements_have_no_gradient():
    x = ac.ones(3, 50, dtype=ac.float64).requires_grad_()
    y = vmap(F.dropout, randomness="different")(x)
    (g,) = ac.autograd.grad(y.sum(), x)
    assert ac.equal(g, y.detach())
