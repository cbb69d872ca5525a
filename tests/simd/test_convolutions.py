# SPDX-License-Identifier: MIT
"""Convolutions of many channels: by products, with strides, and one channel each.

`test_random_shapes.py` draws few channels; these are the ways that begin with more.
"""

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.oracle import LAYOUTS
from tests.simd.products import FLOAT32, SETS, judge, needs_sets, same_bits_on_threads

import autocalc as ac

pytestmark = needs_sets


def strided(rng):
    """More than 16 channels to more than 32, at a stride."""
    groups = int(rng.integers(1, 3))
    weight = (groups * rng.integers(32, 72), rng.integers(16, 36))
    kernel, dilation = rng.integers(1, 4, 2), rng.integers(1, 3, 2)
    stride = np.array([rng.integers(2, 4), rng.integers(1, 4)])
    return groups, weight, kernel, stride, rng.integers(0, 3, 2), dilation


def few_windows(rng):
    """Many filters over small images."""
    kernel, dilation = rng.integers(1, 4, 2), rng.integers(1, 3, 2)
    weight = (rng.integers(100, 200), rng.integers(1, 40))
    return 1, weight, kernel, rng.integers(1, 3, 2), rng.integers(0, 3, 2), dilation


def pointwise(rng):
    """Windows of one element."""
    one = np.array([1, 1])
    weight = tuple(rng.integers(1, 70, 2))
    return 1, weight, one, one, 0 * one, rng.integers(1, 3, 2)


def one_element(rng):
    """Windows of one element, apart from each other, of many channels."""
    one = np.array([1, 1])
    weight = (rng.integers(60, 140), rng.integers(1, 90))
    return 1, weight, one, rng.integers(1, 4, 2), 0 * one, rng.integers(1, 3, 2)


def depthwise(rng):
    """One channel to one, 3 x 3 and 5 x 5."""
    kernel = np.array([1, 1]) * rng.choice([3, 5])
    one = np.array([1, 1])
    return int(rng.integers(1, 40)), None, kernel, one, rng.integers(0, 6, 2), one


LIES = [strided, few_windows, pointwise, one_element, depthwise]


def sample_of(name, rng, lie, dtype):
    groups, channels, kernel, stride, padding, dilation = lie(rng)
    outs, ins = channels or (groups, 1)
    span = dilation * (kernel - 1) + 1
    size = np.maximum(1, span - 2 * padding) + (22 ** rng.random(2)).astype(int)
    counts = (size + 2 * padding - span) // stride + 1
    batch = int(rng.integers(1, 4))
    x, g = (batch, groups * ins, *size), (batch, outs, *counts)
    shape = (outs, ins, *kernel)

    def normal(*shape):
        return rng.standard_normal(shape).astype(dtype)

    def ints(values):
        return tuple(int(n) for n in values)

    how = (ints(stride), ints(padding), ints(dilation), groups)
    if name == "conv":
        bias = normal(outs) if rng.random() < 0.5 else None
        return Sample("", (normal(*x), normal(*shape), bias), how)
    if name == "conv_dx":
        bias = normal(groups * ins) if rng.random() < 0.5 else None
        return Sample("", (normal(*g), normal(*shape), bias), (ints(size), *how))
    return Sample("", (normal(*g), normal(*x)), (ints(kernel), *how), 0b10)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", ["conv", "conv_dx", "conv_dweight"])
def test_against_float64(name, lie):
    rng = np.random.default_rng(len(name))
    for i in range(12):
        dtype = np.dtype([np.float32, np.float64][i % 4 == 3])
        sample = sample_of(name, rng, lie, dtype)
        layouts = tuple(rng.choice(LAYOUTS, 3).tolist())
        judge(name, sample, dtype, layouts=layouts)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", ["conv", "conv_dx", "conv_dweight"])
def test_same_bits_for_any_number_of_threads(name, lie):
    rng = np.random.default_rng(20)
    for sample in [sample_of(name, rng, lie, FLOAT32) for _ in range(4)]:
        same_bits_on_threads(lambda s, x=sample: s.run(TABLE[name], x, FLOAT32))


