# SPDX-License-Identifier: MIT
"""Reference kernels against PyTorch, whose semantics they promise."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from tests.kernel_table import load

torch = pytest.importorskip("torch")
F = torch.nn.functional
pytestmark = pytest.mark.torch

KERNELS = load()
RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape)


def run(name, *args, outs):
    arrays = [np.full(shape, np.nan) for shape in outs]
    KERNELS[name](*arrays, *args)
    return arrays


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    ("weighted", "smoothing", "ignored"),
    list(itertools.product((False, True), (0.0, 0.2), (0, 2, 7))),
)
def test_cross_entropy(reduction, weighted, smoothing, ignored):
    logits, target = normal(7, 5), RNG.integers(0, 5, 7)
    target[:ignored] = 3
    weight = np.exp(normal(5)) if weighted else None
    loss, grad = run(
        *("cross_entropy", logits, target, weight, reduction, 3, smoothing),
        outs=[(7,) if reduction == "none" else (), (7, 5)],
    )
    x = torch.tensor(logits, requires_grad=True)
    expected = F.cross_entropy(
        x,
        torch.tensor(target),
        None if weight is None else torch.tensor(weight),
        ignore_index=3,
        reduction=reduction,
        label_smoothing=smoothing,
    )
    expected.sum().backward()
    np.testing.assert_allclose(loss, expected.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(grad, x.grad.numpy(), rtol=1e-12, atol=1e-15)


SGD = [
    {"lr": 0.1},
    {"lr": 0.1, "weight_decay": 0.1, "maximize": True},
    {"lr": 0.1, "momentum": 0.9},
    {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
    {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
]


@pytest.mark.parametrize("options", SGD)
def test_sgd(options):
    p = [normal(3, 2), normal(4)]
    buffers = [np.zeros_like(a) for a in p] if options.get("momentum") else []
    words = ("momentum", "dampening", "weight_decay")
    attributes = [float(options.get(word, 0)) for word in words]
    attributes += [options.get(word, False) for word in ("nesterov", "maximize")]
    theirs = _parameters(p)
    optimizer = torch.optim.SGD(theirs, **options)
    for step in range(1, 5):
        grads = [normal(3, 2), normal(4)]
        lr = np.array(options["lr"])
        KERNELS["sgd"](p, buffers, grads, lr, np.array(step), *attributes)
        _step(optimizer, theirs, grads)
        _compare(p, theirs)


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("decoupled", [False, True])
def test_adam(decoupled, maximize, decay):
    p = [normal(3, 2), normal(4)]
    m, v = ([np.zeros_like(a) for a in p] for _ in range(2))
    theirs = _parameters(p)
    cls = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = cls(
        theirs,
        lr=0.01,
        betas=(0.8, 0.99),
        eps=1e-6,
        weight_decay=decay,
        maximize=maximize,
    )
    attributes = (0.8, 0.99, 1e-6, decay, decoupled, maximize)
    for step in range(1, 6):
        grads = [normal(3, 2), normal(4)]
        lists = (p, m, v, grads)
        KERNELS["adamw"](*lists, np.array(0.01), np.array(step), *attributes)
        _step(optimizer, theirs, grads)
        _compare(p, theirs)


RMSPROP = [
    {"lr": 0.1},
    {"lr": 0.1, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1, "maximize": True},
    {"lr": 0.1, "momentum": 0.9},
    {"lr": 0.1, "centered": True, "weight_decay": 0.1},
    {"lr": 0.1, "momentum": 0.5, "centered": True},
]


@pytest.mark.parametrize("options", RMSPROP)
def test_rmsprop(options):
    p = [normal(3, 2), normal(4)]
    v, b, m = ([np.zeros_like(a) for a in p] for _ in range(3))
    b = b if options.get("momentum") else []
    m = m if options.get("centered") else []
    defaults = {"alpha": 0.99, "eps": 1e-8, "weight_decay": 0.0, "momentum": 0.0}
    attributes = [options.get(word, value) for word, value in defaults.items()]
    attributes += [options.get(word, False) for word in ("centered", "maximize")]
    theirs = _parameters(p)
    optimizer = torch.optim.RMSprop(theirs, **options)
    for _ in range(5):
        grads = [normal(3, 2), normal(4)]
        KERNELS["rmsprop"](p, v, b, m, grads, np.array(options["lr"]), *attributes)
        _step(optimizer, theirs, grads)
        _compare(p, theirs)


def _parameters(arrays):
    return [torch.tensor(a, requires_grad=True) for a in arrays]


def _step(optimizer, parameters, grads):
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = torch.tensor(grad)
    optimizer.step()


def _compare(mine, theirs):
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    ("activation", "function"),
    [
        ("none", lambda x: x),
        ("relu", F.relu),
        ("gelu", F.gelu),
        ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")),
    ],
)
def test_linear(activation, function):
    x, weight, bias = normal(2, 3, 4), normal(5, 4), normal(5)
    out, pre = run(*("linear", x, weight, bias, activation), outs=[(2, 3, 5)] * 2)
    plain = F.linear(*map(torch.tensor, (x, weight, bias)))
    np.testing.assert_allclose(pre, plain.numpy(), rtol=1e-12)
    np.testing.assert_allclose(out, function(plain).numpy(), rtol=1e-10, atol=1e-14)


def test_linear_backward():
    g, x, weight = normal(2, 3, 5), normal(2, 3, 4), normal(5, 4)
    shapes = [(2, 3, 4), (5, 4), (5,)]
    mine = run(*("linear_backward", g, x, weight, 0), outs=shapes)
    inputs = [torch.tensor(a, requires_grad=True) for a in (x, weight, np.zeros(5))]
    F.linear(*inputs).backward(torch.tensor(g))
    for a, b in zip(mine, inputs, strict=True):
        np.testing.assert_allclose(a, b.grad.numpy(), rtol=1e-10)


@pytest.mark.parametrize("correction", [0.0, 1.0, 40.0])
def test_var(correction):
    a = normal(3, 7)
    out, mean = run(*("var", a, (1,), False, correction), outs=[(3,)] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degrees of freedom <= 0
        expected = torch.tensor(a).var(1, correction=correction)
    np.testing.assert_allclose(out, expected.numpy(), rtol=1e-12)
    np.testing.assert_allclose(mean, a.mean(1), rtol=1e-12)


def test_special_values():
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.0])
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    ta, tb = torch.tensor(a), torch.tensor(b)
    for name, function in {
        "maximum": torch.maximum,
        "minimum": torch.minimum,
        "pow": torch.pow,
        "div": torch.div,
    }.items():
        (out,) = run(name, a, b, outs=[a.shape])
        np.testing.assert_array_equal(out, function(ta, tb).numpy(), err_msg=name)
    for name, function in {
        "relu": torch.relu,
        "sigmoid": torch.sigmoid,
        "sqrt": torch.sqrt,
        "log": torch.log,
        "abs": torch.abs,
    }.items():
        (out,) = run(name, a, outs=[a.shape])
        np.testing.assert_allclose(out, function(ta).numpy(), 1e-15, err_msg=name)
    for axis in (0, 1):
        grid = values.reshape(7, 1) + np.zeros((1, 3))
        for name in ("softmax", "log_softmax"):
            (out,) = run(name, grid, axis, outs=[grid.shape])
            expected = getattr(F, name)(torch.tensor(grid), dim=axis)
            np.testing.assert_allclose(out, expected.numpy(), 1e-15, err_msg=name)


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -2.0, 30.0, -30.0, 1e4, -1e4])


@pytest.mark.parametrize(
    ("name", "attributes", "function"),
    [
        ("rsqrt", (), torch.rsqrt),
        ("silu", (), F.silu),
        ("gelu", ("none",), F.gelu),
        ("gelu", ("tanh",), lambda x: F.gelu(x, approximate="tanh")),
        ("softplus", (1.0, 20.0), F.softplus),
        ("softplus", (2.0, 0.5), lambda x: F.softplus(x, 2.0, 0.5)),
    ],
)
def test_activations_and_their_gradients(name, attributes, function):
    a = np.concatenate([normal(50) * 3, SPECIAL])
    g = normal(a.size)
    (out,) = run(name, a, *attributes, outs=[a.shape])
    x = torch.tensor(a, requires_grad=True)
    expected = function(x)
    # Theirs loses the tails: exp(-x) is infinite, 1 + erf(x) is 0.
    np.testing.assert_allclose(out, expected.detach().numpy(), rtol=1e-9, atol=1e-14)
    if name == "rsqrt":
        return
    expected.backward(torch.tensor(g))
    (back,) = run(f"{name}_backward", g, a, *attributes, outs=[a.shape])
    np.testing.assert_allclose(back, x.grad.numpy(), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm(affine):
    x, g = normal(2, 5, 7), normal(2, 5, 7)
    weight, bias = (normal(7), normal(7)) if affine else (None, None)
    out, mean, rstd = run(
        *("layer_norm", x, weight, bias, 1e-3), outs=[x.shape, (2, 5), (2, 5)]
    )
    theirs = [None if a is None else torch.tensor(a) for a in (x, weight, bias)]
    options = ([7], *theirs[1:], 1e-3)
    for mine, yours in zip(
        (out, mean, rstd), torch.native_layer_norm(theirs[0], *options), strict=True
    ):
        np.testing.assert_allclose(mine, yours.numpy().reshape(mine.shape), rtol=1e-10)
    back = run(
        *("layer_norm_backward", g, x, mean, rstd, weight, 0),
        outs=[x.shape, (7,), (7,)],
    )
    leaves = _leaves(x, weight, bias)
    F.layer_norm(leaves[0], [7], *leaves[1:], 1e-3).backward(torch.tensor(g))
    _compare_gradients(back, leaves)


@pytest.mark.parametrize("affine", [False, True])
def test_rms_norm(affine):
    x, g, weight = normal(2, 5, 7), normal(2, 5, 7), normal(7) if affine else None
    out, rstd = run("rms_norm", x, weight, 1e-3, outs=[x.shape, (2, 5, 1)])
    leaves = _leaves(x, weight)
    expected = F.rms_norm(leaves[0], [7], leaves[1], 1e-3)
    np.testing.assert_allclose(out, expected.detach().numpy(), rtol=1e-10)
    expected.backward(torch.tensor(g))
    back = run(*("rms_norm_backward", g, x, rstd, weight, 0), outs=[x.shape, (7,)])
    _compare_gradients(back, leaves)


def _leaves(*arrays):
    return [None if a is None else torch.tensor(a, requires_grad=True) for a in arrays]


def _compare_gradients(mine, leaves):
    for a, leaf in zip(mine, leaves, strict=True):
        if leaf is not None:
            np.testing.assert_allclose(a, leaf.grad.numpy(), rtol=1e-9, atol=1e-13)


def test_integer_powers():
    a, b = np.meshgrid(np.arange(-3, 4), np.arange(0, 5))
    out = np.empty_like(a)
    KERNELS["pow"](out, a, b)
    np.testing.assert_array_equal(out, torch.pow(torch.tensor(a), torch.tensor(b)))


def test_embedding_backward():
    g, indices = normal(2, 6, 3), RNG.integers(0, 4, (2, 6))
    (out,) = run("embedding_backward", g, indices, 2, outs=[(4, 3)])
    weight = torch.zeros(4, 3, dtype=torch.float64, requires_grad=True)
    F.embedding(torch.tensor(indices), weight, padding_idx=2).backward(torch.tensor(g))
    np.testing.assert_allclose(out, weight.grad.numpy(), rtol=1e-12)
