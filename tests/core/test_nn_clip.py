# SPDX-License-Identifier: MIT
"""Clipping gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError
from autocalc.nn.utils import clip_grad_norm_, clip_grad_value_

RNG = np.random.default_rng(0)
SHAPES = [(3, 4), (5,), (), (0, 2)]


def parameters(scale=1.0, dtypes=(ac.float64,) * 4):
    """Return parameters with gradients, one without, and the gradients' elements."""
    grads = [RNG.normal(size=shape) * scale for shape in SHAPES]
    params = [ac.zeros(3, requires_grad=True)]
    for g, dtype in zip(grads, dtypes, strict=True):
        p = ac.zeros(g.shape, dtype=dtype, requires_grad=True)
        p.grad = ac.tensor(g, dtype=dtype)
        params.append(p)
    return params, np.concatenate([g.ravel() for g in grads])


def elements(params):
    return np.concatenate(
        [p.grad.numpy().ravel() for p in params if p.grad is not None]
    )


@pytest.mark.parametrize("norm_type", [1.0, 2, 2.0, 3.5, math.inf, "inf"])
def test_the_norm_of_all_gradients_is_limited(norm_type):
    params, before = parameters()
    p = float(norm_type)
    norm = np.linalg.norm(before, p)
    found = clip_grad_norm_(params, 0.5, norm_type)
    assert found.shape == ()
    assert found.item() == pytest.approx(norm)
    np.testing.assert_allclose(elements(params), before * 0.5 / (norm + 1e-6))


def test_small_gradients_stay_as_they_are():
    params, before = parameters()
    clip_grad_norm_(iter(params), 100.0)
    assert elements(params).tolist() == before.tolist()


def test_dtypes_may_be_mixed():
    for norm_type in (2.0, math.inf, 1.5):
        params, before = parameters(dtypes=(ac.float32, ac.float64) * 2)
        norm = clip_grad_norm_(params, 0.1, norm_type)
        assert norm.item() == pytest.approx(np.linalg.norm(before, norm_type), rel=1e-6)
        after = np.linalg.norm(elements(params), norm_type)
        assert after == pytest.approx(0.1, rel=1e-5)
        assert [p.grad.dtype for p in params[1:3]] == [ac.float32, ac.float64]


def test_large_float32_gradients_do_not_overflow():
    w = ac.zeros(3, requires_grad=True)
    w.grad = ac.full((3,), 1e30)
    assert clip_grad_norm_(w, 1.0).item() == pytest.approx(3**0.5 * 1e30)
    np.testing.assert_allclose(w.grad.numpy(), 3**-0.5, rtol=1e-6)


def test_a_gradient_given_twice_is_scaled_once():
    w = ac.zeros(2, requires_grad=True)
    w.grad = ac.tensor([3.0, 4.0])
    assert clip_grad_norm_([w, w], 1.0).item() == 5
    np.testing.assert_allclose(w.grad.numpy(), [0.6, 0.8], rtol=1e-5)


def test_no_gradients():
    assert clip_grad_norm_([ac.zeros(2, requires_grad=True)], 1.0).item() == 0
    clip_grad_value_([], 1.0)


def test_a_norm_that_is_not_finite():
    w = ac.zeros(2, requires_grad=True)
    w.grad = ac.tensor([1.0, math.inf])
    with pytest.raises(GradError, match=r"clip_grad_norm_: the norm .* is inf, which"):
        clip_grad_norm_([w], 1.0, error_if_nonfinite=True)
    assert w.grad.tolist() == [1, math.inf]
    clip_grad_norm_([w], 1.0)
    assert w.grad[0].item() == 0
    assert math.isnan(w.grad[1].item())


def test_values_are_limited():
    params, before = parameters()
    clip_grad_value_(params, 0.5)
    assert elements(params).tolist() == np.clip(before, -0.5, 0.5).tolist()


@pytest.mark.parametrize("clip", [clip_grad_norm_, clip_grad_value_])
def test_a_graph_that_saved_the_gradient_notices(clip):
    w = ac.ones(2, requires_grad=True)
    w.grad = ac.full((2,), 3.0)
    x = ac.ones(2, requires_grad=True)
    y = (x * w.grad).sum()
    clip([w], 1.0)
    with pytest.raises(GradError, match="was changed in place after it was saved"):
        y.backward()


def test_what_does_not_fit_is_an_error():
    w = ac.zeros(2, requires_grad=True)
    with pytest.raises(ArgumentError, match="clip_grad_norm_: `max_norm` is -1"):
        clip_grad_norm_([w], -1)
    with pytest.raises(ArgumentError, match="`norm_type` is 0; it must be above 0"):
        clip_grad_norm_([w], 1, 0)
    with pytest.raises(ArgumentError, match="`clip_value` is 'much'; it must be a num"):
        clip_grad_value_([w], "much")
    with pytest.raises(
        DTypeError, match=r"`parameters\[1\]` is a str; it must be a Te"
    ):
        clip_grad_value_([w, "w"], 1)
