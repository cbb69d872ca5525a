# SPDX-License-Identifier: MIT
"""`nn.grad`: the gradients of convolutions as functions."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core

CASES = [
    (1, {}),
    (2, {}),
    (3, {}),
    (1, {"stride": 2, "padding": 1}),
    (2, {"stride": (2, 3), "padding": (1, 0), "dilation": (1, 2)}),
    (2, {"groups": 2, "padding": 2}),
    (3, {"stride": 2, "padding": (0, 1, 2), "groups": 2}),
]


def convolution(dims, settings, dtype=ac.float64):
    """Return input, weight, the gradient of the result, and their gradients."""
    groups = settings.get("groups", 1)
    x = ac.randn(2, 4, *(8, 7, 6)[:dims], dtype=dtype, requires_grad=True)
    w = ac.randn(6, 4 // groups, *(3, 2, 2)[:dims], dtype=dtype, requires_grad=True)
    y = getattr(nn.functional, f"conv{dims}d")(x, w, **settings)
    g = ac.randn_like(y)
    return x, w, g, ac.autograd.grad(y, (x, w), g)


@pytest.mark.parametrize("dtype", [ac.float64, ac.float32, ac.bfloat16])
@pytest.mark.parametrize(("dims", "settings"), CASES)
def test_they_are_the_gradients_of_a_convolution(dims, settings, dtype):
    x, w, g, (dx, dw) = convolution(dims, settings, dtype)
    by_input = getattr(nn.grad, f"conv{dims}d_input")
    by_weight = getattr(nn.grad, f"conv{dims}d_weight")
    ac.testing.assert_close(by_input(x.shape, w, g, **settings).detach(), dx)
    ac.testing.assert_close(by_weight(x, list(w.shape), g, **settings).detach(), dw)


@pytest.mark.parametrize(("dims", "settings"), CASES)
def test_they_have_gradients(dims, settings):
    x, w, g, _ = convolution(dims, settings)
    g.requires_grad_()
    by_input = getattr(nn.grad, f"conv{dims}d_input")
    by_weight = getattr(nn.grad, f"conv{dims}d_weight")
    assert ac.autograd.gradcheck(
        lambda w, g: by_input(x.shape, w, g, **settings), (w, g)
    )
    assert ac.autograd.gradcheck(
        lambda x, g: by_weight(x, w.shape, g, **settings), (x, g)
    )


def test_functional_has_the_module_as_well():
    assert nn.functional.grad is nn.grad


def test_what_they_refuse():
    x, w, g = ac.ones(1, 2, 5, 5), ac.ones(3, 2, 3, 3), ac.ones(1, 3, 3, 3)
    with pytest.raises(ShapeError, match=r"`grad_output` has shape \(1, 3, 3, 2\); it"):
        nn.grad.conv2d_input(x.shape, w, g[..., :2])
    with pytest.raises(ShapeError, match=r"the shape of the input is \(2, 5, 5\); it"):
        nn.grad.conv2d_input(x.shape[1:], w, g)
    with pytest.raises(ShapeError, match=r"the shape of the weight is \(2, 3, 3\); it"):
        nn.grad.conv2d_weight(x, w.shape[1:], g)
    with pytest.raises(ArgumentError, match="conv2d_weight: `stride` is 0; it must be"):
        nn.grad.conv2d_weight(x, w.shape, g, stride=0)
    with pytest.raises(DTypeError, match="conv2d_input"):
        nn.grad.conv2d_input(x.shape, w.long(), g)
    with pytest.raises(ShapeError, match=r"conv2d_input: the shape .* has a neg"):
        nn.grad.conv2d_input((1, 2, -5, 5), w, g)