def test_gradients_of_large_images_are_added_into_band_by_band():
    """90 x 80 elements of 40 channels at a stride are several bands of a task each."""
    rng = np.random.default_rng(21)
    dtype = FLOAT32
    g, weight = (1, 70, 44, 40), (70, 40, 5, 3)
    operands = (*(rng.standard_normal(shape, dtype) for shape in (g, weight)), None)
    sample = Sample("", operands, ((90, 80), (2, 2), (1, 2), (1, 2), 1))
    prior = (rng.standard_normal((1, 40, 90, 80), dtype),)
    judge("conv_dx", sample, dtype, 1, prior)


@pytest.mark.parametrize("width", [37, 48])
@pytest.mark.parametrize("name", ["conv", "conv_dx"])
def test_wide_lines_of_results(name, width):
    """Wide enough that tiles end with a line, and one tile of a line is not full."""
    rng = np.random.default_rng(width)
    dtype = FLOAT32
    lie = ((1, 1), (1, 1), (1, 1), 2)
    if name == "conv":
        shapes, how = ((2, 6, 9, width), (22, 3, 3, 3), (22,)), lie
    else:
        shapes, how = ((2, 6, 9, width), (6, 11, 3, 3), (22,)), ((9, width), *lie)
    operands = tuple(rng.standard_normal(shape, dtype) for shape in shapes)
    sample = Sample("", operands, how)
    add = int(name == "conv_dx")
    prior = (rng.standard_normal((2, 22, 9, width), dtype),)
    judge(name, sample, dtype, add, prior)


