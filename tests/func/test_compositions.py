# SPDX-License-Identifier: MIT
"""Transforms of transforms, against formulas and finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.func.cases import mlp, numbers

import autocalc as ac
from autocalc import nn, vmap
from autocalc.func import (
    functional_call,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
)
from autocalc.nn import functional as F

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


# ---- compositions --------------------------------------------------------------------


def cubes(x):
    return (x**3).sum() + x[0] * x[1] * x[2]


def test_hessians_by_all_orders_agree():
    x = numbers(3)
    expected = differences(grad(cubes), x)
    for outer, inner in itertools.product((jacrev, jacfwd), (jacrev, jacfwd, grad)):
        alike(outer(inner(cubes))(x), expected, 1e-6)
    alike(hessian(cubes)(x), expected, 1e-6)


#: Transforms of functions from vectors to vectors of the same length; each is given
#: with the same result by finite differences of single components.
V = ac.tensor([0.3, -1.2, 0.7], dtype=ac.float64)

TRANSFORMS = {
    "grad": lambda f: grad(lambda x: f(x).square().sum()),
    "jvp": lambda f: lambda x: jvp(f, (x,), (V,))[1],
    "vjp": lambda f: lambda x: vjp(f, x)[1](V)[0],
    "vmap": lambda f: lambda x: vmap(lambda s: f(s * V + x))(x).sum(0),
    "jacrev": lambda f: lambda x: jacrev(f)(x) @ V,
    "jacfwd": lambda f: lambda x: V @ jacfwd(f)(x),
    "hessian": lambda f: lambda x: hessian(f)(x).sum(0) @ V,
}


def by_differences(name, f):
    """Return what a transform returns, computed without derivatives."""
    if name == "vmap":
        return lambda x: sum(f(s * V + x) for s in x)
    if name == "grad":
        return lambda x: differences(lambda z: f(z).square().sum(), x)
    if name in ("jvp", "jacrev"):
        return lambda x: differences(f, x) @ V
    if name in ("vjp", "jacfwd"):
        return lambda x: V @ differences(f, x)
    return lambda x: differences(lambda z: differences(f, z, 1e-4), x, 1e-4).sum(0) @ V


def base(x):
    return (x * x.flip(0)).sin() + 0.3 * x.roll(1) ** 2


@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_transform_alone(name):
    x = numbers(3)
    alike(TRANSFORMS[name](base)(x), by_differences(name, base)(x), 1e-5)


@pytest.mark.parametrize(
    ("outer", "inner"), list(itertools.product(TRANSFORMS, TRANSFORMS))
)
def test_every_composition_of_two(outer, inner):
    x = 0.5 * numbers(3)
    once = TRANSFORMS[inner](base)
    found = TRANSFORMS[outer](once)(x)
    alike(found, by_differences(outer, once)(x), 2e-4)


@pytest.mark.parametrize(
    "names",
    [
        ("grad", "grad", "grad"),
        ("jvp", "jvp", "jvp"),
        ("vmap", "jvp", "grad"),
        ("grad", "vmap", "jvp"),
        ("jvp", "vmap", "grad"),
        ("jacfwd", "jacrev", "jacfwd"),
        ("jacrev", "vmap", "jacfwd"),
        ("vmap", "hessian", "jvp"),
        ("vmap", "vmap", "hessian"),
        ("hessian", "vmap", "vjp"),
        ("jvp", "hessian", "grad"),
    ],
    ids="-".join,
)
def test_compositions_of_three(names):
    outer, middle, inner = names
    x = 0.3 * numbers(3)
    twice = TRANSFORMS[middle](TRANSFORMS[inner](base))
    found, expected = TRANSFORMS[outer](twice)(x), by_differences(outer, twice)(x)
    scale = 1 + expected.abs().max()
    alike(found / scale, expected / scale, 1e-3)


def test_vmap_of_each_transform_equals_a_loop():
    x = numbers(4, 3)
    for transform in TRANSFORMS.values():
        f = transform(base)
        alike(vmap(f)(x), ac.stack([f(row) for row in x]))


def test_each_transform_of_a_mapped_function_equals_that_of_a_loop():
    x = numbers(3)

    def mapped(x):
        return vmap(lambda s: base(s * x).sum())(x)

    def looped(x):
        return ac.stack([base(s * x).sum() for s in x])

    for transform in TRANSFORMS.values():
        alike(transform(mapped)(x), transform(looped)(x))


@pytest.mark.parametrize("outer", [grad, jacrev, jacfwd, hessian])
def test_derivatives_of_a_loss_with_a_mapped_and_a_plain_term(outer):
    x, w = numbers(3, 4), numbers(4)

    def mapped(w):
        return vmap(lambda r: (r * w).sin().sum())(x).sum() + (w**3).sum()

    def plain(w):
        return (x * w).sin().sum() + (w**3).sum()

    alike(outer(mapped)(w), outer(plain)(w))
    alike(jacfwd(outer(mapped))(w), jacfwd(outer(plain))(w))


def test_a_function_that_writes_in_place_has_all_derivatives():
    def writes(r):
        y = r * 2
        y.copy_(r**2)
        y[1:] *= 3
        return (y * y).sum()

    def plain(r):
        return (r**4).sum() + 8 * (r[1:] ** 4).sum()

    x = numbers(3, 4)
    for transform in (grad, hessian, lambda f: jacfwd(grad(f))):
        alike(vmap(transform(writes))(x), vmap(transform(plain))(x))


def test_hessian_vector_products_forward_and_backward_agree():
    model, x = mlp(), numbers(6, 4)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    v = {name: numbers(*p.shape, seed=1) for name, p in parameters.items()}

    def loss(parameters):
        return functional_call(model, parameters, (x,)).square().mean()

    def along(parameters):
        return sum((g * v[name]).sum() for name, g in grad(loss)(parameters).items())

    _, forward = jvp(grad(loss), (parameters,), (v,))
    backward = grad(along)(parameters)
    for name in v:
        alike(forward[name], backward[name])


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd, hessian])
def test_mapped_jacobians_without_examples(jacobian):
    shape = vmap(jacobian(lambda r: r**3))(numbers(0, 4)).shape
    assert shape == ((0, 4, 4, 4) if jacobian is hessian else (0, 4, 4))


def test_gradients_of_each_sequence_of_an_lstm():
    model, x = nn.LSTM(3, 4).double(), numbers(3, 5, 2, 3)
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters, x):
        return functional_call(model, parameters, (x,))[0].square().sum()

    found = vmap(grad(loss), (None, 0))(parameters, x)
    for i in range(3):
        for name, g in grad(loss)(parameters, x[i]).items():
            alike(found[name][i], g)


def test_an_ensemble_of_batch_norms_trains_its_own_statistics():
    models = [nn.BatchNorm1d(4).double() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    parameters = {name: p.detach() for name, p in parameters.items()}
    x = numbers(5, 4)

    def run(p, b):
        return functional_call(models[0], (p, b), (x,))

    found = vmap(run)(parameters, buffers)
    alike(found[1], models[1](x))
    alike(buffers["running_mean"][2], models[1].running_mean)


def test_compiled_functions():
    x = numbers(3, 4)
    compiled = ac.compile(vmap(grad(lambda r: (r**3).sum())))
    alike(compiled(x), 3 * x**2)
    alike(compiled(2 * x), 12 * x**2)


SECOND = {
    "std": lambda r: r.std(),
    "logcumsumexp": lambda r: r.logcumsumexp(0),
    "cumprod": lambda r: r.cumprod(0),
    "prod": lambda r: r.prod(),
    "quantile": lambda r: r.quantile(0.3),
    "parts": lambda r: r[0] * r[1:] + r[:2].sum() * r[2],
    "unfold": lambda r: r.unfold(0, 2, 1) ** 3,
    "cdist": lambda r: ac.cdist(r.reshape(2, 2), r.reshape(2, 2).exp()),
    "solve": lambda r: ac.linalg.solve(ac.outer(r, r) + ac.eye(4, dtype=r.dtype), r),
    "matrix_exp": lambda r: ac.linalg.matrix_exp(r.reshape(2, 2)),
    "svdvals": lambda r: ac.linalg.svdvals(r.reshape(2, 2)),
    "layer_norm": lambda r: F.layer_norm(r, (4,), r * 2, r + 1),
    "attention": lambda r: F.scaled_dot_product_attention(*[r.reshape(1, 2, 2)] * 3),
    "cross_entropy": lambda r: F.cross_entropy(r, ac.tensor(1)),
    "conv": lambda r: F.conv1d(r.reshape(1, 1, 4), r[:2].reshape(1, 1, 2)),
    "interpolate": lambda r: F.interpolate(r.reshape(1, 1, 4), size=6, mode="linear"),
}


@pytest.mark.parametrize("name", SECOND)
def test_mapped_second_derivatives_equal_a_loop(name):
    x = numbers(3, 4)

    def function(r):
        return SECOND[name](r).square().sum()

    for f in (hessian(function), jacfwd(grad(function)), jacfwd(jacfwd(function))):
        alike(vmap(f)(x), ac.stack([f(r) for r in x]), 1e-8)


def test_perturbations_are_not_confused():
    # d/dx x * (d/dy (x + y) at y = 1) is 1; if x were taken for y, it would be 2.
    def inner(x):
        return grad(lambda y: x + y)(number(1))

    alike(grad(lambda x: x * inner(x))(number(1)), number(1))

    def pushed(f, x):
        return jvp(f, (x,), (number(1),))[1]

    one = number(1)
    alike(pushed(lambda x: x * pushed(lambda y: x + y, one), one), one)
    alike(grad(lambda x: x * pushed(lambda y: x * y, one))(number(3)), number(6))
    alike(pushed(lambda x: x * grad(lambda y: x * y)(one), number(3)), number(6))


def test_the_same_variable_in_both_derivatives():
    x = number(2)
    alike(grad(lambda x: grad(lambda y: x**2 * y**2)(x))(x), 6 * x**2)
    alike(grad(lambda x: x * grad(lambda y: y**3 + x * y)(x))(x), 9 * x**2 + 2 * x)
