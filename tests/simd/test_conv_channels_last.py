# SPDX-License-Identifier: MIT
"""Convolutions of images whose channels are neighbours in memory.

Kernels are called as they are, without the dispatcher: what is tested is that each of
them reads and writes this layout, in all its ways, and nothing else.
"""

import functools

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.oracle import expected as expected_of
from tests.oracle import limits_of
from tests.simd.products import SETS, needs_sets, same_bits_on_threads, subject_of

import autocalc as ac

pytestmark = needs_sets
GUARD = 64  # elements on either side of an output


def last(a):
    """Copy images to [image][row][column][channel], in the same logical shape."""
    guarded = np.full(a.size + 2 * GUARD, np.nan, a.dtype)
    n, c, *size = a.shape
    inside = np.moveaxis(guarded[GUARD : GUARD + a.size].reshape(n, *size, c), -1, 1)
    inside[...] = a
    return guarded, inside


def case(rng, ways):
    """Draw the sizes of a convolution: (name of its way, shapes, attributes)."""
    way = ways[int(rng.integers(len(ways)))]
    groups, ins, outs = 1, int(rng.integers(1, 36)), int(rng.integers(1, 70))
    kernel, stride, padding, dilation = (
        rng.integers(low, high, 2) for low, high in ((1, 5), (1, 4), (0, 4), (1, 4))
    )
    one = np.array([1, 1])
    if way == "pointwise":
        kernel, dilation = one, one
        stride, padding = (one, 0 * one) if rng.random() < 0.5 else (stride, 0 * one)
    elif way == "usual":
        kernel, padding, dilation = 3 * one, one, one
        stride = one * rng.integers(1, 3)
    elif way == "groups":
        groups = int(rng.integers(2, 5))
    elif way == "depthwise":
        groups, ins = outs * int(rng.integers(1, 4)), 1
        outs = int(rng.integers(1, 3))
        if rng.random() < 0.6:
            kernel, stride, dilation = one * rng.choice([3, 5]), one, one
            outs = 1
    elif way == "few":
        ins, dilation = int(rng.integers(1, 4)), one
    elif way == "small":
        kernel, padding, dilation = 3 * one, one, one
        ins, outs = int(rng.integers(60, 90)), int(rng.integers(150, 200))
        stride = one * rng.integers(1, 3)
    elif way == "many filters":
        kernel, padding, dilation = one, 0 * one, one
        ins, outs = int(rng.integers(256, 280)), int(rng.integers(256, 280))
    elif way == "sequence":
        kernel, stride, padding, dilation = (
            v[:1] for v in (kernel, stride, padding, dilation)
        )
    span = dilation * (kernel - 1) + 1
    most = 5 if way == "small" else 19
    size = np.maximum(1, span - 2 * padding)
    size = size + (most ** rng.random(len(span))).astype(int)
    counts = (size + 2 * padding - span) // stride + 1
    batch = int(rng.integers(1, 4))
    x, g = (batch, groups * ins, *size), (batch, groups * outs, *counts)
    weight = (groups * outs, ins, *kernel)
    how = tuple(tuple(int(n) for n in v) for v in (stride, padding, dilation))
    ints = [tuple(int(n) for n in shape) for shape in (x, g, weight)]
    return way, ints, (*how, groups)


def sample_of(name, rng, ways, dtype):
    """Draw a call: a sample with operands, whether x stays in planes, what to add."""
    way, (x, g, weight), how = case(rng, ways)

    def normal(*shape):
        return rng.standard_normal(shape).astype(dtype)

    def filters(*shape):
        order = "CFL"[int(rng.integers(3))]
        made = normal(*shape)
        return last(made)[1] if order == "L" else np.asarray(made, order=order)

    planes = way == "few" and rng.random() < 0.5
    add = int(rng.integers(0, 4))
    if name == "conv":
        bias = normal(weight[0]) if rng.random() < 0.5 else None
        return Sample("", (normal(*x), filters(*weight), bias), how), planes, 0
    if name == "conv_dx":
        bias = normal(x[1]) if rng.random() < 0.3 else None
        inputs = (normal(*g), filters(*weight), bias)
        return Sample("", inputs, (x[2:], *how)), False, add & 1
    inputs = (normal(*g), normal(*x))
    return Sample("", inputs, (weight[2:], *how), 0b11), planes, add


def run(subject, name, sample, planes, add, prior):
    """Call a kernel on images with neighbouring channels; return what it wrote."""
    images = {"conv": 1, "conv_dx": 1, "conv_dweight": 2}[name]
    inputs = [
        last(a)[1] if i < images and not (planes and i == images - 1) else a
        for i, a in enumerate(sample.inputs)
    ]
    places = [
        last(a) if name != "conv_dweight" else (np.empty(0), a.copy()) for a in prior
    ]
    attributes = (*sample.attributes, *(() if name == "conv" else (add,)))
    function = subject.kernels[name].function
    function(*(out for _, out in places), *inputs, *attributes)
    for guarded, _ in places:
        assert np.isnan(guarded[:GUARD]).all(), "written before the output"
        assert np.isnan(guarded[-GUARD:]).all(), "written after the output"
    return tuple(out for _, out in places)


