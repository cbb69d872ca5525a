# SPDX-License-Identifier: MIT
"""Transforms of modules and of whole networks."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from tests.func.cases import MODULES, mlp, numbers

import autocalc as ac
from autocalc import nn, vmap
from autocalc.errors import ArgumentError
from autocalc.func import functional_call, grad, hessian, jvp, stack_module_state
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


# ---- networks ------------------------------------------------------------------------


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


def test_models_of_which_some_are_frozen_are_not_stacked():
    models = [nn.Linear(2, 1) for _ in range(2)]
    models[0].weight.requires_grad_(False)
    with pytest.raises(ArgumentError, match=r"'weight' requires a gradient in some "
                       r"models only.*same .requires_grad"):  # fmt: skip
        stack_module_state(models)


@pytest.mark.parametrize("train", [True, False])
def test_an_ensemble_of_convolutions_with_weights_of_their_own(train):
    models = [
        nn.Sequential(
            *(nn.Conv2d(4, 6, 3, groups=2), nn.ReLU(), nn.Conv2d(6, 2, 3)),
            nn.ConvTranspose2d(2, 3, 2),
        ).double()
        for _ in range(3)
    ]
    parameters, _ = stack_module_state(models)
    x = ac.randn(2, 4, 7, 7, dtype=ac.float64)

    def score(p, x):
        return functional_call(models[0], p, (x,)).square().sum()

    run = grad(score) if train else score
    found = vmap(run, in_dims=(0, None))(parameters, x)
    for i, model in enumerate(models):
        own = {name: p.detach() for name, p in model.named_parameters()}
        expected = run(own, x)
        pairs = [(found, expected)]
        if train:
            pairs = [(found[name], expected[name]) for name in own]
        for a, b in pairs:
            assert ac.allclose(a[i], b, atol=1e-9)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradients_of_the_loss_of_each_sample(reduction, weighted, smoothing):
    ac.manual_seed(0)
    scores = ac.randn(3, 5, 4, dtype=ac.float64)
    labels = ac.tensor([[0, 1, 2, 3, 0], [-100, 1, 1, 1, 2], [3, 3, -100, 0, 1]])
    weight = ac.rand(4, dtype=ac.float64) if weighted else None

    def loss(x, y):
        return nn.functional.cross_entropy(
            x, y, weight, reduction=reduction, label_smoothing=smoothing
        ).sum()

    found = vmap(grad(loss))(scores, labels)
    values = vmap(loss)(scores, labels)
    for i in range(3):
        assert ac.allclose(found[i], grad(loss)(scores[i], labels[i]), atol=1e-12)
        assert ac.allclose(values[i], loss(scores[i], labels[i]), atol=1e-12)
