# SPDX-License-Identifier: MIT
"""Derivatives of functions, against formulas, finite differences and each other."""

from __future__ import annotations

import gc
import itertools
from functools import partial

import numpy as np
import pytest
from tests.func.cases import MODULES, numbers

import autocalc as ac
from autocalc import nn, vmap
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError
from autocalc.func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
)
from autocalc.nn import functional as F
from autocalc.utils._pytree import tree_flatten, tree_map

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


# ---- gradients -----------------------------------------------------------------------


def test_grad_is_the_derivative():
    x = numbers(4)
    alike(grad(lambda x: (x**3).sum())(x), 3 * x**2)
    alike(grad(ac.sin)(number(0.5)), number(0.5).cos())


def test_grad_of_grad_and_so_on():
    f = ac.sin
    x = number(0.7)
    for sign, expected in [(1, ac.cos), (-1, ac.sin), (-1, ac.cos), (1, ac.sin)]:
        f = grad(f)
        alike(f(x), sign * expected(x))


def test_grad_and_value():
    x = numbers(3)
    g, y = grad_and_value(lambda x: x.square().sum())(x)
    alike(g, 2 * x)
    alike(y, x.square().sum())
    assert not g.requires_grad
    assert not y.requires_grad


def test_argnums_choose_arguments():
    x, y, z = numbers(3), numbers(3, seed=1), numbers(3, seed=2)

    def f(x, y, z):
        return (x * y * z).sum()

    alike(grad(f, 1)(x, y, z), x * z)
    alike(grad(f, -1)(x, y, z), x * y)
    found = grad(f, (2, 0))(x, y, z)
    assert isinstance(found, tuple)
    alike(found[0], x * y)
    alike(found[1], y * z)
    alike(grad(f, (1,))(x, y, z)[0], x * z)


def test_arguments_can_be_structures():
    x, y = numbers(3), numbers(3, seed=1)

    def f(parameters, scale):
        return (parameters["x"] * parameters["more"][0]).sum() * scale

    found = grad(f)({"x": x, "more": [y]}, 2.0)
    alike(found["x"], 2 * y)
    alike(found["more"][0], 2 * x)


def test_keyword_arguments_are_passed_on():
    alike(grad(lambda x, *, n: x**n)(number(2), n=3), number(12))


def test_has_aux_passes_further_values_on():
    x = numbers(3)

    def f(x):
        return x.sum() * 2, {"x": x, "text": "mine"}

    g, aux = grad(f, has_aux=True)(x)
    alike(g, ac.full_like(x, 2.0))
    assert aux["text"] == "mine"
    assert not aux["x"].requires_grad
    g, (y, aux) = grad_and_value(f, has_aux=True)(x)
    alike(y, 2 * x.sum())
    assert aux["text"] == "mine"
    y, pull, aux = vjp(f, x, has_aux=True)
    alike(pull(number(1))[0], ac.full_like(x, 2.0))
    assert aux["text"] == "mine"
    y, t, aux = jvp(f, (x,), (x,), has_aux=True)
    alike(t, 2 * x.sum())
    assert not aux["x"].requires_grad
    for jacobian in (jacrev, jacfwd):
        g, aux = jacobian(f, has_aux=True)(x)
        alike(g, ac.full_like(x, 2.0))
        assert aux["text"] == "mine"


def test_a_function_that_does_not_depend_on_its_argument_has_zero_gradient():
    x = numbers(3)
    for f in (lambda x: number(1), lambda x: x.detach().sum()):
        alike(grad(f)(x), ac.zeros_like(x))
        alike(vjp(f, x)[1](number(1))[0], ac.zeros_like(x))
        alike(jvp(f, (x,), (x,))[1], number(0))
        alike(jacrev(f)(x), ac.zeros_like(x))
        alike(jacfwd(f)(x), ac.zeros_like(x))
        alike(hessian(f)(x), ac.zeros(3, 3, dtype=x.dtype))


def test_a_function_may_write_in_place_and_loop():
    def f(x):
        y = ac.zeros_like(x)
        for i in range(len(x)):
            y[i] = x[i] ** (i + 1)
        return y.mul_(2).sum()

    x = numbers(3)
    expected = 2 * ac.stack([number(1), 2 * x[1], 3 * x[2] ** 2])
    alike(grad(f)(x), expected)