def priors(spec, sample, dtype, rng):
    """Return what outputs hold before: numbers, to be added into or written over."""
    blank = expected_of(spec, sample, dtype)
    return tuple(rng.standard_normal(np.shape(a)).astype(dtype) for a in blank)


WAYS = (
    "any",
    "pointwise",
    "usual",
    "groups",
    "depthwise",
    "few",
    "small",
    "many filters",
    "sequence",
)


@pytest.mark.parametrize("name", ["conv", "conv_dx", "conv_dweight"])
def test_against_float64(name):
    spec = TABLE[name]
    rng = np.random.default_rng(30 + len(name))
    for i in range(90):
        dtype = np.dtype([np.float32, np.float64][i % 4 == 3])
        sample, planes, add = sample_of(name, rng, [WAYS[i % len(WAYS)]], dtype)
        prior = priors(spec, sample, dtype, rng)
        expected = expected_of(spec, sample, dtype, add, prior)
        limits = limits_of(spec, sample, dtype, expected)
        added = tuple(a if add >> j & 1 else None for j, a in enumerate(prior))
        for subject in map(subject_of, SETS):
            outs = run(subject, name, sample, planes, add, prior)
            subject.judge(spec, sample, dtype, outs, expected, added, limits=limits)


@pytest.mark.parametrize("name", ["conv", "conv_dx", "conv_dweight"])
def test_same_bits_for_any_number_of_threads(name):
    spec, dtype = TABLE[name], np.dtype(np.float32)
    rng = np.random.default_rng(31)
    calls = [sample_of(name, rng, [way], dtype) for way in WAYS]
    for call in [(*call, priors(spec, call[0], dtype, rng)) for call in calls]:
        same_bits_on_threads(lambda subject, call=call: run(subject, name, *call))


# Images of several bands in each task, and weights that do not fit a cache of 2 MiB.
LARGE = {
    "image": ((1, 40, 90, 80), (1, 70, 44, 40), (70, 40, 5, 3), (2, 2), (1, 2), (1, 2)),
    "weights": ((2, 260, 14, 15), (2, 240, 14, 15), (240, 260, 3, 3), *[(1, 1)] * 3),
}


@pytest.mark.parametrize("name", ["conv", "conv_dx", "conv_dweight"])
@pytest.mark.parametrize("large", LARGE)
def test_large(name, large):
    rng = np.random.default_rng(32)
    spec, dtype = TABLE[name], np.dtype(np.float32)
    x, g, weight, *lie = LARGE[large]
    how = (*lie, 1)
    normal = functools.partial(rng.standard_normal, dtype=dtype)
    inputs, attributes = {
        "conv": ((normal(x), normal(weight), normal(weight[0])), how),
        "conv_dx": ((normal(g), normal(weight), None), (x[2:], *how)),
        "conv_dweight": ((normal(g), normal(x)), (weight[2:], *how)),
    }[name]
    sample = Sample("", inputs, attributes, 0b01)
    prior = priors(spec, sample, dtype, rng)
    add = 0 if name == "conv" else 1
    expected = expected_of(spec, sample, dtype, add, prior)
    limits = limits_of(spec, sample, dtype, expected)
    added = prior if add else ()
    for subject in map(subject_of, SETS):
        outs = run(subject, name, sample, False, add, prior)
        subject.judge(spec, sample, dtype, outs, expected, added, limits=limits)


@pytest.mark.parametrize(
    ("outs", "kernel", "stride"), [(260, 1, 2), (260, 1, 1), (160, 3, 1), (160, 3, 2)]
)
def test_part_of_an_image(outs, kernel, stride):
    """Lines of pixels do not follow each other: by rows of pixels and by patches."""
    rng = np.random.default_rng(33)

    def part(*shape):
        n, c, h, w = shape
        whole = ac.tensor(rng.standard_normal((n, h + 1, w + 2, c)).astype(np.float32))
        return whole.permute(0, 3, 1, 2)[:, :, 1:, :w]

    x = part(2, 256 if kernel == 1 else 80, 5, 4).requires_grad_()
    weight = ac.tensor(rng.standard_normal((outs, x.shape[1], kernel, kernel)))
    weight = weight.to(ac.float32).requires_grad_()
    how = {"stride": stride, "padding": kernel // 2}

    def grads(x):
        y = ac.nn.functional.conv2d(x, weight, **how)
        with ac.no_grad():
            g = part(*y.shape)
            g.copy_(ac.arange(g.numel()).reshape(y.shape).sin())
        return y, *ac.autograd.grad(y, (x, weight), g)

    rows = x.detach().contiguous().requires_grad_()
    assert rows.is_contiguous()
    with ac.kernels.use(SETS[0]):
        for got, wanted in zip(grads(x), grads(rows), strict=True):
            np.testing.assert_allclose(
                got.numpy(force=True), wanted.numpy(force=True), rtol=2e-4, atol=2e-3
            )
