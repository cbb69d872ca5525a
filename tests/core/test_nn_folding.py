# SPDX-License-Identifier: MIT
"""A norm that is folded into the convolution before it."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn.utils import (
    conv_norm_relu,
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)


def pair(channels=8, *, bias=True, dims=2):
    """Return a convolution and a norm that has seen batches, both after eval."""
    ac.manual_seed(3)
    conv_kind, norm_kind = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d))[
        dims - 1
    ]
    conv, norm = conv_kind(3, channels, 3, bias=bias), norm_kind(channels)
    for param in norm.parameters():
        nn.init.uniform_(param, 0.5, 2)
    for _ in range(3):
        norm(conv(2 * images(dims=dims) + 1))
    return conv.eval(), norm.eval()


def images(batch=4, *, dims=2):
    return ac.randn(batch, 3, *(9,) * dims)


def kernels_of(function):
    """Return the kernels that ran, and the result."""
    with ac.kernels.count() as calls, ac.no_grad():
        out = function()
    return {name for name, _ in calls}, out


def same(one, two):
    np.testing.assert_allclose(
        one.detach().numpy(), two.detach().numpy(), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("bias", [True, False])
def test_one_convolution_gives_what_both_give(dims, bias):
    conv, norm = pair(bias=bias, dims=dims)
    x = images(dims=dims)
    same(fuse_conv_bn_eval(conv, norm)(x), norm(conv(x)))


def test_fusing_changes_neither_module_and_is_not_changed_by_them():
    conv, norm = pair()
    x, before = images(), conv.weight.tolist()
    fused = fuse_conv_bn_eval(conv, norm)
    out = fused(x)
    assert conv.weight.tolist() == before
    assert fused.weight.requires_grad
    with ac.no_grad():
        norm.running_mean.add_(1)
    same(fused(x), out)


@pytest.mark.parametrize("shortcut", [True, False])
def test_norm_sum_and_relu_are_one_kernel_after_the_convolution(shortcut):
    conv, norm = pair()
    x = images()
    residual = ac.randn(4, 8, 7, 7) if shortcut else None
    kept = None if residual is None else residual.tolist()
    names, out = kernels_of(lambda: conv_norm_relu(conv, norm, x, residual))
    assert names - {"fill", "copy"} == {"conv", "batch_norm_running"}
    y = norm(conv(x))
    same(out, (y if residual is None else y + residual).relu())
    assert (None if residual is None else residual.tolist()) == kept


def test_a_residual_of_another_shape_is_refused_here_too():
    conv, norm = pair()
    x, one = images(), ac.ones(1)
    with ac.no_grad(), pytest.raises(ShapeError, match=r"`residual` has shape \(1,\)"):
        conv_norm_relu(conv, norm, x, one)


def test_what_cannot_be_fused_is_named():
    conv, norm = pair()
    with pytest.raises(ArgumentError, match="got Linear with `transpose`=False; give"):
        fuse_conv_bn_eval(nn.Linear(3, 8), norm)
    with pytest.raises(
        ArgumentError, match="got Conv2d with `transpose`=True; give a t"
    ):
        fuse_conv_bn_eval(conv, norm, transpose=True)
    with pytest.raises(
        ArgumentError, match="fuse_conv_bn_eval: got ReLU; give the bat"
    ):
        fuse_conv_bn_eval(conv, nn.ReLU())
    with pytest.raises(ArgumentError, match="of 8 outputs with training=False, and"):
        fuse_conv_bn_eval(conv, nn.BatchNorm2d(4).eval())
    with pytest.raises(ArgumentError, match="norm of 8 with training=True"):
        fuse_conv_bn_eval(conv, nn.BatchNorm2d(8))
    none = nn.BatchNorm2d(8, track_running_stats=False).eval()
    with pytest.raises(ArgumentError, match=r"stats=False\. Both must be in e"):
        fuse_conv_bn_eval(conv, none)
    with pytest.raises(
        ArgumentError, match="fuse_linear_bn_eval: got Conv2d; give a L"
    ):
        fuse_linear_bn_eval(conv, norm)
    with pytest.raises(
        ArgumentError, match="a Linear of 4 outputs with training=False,"
    ):
        fuse_linear_bn_eval(nn.Linear(2, 4).eval(), norm)


def test_weights_that_cannot_be_fused_are_named():
    w, one, row = ac.ones(2, 3, 1), ac.ones(1), ac.ones(2)
    with pytest.raises(
        ShapeError, match=r"`conv_w` of shape \(2, 3, 1\) has 2 outputs"
    ):
        fuse_conv_bn_weights(w, None, one, row, 0.1, None, None)
    with pytest.raises(ShapeError, match="has 3 outputs, but a tensor has shape"):
        fuse_conv_bn_weights(w, None, row, row, 0.1, None, None, transpose=True)
    with pytest.raises(
        ShapeError, match=r"`linear_w` has shape \(2,\); it needs 2 dim"
    ):
        fuse_linear_bn_weights(row, None, row, row, 0.1, row, row)
    with pytest.raises(ShapeError, match=r"outputs, but a tensor has shape \(1,\);"):
        fuse_linear_bn_weights(w[..., 0], one, row, row, 0.1, row, row)
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        fuse_linear_bn_weights(w[..., 0].long(), None, row, row, 0.1, row, row)
    with pytest.raises(DTypeError, match="fuse_conv_bn_weights: `bn_eps` is 'x'"):
        fuse_conv_bn_weights(w, None, row, row, "x", None, None)
    with pytest.raises(ArgumentError, match="fuse_conv_bn_weights: `transpose` is 3"):
        fuse_conv_bn_weights(w, None, row, row, 0.1, None, None, transpose=3)
    with pytest.raises(DTypeError, match="needs a Tensor, not NoneType"):
        fuse_conv_bn_weights(w, None, None, row, 0.1, None, None)


def norm_of(norm):
    """Return a norm that has seen batches, after eval, with drawn parameters."""
    ac.manual_seed(5)
    nn.init.uniform_(norm.running_mean, -1, 1)
    nn.init.uniform_(norm.running_var, 0.5, 2)
    for param in norm.parameters():
        nn.init.uniform_(param, 0.5, 2)
    return norm.double().eval()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("layer", "norm", "shape"),
    [
        (nn.Conv3d, nn.BatchNorm3d, (2, 3, 4, 4, 4)),
        (nn.ConvTranspose1d, nn.BatchNorm1d, (2, 3, 5)),
        (nn.ConvTranspose2d, nn.SyncBatchNorm, (2, 3, 5, 4)),
    ],
)
def test_other_convolutions_are_fused_too(layer, norm, shape, bias):
    conv = layer(3, 4, 2, bias=bias).double().eval()
    norm, x = norm_of(norm(4)), ac.randn(shape, dtype=ac.float64)
    fused = fuse_conv_bn_eval(conv, norm, transpose=layer is not nn.Conv3d)
    np.testing.assert_allclose(*(y.detach() for y in (fused(x), norm(conv(x)))), 1e-12)
    assert type(fused) is layer


def test_the_outputs_of_a_transposed_convolution_with_groups_are_not_in_one_dimension():
    conv = nn.ConvTranspose1d(4, 4, 2, groups=2).eval()
    with pytest.raises(ShapeError, match="has 2 outputs, but a tensor has shape"):
        fuse_conv_bn_eval(conv, nn.BatchNorm1d(4).eval(), transpose=True)


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_and_its_norm_become_one(bias):
    linear = nn.Linear(3, 4, bias=bias, dtype=ac.float64).eval()
    x = ac.randn(5, 3, dtype=ac.float64)
    norm = norm_of(nn.BatchNorm1d(4))
    fused = fuse_linear_bn_eval(linear, norm)
    np.testing.assert_allclose(
        *(y.detach() for y in (fused(x), norm(linear(x)))), 1e-12
    )
    assert fused.weight.requires_grad
    assert fused.bias.requires_grad is bias  # a bias that was none was not trained
    one = norm_of(nn.BatchNorm1d(1))
    lines = linear(x).reshape(5, 1, 4)  # the channel of all outputs
    fused = fuse_linear_bn_eval(linear, one)
    np.testing.assert_allclose(
        *(y.detach() for y in (fused(x), one(lines)[:, 0])), 1e-12
    )


def test_models_give_the_same_with_and_without_gradients():
    ac.manual_seed(0)
    for model, x in (
        (ac.models.ResNet(widths=(8, 16)), ac.randn(4, 1, 28, 28)),
        (ac.models.ResNet18(num_classes=4), ac.randn(2, 3, 32, 32)),
    ):
        model(x)
        model.eval()
        with ac.no_grad():
            out = model(x)
        same(out, model(x))
