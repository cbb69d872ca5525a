# SPDX-License-Identifier: MIT
"""Jacobians, Hessians and products with vectors, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.autograd import functional as A
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError

pytestmark = pytest.mark.core

f64 = {"dtype": ac.float64}


@pytest.fixture
def xy():
    rng = np.random.default_rng(0)
    return ac.tensor(rng.normal(size=(2, 3)), **f64), ac.tensor(
        rng.normal(size=3), **f64
    )


def two(x, y):
    return (x * y * y).sum(0), y.exp()


def cubic(x, y):
    return (x * x * y).sum()


def expected_of_two(x, y):
    x, y = x.numpy(), y.numpy()
    return (
        (np.stack([np.diag(y * y)] * 2, 1), np.diag(2 * x.sum(0) * y)),
        (np.zeros((3, 2, 3)), np.diag(np.exp(y))),
    )


def test_jacobians_of_several_inputs_and_outputs(xy):
    found, expected = A.jacobian(two, xy), expected_of_two(*xy)
    for o in range(2):
        for i in range(2):
            np.testing.assert_allclose(found[o][i].numpy(), expected[o][i], rtol=1e-14)
            assert not found[o][i].requires_grad


def test_products_with_a_jacobian(xy):
    rng = np.random.default_rng(1)
    left = tuple(ac.tensor(rng.normal(size=3), **f64) for _ in range(2))
    right = tuple(ac.tensor(rng.normal(size=x.shape), **f64) for x in xy)
    jacobians = expected_of_two(*xy)
    outputs, found = A.vjp(two, xy, left)
    assert [y.tolist() for y in outputs] == [y.tolist() for y in two(*xy)]
    for i in range(2):
        total = sum(np.tensordot(left[o].numpy(), jacobians[o][i], 1) for o in range(2))
        np.testing.assert_allclose(found[i].numpy(), total, rtol=1e-13)
    _, found = A.jvp(two, xy, right)
    for o in range(2):
        total = sum(
            np.tensordot(jacobians[o][i], right[i].numpy(), right[i].ndim)
            for i in range(2)
        )
        np.testing.assert_allclose(found[o].numpy(), total, rtol=1e-13)


def test_second_derivatives(xy):
    x, y = (t.numpy() for t in xy)
    (xx, xy_), (_, yy) = A.hessian(cubic, xy)
    expected = np.einsum("j,ik,jl->ijkl", 2 * y, np.eye(2), np.eye(3))
    np.testing.assert_allclose(xx.numpy(), expected, rtol=1e-14)
    np.testing.assert_allclose(xy_.numpy(), 2 * x[:, :, None] * np.eye(3), rtol=1e-14)
    assert not yy.numpy().any()
    v = ac.ones(2, 3, **f64), ac.ones(3, **f64)
    for product in (A.vhp, A.hvp):
        value, (first, second) = product(cubic, xy, v)
        assert value.item() == cubic(*xy).item()
        np.testing.assert_allclose(first.numpy(), 2 * y + 2 * x, rtol=1e-13)
        np.testing.assert_allclose(second.numpy(), 2 * x.sum(0), rtol=1e-13)


def test_what_is_recorded_has_further_derivatives(xy):
    x = xy[0].clone().requires_grad_()
    for call in (
        lambda: A.jacobian(lambda x: x**3, x, create_graph=True),
        lambda: A.jvp(lambda x: x**3, x, ac.ones_like(x), create_graph=True)[1],
        lambda: A.vjp(lambda x: x**3, x, ac.ones_like(x), create_graph=True)[1],
    ):
        (g,) = ac.autograd.grad(call().sum(), x)
        np.testing.assert_allclose(g.numpy(), 6 * x.detach().numpy(), rtol=1e-13)
    assert x.grad is None
    third = ac.autograd.grad(
        A.hessian(lambda x: (x**3).sum(), x, create_graph=True).sum(), x
    )[0]
    np.testing.assert_allclose(third.numpy(), np.full((2, 3), 6.0), rtol=1e-13)


def test_what_does_not_depend_gives_zeros_or_an_error(xy):
    x = xy[0]
    constant = ac.ones(2, **f64)
    assert A.jacobian(lambda x: constant, x).shape == (2, 2, 3)
    assert A.jvp(lambda x: x + 1, x, x)[1].tolist() == x.tolist()
    assert not A.jvp(lambda x: constant, x, x)[1].numpy().any()
    assert A.jacobian(lambda x: x[:0], x).shape == (0, 3, 2, 3)
    with pytest.raises(
        GradError, match="jacobian: Output 0 of the user-provided function does not"
    ):
        A.jacobian(lambda x: constant, x, strict=True)
    with pytest.raises(GradError, match="vjp: The output of the user-provided"):
        A.vjp(lambda x, y: x.sum(), xy, strict=True)


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (
            ShapeError,
            "jvp: The vector v can only be None if the input",
            lambda x: A.jvp(ac.exp, x),
        ),
        (
            ShapeError,
            r"vjp: v has invalid size: should be .*\[2, 3\]\) but got",
            lambda x: A.vjp(ac.exp, x, x[0]),
        ),
        (
            ShapeError,
            "hessian: The Tensor returned by the function",
            lambda x: A.hessian(ac.exp, x),
        ),
        (DTypeError, r"`inputs\[0\]` is int64", lambda x: A.vjp(ac.exp, x.long())),
        (DTypeError, "output 0 is float;", lambda x: A.vjp(lambda x: (1.0,), x)),
        (
            ArgumentError,
            "`strategy`='forward-mode'",
            lambda x: A.jacobian(ac.exp, x, strategy="forward-mode"),
        ),
        (
            ArgumentError,
            "`outer_jacobian_strategy`='x'",
            lambda x: A.hessian(ac.exp, x, outer_jacobian_strategy="x"),
        ),
    ],
)
def test_errors(error, match, call, xy):
    with pytest.raises(error, match=match):
        call(xy[0])