def test_values_can_be_read_in_a_function():
    def f(x):
        return x * 2 if x.item() > 0 else -x

    assert grad(f)(number(1)).item() == 2
    assert grad(f)(number(-1)).item() == -1


# ---- products with the Jacobian ------------------------------------------------------


def test_vjp_is_a_product_with_the_transposed_jacobian():
    x, v = numbers(4), numbers(5, seed=1)
    y, pull = vjp(mixed, x)
    alike(y, mixed(x))
    (found,) = pull(v)
    expected = v @ differences(mixed, x)
    alike(found, expected, 1e-7)
    alike(pull(2 * v)[0], 2 * found)  # it can be called again


def test_vjp_of_structures():
    x, y = numbers(3), numbers(3, seed=1)
    _, pull = vjp(lambda x, d: {"a": x * d["y"], "b": x.sum()}, x, {"y": y})
    gx, gd = pull({"a": y, "b": number(2)})
    alike(gx, y * y + 2)
    alike(gd["y"], x * y)
    _, pull = vjp(lambda x: (x, x * 2), x)
    alike(pull((y, y))[0], 3 * y)


def test_jvp_is_a_directional_derivative():
    x, t = numbers(4), numbers(4, seed=1)
    y, found = jvp(mixed, (x,), (t,))
    alike(y, mixed(x))
    alike(found, differences(mixed, x) @ t, 1e-7)


def test_jvp_of_structures():
    x, y = numbers(3), numbers(3, seed=1)
    a, b = numbers(3, seed=2), numbers(3, seed=3)
    out, found = jvp(lambda x, d: [x * d["y"], d["y"].sum()], (x, {"y": y}),
                     (a, {"y": b}))  # fmt: skip
    assert len(out) == 2
    alike(found[0], a * y + x * b)
    alike(found[1], b.sum())


def test_linearize_can_be_applied_many_times():
    x = numbers(4)
    y, push = linearize(mixed, x)
    alike(y, mixed(x))
    jacobian = jacrev(mixed)(x)
    for seed in range(3):
        t = numbers(4, seed=seed)
        alike(push(t), jacobian @ t)
    alike(vmap(push)(ac.eye(4, dtype=x.dtype)), jacobian.T)


def test_strict_refuses_an_output_that_does_not_depend_on_the_input():
    x = numbers(3)
    with pytest.raises(GradError, match=r"jvp: strict=True, but an output of shape "
                       r"\(3,\) does not depend"):  # fmt: skip
        jvp(lambda x: (x * 2, ac.ones(3)), (x,), (x,), strict=True)


def test_float32_stays_float32():
    x = ac.ones(3)
    assert grad(lambda x: x.sum())(x).dtype is ac.float32
    assert jvp(ac.sin, (x,), (x,))[1].dtype is ac.float32
    assert jacrev(ac.sin)(x).dtype is ac.float32
    assert jacfwd(ac.sin)(x).dtype is ac.float32
    assert hessian(lambda x: x.exp().sum())(x).dtype is ac.float32


# ---- Jacobians and Hessians ----------------------------------------------------------


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
@pytest.mark.parametrize("chunk", [None, 1, 3, 100])
def test_jacobians(jacobian, chunk):
    x = numbers(4)
    alike(jacobian(mixed, chunk_size=chunk)(x), differences(mixed, x), 1e-7)


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_shapes_of_jacobians(jacobian):
    def f(x, d):
        return {"m": ac.outer(x, d["y"]), "s": d["y"].sum()}

    x, y = numbers(2), numbers(3)
    found = jacobian(f, (0, 1))(x, {"y": y})
    assert found["m"][0].shape == (2, 3, 2)
    assert found["m"][1]["y"].shape == (2, 3, 3)
    assert found["s"][0].shape == (2,)
    assert found["s"][1]["y"].shape == (3,)
    alike(found["m"][0], ac.einsum("ik,j->ijk", ac.eye(2, dtype=x.dtype), y))
    alike(found["s"][1]["y"], ac.ones_like(y))
    assert jacobian(lambda x: x[:, None])(x).shape == (2, 1, 2)
    assert jacobian(lambda x: x.sum().reshape(1, 1))(x).shape == (1, 1, 2)
    assert jacobian(ac.sin)(number(1)).shape == ()


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians_of_empty_tensors(jacobian):
    x = numbers(3)
    assert jacobian(lambda x: x[:0] * 2)(x).shape == (0, 3)
    assert jacobian(lambda x: x.sum() + ac.ones(2, dtype=x.dtype))(x[:0]).shape == (
        2,
        0,
    )


