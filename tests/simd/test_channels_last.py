# SPDX-License-Identifier: MIT
"""Norms and pools of channels-last images, with channels-last results.

The conformance samples have other layouts; here every operand and result is
channels-last, with channels that fill registers and that do not.
"""

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.oracle import expected as expected_of
from tests.oracle import limits_of
from tests.simd.products import SETS, needs_sets, same_bits_on_threads, subject_of

from autocalc.errors import KernelDataError

pytestmark = needs_sets


def channels_last(x):
    """The same array, the channels of a pixel side by side in memory."""
    if x is None or x.ndim < 3:
        return x
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)


def run(subject, name, sample, prior, accumulate, lie=channels_last):
    """Run a kernel into results in the layout that `lie` makes."""
    outs = [None if each is None else lie(each.copy()) for each in prior]
    more = (accumulate,) if TABLE[name].accumulates else ()
    inputs = map(lie, sample.inputs)
    subject.kernels[name].function(*outs, *inputs, *sample.attributes, *more)
    return tuple(outs)


def check(name, sample, dtype, accumulate=0):
    """Within the budget, the same bits for any number of threads; return results."""
    spec, rng = TABLE[name], np.random.default_rng(9)
    prior = tuple(
        None
        if each is None
        else rng.standard_normal(each.shape).astype(
            dtype if each.dtype.kind == "f" else each.dtype
        )
        for each in expected_of(spec, sample, dtype)
    )
    expected = expected_of(spec, sample, dtype, accumulate, prior)
    limits = limits_of(spec, sample, dtype, expected)
    for subject in map(subject_of, SETS):
        outs = run(subject, name, sample, prior, accumulate)
        subject.judge(spec, sample, dtype, outs, expected, limits=limits)
    same_bits_on_threads(lambda each: run(each, name, sample, prior, accumulate))


# ---- batch norm

