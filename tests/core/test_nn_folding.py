# SPDX-License-Identifier: MIT
"""A norm that is folded into the convolution before it."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn.utils import conv_norm_relu, fuse_conv_bn_eval


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
def test_norm_sum_and_relu_leave_one_convolution_and_what_is_in_place(shortcut):
    conv, norm = pair()
    x = images()
    residual = ac.randn(4, 8, 7, 7) if shortcut else None
    kept = None if residual is None else residual.tolist()
    names, out = kernels_of(lambda: conv_norm_relu(conv, norm, x, residual))
    assert not {name for name in names if name.startswith("batch_norm")}
    assert "sub" not in names
    same(out, norm.relu(conv(x), residual))
    assert (None if residual is None else residual.tolist()) == kept


def test_a_chain_folds_by_itself():
    conv, norm = pair()
    x = images()
    for behind in ([], [nn.ReLU()], [nn.Tanh()], [nn.Conv2d(8, 2, 1)]):
        chain = nn.Sequential(conv, norm, *behind).eval()
        _, out = kernels_of(lambda chain=chain: chain(x))
        same(out, nn.Sequential(*behind)(norm(conv(x))))
    assert "sub" not in kernels_of(lambda: nn.Sequential(conv, norm)(x))[0]


def folded(function):
    """Tell whether the weight was scaled: then a norm takes no pass of its own."""
    shapes = []
    original = nn.Conv2d.convolved

    def seen(self, input, weight, bias):
        shapes.append(weight is not self.weight)
        return original(self, input, weight, bias)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nn.Conv2d, "convolved", seen)
        function()
    return shapes == [True]


def test_what_keeps_a_norm_from_being_folded():
    conv, norm = pair()
    x, chain = images(), nn.Sequential(conv, norm)
    assert not folded(lambda: chain(x))  # gradients are recorded
    with ac.no_grad():
        assert folded(lambda: chain(x))
        assert not folded(lambda: chain(images(batch=1)[:, :, :3, :3]))  # 27 < 216
        norm.train()
        assert not folded(lambda: chain(x))
        norm.eval().register_forward_hook(lambda *args: None)
        assert not folded(lambda: chain(x))
        batch = nn.BatchNorm2d(8, track_running_stats=False).eval()
        assert not folded(lambda: nn.Sequential(conv, batch)(x))


def test_a_residual_of_another_shape_is_refused_here_too():
    conv, norm = pair()
    x, one = images(), ac.ones(1)
    with ac.no_grad(), pytest.raises(ShapeError, match=r"`residual` has shape \(1,\)"):
        conv_norm_relu(conv, norm, x, one)


def test_what_cannot_be_fused_is_named():
    conv, norm = pair()
    with pytest.raises(ArgumentError, match="got Linear and BatchNorm2d; give"):
        fuse_conv_bn_eval(nn.Linear(3, 8), norm)
    with pytest.raises(ArgumentError, match=r"of 8 channels, .* a norm of 4, training"):
        fuse_conv_bn_eval(conv, nn.BatchNorm2d(4).eval())
    with pytest.raises(ArgumentError, match=r"norm of 8, training=True"):
        fuse_conv_bn_eval(conv, nn.BatchNorm2d(8))
    none = nn.BatchNorm2d(8, track_running_stats=False).eval()
    with pytest.raises(ArgumentError, match="track_running_stats=False; both must"):
        fuse_conv_bn_eval(conv, none)


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