def test_hessian_of_a_quadratic_form():
    a, x = numbers(3, 3), numbers(3)
    alike(hessian(lambda x: x @ a @ x)(x), a + a.T)


def test_hessian_of_several_arguments():
    x, y = numbers(2), numbers(3)

    def f(x, y):
        return (x.sum() * y**2).sum() + (x**3).sum()

    (xx, xy), (yx, yy) = hessian(f, (0, 1))(x, y)
    alike(xx, (6 * x).diag())
    alike(xy, (2 * y).expand(2, 3))
    alike(yx, xy.T)
    alike(yy, 2 * x.sum() * ac.eye(3, dtype=x.dtype))


def test_hessian_of_several_outputs():
    x = numbers(3)
    found = hessian(lambda x: x**3)(x)
    expected = ac.zeros(3, 3, 3, dtype=x.dtype)
    for i in range(3):
        expected[i, i, i] = 6 * x[i]
    alike(found, expected)


def test_hessian_equals_differences_of_a_network():
    ac.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)).double()

    def f(x):
        return model(x).sum()

    x = numbers(3)
    alike(hessian(f)(x), differences(grad(f), x), 1e-7)


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


def test_no_grad_inside_a_function_stops_the_derivative():
    def f(x):
        with ac.no_grad():
            stopped = x**2
        return (x * stopped).sum()

    x = numbers(3)
    alike(grad(f)(x), x**2)
    alike(jvp(f, (x,), (x,))[1], (x**3).sum())


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


# ---- networks ------------------------------------------------------------------------


def mlp():
    ac.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 3)).double()


def cnn():
    ac.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, groups=2), nn.GroupNorm(2, 4), nn.Flatten(),
        nn.Linear(4 * 2 * 2, 3),
    ).double()  # fmt: skip


def per_sample(model, x, targets, **words):
    """Return the gradient of the loss of each sample, by name."""

    def loss(parameters, x, target):
        scores = functional_call(model, parameters, (x[None],))
        return F.cross_entropy(scores, target[None])

    parameters = {name: p.detach() for name, p in model.named_parameters()}
    return vmap(grad(loss), (None, 0, 0), **words)(parameters, x, targets)


@pytest.mark.parametrize("chunk", [None, 2])
@pytest.mark.parametrize(("make", "shape"), [(mlp, (4,)), (cnn, (1, 8, 8))])
def test_gradients_of_each_sample_equal_a_loop(make, shape, chunk):
    model, x, targets = make(), numbers(5, *shape), ac.tensor([0, 2, 1, 1, 0])
    found = per_sample(model, x, targets, chunk_size=chunk)
    for i in range(5):
        loss = F.cross_entropy(model(x[i : i + 1]), targets[i : i + 1])
        expected = ac.autograd.grad(loss, list(model.parameters()))
        for g, e in zip(found.values(), expected, strict=True):
            alike(g[i], e)


def loss_of(name):
    """Return a number that depends on parameters and inputs, and both of these."""
    ac.manual_seed(0)
    make, shapes = MODULES[name]
    module = make()
    inputs = [numbers(3, *shape, seed=i) for i, shape in enumerate(shapes)]
    if not isinstance(module, nn.Module):
        return lambda parameters, *x: weighted(module(*x)), {}, inputs
    module = module.double().eval()
    parameters = {name: p.detach() for name, p in module.named_parameters()}
    return (
        lambda parameters, *x: weighted(functional_call(module, parameters, x)),
        parameters,
        inputs,
    )


