# SPDX-License-Identifier: MIT
"""Rotary positions: what they are for, gradients, errors."""

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import DTypeError, GradError, ShapeError
from autocalc.testing import assert_close

turn = ac.nn.functional.rotary_embedding


def tables(places, features, dtype=ac.float64):
    steps = 10.0 ** (ac.arange(0.0, features, 2, dtype=dtype) / -features)
    angles = ac.arange(float(places), dtype=dtype).reshape(-1, 1) * steps
    return angles.cos(), angles.sin()


def normal(*shape, grad=False):
    ac.manual_seed(3)
    return ac.randn(*shape, dtype=ac.float64, requires_grad=grad)


def test_pairs_are_turned_as_complex_numbers():
    x, (cos, sin) = normal(2, 5, 3, 6), tables(5, 6)
    pairs = x.numpy()[..., :3] + 1j * x.numpy()[..., 3:]
    pairs = pairs * (cos.numpy() + 1j * sin.numpy())[:, None]
    expected = np.concatenate((pairs.real, pairs.imag), -1)
    assert_close(turn(x, cos, sin), ac.from_numpy(expected))


def test_products_depend_on_the_distance_alone():
    q, k = normal(1, 1, 1, 8), normal(1, 1, 1, 8) + 1
    q, k = (turn(a.expand(1, 9, 1, 8), *tables(9, 8)) for a in (q, k))
    scores = (q.reshape(9, 8) @ k.reshape(9, 8).transpose(0, 1)).numpy()
    for distance in range(9):
        line = np.diagonal(scores, distance)
        np.testing.assert_allclose(line, line[0], rtol=1e-12)


def test_backward_turns_back():
    x, (cos, sin) = normal(1, 3, 2, 4, grad=True), tables(3, 4)
    turned = turn(x, cos, sin)
    turned.backward(turned.detach())
    assert_close(x.grad, x.detach())


def test_takes_views_of_any_strides():
    x, (cos, sin) = normal(2, 5, 9, 6), tables(5, 6)
    middle = x[:, :, 3:5]
    assert_close(turn(middle, cos, sin), turn(x, cos, sin)[:, :, 3:5])


def test_refuses_what_does_not_fit():
    cos, sin = tables(3, 4)
    with pytest.raises(ShapeError, match="; its 5 features are rotated in pairs,"):
        turn(normal(1, 3, 2, 5), cos, sin)
    with pytest.raises(ShapeError, match=r"rotary: `cos` has shape \(3, 2\)"):
        turn(normal(1, 4, 2, 4), cos, sin)
    with pytest.raises(ShapeError, match="`x`"):
        turn(normal(3, 2, 4), cos, sin)
    with pytest.raises(DTypeError, match="rotary"):
        turn(normal(1, 3, 2, 4), cos.float(), sin.float())
    with pytest.raises(GradError, match=": `sin` requires a gradient, which this"):
        turn(normal(1, 3, 2, 4), cos, sin.requires_grad_())
