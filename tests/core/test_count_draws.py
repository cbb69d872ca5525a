# SPDX-License-Identifier: MIT
"""`poisson` and `binomial`: how often counts are drawn, shapes, what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core

COUNT = 40_000


def repeated(*values):
    """Return a row of float64 for each of COUNT draws."""
    return ac.tensor(values, dtype=ac.float64).expand(COUNT, len(values))


def fits(drawn, chances):
    """Return whether counts were drawn as often as probable, by their chi squared."""
    most = len(chances)
    found = np.bincount(np.minimum(drawn.astype(int), most), minlength=most + 1)[:most]
    expected = COUNT * np.array(chances)
    common = expected > 5
    squares = (found - expected)[common] ** 2 / expected[common]
    return squares.sum() < common.sum() + 4 * math.sqrt(2 * common.sum())


@pytest.mark.parametrize("rate", [0.7, 9.9, 10.0, 40.0])
def test_counts_of_poisson_come_as_often_as_probable(rate):
    drawn = ac.poisson(repeated(rate), ac.Generator().manual_seed(0)).numpy()[:, 0]
    chances = [
        math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(99)
    ]
    assert fits(drawn, chances)
    assert not fits(drawn, [*chances[1:], 0.0])


@pytest.mark.parametrize(("n", "p"), [(9, 0.3), (40, 0.35), (40, 0.6), (500, 0.1)])
def test_counts_of_binomial_come_as_often_as_probable(n, p):
    counts, chances = repeated(float(n)), repeated(p)
    drawn = ac.binomial(counts, chances, ac.Generator().manual_seed(0)).numpy()[:, 0]
    chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    assert fits(drawn, chances)
    assert not fits(drawn, [*chances[1:], 0.0])


def test_draws_follow_the_generator_and_are_those_of_the_distributions():
    rate = ac.tensor([0.5, 30.0, 0.0], requires_grad=True)
    g = ac.Generator().manual_seed(4)
    drawn = [ac.poisson(rate, g.manual_seed(4)) for _ in range(2)]
    assert drawn[0].tolist() == drawn[1].tolist()
    assert not drawn[0].requires_grad
    ac.manual_seed(4)
    assert ac.poisson(rate, generator=None).tolist() == drawn[0].tolist()
    ac.manual_seed(4)
    assert ac.distributions.Poisson(rate).sample().tolist() == drawn[0].tolist()
    n, p = ac.full((3,), 50.0), ac.tensor([0.01, 0.5, 0.9])
    found = ac.binomial(n, p, generator=g.manual_seed(4)).tolist()
    ac.manual_seed(4)
    assert ac.distributions.Binomial(n, p).sample().tolist() == found
    ac.manual_seed(4)
    assert ac.binomial(n, p).tolist() == found


def test_shapes_and_dtypes():
    for dtype in (ac.float32, ac.float64, ac.float16, ac.bfloat16):
        assert ac.poisson(ac.ones(2, 0, dtype=dtype)).shape == (2, 0)
        assert ac.poisson(ac.ones(3, dtype=dtype)).dtype is dtype
        assert (
            ac.binomial(ac.ones(3, dtype=dtype), ac.ones(3, dtype=dtype)).tolist()
            == [1.0] * 3
        )
    assert ac.poisson(ac.tensor(3.0)).shape == ()
    drawn = ac.binomial(ac.full((2, 1), 9.0), ac.tensor([0.0, 0.5, 1.0]))
    assert drawn.shape == (2, 3)
    assert drawn[:, [0, 2]].tolist() == [[0.0, 9.0]] * 2
    assert ac.binomial(ac.tensor(0.0), ac.tensor(0.5)).item() == 0
    x = ac.poisson(ac.ones(4, 3).t())
    assert x.shape == (3, 4)


ONES = ac.ones(2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ac.poisson(ac.tensor([1.0, -2.0])), ArgumentError,
         r"poisson: `input` holds -2; it must hold finite means of 0 or more"),
        (lambda: ac.poisson(ac.tensor([[math.nan]])), ArgumentError, "t` holds nan"),
        (lambda: ac.poisson(ac.tensor(math.inf)), ArgumentError, "input` holds inf"),
        (lambda: ac.poisson(ac.tensor([1])), DTypeError, ": needs float32 or"),
        (lambda: ac.poisson(2.0), DTypeError, "poisson: needs a Tensor, not float"),
        (lambda: ac.poisson(ONES, 3), DTypeError, "poisson: `generator` is a int"),
        (lambda: ac.binomial(ONES, ONES * 1.5), ArgumentError,
         "binomial: `prob` holds 1.5; it must hold probabilities from 0 to 1"),
        (lambda: ac.binomial(ONES, -ONES), ArgumentError, "binomial: `prob` holds -1"),
        (lambda: ac.binomial(ONES, ONES * math.nan), ArgumentError, "prob` holds nan"),
        (lambda: ac.binomial(-ONES, ONES), ArgumentError,
         "binomial: `count` holds -1; it must hold finite numbers of 0 or more"),
        (lambda: ac.binomial(ONES * math.nan, ONES), ArgumentError, "t` holds nan"),
        (lambda: ac.binomial(ONES, ONES.double()), DTypeError, "float32 and float64"),
        (lambda: ac.binomial(ac.tensor([1, 2]), ONES), DTypeError, "not int64"),
        (lambda: ac.binomial(3.0, ONES), DTypeError, "binomial: needs a Tensor"),
        (lambda: ac.binomial(ac.ones(3), ONES), ShapeError, "binomial: "),
        (lambda: ac.binomial(ONES, ONES, "x"), DTypeError, "`generator` is a str"),
    ],
)  # fmt: skip
def test_what_is_refused(call, error, text):
    state = ac.get_rng_state().tolist()
    with pytest.raises(error, match=text):
        call()
    assert ac.get_rng_state().tolist() == state