def weighted(y):
    weights = ac.cos(ac.arange(y.numel(), dtype=y.dtype)).reshape(y.shape)
    return (weights * y).sum() + y.square().sum()


def ones(tree):
    return tree_map(ac.ones_like, tree)


#: Derivatives of a function of parameters and inputs.
OF_MODULES = {
    "grad": lambda f, p, *x: grad(f, (0, *range(1, 1 + len(x))))(p, *x),
    "jvp": lambda f, p, *x: jvp(f, (p, *x), (ones(p), *map(ones, x)))[1],
    "along": lambda f, p, *x: jvp(
        grad(partial(f, p), tuple(range(len(x)))), x, tuple(map(ones, x))
    )[1],
    "mixed": lambda f, p, *x: grad(
        lambda x0: (
            sum(g.sum() for g in grad(f)(p, x0, *x[1:]).values()) + f(p, x0, *x[1:])
        )
    )(x[0]),
}


@pytest.mark.parametrize("kind", OF_MODULES)
@pytest.mark.parametrize("name", MODULES)
def test_mapped_derivatives_of_modules_equal_a_loop(name, kind):
    f, parameters, inputs = loss_of(name)
    if not parameters and kind in {"grad", "mixed"}:
        return  # the other kinds have the same derivatives
    derivative = partial(OF_MODULES[kind], f)
    found = vmap(derivative, (None, *[0] * len(inputs)))(parameters, *inputs)
    rows = [
        tree_flatten(derivative(parameters, *x))[0] for x in zip(*inputs, strict=True)
    ]
    for y, column in zip(tree_flatten(found)[0], zip(*rows, strict=True), strict=True):
        alike(y, ac.stack(column), 1e-8)


def test_the_mean_of_the_gradients_is_the_gradient_of_the_mean():
    model, x, targets = cnn(), numbers(5, 1, 8, 8), ac.tensor([0, 2, 1, 1, 0])
    found = per_sample(model, x, targets)
    F.cross_entropy(model(x), targets).backward()
    for name, p in model.named_parameters():
        alike(found[name].mean(0), p.grad)


def test_gradients_of_each_sample_with_dropout():
    ac.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 50), nn.Dropout(0.5), nn.Linear(50, 3)).double()
    found = per_sample(
        model, numbers(1, 4).expand(3, 4), ac.tensor([0, 0, 0]), randomness="different"
    )
    dropped = found["2.weight"].abs().sum(1) == 0
    assert 0.2 < dropped.double().mean().item() < 0.8
    assert not ac.equal(dropped[0], dropped[1])


@pytest.mark.parametrize(("make", "shape"), [(mlp, (6, 4)), (cnn, (6, 1, 8, 8))])
def test_an_ensemble_equals_its_members(make, shape):
    models = []
    for i in range(3):
        models.append(make())
        with ac.no_grad():
            for p in models[-1].parameters():
                p.mul_(1 + 0.1 * i)
    parameters, buffers = stack_module_state(models)
    x = numbers(*shape)

    def run(p, b, x):
        return functional_call(models[0], (p, b), (x,))

    alike(vmap(run, (0, 0, None))(parameters, buffers, x),
          ac.stack([model(x) for model in models]))  # fmt: skip
    xs = numbers(3, *shape)
    expected = [model(a) for model, a in zip(models, xs, strict=True)]
    alike(vmap(run)(parameters, buffers, xs), ac.stack(expected))


def test_an_ensemble_is_trained_by_its_stacked_parameters():
    models = [mlp() for _ in range(3)]
    parameters, _ = stack_module_state(models)
    assert all(p.is_leaf and p.requires_grad for p in parameters.values())
    x = numbers(6, 4)
    run = vmap(lambda p: functional_call(models[0], p, (x,)))
    run(parameters).square().sum().backward()
    models[1](x).square().sum().backward()
    for name, p in models[1].named_parameters():
        alike(parameters[name].grad[1], p.grad)


