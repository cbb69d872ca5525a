# SPDX-License-Identifier: MIT
"""Batch, instance and group normalisation: formula, statistics, gradients, errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError, ShapeError
from autocalc.testing import gradcheck, gradgradcheck

F = nn.functional
X = np.random.default_rng(0).normal(size=(5, 4, 3, 2)) + 4
WEIGHT, BIAS = np.random.default_rng(1).normal(size=(2, 4))


def leaf(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return ac.tensor(values, requires_grad=True)


def normalised(x, axes, eps=0.1):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axes, keepdims=True) + eps)


def column(a):
    return a[:, None, None]


@pytest.mark.parametrize("affine", [True, False])
def test_they_are_the_formula(affine):
    x, weight, bias = map(ac.tensor, (X, WEIGHT, BIAS))
    more = {"weight": weight, "bias": bias, "eps": 0.1} if affine else {"eps": 0.1}
    groups = X.reshape(5, 2, 2, 3, 2)
    expected = {
        "batch": normalised(X, (0, 2, 3)),
        "instance": normalised(X, (2, 3)),
        "group": normalised(groups, (2, 3, 4)).reshape(X.shape),
    }
    found = {
        "batch": F.batch_norm(x, None, None, training=True, **more),
        "instance": F.instance_norm(x, **more),
        "group": F.group_norm(x, 2, **more),
    }
    for name, value in expected.items():
        scaled = value * column(WEIGHT) + column(BIAS) if affine else value
        np.testing.assert_allclose(found[name].numpy(), scaled, rtol=1e-10)


def test_running_statistics_move_and_then_serve():
    layer = nn.BatchNorm2d(4, eps=0.1, momentum=0.25, dtype=ac.float64)
    x = ac.tensor(X)
    layer(x)
    mean, var = 0.25 * X.mean((0, 2, 3)), 0.75 + 0.25 * X.var((0, 2, 3), ddof=1)
    np.testing.assert_allclose(layer.running_mean.numpy(), mean)
    np.testing.assert_allclose(layer.running_var.numpy(), var)
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    with ac.no_grad():
        layer.weight.copy_(ac.tensor(WEIGHT))
        layer.bias.copy_(ac.tensor(BIAS))
    expected = (X - column(mean)) / np.sqrt(column(var) + 0.1)
    expected = expected * column(WEIGHT) + column(BIAS)
    np.testing.assert_allclose(layer(x).detach().numpy(), expected)
    assert layer.num_batches_tracked.item() == 1
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0] * 4
    assert layer.running_var.tolist() == [1] * 4
    assert layer.num_batches_tracked.item() == 0


def test_a_batch_of_nothing_moves_no_statistics():
    layer = nn.BatchNorm1d(2)
    assert layer(ac.ones(0, 2)).shape == (0, 2)
    assert layer.running_mean.tolist() == [0, 0]
    assert layer.running_var.tolist() == [1, 1]


def test_running_statistics_without_an_eps():
    layer = nn.BatchNorm1d(2, eps=0.0).eval()
    assert layer(ac.tensor([[1.0, 2.0]])).tolist() == [[1.0, 2.0]]


def test_instances_without_parameters_may_have_other_channels():
    x = ac.arange(8.0).reshape(1, 2, 4)
    with pytest.warns(AutocalcWarning, match="has num_features=5. It has no we"):
        found = nn.InstanceNorm1d(5)(x)
    ac.testing.assert_close(found, nn.functional.instance_norm(x))


def test_without_momentum_it_is_the_mean_over_batches():
    layer = nn.BatchNorm1d(4, momentum=None, dtype=ac.float64)
    for x in X:
        layer(ac.tensor(x.reshape(4, 6).T))
    np.testing.assert_allclose(layer.running_mean.numpy(), X.mean((0, 2, 3)))
    each = X.reshape(5, 4, 6).var(2, ddof=1)
    np.testing.assert_allclose(layer.running_var.numpy(), each.mean(0))


def test_instances_move_running_statistics_together():
    layer = nn.InstanceNorm2d(4, momentum=1.0, track_running_stats=True)
    layer(ac.tensor(X).float())
    np.testing.assert_allclose(layer.running_mean.numpy(), X.mean((0, 2, 3)), rtol=1e-6)
    var = X.var((2, 3), ddof=1).mean(0)
    np.testing.assert_allclose(layer.running_var.numpy(), var, rtol=1e-5)
    layer.eval()
    expected = (X - X.mean((0, 2, 3), keepdims=True)) / np.sqrt(column(var) + 1e-5)
    found = layer(ac.tensor(X).float())
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    one = layer(ac.tensor(X[0]).float())
    np.testing.assert_allclose(one.numpy(), found[0].numpy(), rtol=1e-6)


def test_without_running_statistics_the_batch_serves_after_eval_too():
    layer = nn.BatchNorm2d(4, affine=False, track_running_stats=False)
    x = ac.tensor(X).float()
    assert layer(x).tolist() == layer.eval()(x).tolist()
    assert not layer.state_dict()


def test_statistics_have_no_history_and_need_no_memory():
    layer = nn.BatchNorm2d(4)
    for _ in range(2):
        layer(ac.tensor(X).float()).sum().backward()
    assert not layer.running_mean.requires_grad
    assert layer.running_mean.grad is None
    assert layer.weight.grad.shape == (4,)


RUNNING = ac.tensor([0.2, -0.3]), ac.tensor([0.5, 2.0])
#: What runs in the same pass as a norm, and its kernel in the backward pass.
ACTIVATIONS = {
    "relu": nn.ReLU(),
    "relu6": nn.ReLU6(),
    "hardtanh": nn.Hardtanh(-0.4, 0.7),
    "leaky_relu": nn.LeakyReLU(0.2),
    "hardswish": nn.Hardswish(),
    "silu": nn.SiLU(),
}


def norm_of(x, weight, bias, training):
    """Return a norm over these parameters, none of them its own."""
    norm = nn.BatchNorm2d(2, dtype=x.dtype).train(training)
    norm.running_mean.copy_(RUNNING[0])
    norm.running_var.copy_(RUNNING[1])
    del norm.weight, norm.bias
    norm.weight, norm.bias = weight, bias
    return norm


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", [*ACTIVATIONS, "relu of a sum"])
def test_gradients_through_an_activation_to_second_order(name, training):
    def f(x, weight, bias, residual):
        norm = norm_of(x, weight, bias, training)
        if name not in ACTIVATIONS:
            return norm.relu(x, residual)
        return nn.Sequential(norm, ACTIVATIONS[name])(x) + residual

    inputs = (leaf(2, 2, 2, 2), leaf(2, seed=1), leaf(2, seed=2))
    inputs += (leaf(2, 2, 2, 2, seed=3),)
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_norm_and_its_activation_are_one_kernel_each_way_and_the_same(name, training):
    module = ACTIVATIONS[name]
    x = ac.randn(3, 2, 5, 5, requires_grad=True)
    weight, bias = ac.tensor([1.5, -2.0]), ac.tensor([0.2, 0.7])
    cotangent = ac.randn(3, 2, 5, 5)
    norm = norm_of(x, weight.requires_grad_(), bias.requires_grad_(), training)
    apart = module(norm(x))
    expected = ac.autograd.grad(apart, (x, weight, bias), cotangent)
    chain = nn.Sequential(norm, module).train(training)
    with ac.kernels.count() as calls:
        found = chain(x)
    names = {kernel for kernel, _ in calls}
    kernel = "batch_norm_activation" if training else "batch_norm_running"
    assert kernel in names
    assert not names & {"batch_norm", "where", "compare", *ONE_PASS}
    np.testing.assert_allclose(found.detach(), apart.detach(), rtol=1e-5, atol=1e-6)
    for a, b in zip(
        ac.autograd.grad(found, (x, weight, bias), cotangent), expected, strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


ONE_PASS = {"relu", "hardtanh", "leaky_relu", "hardswish", "silu"}


def test_a_norm_by_running_statistics_is_one_kernel_and_keeps_no_input_for_nothing():
    norm = nn.BatchNorm2d(2).eval()
    with ac.no_grad(), ac.kernels.count() as calls:
        norm.relu(ac.ones(2, 2, 3, 3), ac.ones(2, 2, 3, 3))
    assert [kernel for kernel, _ in calls if kernel != "fill"] == ["batch_norm_running"]


def test_a_slope_below_0_is_a_kernel_of_its_own():
    chain = nn.Sequential(nn.BatchNorm2d(2), nn.LeakyReLU(-0.5))
    x = ac.randn(3, 2, 5, 5, requires_grad=True)
    out = chain(x)
    normed = chain[0](x)
    expected = ac.where(normed > 0, normed, -0.5 * normed)
    np.testing.assert_allclose(out.detach(), expected.detach(), rtol=1e-5, atol=1e-6)


def test_running_statistics_have_no_gradient():
    mean, var = (a.clone().requires_grad_() for a in RUNNING)
    x = ac.ones(2, 2, requires_grad=True)
    F.batch_norm(x, mean, var).sum().backward()
    assert mean.grad is None
    assert var.grad is None


def test_a_chain_runs_a_norm_and_the_relu_behind_it_as_one_kernel():
    chain = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU(), nn.BatchNorm2d(4))
    with ac.kernels.count() as calls:
        out = chain(ac.tensor(X).float()).detach()
    names = [name for name, _ in calls]
    assert {"batch_norm_activation", "batch_norm"} <= set(names)
    assert "relu" not in names
    seen = []
    chain[1].register_forward_hook(lambda *args: seen.append(args[1][0]))
    again = chain(ac.tensor(X).float()).detach()
    np.testing.assert_allclose(again.numpy(), out.numpy(), rtol=1e-5, atol=1e-5)
    assert seen[0].min().item() < 0


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shortcut", [True, False])
def test_with_relu_in_one_pass_is_the_same_as_in_two(training, shortcut):
    found = []
    for fused in (True, False):
        layer = nn.BatchNorm2d(4, dtype=ac.float64).train(training)
        x = ac.tensor(X, dtype=ac.float64, requires_grad=True)
        r = ac.tensor(X[::-1].copy(), dtype=ac.float64, requires_grad=True)
        residual = r if shortcut else None
        if fused:
            out = layer.relu(x, residual)
        else:
            out = F.relu(layer(x) + r if shortcut else layer(x))
        (out * out).sum().backward()
        grads = [t.grad for t in (x, r, *layer.parameters()) if t.grad is not None]
        found.append([out, layer.running_mean, layer.running_var, *grads])
        assert layer.num_batches_tracked.item() == training
    assert len(found[0]) == 6 + shortcut
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(
            one.detach().numpy(), two.detach().numpy(), rtol=1e-12, atol=1e-12
        )


def test_parameters_and_repr():
    layer = nn.BatchNorm2d(3, dtype=ac.float64)
    assert {k: p.tolist() for k, p in layer.state_dict().items()} == {
        "weight": [1] * 3,
        "bias": [0] * 3,
        "running_mean": [0] * 3,
        "running_var": [1] * 3,
        "num_batches_tracked": 0,
    }
    assert layer.running_var.dtype is ac.float64
    assert layer.num_batches_tracked.dtype is ac.int64
    assert repr(nn.BatchNorm1d(2, momentum=None, bias=False)) == (
        "BatchNorm1d(2, eps=1e-05, momentum=None, affine=True, bias=False, "
        "track_running_stats=True)"
    )
    assert repr(nn.InstanceNorm2d(2)) == (
        "InstanceNorm2d(2, eps=1e-05, momentum=0.1, affine=False, bias=False, "
        "track_running_stats=False)"
    )
    assert not nn.InstanceNorm1d(2).state_dict()
    layer = nn.GroupNorm(2, 4)
    assert repr(layer) == "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert not nn.GroupNorm(2, 4, affine=False).state_dict()


test_what_does_not_fit_is_an_error = refusals(
    r"""
    F.batch_norm(ac.ones(3), None, None, training=True) -> ShapeError: batch_norm:
        `input` has shape \(3,\); it must be \(N, C, ...\)
    F.batch_norm(ac.ones(1, 3), None, None, training=True) -> ShapeError: `input` of
        shape \(1, 3\) has one value in each channel
    F.batch_norm(ac.ones(2, 3), None, None) -> ArgumentError: batch_norm: `running_mean`
        and `running_var` are needed
    F.batch_norm(ac.ones(2, 3), ac.ones(2), ac.ones(3)) -> ShapeError: `running_mean`
        has shape \(2,\); it must be \(3,\)
    F.batch_norm(ac.ones(2, 3, dtype=ac.int64), None, None, training=True) ->
        DTypeError: batch_norm: needs float32 or float64, not int64
    F.batch_norm_relu(ac.ones(2, 3), None, None, training=True, residual=ac.ones(3)) ->
        ShapeError: `residual` has shape \(3,\); it must have the shape of `input`, \(2,
        3\)
    F.instance_norm(ac.ones(2, 3)) -> ShapeError: instance_norm: `input` has shape \(2,
        3\); it must be \(N, C, L, ...\)
    F.instance_norm(ac.ones(2, 3, 1)) -> ShapeError: `input` of shape \(2, 3, 1\) has
        one position
    F.group_norm(ac.ones(2, 3), 2) -> ShapeError: group_norm: num_channels \(3\) must
        be divisible by num_groups \(2\)
    F.group_norm(ac.ones(1, 3), 3) -> ShapeError: has one value in each of 3 groups
    F.group_norm(ac.ones(2, 3), 3, ac.ones(2)) -> ShapeError: group_norm: `weight` has
        shape \(2,\); it must be \(3,\)
    nn.GroupNorm(0, 3) -> ArgumentError: GroupNorm: `num_groups` is 0; it must be an
        integer, 1 or more
    nn.BatchNorm2d(3)(ac.ones(2, 3)) -> ShapeError: BatchNorm2d: `input` has shape \(2,
        3\); it must be \(N, C, H, W\)
    nn.BatchNorm1d(3)(ac.ones(3)) -> ShapeError: BatchNorm1d: .* it must be \(N, C\) or
        \(N, C, L\)
    nn.BatchNorm1d(3, eps=-1.0)(ac.ones(2, 3)) -> ArgumentError: batch_norm: `eps` is
        -1\.0; it must be above 0 in training\. The eps must be positive
    nn.BatchNorm1d(3, eps=0.0)(ac.ones(2, 3)) -> ArgumentError: `eps` is 0\.0; it must
        be above 0 in training
    nn.BatchNorm1d(3, eps=-1.0).eval()(ac.ones(2, 3)) -> ArgumentError: `eps` is -1\.0;
        it must be 0 or more
    nn.BatchNorm1d(3, eps='small')(ac.ones(2, 3)) -> DTypeError: batch_norm: `eps` is
        'small'; it must be one number
    F.instance_norm(ac.ones(2, 3, 4), momentum='slow') -> DTypeError: instance_norm:
        `momentum` is 'slow'; it must be one number
    nn.BatchNorm1d(-1) -> ArgumentError: BatchNorm1d: `num_features` is -1
    nn.InstanceNorm2d(3, affine=True)(ac.ones(2, 4, 2, 2)) -> ShapeError:
        InstanceNorm2d: `input` of shape \(2, 4, 2, 2\) has 4 channels, but the
    """,
    globals(),
)


# ---- SyncBatchNorm -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plain", "shape"),
    [
        (nn.BatchNorm1d, (6, 4)),
        (nn.BatchNorm1d, (6, 4, 3)),
        (nn.BatchNorm2d, (6, 4, 3, 2)),
        (nn.BatchNorm3d, (6, 4, 3, 2, 2)),
    ],
)
def test_in_one_process_sync_batch_norm_is_batch_norm(plain, shape):
    expected, sync = plain(4), nn.SyncBatchNorm(4)
    x = leaf(*shape).float()
    for _ in range(2):
        assert ac.equal(sync(x), expected(x))
    assert ac.equal(sync.eval()(x), expected.eval()(x))
    assert list(sync.state_dict()) == list(expected.state_dict())


def test_convert_sync_batchnorm_takes_over_tensors_and_settings():
    inner = nn.BatchNorm2d(4, momentum=None, bias=False)
    net = nn.Sequential(nn.Conv2d(3, 4, 1), nn.Sequential(inner), nn.InstanceNorm2d(4))
    state = net.state_dict()
    net.eval()
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert converted is net
    sync = net[1][0]
    assert type(sync) is nn.SyncBatchNorm
    assert (sync.momentum, sync.bias, sync.training) == (None, None, False)
    assert sync.weight is inner.weight
    assert sync.running_var is inner.running_var
    assert list(net.state_dict()) == list(state)
    assert type(net[2]) is nn.InstanceNorm2d
    assert nn.SyncBatchNorm.convert_sync_batchnorm(sync) is sync
    alone = nn.BatchNorm1d(3, affine=False, track_running_stats=False, eps=0.5)
    made = nn.SyncBatchNorm.convert_sync_batchnorm(alone)
    assert (made.eps, made.weight, made.running_mean) == (0.5, None, None)


def test_what_sync_batch_norm_does_not_take():
    with pytest.raises(ArgumentError, match="SyncBatchNorm: there is no group; call"):
        nn.SyncBatchNorm(3, process_group=1)
    convert = nn.SyncBatchNorm.convert_sync_batchnorm
    with pytest.raises(ArgumentError, match="convert_sync_batchnorm: there is no"):
        convert(nn.BatchNorm1d(3), 1)
    with pytest.raises(
        DTypeError, match="convert_sync_batchnorm: `module` is 3; it mu"
    ):
        convert(3)
    with pytest.raises(ArgumentError, match="a LazyBatchNorm1d has no parameters yet"):
        convert(nn.Sequential(nn.LazyBatchNorm1d()))
    with pytest.raises(ShapeError, match=r"SyncBatchNorm: `input` has shape \(3,\)"):
        nn.SyncBatchNorm(3)(ac.ones(3))
