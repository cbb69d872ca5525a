# SPDX-License-Identifier: MIT
"""Derivatives of functions, against formulas and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.func.cases import numbers

import autocalc as ac
from autocalc import nn, vmap
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError
from autocalc.func import (
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)

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
                r"grad_and_value\(f\)\(\*args\): output of function "
                r"f should be a tuple \(output, aux\) if has_aux is True, "
                r"and it is a Tensor"
            ),
        ),
        (
            lambda x: vjp(lambda x: 1.0, x),
            ArgumentError,
            (
                r"vjp\(f, \*primals\): expected f\(\*primals\) to return only "
                r"tensors, and it returned a float"
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
        (
            lambda x: jvp(ac.mul, (x, x), (x,)),
            GradError,
            r"jvp: `primals` hold 2 tensors and `tangents` 1",
        ),
        (
            lambda x: jvp(ac.sin, (x,), (1.0,)),
            ArgumentError,
            r"`tangents` contain a float; both must only contain Tensors",
        ),
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
                r"jacrev.*vjp\(f, \*primals\): expected f\(\*primals\) to return "
                r"only tensors, and it returned a float"
            ),
        ),
        (
            jacfwd(lambda x: None),
            ArgumentError,
            (
                r"jacfwd.*jvp\(f, primals, tangents\): Expected f to be a "
                r"function that has non-empty output"
            ),
        ),
        (
            jacrev(lambda x: ()),
            ArgumentError,
            (
                r"jacrev.*vjp\(f, \*primals\): Expected f to be a "
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
