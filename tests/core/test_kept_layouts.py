# SPDX-License-Identifier: MIT
"""Results whose memory has the order of what they are made of."""

from __future__ import annotations

import copy

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

PERMUTED = {
    "matrix": lambda: ac.arange(20.0).view(5, 4).permute(1, 0),
    "3-d": lambda: ac.arange(24.0).view(2, 3, 4).permute(2, 0, 1),
    "4-d": lambda: ac.arange(120.0).view(2, 3, 4, 5).permute(3, 0, 1, 2),
    "every other": lambda: ac.arange(40.0).view(10, 4)[::2].permute(1, 0),
    "channels-last": lambda: ac.arange(120.0).view(2, 4, 5, 3).permute(0, 3, 1, 2),
}
COPIES = {
    "clone": ac.clone,
    "empty_like": ac.empty_like,
    "zeros_like": ac.zeros_like,
    "rand_like": ac.rand_like,
    "float64": lambda x: ac.ones_like(x, dtype=ac.float64),
    "deepcopy": copy.deepcopy,
}


def order(x):
    return sorted(range(x.ndim), key=lambda d: -x.stride(d))


@pytest.mark.parametrize("shape", PERMUTED)
@pytest.mark.parametrize("name", COPIES)
def test_a_copy_keeps_the_order_of_permuted_dimensions(shape, name):
    x = PERMUTED[shape]()
    y = COPIES[name](x)
    assert y.shape == x.shape
    assert order(y) == order(x)
    if name in {"clone", "deepcopy"}:
        assert y.equal(x)


@pytest.mark.parametrize("shape", PERMUTED)
def test_a_copy_in_rows_where_that_is_asked_for(shape):
    x = PERMUTED[shape]()
    for y in (
        x.contiguous(),
        x.clone(memory_format=ac.contiguous_format),
        ac.empty_like(x, memory_format=ac.contiguous_format),
    ):
        assert y.is_contiguous()


def test_repeated_elements_are_copied_in_rows():
    assert ac.ones(4, 1).expand(4, 3).clone().stride() == (3, 1)
    assert ac.ones(3).expand(4, 3).clone().stride() == (3, 1)


#: The strides that PyTorch 2.13 gives.
STACKED = {
    0: (120, 60, 1, 15, 3),
    1: (120, 3, 1, 30, 6),
    2: (120, 1, 60, 15, 3),
    3: (120, 1, 30, 15, 3),
    4: (120, 40, 10, 2, 1),
}


@pytest.mark.parametrize("dim", STACKED)
def test_images_that_are_stacked(dim):
    x, y = (ac.randn(2, 3, 4, 5).to(memory_format=ac.channels_last) for _ in range(2))
    made = ac.stack([x, y], dim)
    assert made.equal(ac.stack([x.contiguous(), y.contiguous()], dim))
    assert made.stride() == STACKED[dim]
    assert ac.stack([x, y.contiguous()], dim).is_contiguous()
    x.requires_grad_()
    (g,) = ac.autograd.grad((ac.stack([x, y], dim) * made).sum(), x)
    assert g.equal(x.detach())


@pytest.mark.parametrize("shape", PERMUTED)
def test_the_gradient_of_a_leaf_lies_like_the_leaf(shape):
    x = PERMUTED[shape]()
    dense = x.clone().requires_grad_()
    (dense * 2).sum().backward()
    assert dense.grad.stride() == dense.stride()
    (dense * 3).sum().backward()
    handle = dense.register_hook(lambda g: g * 2)
    (dense * 4).sum().backward()
    handle.remove()
    assert dense.grad.stride() == dense.stride()
    assert (dense.grad == 13).all()
    rows = x.contiguous().requires_grad_()
    ac.nn.functional.relu(rows.permute(*order(x)) + 1).sum().backward()
    assert rows.grad.is_contiguous()


def test_a_leaf_with_gaps_has_its_gradient_in_rows():
    x = ac.randn(2, 3, 8, 8)[:, :, ::2].requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.is_contiguous()


