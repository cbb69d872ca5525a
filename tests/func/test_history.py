# SPDX-License-Identifier: MIT
"""Which tensors have a history after a transform."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from tests.func.cases import numbers

import autocalc as ac
from autocalc import vmap
from autocalc.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp

pytestmark = pytest.mark.core


def alike(found, expected, tolerance=1e-11):
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    a, b = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def number(x):
    return ac.tensor(float(x), dtype=ac.float64)


def differences(function, x, step=1e-5):
    """Return the Jacobian by central differences."""
    columns = []
    for i in range(x.numel()):
        d = ac.zeros(x.numel(), dtype=x.dtype)
        d[i] = step
        d = d.reshape(x.shape)
        columns.append((function(x + d) - function(x - d)) / (2 * step))
    found = ac.stack(columns, -1)
    return found.reshape((*found.shape[:-1], *x.shape))


def mixed(x):
    """Return numbers that depend on all inputs in several ways."""
    y = x.sin() * x.flip(0) + x.prod()
    return ac.cat([y, x.softmax(0)[:1] * y.exp().sum()])


# ---- history -------------------------------------------------------------------------

ONCE = {
    "grad": lambda f, x: grad(f)(x),
    "vjp": lambda f, x: vjp(f, x)[1](number(1))[0],
    "jvp": lambda f, x: jvp(f, (x,), (ac.ones_like(x),))[1],
    "linearize": lambda f, x: linearize(f, x)[1](ac.ones_like(x)),
    "jacrev": lambda f, x: jacrev(f)(x),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "hessian": lambda f, x: hessian(f)(x),
}


@pytest.mark.parametrize("name", ONCE)
def test_results_have_no_history_if_nothing_outside_requires_a_gradient(name):
    x = numbers(3)
    assert not ONCE[name](lambda x: (x**3).sum(), x).requires_grad
    assert not x.requires_grad


@pytest.mark.parametrize("name", ONCE)
def test_arguments_that_require_gradients_get_them(name):
    x = numbers(3).requires_grad_()
    y = ONCE[name](lambda x: (x**4).sum(), x)
    (g,) = ac.autograd.grad(y.sum(), x)
    z = x.detach()
    alike(g, 24 * z if name == "hessian" else 12 * z**2)


@pytest.mark.parametrize("name", ONCE)
def test_captured_tensors_that_require_gradients_get_them(name):
    x, w = numbers(3), numbers(3, seed=1).requires_grad_()
    y = ONCE[name](lambda x: (w * x**3).sum(), x)
    (g,) = ac.autograd.grad(y.sum(), w)
    alike(g, 6 * x if name == "hessian" else 3 * x**2)


@pytest.mark.parametrize("name", ONCE)
def test_captured_tensors_that_the_derivative_does_not_need_leave_a_result(name):
    x, w = numbers(3), numbers(3, seed=1).requires_grad_()
    y = ONCE[name](lambda x: (w.sum() + x).square().sum(), x)
    assert y.shape in ((), (3,), (3, 3))


@pytest.mark.parametrize("name", ONCE)
def test_no_grad_around_a_transform_keeps_its_derivative(name):
    x = numbers(3).requires_grad_()
    expected = ONCE[name](lambda x: (x**3).sum(), x.detach())
    with ac.no_grad():
        found = ONCE[name](lambda x: (x**3).sum(), x)
    assert not found.requires_grad
    alike(found, expected)


def test_no_grad_inside_a_function_stops_gradients_but_no_tangents():
    def f(x):
        with ac.no_grad():
            stopped = x**2
        return (x * stopped).sum()

    x = numbers(3)
    alike(grad(f)(x), x**2)
    alike(jvp(f, (x,), (x,))[1], (3 * x**3).sum())


def test_detach_inside_a_function_stops_the_derivative():
    x = numbers(3)
    alike(grad(lambda x: (x * x.detach()).sum())(x), x)
    inner = grad(lambda x: (x.detach() * x**2).sum())
    alike(jacrev(inner)(x), (2 * x).diag())


def test_the_gradient_of_a_leaf_is_not_touched():
    x, w = numbers(3).requires_grad_(), numbers(3).requires_grad_()
    for once in ONCE.values():
        once(lambda x: (w * x).sum(), x)
    assert x.grad is None
    assert w.grad is None


def test_autograd_inside_a_function():
    x = numbers(3)

    def f(x):
        y = (x**3).sum()
        (g,) = ac.autograd.grad(y, x, create_graph=True)
        return g.sum()

    alike(grad(f)(x), 6 * x)


def test_custom_functions_are_transformed():
    class Cube(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = numbers(4, 3)

    def f(x):
        return Cube.apply(x).sum()

    alike(grad(f)(x[0]), 3 * x[0] ** 2)
    alike(vmap(grad(f))(x), 3 * x**2)
    alike(jvp(Cube.apply, (x,), (x,))[1], 3 * x**3)
    alike(hessian(f)(x[0]), (6 * x[0]).diag())


def test_checkpointed_functions_are_transformed():
    from autocalc.utils.checkpoint import checkpoint

    x = numbers(4, 3)

    def f(x):
        return checkpoint(lambda y: (y**3).sum(), x, use_reentrant=False)

    alike(grad(f)(x[0]), 3 * x[0] ** 2)


def test_nothing_is_left_after_a_call():
    x, w = numbers(3), numbers(3).requires_grad_()

    def run():
        for once in ONCE.values():
            once(lambda x: (w * x**2).sum(), x)

    run()
    gc.collect()
    before = ac.live_node_count()
    for _ in range(5):
        run()
    gc.collect()
    assert ac.live_node_count() == before
