# SPDX-License-Identifier: MIT
"""Convolutions, pooling and norms of volumes: formulas and derivatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ShapeError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)


def leaf(*shape):
    return ac.tensor(RNG.standard_normal(shape), requires_grad=True)


GEOMETRIES = [
    ((1, 1, 1), (0, 0, 0), (1, 1, 1), 1),
    ((2, 1, 1), (1, 0, 1), (1, 2, 1), 2),
    ((1, 2, 3), (2, 1, 0), (2, 1, 1), 4),
]


def windows(x, kernel, stride, dilation):
    """Yield the place of each window and its elements, [N, C, *kernel]."""
    counts = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)
    ]
    for place in np.ndindex(*counts):
        cuts = [
            slice(p * s, p * s + d * (k - 1) + 1, d)
            for p, s, d, k in zip(place, stride, dilation, kernel, strict=True)
        ]
        yield place, x[(..., *cuts)]


def convolved(x, weight, bias, stride, padding, dilation, groups):
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    outs, ins, *kernel = weight.shape
    out = {}
    for place, window in windows(x, kernel, stride, dilation):
        parts = window.reshape(len(x), groups, ins, *kernel)
        filters = weight.reshape(groups, outs // groups, ins, *kernel)
        out[place] = np.einsum("ngcijk,gocijk->ngo", parts, filters).reshape(-1, outs)
    counts = [max(place[d] for place in out) + 1 for d in range(3)]
    whole = np.stack([out[place] for place in np.ndindex(*counts)], -1)
    return whole.reshape(len(x), outs, *counts) + bias[:, None, None, None]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_conv3d_is_the_formula(geometry):
    groups = geometry[-1]
    x, weight, bias = leaf(2, 4, 5, 6, 7), leaf(8, 4 // groups, 3, 2, 3), leaf(8)
    arrays = [t.detach().numpy() for t in (x, weight, bias)]
    out = F.conv3d(x, weight, bias, *geometry)
    expected = convolved(*arrays, *geometry)
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-11)
    lone = F.conv3d(x[1], weight, bias, *geometry)
    np.testing.assert_allclose(lone.detach().numpy(), expected[1], rtol=1e-11)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_the_transposed_convolution_is_the_gradient_of_the_input(geometry):
    stride, padding, dilation, groups = geometry
    x, weight = leaf(1, 4, 7, 6, 7), leaf(8, 4 // groups, 3, 2, 3)
    out = F.conv3d(x, weight, None, *geometry)
    g = leaf(*out.shape)
    (expected,) = ac.autograd.grad(out, x, g)
    plain = F.conv_transpose3d(g, weight, None, stride, padding, 0, groups, dilation)
    extra = tuple(n - m for n, m in zip((7, 6, 7), plain.shape[2:], strict=True))
    whole = F.conv_transpose3d(
        g, weight, None, stride, padding, extra, groups, dilation
    )
    np.testing.assert_allclose(whole.detach().numpy(), expected.numpy(), rtol=1e-11)


POOLS = {
    "whole": {"kernel_size": 2},
    "padded": {"kernel_size": (3, 2, 3), "stride": 2, "padding": (1, 0, 1)},
    "over the end": {"kernel_size": (2, 3, 2), "stride": (2, 2, 1), "ceil_mode": True},
}


@pytest.mark.parametrize("options", POOLS.values(), ids=list(POOLS))
def test_max_pool3d_says_where_its_values_are(options):
    x = leaf(2, 3, 5, 7, 6)
    out, places = F.max_pool3d(x, **options, return_indices=True)
    flat = x.detach().reshape(2, 3, -1).numpy()
    found = np.take_along_axis(flat, places.reshape(2, 3, -1).numpy(), 2)
    np.testing.assert_array_equal(found, out.detach().reshape(2, 3, -1).numpy())


def test_max_pool3d_is_the_largest_of_each_window():
    x = np.round(RNG.standard_normal((2, 3, 4, 6, 6)))
    out, places = F.max_pool3d(ac.tensor(x), 2, return_indices=True)
    index = np.arange(4 * 6 * 6).reshape(4, 6, 6)
    two = (2, 2, 2)
    for (place, window), (_, where) in zip(
        windows(x, two, two, (1, 1, 1)),
        windows(index[None, None], two, two, (1, 1, 1)),
        strict=True,
    ):
        assert np.array_equal(out.numpy()[(..., *place)], window.max((2, 3, 4)))
        first = window.reshape(2, 3, -1).argmax(-1)  # of equals the first
        assert np.array_equal(places.numpy()[(..., *place)], where.ravel()[first])


@pytest.mark.parametrize("options", POOLS.values(), ids=list(POOLS))
@pytest.mark.parametrize("divisor", [None, 3])
@pytest.mark.parametrize("counted", [True, False])
def test_avg_pool3d_is_avg_pool2d_of_planes_and_then_of_depth(
    options, divisor, counted
):
    x = leaf(2, 3, 5, 7, 6)
    kernel, *others = (
        given if isinstance(given, tuple) else (given,) * 3
        for given in (
            options["kernel_size"],
            options.get("stride", options["kernel_size"]),
            options.get("padding", 0),
        )
    )
    stride, padding = others
    ceil = options.get("ceil_mode", False)
    out = F.avg_pool3d(
        x, **options, count_include_pad=counted, divisor_override=divisor
    )
    planes = F.avg_pool2d(
        x.reshape(2, 15, 7, 6), kernel[1:], stride[1:], padding[1:], ceil,
        counted, divisor and 1,
    )  # fmt: skip
    n, _, h, w = planes.shape
    lines = F.avg_pool2d(
        planes.reshape(n, 3, 5, h * w), (kernel[0], 1), (stride[0], 1),
        (padding[0], 0), ceil, counted, divisor,
    )  # fmt: skip
    expected = lines.reshape(out.shape).detach().numpy()
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, (2, 3, 2), (None, 2, 3)])
def test_adaptive_pooling_takes_boxes(size):
    x = leaf(2, 3, 4, 6, 5)
    means, largest = F.adaptive_avg_pool3d(x, size), F.adaptive_max_pool3d(x, size)
    sizes = means.shape[2:]
    assert largest.shape == means.shape
    values = x.detach().numpy()
    for place in itertools.product(*map(range, sizes)):
        box = (
            slice(i * n // s, -(-(i + 1) * n // s))
            for i, n, s in zip(place, (4, 6, 5), sizes, strict=True)
        )
        window = values[(..., *box)]
        np.testing.assert_allclose(
            means.detach().numpy()[(..., *place)], window.mean((2, 3, 4)), rtol=1e-12
        )
        assert np.array_equal(
            largest.detach().numpy()[(..., *place)], window.max((2, 3, 4))
        )


@pytest.mark.parametrize("kind", [nn.BatchNorm3d, nn.InstanceNorm3d])
def test_norms_are_those_of_images_of_one_long_side(kind):
    flat = {nn.BatchNorm3d: nn.BatchNorm2d, nn.InstanceNorm3d: nn.InstanceNorm2d}[kind]
    x = ac.randn(3, 4, 2, 5, 6)
    out, expected = kind(4)(x), flat(4)(x.reshape(3, 4, 10, 6))
    np.testing.assert_array_equal(
        out.detach().numpy(), expected.reshape(x.shape).detach().numpy()
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: F.conv3d(ac.ones(3, 3), ac.ones(1, 1, 2, 2, 2)),
            r"conv3d: `input` has shape \(3, 3\); it must be \(N, C, D, H, W\) or",
        ),
        (
            lambda: F.max_pool3d(ac.ones(1, 1, 2, 2, 2), 3),
            r"max_pool: a window of \(3, 3, 3\) does not fit into the input of size",
        ),
        (
            lambda: nn.BatchNorm3d(2)(ac.ones(1, 2, 3, 3)),
            r"BatchNorm3d: `input` has shape .*; it must be \(N, C, D, H, W\)\.",
        ),
    ],
)
def test_errors_name_what_was_given(call, text):
    with pytest.raises(ShapeError, match=text):
        call()


def test_a_network_of_videos_learns_to_tell_motion_to_the_left_from_the_right():
    ac.manual_seed(0)
    net = nn.Sequential(
        nn.Conv3d(1, 4, 3, padding=1),
        nn.BatchNorm3d(4),
        nn.ReLU(),
        nn.MaxPool3d((1, 2, 2)),
        nn.Conv3d(4, 4, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    )
    videos = np.zeros((16, 1, 4, 8, 8), np.float32)
    labels = np.arange(16) % 2
    for n, label in enumerate(labels):
        for t in range(4):
            videos[n, 0, t, n % 8, (2 + t if label else 5 - t)] = 1
    x, y = ac.tensor(videos), ac.tensor(labels)
    optimizer = ac.optim.Adam(net.parameters(), lr=0.03)
    for _ in range(60):
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
    assert (net(x).argmax(1) == y).float().mean().item() == 1.0