SHAPES = [(3, 37, 5, 7), (70, 16, 6, 6), (40, 96, 7, 3), (2, 5, 150)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm(shape, dtype):
    rng, dtype = np.random.default_rng(1), np.dtype(dtype)

    def normal(*shape):
        return rng.standard_normal(shape).astype(dtype)

    channels = shape[1]
    x, other, g = (normal(*shape) + each for each in (3, 0, 0))
    weight, bias, eps = normal(channels), normal(channels), 1e-5
    check("batch_norm", Sample("", (x, weight, bias), (eps,)), dtype)
    call = Sample("", (x, weight, None, other), (eps, *RELU))
    check("batch_norm_activation", call, dtype)
    out, mean, var = expected_of(TABLE["batch_norm_activation"], call, dtype)
    statistics = (mean.astype(dtype), var.astype(dtype), weight)
    back = Sample("", (g, x, *statistics), (eps,), want=7)
    check("batch_norm_backward", back, dtype, 0b110)
    operands = g, x, out.astype(dtype), None, *statistics, None
    back = Sample("", operands, (eps, *RELU), want=15)
    check("batch_norm_activation_backward", back, dtype)
    operands = g, x, None, other, *statistics, bias
    back = Sample("", operands, (eps, *SILU), want=15)
    check("batch_norm_activation_backward", back, dtype)
    for activation in (RELU, SILU):
        operands = x, *statistics, bias, other
        check("batch_norm_running", Sample("", operands, (eps, *activation)), dtype)


#: Activations after a norm, with their numbers.
RELU, SILU = ("relu", 0.0, 0.0), ("silu", 0.0, 0.0)


def test_batch_norm_of_operands_that_lie_differently():
    """One of them channels-last, the others not: right, by way of copies."""
    rng, dtype = np.random.default_rng(2), np.dtype("f4")
    x, other = rng.standard_normal((2, 3, 20, 5, 6), dtype)
    sample = Sample("", (x, None, None, other), (1e-5, *RELU))
    spec = TABLE["batch_norm_activation"]
    expected = expected_of(spec, sample, dtype)
    for lies in ((channels_last, np.copy), (np.copy, channels_last)):
        outs = [lies[0](each.astype(dtype)) for each in expected]
        for subject in map(subject_of, SETS):
            subject.kernels["batch_norm_activation"].function(
                *outs, lies[1](x), None, None, lies[0](other), 1e-5, *RELU
            )
            subject.judge(spec, sample, dtype, tuple(outs), expected)


def test_sums_of_many_positions_stay_exact():
    """40,000 positions a channel, far from zero."""
    x = np.random.default_rng(3).standard_normal((25, 17, 40, 40), np.float32) + 100
    mean, var = np.empty(17, np.float32), np.empty(17, np.float32)
    for subject in map(subject_of, SETS):
        out = channels_last(np.empty_like(x))
        subject.kernels["batch_norm"].function(
            out, mean, var, channels_last(x), None, None, 1e-5
        )
        exact = x.astype(np.float64)
        np.testing.assert_allclose(mean, exact.mean((0, 2, 3)), rtol=1e-7)
        np.testing.assert_allclose(var, exact.var((0, 2, 3)), rtol=1e-6)


@pytest.mark.parametrize("place", [0, 133, 255])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_channel(place, value):
    """At any place: a sample of the positions does not see it."""
    x = np.random.default_rng(4).standard_normal((4, 20, 8, 8), np.float32)
    x[place // 64, 3, place // 8 % 8, place % 8] = value
    mean, var = np.empty(20, np.float32), np.empty(20, np.float32)
    for subject in map(subject_of, SETS):
        out = channels_last(np.empty_like(x))
        subject.kernels["batch_norm"].function(
            out, mean, var, channels_last(x), None, None, 1e-5
        )
        np.testing.assert_equal(mean[3], np.float32(value))
        assert np.isnan(var[3])
        assert np.isnan(out[:, 3]).all()
        rest = np.arange(20) != 3
        assert np.isfinite(mean[rest]).all()
        assert np.isfinite(var[rest]).all()
        assert np.isfinite(out[:, rest]).all()


def test_positions_unlike_the_rest_cost_no_precision():
    """Of 4,000 positions some rows are zero, as of images with a black border."""
    rng, dtype = np.random.default_rng(5), np.dtype("f4")
    for row in range(0, 40, 6):
        x = (rng.standard_normal((4, 17, 40, 25)) + 30).astype(dtype)
        x[:, :, row : row + 3] = 0
        check("batch_norm", Sample("", (x, None, None), (1e-5,)), dtype)


# ---- pools

#: Channels that fill registers and that do not, in images of one and two dimensions.
IMAGES = [(3, 127, 9, 7), (5, 16, 12, 12), (2, 21, 30)]


def images_of(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def pool_attributes(shape, *each):
    """Every attribute for each dimension."""
    return tuple((n,) * (len(shape) - 2) for n in each)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", IMAGES)
def test_max_pool(shape, dtype):
    dtype = np.dtype(dtype)
    x = np.round(images_of(shape, dtype, 4), 1)  # with equal ones
    x[0, 3, 2], x[1, 5, 4] = np.nan, -np.inf
    for windows in ((2, 2, 0, 1), (3, 2, 1, 1), (2, 3, 1, 4)):
        attributes = (*pool_attributes(shape, *windows), False)
        check("max_pool", Sample("", (x,), attributes), dtype)
        sample = Sample("", (x,), attributes, want=3)
        check("max_pool", sample, dtype)
        out, indices = expected_of(TABLE["max_pool"], sample, dtype)
        g = images_of(out.shape, dtype, 5)
        sizes = x.shape[2:]
        check("max_pool_backward", Sample("", (g, indices), (sizes,)), dtype)


def test_max_pool_names_an_index_that_lies_outside():
    g = images_of((2, 20, 3, 3), "f4", 6)
    indices = np.zeros(g.shape, np.int64)
    indices[1, 17, 2, 0] = 36
    dx = np.empty((2, 20, 6, 6), np.float32)
    place = np.ravel_multi_index((1, 17, 2, 0), g.shape)
    for subject in map(subject_of, SETS):
        with pytest.raises(KernelDataError, match=f"holds 36 at element {place},"):
            subject.kernels["max_pool_backward"].function(
                *map(channels_last, (dx, g, indices)), (6, 6)
            )


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", IMAGES)
def test_average_pools(shape, dtype):
    dtype = np.dtype(dtype)
    x, sizes = images_of(shape, dtype, 7), shape[2:]
    for windows in ((2, 2, 0), (3, 2, 1)):
        for more in ((False, True, 0), (False, False, 0), (False, True, 3)):
            attributes = (*pool_attributes(shape, *windows), *more)
            sample = Sample("", (x,), attributes)
            check("avg_pool", sample, dtype)
            (out,) = expected_of(TABLE["avg_pool"], sample, dtype)
            back = Sample("", (images_of(out.shape, dtype, 8),), (sizes, *attributes))
            check("avg_pool_backward", back, dtype)
    for outputs in (1, 3, 4):
        boxes = pool_attributes(shape, outputs)
        check("adaptive_avg_pool", Sample("", (x,), boxes), dtype)
        g = images_of((*shape[:2], *boxes[0]), dtype, 9)
        check("adaptive_avg_pool_backward", Sample("", (g,), (sizes,)), dtype)
