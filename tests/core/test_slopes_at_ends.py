# SPDX-License-Identifier: MIT
"""Values and slopes at zeros, ends, ties and infinities: those of PyTorch 2.13."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ShapeError

pytestmark = pytest.mark.core

INF, NAN = float("inf"), float("nan")
DTYPES = [ac.float32, ac.float64]


def slopes(function, *operands, dtype=ac.float64):
    """Return the slopes of a sum, for each operand."""
    leaves = [ac.tensor(x, dtype=dtype, requires_grad=True) for x in operands]
    return [g.tolist() for g in ac.autograd.grad(function(*leaves).sum(), leaves)]


def check(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, equal_nan=True)


X = [0.0, 0.0, 0.0, 0.0, 2.0, 0.0]
Y = [0.0, -1.0, 1.0, INF, 0.0, NAN]
TWO = {
    "xlogy": (ac.xlogy, (X, Y), ([0, 0, 0, INF, -INF, NAN], [NAN, 0, 0, 0, INF, NAN])),
    "xlog1py": (
        ac.special.xlog1py,
        (X, [y - 1 for y in Y]),
        ([0, 0, 0, INF, -INF, NAN], [NAN, 0, 0, 0, INF, NAN]),
    ),
    "clamp between equal limits": (
        ac.clamp,
        ([-2.0, -1.0, 0.0, NAN], [-1.0] * 4, [-1.0] * 4),
        ([0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]),
    ),
    "clamp between limits that cross": (
        ac.clamp,
        ([0.0, 1.5, 3.0, NAN], [2.0] * 4, [1.0] * 4),
        ([0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]),
    ),
    "clamp with a limit of NaN": (
        ac.clamp,
        ([0.0, 2.0], [NAN, NAN], [1.0, 1.0]),
        ([0, 0], [0, 0], [0, 1]),
    ),
    "clamp at its limits": (
        ac.clamp,
        ([0.0, 1.0], [0.0, 0.0], [1.0, 1.0]),
        ([1, 1], [0, 0], [0, 0]),
    ),
    "div and trunc": (
        lambda x, y: ac.div(x, y, rounding_mode="trunc"),
        ([0.0, 1.0, INF, 7.0], [0.0, 0.0, INF, 2.0]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
    ),
    "div and floor": (
        lambda x, y: ac.div(x, y, rounding_mode="floor"),
        ([0.0, 1.0, INF, 7.0], [0.0, 0.0, INF, 2.0]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
    ),
    "atan2": (ac.atan2, ([0.0], [0.0]), ([0], [0])),
    "hypot": (ac.hypot, ([0.0], [0.0]), ([NAN], [NAN])),
    "maximum": (ac.maximum, ([1.0, NAN], [1.0, 0.0]), ([0.5, 1], [0.5, 1])),
    "where": (
        lambda x, y: ac.where(x > 0, x, y),
        ([NAN, 1.0], [2.0, NAN]),
        ([0, 1], [1, 0]),
    ),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TWO)
def test_several_operands(name, dtype):
    function, operands, expected = TWO[name]
    check(slopes(function, *operands, dtype=dtype), expected)


ONE = {
    "logsumexp of nothing": (lambda x: x.logsumexp(0), [-INF, -INF], [NAN, NAN]),
    "logsumexp of a part": (lambda x: x.logsumexp(0), [-INF, 1.0], [0, 1]),
    "logsumexp of infinity": (lambda x: x.logsumexp(0), [INF, 1.0], [NAN, 0]),
    "logsumexp of both": (lambda x: x.logsumexp(0), [INF, -INF], [NAN, 0]),
    "acosh": (ac.acosh, [1.0, -2.0, 0.0, 2.0], [INF, 3**-0.5, NAN, 3**-0.5]),
    "acosh of -1": (ac.acosh, [-1.0, -INF], [INF, 0]),
    "logit": (ac.logit, [0.0, 1.0, -1.0, 2.0, INF, 0.5], [INF, INF, NAN, NAN, NAN, 4]),
    "pow 0": (lambda x: x**0, [0.0, 2.0], [0, 0]),
    "prod": (ac.prod, [0.0, 2.0, 3.0], [6, 0, 0]),
    "prod of two zeros": (ac.prod, [0.0, 0.0, 3.0], [0, 0, 0]),
    "norm": (ac.norm, [0.0, 0.0], [0, 0]),
    "sinc": (ac.sinc, [0.0], [0]),
    "median": (ac.median, [2.0, 2.0, 1.0], [0.5, 0.5, 0]),
    "nanmedian": (ac.nanmedian, [NAN, 2.0, 2.0, 3.0], [0, 0.5, 0.5, 0]),
    "median of NaN": (ac.median, [NAN, 2.0, NAN], [0.5, 0, 0.5]),
    "median of a line": (lambda x: x.median(0)[0], [2.0, 2.0, 2.0, 2.0], [0, 1, 0, 0]),
    "mode": (lambda x: x.mode(0)[0], [2.0, 2.0, 1.0], [0, 1, 0]),
    "amax": (ac.amax, [2.0, 2.0, 1.0], [0.5, 0.5, 0]),
    "aminmax": (lambda x: ac.aminmax(x).min, [2.0, 1.0, 1.0], [0, 0.5, 0.5]),
    "max": (lambda x: x.max(0)[0], [2.0, 2.0, 1.0], [1, 0, 0]),
    "quantile": (lambda x: x.quantile(0.5), [2.0, 2.0, 1.0], [1, 0, 0]),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
def test_one_operand(name, dtype):
    function, values, expected = ONE[name]
    check(slopes(function, values, dtype=dtype), [expected])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_logarithm_of_no_volume(dtype):
    a = ac.tensor([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]], dtype=dtype)
    np.testing.assert_array_equal(ac.logdet(a).numpy(), [-INF, NAN])


@pytest.mark.parametrize("ord", [-1, -0.5])
def test_nothing_has_no_norm_of_a_negative_order(ord):
    with pytest.raises(
        ShapeError, match=f"vector_norm: .* it has no norm of order {ord}"
    ):
        ac.linalg.vector_norm(ac.ones(2, 0), ord, 1)
    assert ac.linalg.vector_norm(ac.ones(0, 2), ord, 1).shape == (0,)


def test_losses_and_distributions_keep_their_slopes_at_the_ends():
    p = ac.tensor([0.0, 1.0], requires_grad=True)
    y = ac.distributions.Bernoulli(p).log_prob(ac.tensor([0.0, 1.0]))
    y.sum().backward()
    assert p.grad.tolist() == [-1, 1]
    x = ac.tensor([0.0, 1.0], requires_grad=True)
    F = ac.nn.functional
    F.poisson_nll_loss(x, ac.zeros(2), log_input=False, eps=0.0).backward()
    assert x.grad.tolist() == [0.5, 0.5]