def test_stack_module_state_keeps_buffers_and_frozen_parameters():
    models = [nn.BatchNorm1d(3) for _ in range(2)]
    for model in models:
        model.weight.requires_grad_(False)
    parameters, buffers = stack_module_state(models)
    assert not parameters["weight"].requires_grad
    assert parameters["bias"].requires_grad
    assert buffers["running_mean"].shape == (2, 3)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], r"stack_module_state: Expected at least one model, got 0"),
        (
            [nn.Linear(1, 1), nn.Linear(1, 1).eval()],
            (
                r"Expected all models to have the "
                r"same training/eval mode. Call train\(\) or eval\(\)"
            ),
        ),
        (
            [nn.Linear(1, 1), nn.ReLU()],
            (
                r"Expected all models to be of the same class, "
                r"and they are Linear, ReLU"
            ),
        ),
    ],
)
def test_refused_ensembles(models, message):
    with pytest.raises(ArgumentError, match=message):
        stack_module_state(models)


def test_laplacian_of_a_network_at_many_points():
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).double()

    def u(x):
        return model(x).squeeze(-1)

    points = numbers(5, 2)
    found = vmap(lambda x: hessian(u)(x).diagonal().sum())(points)
    for i in range(5):
        expected = differences(grad(u), points[i]).diagonal().sum()
        alike(found[i], expected, 1e-6)
    loss = found.square().mean()
    loss.backward()  # the parameters get gradients of third order
    p = model[0].weight
    step = 1e-6

    def loss_at(w):
        def u(x):
            return functional_call(model, {"0.weight": w}, (x,)).squeeze(-1)

        found = vmap(lambda x: hessian(u)(x).diagonal().sum())(points)
        return found.square().mean()

    d = ac.zeros_like(p)
    d[3, 1] = step
    with ac.no_grad():
        slope = (loss_at(p + d) - loss_at(p - d)) / (2 * step)
    alike(p.grad[3, 1], slope, 1e-5)


def test_nested_gradients_of_a_learning_step():
    x, y = numbers(8, 2), numbers(8)

    def loss(w, x, y):
        return (x @ w - y).square().mean()

    def after_a_step(w, x, y):
        return loss(w - 0.1 * grad(loss)(w, x, y), x, y)

    w = numbers(2)
    found = vmap(grad(after_a_step), (None, 0, 0))(
        w, x.reshape(2, 4, 2), y.reshape(2, 4)
    )
    for task in range(2):
        rows = slice(4 * task, 4 * task + 4)
        step = partial(after_a_step, x=x[rows], y=y[rows])
        expected = differences(step, w)
        alike(found[task], expected, 1e-7)


# ---- functionalize -------------------------------------------------------------------


def test_functionalize_returns_the_function():
    def f(x):
        return x.clone().add_(1)

    assert functionalize(f) is f
    assert functionalize(f, remove="mutations_and_views") is f
    with pytest.raises(ArgumentError, match=r"`remove` is 'all'; Valid options are: "
                       r"remove='mutations' and"):  # fmt: skip
        functionalize(f, remove="all")


# ---- refused arguments ---------------------------------------------------------------


