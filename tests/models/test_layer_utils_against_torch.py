# SPDX-License-Identifier: MIT
"""Fused layers, the old spectral norm, lazy and synchronised layers: PyTorch's values.

All in float64, from PyTorch's parameters.
"""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def close(mine, theirs):
    np.testing.assert_allclose(
        mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-12
    )


def twins(build):
    """Return AutoCalc's and PyTorch's module, of one state."""
    theirs, mine = build(torch).double(), build(ac).double()
    state = {k: ac.tensor(t.numpy()) for k, t in theirs.state_dict().items()}
    assert list(mine.state_dict()) == list(state)
    mine.load_state_dict(state)
    return {ac: mine, torch: theirs}


def fused(function, arrays, absent, *more):
    """Return what a function of both libraries makes of tensors, some left out."""
    results = []
    for m in (ac, torch):
        args = [a if isinstance(a, float) else m.tensor(a) for a in arrays]
        args = [None if i in absent else a for i, a in enumerate(args)]
        results.append(getattr(m.nn.utils, function)(*args, *more))
    return zip(*results, strict=True)


def norm_arrays(size):
    """Return mean, variance, epsilon, weight and bias of a norm."""
    mean, var, gamma, beta = normal(4, size, seed=1)
    return [mean, np.abs(var) + 0.1, 0.1, gamma, beta]


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("absent", [(), (1,), (5, 6), (1, 5)])
def test_fused_weights_of_convolutions(transpose, absent):
    arrays = [normal(4, 4, 2, 3), normal(4), *norm_arrays(4)]
    pairs = fused("fuse_conv_bn_weights", arrays, absent, transpose)
    for mine, theirs in pairs:
        close(mine, theirs)
        assert mine.requires_grad == theirs.requires_grad


@pytest.mark.parametrize(("size", "absent"), [(4, ()), (4, (1,)), (1, ())])
def test_fused_weights_of_linear_layers(size, absent):
    arrays = [normal(4, 3), normal(4), *norm_arrays(size)]
    for mine, theirs in fused("fuse_linear_bn_weights", arrays, absent):
        close(mine, theirs)
        assert mine.requires_grad == theirs.requires_grad


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda m: m.nn.utils.spectral_norm(m.nn.Linear(3, 4)), (5, 3)),
        (
            lambda m: m.nn.utils.spectral_norm(
                m.nn.Conv2d(2, 3, (2, 3)), n_power_iterations=3, dim=1
            ),
            (2, 2, 4, 5),
        ),
        (
            lambda m: m.nn.utils.spectral_norm(m.nn.ConvTranspose3d(2, 3, 2)),
            (2, 2, 3, 2, 3),
        ),
    ],
)
def test_training_with_the_old_spectral_norm(build, shape):
    layers, x = twins(build), normal(*shape)
    for m, layer in layers.items():
        optimizer = m.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (layer(m.tensor(x)) ** 2).sum().backward()
            optimizer.step()
    states = [layers[m].state_dict() for m in (ac, torch)]
    for mine, theirs in zip(*(s.values() for s in states), strict=True):
        close(mine, theirs)
    theirs = layers[torch].load_state_dict(
        {k: torch.tensor(x.numpy()) for k, x in states[0].items()}
    )
    assert not theirs.missing_keys
    for m, layer in layers.items():
        m.nn.utils.remove_spectral_norm(layer)
    close(layers[ac].weight, layers[torch].weight)
    assert list(layers[ac].state_dict()) == list(layers[torch].state_dict())


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature:UserWarning")
@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda m: m.nn.LazyBatchNorm3d(), (3, 4, 2, 3, 2)),
        (lambda m: m.nn.LazyInstanceNorm1d(), (3, 4, 5)),
        (lambda m: m.nn.LazyInstanceNorm2d(affine=False), (3, 4, 5, 2)),
        (lambda m: m.nn.LazyInstanceNorm3d(momentum=0.3), (3, 4, 2, 3, 2)),
        (lambda m: m.nn.LazyConv3d(6, 2, groups=2), (3, 4, 3, 4, 3)),
        (lambda m: m.nn.LazyConvTranspose1d(6, 2, 2, groups=2), (3, 4, 5)),
        (lambda m: m.nn.LazyConvTranspose2d(6, 3, 2, 1, 1), (3, 4, 5, 4)),
        (lambda m: m.nn.LazyConvTranspose3d(6, 2, bias=False), (3, 4, 2, 2, 3)),
    ],
)
def test_lazy_layers(build, shape):
    def ready(m):
        layer = build(m).double()
        layer(m.tensor(normal(*shape)))
        return layer

    layers = twins(ready)
    assert type(layers[ac]).__name__ == type(layers[torch]).__name__
    x = normal(*shape, seed=1)
    close(*(layer(m.tensor(x)) for m, layer in layers.items()))


def test_modules_converted_to_sync_batch_norm_have_pytorch_s_keys():
    def build(m):
        net = m.nn.Sequential(
            m.nn.Conv1d(2, 3, 1),
            m.nn.Sequential(m.nn.BatchNorm1d(3, momentum=None), m.nn.ReLU()),
        )
        return m.nn.SyncBatchNorm.convert_sync_batchnorm(net)

    nets, x = twins(build), normal(4, 2, 3)
    assert repr(nets[ac]) == repr(nets[torch])
    close(*(net.eval()(m.tensor(x)) for m, net in nets.items()))


def test_assigned_buffers():
    def build(m):
        net = m.nn.Module()
        net.kept = m.nn.Buffer(m.ones(2))
        net.unsaved = m.nn.Buffer(m.ones(2), persistent=False)
        return net

    nets = twins(build)
    names = [[name for name, _ in net.named_buffers()] for net in nets.values()]
    assert names[0] == names[1] == ["kept", "unsaved"]