def test_a_recorded_step_on_a_leaf_in_another_order():
    w = nn.Parameter(ac.randn(5, 4).t())

    @ac.compile
    def step(x):
        w.grad = None
        loss = (x @ w).sum()
        loss.backward()
        return loss

    x = ac.randn(3, 4)
    found = [step(x).item() for _ in range(3)]
    assert len(set(found)) == 1
    assert ac.allclose(w.grad, x.sum(0)[:, None].expand(4, 5))


@pytest.mark.parametrize("shape", PERMUTED)
def test_the_gradient_of_a_clone(shape):
    x = PERMUTED[shape]().requires_grad_()
    y = x.clone()
    y.mul_(2)
    (y * y).sum().backward()
    assert x.grad.equal(8 * x.detach())


IMAGES = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "group_norm": lambda x: F.group_norm(x, 2),
    "affine": lambda x: F.group_norm(x, 2, ac.ones(4), ac.ones(4)),
    "pixel_shuffle": lambda x: F.pixel_shuffle(ac.cat([x, x], 1), 2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "constant": lambda x: F.pad(x, (1, 2, 0, 1), value=3.0),
    "reflect": lambda x: F.pad(x, (1, 2, 0, 1), mode="reflect"),
    "no border": lambda x: F.pad(x, (0, 0, 0, 0), mode="reflect"),
    "cut": lambda x: F.pad(x, (-1, 0)),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 3),
    "cat": lambda x: ac.cat([x, x], 1),
    "flip": lambda x: x.flip(2),
    "roll": lambda x: x.roll((1, 2), (2, 1)),
}


@pytest.mark.parametrize("name", IMAGES)
def test_channels_stay_last(name):
    rows = ac.arange(288.0).view(2, 4, 6, 6).div(100).requires_grad_()
    last = rows.detach().contiguous(memory_format=ac.channels_last).requires_grad_()
    results = []
    for x in (rows, last, rows, last):  # as what is remembered of one is the other's
        ac.manual_seed(1)
        y = IMAGES[name](x)
        x.grad = None
        (y * y).sum().backward()
        results.append((y, x.grad))
    for (y, dy), (z, dz) in (results[:2], results[2:]):
        ac.testing.assert_close(y, z)
        ac.testing.assert_close(dy, dz)
        assert y.is_contiguous()
        assert z.is_contiguous(memory_format=ac.channels_last)


@pytest.mark.parametrize("factor", [0.5, 1.5, 2])
@pytest.mark.parametrize(
    ("shape", "mode", "settings"),
    [
        ((2, 9, 6, 4), "nearest", {}),
        ((2, 9, 6, 4), "nearest-exact", {}),
        ((2, 3, 6, 4), "bilinear", {"align_corners": True}),
        ((2, 9, 6, 4), "bilinear", {"antialias": True}),
        ((2, 9, 6, 4), "bicubic", {}),
        ((2, 9, 2, 6, 4), "nearest", {}),
        ((2, 3, 2, 6, 4), "trilinear", {}),
    ],
)
def test_resized_images_and_volumes_keep_channels_last(shape, mode, settings, factor):
    form = ac.channels_last if len(shape) == 4 else ac.channels_last_3d
    rows = ac.randn(*shape, dtype=ac.float64)
    last = rows.to(memory_format=form)
    settings = {**settings, "scale_factor": factor, "mode": mode}
    plain = F.interpolate(last, **settings)
    assert plain.is_contiguous(memory_format=form)
    found = []
    for x in (rows.requires_grad_(), last.requires_grad_()):
        y = F.interpolate(x, **settings)
        found.append((y, *ac.autograd.grad((y * y).sum(), x)))
    ac.testing.assert_close(plain, found[1][0].detach())
    for one, other in zip(*found, strict=True):
        ac.testing.assert_close(one, other)
        assert one.is_contiguous()
        assert other.is_contiguous(memory_format=form)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular", "constant"])
def test_no_border_is_new_memory(mode):
    x = ac.ones(1, 1, 2, 2, requires_grad=True)
    y = F.pad(x, (0, 0, 0, 0), mode=mode)
    with ac.no_grad():
        y.add_(1)
    assert x.equal(ac.ones(1, 1, 2, 2))
