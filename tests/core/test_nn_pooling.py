# SPDX-License-Identifier: MIT
"""Pooling: values by the definition, layers, errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn

F = nn.functional


def leaf(*shape, seed=0):
    """Values of which no two are nearer than a step of differences."""
    n = int(np.prod(shape))
    values = np.random.default_rng(seed).permutation(np.linspace(-2, 2, n))
    return ac.tensor(values.reshape(shape), requires_grad=True)


def windows_of(x, kernel, stride, padding, dilation, ceil):
    """Return for each output (row, column) the elements of its window by place."""
    rows = []
    for n, k, s, p, d in zip(x.shape, kernel, stride, padding, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil else room // s) + 1
        starts = [i * s - p for i in range(count) if not ceil or i * s - p < n]
        rows.append([[i + j * d for j in range(k)] for i in starts])
    return [[list(itertools.product(h, w)) for w in rows[1]] for h in rows[0]]


def inside(place, shape):
    return all(0 <= i < n for i, n in zip(place, shape, strict=True))


WINDOWS = [
    ((2, 2), (2, 2), (0, 0), (1, 1), False),
    ((3, 2), (2, 1), (1, 1), (1, 2), False),
    ((3, 3), (2, 3), (1, 0), (2, 1), True),
    ((2, 2), (3, 2), (0, 1), (1, 1), True),
]


@pytest.mark.parametrize("lie", WINDOWS, ids=str)
def test_the_largest_by_its_definition(lie):
    x = np.random.default_rng(0).normal(size=(6, 7))
    expected = [
        [max((x[i], i) for i in window if inside(i, x.shape)) for window in row]
        for row in windows_of(x, *lie)
    ]
    out, indices = F.max_pool2d(ac.tensor(x[None]), *lie, return_indices=True)
    assert out[0].tolist() == [[v for v, _ in row] for row in expected]
    assert indices[0].tolist() == [[i * 7 + j for _, (i, j) in r] for r in expected]


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("lie", WINDOWS, ids=str)
def test_the_mean_by_its_definition(lie, include):
    kernel, stride, padding, _, ceil = lie
    x = np.random.default_rng(0).normal(size=(6, 7))
    far = [n + p for n, p in zip(x.shape, padding, strict=True)]

    def mean(window):
        there = [x[i] for i in window if inside(i, x.shape)]
        padded = [i for i in window if all(a < b for a, b in zip(i, far, strict=True))]
        return sum(there) / (len(padded) if include else len(there))

    each = windows_of(x, kernel, stride, padding, (1, 1), ceil)
    expected = [[mean(window) for window in row] for row in each]
    x = ac.tensor(x[None])
    out = F.avg_pool2d(x, kernel, stride, padding, ceil, include)
    np.testing.assert_allclose(out[0].numpy(), expected, rtol=1e-12)
    out = F.avg_pool2d(x, kernel, stride, padding, ceil, include, divisor_override=-2)
    ones = F.avg_pool2d(x, kernel, stride, padding, ceil, divisor_override=1)
    np.testing.assert_allclose(out.numpy(), ones.numpy() / -2, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 7), (4, 3), (9, 2), (None, 5)])
def test_boxes_by_their_definition(sizes):
    x = np.random.default_rng(0).normal(size=(2, 3, 6, 7))
    rows, columns = (
        [slice(i * n // s, -(-(i + 1) * n // s)) for i in range(s)]
        for n, s in ((6, sizes[0] or 6), (7, sizes[1]))
    )
    boxes = [[x[:, :, h, w] for w in columns] for h in rows]
    means, largest = (
        np.array([[f(box, (2, 3)) for box in row] for row in boxes]).transpose(
            2, 3, 0, 1
        )
        for f in (np.mean, np.max)
    )
    out = F.adaptive_avg_pool2d(ac.tensor(x), sizes)
    np.testing.assert_allclose(out.numpy(), means, rtol=1e-12)
    out, indices = F.adaptive_max_pool2d(ac.tensor(x), sizes, return_indices=True)
    np.testing.assert_array_equal(out.numpy(), largest)
    flat = ac.tensor(x).flatten(2).gather(2, indices.flatten(2))
    np.testing.assert_array_equal(flat.numpy(), largest.reshape(2, 3, -1))


def test_one_dimension_and_no_batch():
    x = ac.tensor([[3.0, 1.0, 4.0, 1.0, 5.0]])
    assert F.max_pool1d(x, 2, 1).tolist() == [[3, 4, 4, 5]]
    assert F.max_pool1d(x, 3, 2, 1).tolist() == [[3, 4, 5]]
    assert F.max_pool1d(x, 2, return_indices=True)[1].tolist() == [[0, 2]]
    assert F.avg_pool1d(x, 2, ceil_mode=True).tolist() == [[2, 2.5, 5]]
    assert F.adaptive_max_pool1d(x, 2).tolist() == [[4, 5]]
    assert F.adaptive_avg_pool1d(x, 5).tolist() == x.tolist()


def test_nan_is_the_largest_and_equals_go_to_the_first():
    nan = float("nan")
    x = ac.tensor([[1.0, nan, 2.0, 2.0, -float("inf"), -float("inf")]])
    out, indices = F.max_pool1d(x, 2, return_indices=True)
    assert str(out.tolist()) == "[[nan, 2.0, -inf]]"
    assert indices.tolist() == [[1, 2, 4]]
    # Elements outside are smaller than -inf.
    x = ac.full((1, 2), -float("inf"))
    assert F.max_pool1d(x, 2, 2, 1, return_indices=True)[1].tolist() == [[0, 1]]


def test_sizes_that_divide_evenly_take_the_kernels_of_windows():
    with ac.kernels.use("reference", only=True), ac.kernels.count() as calls:
        F.adaptive_avg_pool2d(ac.ones(1, 2, 6, 4), (3, 2))
        F.adaptive_max_pool2d(ac.ones(1, 2, 6, 4), (3, 4))
        F.adaptive_avg_pool2d(ac.ones(1, 2, 6, 4), 1)
    assert {name for name, _ in calls} == {"fill", "avg_pool", "max_pool", "mean"}


LAYERS = {
    "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)": (
        nn.MaxPool1d(2)
    ),
    "MaxPool2d(kernel_size=3, stride=(2, 1), padding=1, dilation=1, ceil_mode=True)": (
        nn.MaxPool2d(3, (2, 1), 1, ceil_mode=True)
    ),
    "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))": nn.AvgPool1d(2),
    "AvgPool2d(kernel_size=(2, 3), stride=1, padding=0)": nn.AvgPool2d((2, 3), 1),
    "AdaptiveAvgPool1d(output_size=3)": nn.AdaptiveAvgPool1d(3),
    "AdaptiveAvgPool2d(output_size=(3, None))": nn.AdaptiveAvgPool2d((3, None)),
    "AdaptiveMaxPool1d(output_size=3)": nn.AdaptiveMaxPool1d(3),
    "AdaptiveMaxPool2d(output_size=(2, 3))": nn.AdaptiveMaxPool2d((2, 3)),
}


@pytest.mark.parametrize("text", LAYERS)
def test_layers(text):
    layer = LAYERS[text]
    assert repr(layer) == text
    assert not layer.state_dict()
    dims = int(text[text.index("(") - 2])
    assert layer(ac.ones(2, 3, *[6] * dims)).ndim == 2 + dims
    if "Max" in text:
        layer.return_indices = True
        assert layer(ac.ones(3, *[6] * dims))[1].dtype is ac.int64


test_what_does_not_fit_is_an_error = refusals(
    r"""
    F.max_pool2d(ac.ones(3, 3), 2) -> ShapeError: max_pool2d: `input` has shape \(3,
        3\); it must be \(N, C, H, W\) or
    F.max_pool1d(ac.ones(3, 3), 2, padding=2) -> ShapeError: max_pool: `padding` is
        \(2,\); it must be at most \(1,\): the pad should be at
    F.avg_pool1d(ac.ones(3, 3), 4) -> ShapeError: avg_pool: a window of \(4,\) does not
        fit into the input of size \(3,\),
    F.avg_pool1d(ac.ones(3, 3), 0) -> ArgumentError: avg_pool1d: `kernel_size` is 0; it
        must be an integer, 1 or more
    F.avg_pool2d(ac.ones(1, 3, 3), 2, divisor_override=0) -> ArgumentError: avg_pool2d:
        `divisor_override` is 0; it must be an integer other than 0
    F.max_pool1d(ac.ones(3, 3), 2, ceil_mode=1) -> ArgumentError: max_pool1d:
        `ceil_mode` is 1; it must be True or False
    F.avg_pool1d(ac.ones(3, 3, dtype=ac.int64), 2) -> DTypeError: avg_pool1d: needs
        float32 or float64, not int64: it is not implemented
    F.adaptive_avg_pool2d(ac.ones(1, 0, 0), 2) -> ShapeError: adaptive_avg_pool: the
        input size is \(0, 0\) and the output size is \(2,
    F.adaptive_max_pool2d(ac.ones(1, 3, 3), (2, 2, 2)) -> ArgumentError:
        adaptive_max_pool2d: `output_size` is \(2, 2, 2\); it must be an integer or
    nn.MaxPool2d(2, padding=-1) -> ArgumentError: MaxPool2d: `padding` is -1; it must be
        an integer or 2 of them, 0 or more
    """,
    globals(),
)