def pair(x):
    return x, x


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            grad(ac.sin),
            GradError,
            (
                r"grad: Expected f\(\*args\) to return "
                r"a scalar tensor, got tensor with 1 dims of shape \(3,\). "
                r"Sum it, or use"
            ),
        ),
        (
            grad(lambda x: 1.0),
            GradError,
            (
                r"grad: Expected f\(\*args\) to "
                r"return a tensor, got <class 'float'>; "
                r"with further values, specify has_aux"
            ),
        ),
        (grad_and_value(pair), GradError, r"^grad_and_value: Expected"),
        (
            lambda x: grad(ac.sum)(2.0),
            ArgumentError,
            (
                r"grad: an argument is a float; "
                r"derivatives are taken with respect to tensors: "
                r"Expected all inputs to be "
                r"Tensors. Choose the tensors by `argnums`"
            ),
        ),
        (
            lambda x: grad(ac.sum)(x.long()),
            DTypeError,
            (
                r"grad: an argument is int64; "
                r"derivatives are taken with respect to floating-point tensors. Convert"
            ),
        ),
        (
            grad(ac.sum, 1),
            ArgumentError,
            (
                r"grad: Got argnum=1, but "
                r"only 1 positional inputs; they are numbered from 0"
            ),
        ),
        (grad(ac.sum, -2), ArgumentError, r"Got argnum=-2"),
        (
            grad(ac.sum, True),
            ArgumentError,
            (
                r"argnums must be int or "
                r"Tuple\[int, ...\], got: bool"
            ),
        ),
        (grad(ac.sum, "0"), ArgumentError, r"argnums must be int or"),
        (
            grad(ac.sum, (0, "1")),
            ArgumentError,
            (
                r"an element of "
                r"argnums is '1'; it must be int"
            ),
        ),
        (
            grad(ac.sum, ()),
            ArgumentError,
            (
                r"argnums is \(\); Tuple "
                r"argnums must be non-empty"
            ),
        ),
        (grad(ac.sum, (0, -1)), ArgumentError, r"must be unique"),
        (
            grad(ac.sum, has_aux=True),
            ArgumentError,
            (
                r"grad: output of function "
                r"f should be a tuple \(output, aux\) if has_aux is True, "
                r"and it is a Tensor"
            ),
        ),
        (
            lambda x: vjp(lambda x: 1.0, x),
            ArgumentError,
            (
                r"vjp: the function returned "
                r"a float; Expected all outputs to be tensors"
            ),
        ),
        (
            lambda x: vjp(ac.sin, x)[1]((x, x)),
            GradError,
            (
                r"vjp: there are 2 vectors of "
                r"the structure .*, and the outputs have .*"
                r"Expected pytree structure of cotangents "
                r"to be the same as pytree structure of outputs"
            ),
        ),
        (
            lambda x: vjp(ac.sin, x)[1](x[:1]),
            ShapeError,
            (
                r"vjp: a vector has shape "
                r"\(1,\); it must have shape \(3,\), as the outputs"
            ),
        ),
        (
            lambda x: vjp(ac.sin, x)[1](1.0),
            ArgumentError,
            (
                r"vjp: a vector is a float; "
                r"Expected all tensors"
            ),
        ),
        (
            lambda x: jvp(ac.sin, x, (x,)),
            ArgumentError,
            (
                r"jvp: `primals` is a Tensor; "
                r"Expected primals to be a tuple, and both .* "
                r"Write \(primal,\) for a single one"
            ),
        ),
        (lambda x: jvp(ac.sin, (x,), [x]), ArgumentError, r"jvp: `tangents` is a list"),
        (
            lambda x: jvp(ac.sin, (), ()),
            ArgumentError,
            (
                r"jvp: give at least one "
                r"Tensor as a primal"
            ),
        ),
        (
            lambda x: jvp(ac.sin, (x,), (x[:2],)),
            ShapeError,
            (
                r"jvp: a vector has shape "
                r"\(2,\); it must have shape \(3,\), as the primals"
            ),
        ),
        (lambda x: jvp(ac.mul, (x, x), (x,)), GradError, r"jvp: there are 1 vectors"),
        (lambda x: linearize(ac.sin), ArgumentError, r"linearize: give at least"),
        (lambda x: linearize(ac.sin, x)[1](x[:1]), ShapeError, r"^linearize: a vector"),
        (
            lambda x: jacrev(ac.sin, chunk_size=0),
            ArgumentError,
            (
                r"jacrev: `chunk_size` "
                r"should be greater than 0. \(got 0\)"
            ),
        ),
        (lambda x: jacfwd(ac.sin, chunk_size=-1), ArgumentError, r"^jacfwd: `chunk_si"),
        (
            jacrev(lambda x: 1.0),
            ArgumentError,
            (
                r"jacrev: the function "
                r"returned a float"
            ),
        ),
        (
            jacfwd(lambda x: None),
            ArgumentError,
            (
                r"jacfwd: the function "
                r"returned a NoneType"
            ),
        ),
        (
            jacrev(lambda x: ()),
            ArgumentError,
            (
                r"jacrev: Expected f to be a "
                r"function that has non-empty output"
            ),
        ),
        (lambda x: jacrev(ac.sin)(x.long()), DTypeError, r"^jacrev: an argument is"),
        (jacfwd(ac.sin, 1), ArgumentError, r"^jacfwd: Got argnum=1"),
    ],
)
def test_refused_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(numbers(3))
