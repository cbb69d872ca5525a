# SPDX-License-Identifier: MIT
"""A convolution with what follows it gives the bits of its parts, whatever its way."""

import numpy as np
import pytest
from tests.simd.products import SETS, needs_sets, subject_of
from tests.simd.test_conv_channels_last import WAYS, last
from tests.simd.test_conv_channels_last import sample_of as last_sample_of
from tests.simd.test_convolutions import LIES
from tests.simd.test_convolutions import sample_of as sample_in_planes_of

from autocalc._kernels.norm._activated import SAMPLED

pytestmark = needs_sets

CALLS = 18
KERNELS = {
    "relu": (),
    "hardtanh": (0.0, 0.5),
    "leaky_relu": (0.25,),
    "hardswish": (),
    "silu": (),
}


def parts(subject, sample, out, other, activation):
    """Run convolution, addition and activation one after another."""
    kernels = subject.kernels
    kernels["conv"].function(out, *sample.inputs, *sample.attributes)
    if other is not None:
        kernels["add"].function(out, out, other)
    if activation != "none":
        kernels[activation].function(out, out, *KERNELS[activation])
    return out


def compare(sample, out_like, rng, other_like, f):
    """Check one call on every set: `out_like` and `other_like` lay arrays out."""
    x, weight, _ = sample.inputs
    for subject in map(subject_of, SETS):
        expected, found = out_like(), out_like()
        other = other_like(expected.shape, x.dtype)
        parts(subject, sample, expected, other, f[0])
        subject.kernels["conv_activation"].function(
            found, *sample.inputs, other, *sample.attributes, *f
        )
        assert found.tobytes() == expected.tobytes(), (subject.name, f[0], weight.shape)


def shape_of(sample):
    (x, weight, _), (stride, padding, dilation, _) = sample.inputs, sample.attributes
    lines = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    counts = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in lines]
    return (x.shape[0], weight.shape[0], *counts)


@pytest.mark.parametrize("lie", LIES)
def test_in_planes(lie):
    rng = np.random.default_rng(50)
    for i in range(CALLS):
        dtype = np.dtype([np.float32, np.float64][i % 4 == 3])
        sample = sample_in_planes_of("conv", rng, lie, dtype)

        def like(shape, dtype, odd=i % 3):
            made = rng.standard_normal(shape).astype(dtype)
            return (None, made, last(made)[1])[odd]  # absent, alike, or otherwise

        shape = shape_of(sample)
        out_like = lambda shape=shape, dtype=dtype: np.empty(shape, dtype)
        compare(sample, out_like, rng, like, SAMPLED[i % len(SAMPLED)])


@pytest.mark.parametrize("way", WAYS)
def test_channels_last(way):
    rng = np.random.default_rng(51)
    for i in range(CALLS):
        dtype = np.dtype([np.float32, np.float64][i % 4 == 3])
        sample, planes, _ = last_sample_of("conv", rng, [way], dtype)
        x, *others = sample.inputs
        x = x if planes else last(x)[1]
        sample = sample._replace(inputs=(x, *others))

        def like(shape, dtype, odd=i % 3):
            made = rng.standard_normal(shape).astype(dtype)
            return (None, last(made)[1], made)[odd]

        shape = shape_of(sample)

        def out_like(shape=shape, dtype=dtype):
            return last(np.zeros(shape, dtype))[1]

        compare(sample, out_like, rng, like, SAMPLED[i % len(SAMPLED)])


def test_nan_stays():
    rng = np.random.default_rng(52)
    x = last(rng.standard_normal((1, 16, 6, 6)).astype(np.float32))[1]
    weight = rng.standard_normal((32, 16, 1, 1)).astype(np.float32)
    x[0, :, 2, 3] = np.nan
    geometry = (1, 1), (0, 0), (1, 1), 1
    for subject in map(subject_of, SETS):
        out = last(np.zeros((1, 32, 6, 6), np.float32))[1]
        function = subject.kernels["conv_activation"].function
        function(out, x, weight, None, None, *geometry, "relu", 0.0, 0.0)
        assert np.isnan(out[0, :, 2, 3]).all()
        assert np.isnan(out).sum() == 32