@pytest.mark.parametrize(
    ("channels", "outs", "groups", "last"),
    [
        (1, 32, 1, True),
        (3, 64, 1, True),
        (3, 8, 1, False),
        (32, 32, 1, False),
        (8, 32, 8, False),
    ],
)
def test_a_network_begins_channels_last_where_that_pays(channels, outs, groups, last):
    x, w = ac.ones(2, channels, 8, 8), ac.ones(outs, channels // groups, 3, 3)
    y = ac.nn.functional.conv2d(x, w, padding=1, groups=groups)
    assert y.is_contiguous(memory_format=ac.channels_last) == last
    assert y[0, 0, 4, 4].item() == pytest.approx(9 * channels // groups, rel=1e-5)


PLANES = "windows over planes with zeros around them"
BESIDE = "windows of channels side by side"
APART = "channel by channel, those side by side in one register"
STEPS = "windows in steps, their channels brought side by side"
PRODUCTS = "a product for each image"
WINDOWS = "one product over the windows of all images"
SUMS = "one sum over the windows of all images"
PATCHES = "filters times a matrix of patches"
BY_PLANES = "filters times a matrix of patches, by way of planes"
PIXELS = "one product over the pixels of all images"
READ = "one product over the pixels that windows read"
#: What is convolved, and how conv and conv_dweight go: row by row, channels-last.
WAYS = {
    "1 x 1": (
        ((2, 64, 24, 24), (32, 64, 1, 1), 1, 1),
        (PRODUCTS, PIXELS),
        (PRODUCTS, BESIDE),
    ),
    "1 x 1, few pixels": (
        ((2, 32, 16, 16), (64, 32, 1, 1), 1, 1),
        (WINDOWS, PIXELS),
        (SUMS, BESIDE),
    ),
    "3 x 3 by 2": (
        ((2, 32, 33, 33), (64, 32, 3, 3), 2, 1),
        (STEPS, BESIDE),
        (PLANES, BESIDE),
    ),
    "few windows": (
        ((1, 64, 7, 7), (512, 64, 3, 3), 2, 1),
        (PATCHES, BY_PLANES),
        (PATCHES, BY_PLANES),
    ),
    "1 x 1 by 2": (
        ((2, 256, 16, 16), (512, 256, 1, 1), 2, 1),
        (WINDOWS, READ),
        (SUMS, READ),
    ),
    "5 x 5": (((2, 4, 9, 9), (8, 4, 5, 5), 1, 1), (PLANES, BESIDE), (PLANES, BESIDE)),
    "one channel each": (
        ((2, 16, 9, 9), (16, 1, 3, 3), 1, 16),
        (PLANES, APART),
        ("channel by channel, on lines without a copy", APART),
    ),
}


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("call", WAYS)
def test_an_explanation_tells_the_way(call, last):
    (x, weight, stride, groups), forward, gradient = WAYS[call]
    x, weight = ac.zeros(x), ac.zeros(weight)
    if last:
        x = x.to(memory_format=ac.channels_last)
    with ac.kernels.use(SETS[0]):
        y = ac.nn.functional.conv2d(x, weight, stride=stride, groups=groups)
    lie = (stride, stride), (0, 0), (1, 1), groups
    sizes = tuple(weight.shape[2:]), tuple(x.shape[2:])
    told = {
        name: next(c.how for c in explained.candidates if c.name == SETS[0])
        for name, explained in {
            "conv": ac.kernels.explain("conv", x, weight, None, *lie),
            "conv_dx": ac.kernels.explain("conv_dx", y, weight, None, sizes[1], *lie),
            "conv_dweight": ac.kernels.explain("conv_dweight", y, x, sizes[0], *lie),
        }.items()
    }
    assert told["conv"] == told["conv_dx"] == f"own kernel, {forward[last]}"
    assert told["conv_dweight"] == f"own kernel, {gradient[last]}"


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 1)])
def test_windows_of_all_images_go_in_blocks_and_are_added_to_gradients(stride):
    """Of more channels than one block has, and of images of more windows than one."""
    rng = np.random.default_rng(23)
    dtype = np.dtype(np.float32)
    geometry = (stride, (0, 0), (1, 1), 1)
    for images, channels, filters, side in ((14, 1100, 70, 7), (2, 24, 1100, 37)):
        tall = stride[0] * side - (stride[0] > 1)  # the last gap is no whole one
        x = (images, channels, tall, stride[1] * side)
        g, weight = (images, filters, side, side), (filters, channels, 1, 1)
        sizes = x[2:]
        for name, operands, how, add in (
            ("conv", (x, weight, (filters,)), geometry, 0),
            ("conv_dx", (g, weight, (channels,)), (sizes, *geometry), 1),
            ("conv_dx", (g, weight, None), (sizes, *geometry), 0),
            ("conv_dweight", (g, x), ((1, 1), *geometry), 0b11),
        ):
            arrays = tuple(
                None if shape is None else rng.standard_normal(shape, dtype)
                for shape in operands
            )
            sample = Sample("", arrays, how, 0b10 if name == "conv_dweight" else 0)
            shapes = {"conv_dx": (x,), "conv_dweight": (weight, (filters,))}
            prior = tuple(
                rng.standard_normal(shape, dtype)
                for shape in (shapes[name] if add else ())
            )
            judge(name, sample, dtype, add, prior)


def test_patches_are_added_to_gradients_and_go_in_blocks():
    """40 images of 16 windows are two blocks; gradients are added to what was there."""
    rng = np.random.default_rng(22)
    dtype = np.dtype(np.float32)
    geometry = ((1, 1), (1, 1), (1, 1), 1)
    x, weight, g = (40, 150, 4, 4), (160, 150, 3, 3), (40, 160, 4, 4)
    for name, operands, how, add in (
        ("conv", (x, weight, (160,)), geometry, 0),
        ("conv_dx", (g, weight, (150,)), ((4, 4), *geometry), 1),
        ("conv_dweight", (g, x), ((3, 3), *geometry), 0b11),
    ):
        arrays = tuple(rng.standard_normal(shape, dtype) for shape in operands)
        sample = Sample("", arrays, how, 0b10 if name == "conv_dweight" else 0)
        shapes = {"conv": (), "conv_dx": (x,), "conv_dweight": (weight, (160,))}[name]
        prior = tuple(rng.standard_normal(shape, dtype) for shape in shapes)
        judge(name, sample, dtype, add, prior)
