# SPDX-License-Identifier: MIT
"""Winograd's convolutions: right, as exact as promised, and not run unasked."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.oracle import LAYOUTS
from tests.oracle import expected as expected_of

import autocalc as ac
from autocalc.testing.conformance import Refused, Subject

FLOAT32 = np.dtype(np.float32)
SETS = [name for name in ac.kernels.available() if name.startswith("winograd-")]

pytestmark = pytest.mark.skipif(not SETS, reason="the SIMD package is not installed")


@pytest.fixture(params=SETS)
def subject(request):
    return Subject.named(request.param)


def normal(rng, *shape):
    return rng.standard_normal(shape, FLOAT32)


def sample_of(name, rng, batch, ins, outs, size, padding, groups=1, bias=True):
    """Return a call of a kernel; `ins`, `outs`: of a group, of `conv`."""
    weight = normal(rng, groups * outs, ins, 3, 3)
    lie = ((1, 1), padding, (1, 1), groups)
    if name == "conv_dweight":
        counts = [n + 2 * p - 2 for n, p in zip(size, padding, strict=True)]
        g = normal(rng, batch, groups * outs, *counts)
        x = normal(rng, batch, groups * ins, *size)
        want = 3 if bias else 1
        return Sample(f"{size} {padding}", (g, x), ((3, 3), *lie), want=want)
    channels, first = (ins, ()) if name == "conv" else (outs, (size,))
    if name == "conv_dx":
        counts = [n + 2 * p - 2 for n, p in zip(size, padding, strict=True)]
        operands = [normal(rng, batch, groups * channels, *counts), weight]
    else:
        operands = [normal(rng, batch, groups * channels, *size), weight]
    results = groups * (outs if name == "conv" else ins)
    operands.append(normal(rng, results) if bias else None)
    return Sample(f"{size} {padding}", tuple(operands), (*first, *lie))


KERNELS = ["conv", "conv_dx", "conv_dweight"]


@pytest.mark.parametrize("name", KERNELS)
def test_random_shapes(name):
    spec = TABLE[name]
    subjects = [Subject.named(each) for each in SETS]
    rng = np.random.default_rng(len(name))
    for _ in range(30):
        batch, groups = (int(n) for n in rng.integers(1, [6, 3]))
        ins, outs = (int(n) for n in rng.integers(9, 50, 2))
        padding = tuple(int(n) for n in rng.integers(0, 3, 2))
        size = tuple(int(3 * 7 ** rng.random()) for _ in range(2))
        sample = sample_of(
            name, rng, batch, ins, outs, size, padding, groups, bool(groups % 2)
        )
        layouts = tuple(rng.choice(LAYOUTS, 3).tolist())
        expected = expected_of(spec, sample, FLOAT32)
        for subject in subjects:
            try:
                outputs = subject.run(spec, sample, FLOAT32, layouts=layouts)
            except Refused:
                continue
            subject.judge(spec, sample, FLOAT32, outputs, expected)
    assert all(subject.calls[name] >= 15 for subject in subjects)


def channels_last(x):
    """The same array, the channels of a pixel side by side in memory."""
    if x is None or x.ndim != 4:
        return x
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def run_as(lie, subject, name, sample, accumulate, prior):
    """Run a kernel on operands and images of results that `lie` has laid out."""
    outs = [None if each is None else each.copy() for each in prior]
    if name != "conv_dweight":
        outs = [lie(each) for each in outs]
    operands = map(lie, sample.inputs)
    more = (accumulate,) if TABLE[name].accumulates else ()
    subject.kernels[name].function(*outs, *operands, *sample.attributes, *more)
    return tuple(outs)


@pytest.mark.parametrize("channels", [(16, 48), (20, 37)])
@pytest.mark.parametrize("name", KERNELS)
def test_channels_may_be_neighbours_in_memory(subject, name, channels):
    """The same bits as from planes, within the budget, whatever of it is asked for."""
    rng = np.random.default_rng(3)
    spec = TABLE[name]
    for size, padding, groups in (((11, 13), (1, 1), 1), ((16, 8), (0, 2), 2)):
        sample = sample_of(name, rng, 3, *channels, size, padding, groups, groups == 2)
        accumulate = (1 | sample.want & 2) if groups == 1 and spec.accumulates else 0
        zeros = expected_of(spec, sample, FLOAT32)
        prior = tuple(
            None if each is None else normal(rng, *each.shape) for each in zeros
        )
        call = (subject, name, sample, accumulate, prior)
        outs = run_as(channels_last, *call)
        expected = expected_of(spec, sample, FLOAT32, accumulate, prior)
        subject.judge(spec, sample, FLOAT32, outs, expected)
        planes = run_as(lambda x: x, *call)
        np.testing.assert_array_equal(outs[0], planes[0])


def test_wide_lines_and_many_tiles_are_cut(subject):
    """300 results are more tiles than a task has; 60 x 50 are several bands."""
    rng = np.random.default_rng(4)
    for size in ((6, 302), (62, 52)):
        sample = sample_of("conv", rng, 2, 17, 18, size, (0, 0))
        outputs = subject.run(TABLE["conv"], sample, FLOAT32)
        subject.judge(TABLE["conv"], sample, FLOAT32, outputs)


@pytest.mark.parametrize("name", ["conv", "conv_dx"])
@pytest.mark.parametrize("groups", [1, 2])
def test_few_tiles_take_their_weights_part_by_part(subject, name, groups):
    """8 tiles: each panel transforms its own weights, 200 channels in several parts."""
    rng = np.random.default_rng(12)
    sample = sample_of(name, rng, 2, 200, 203, (7, 7), (1, 1), groups)
    calls = subject.calls[name]
    outputs = subject.run(TABLE[name], sample, FLOAT32)
    assert subject.calls[name] == calls + 1
    subject.judge(TABLE[name], sample, FLOAT32, outputs)
    neighbours = run_as(channels_last, subject, name, sample, 0, outputs)
    np.testing.assert_array_equal(neighbours[0], outputs[0])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "shape", [(40, 16, 40, (28, 28)), (33, 72, 64, (7, 7)), (2, 200, 72, (7, 7))]
)
def test_same_bits_for_any_number_of_threads(subject, name, shape):
    sample = sample_of(name, np.random.default_rng(5), *shape, (1, 1))
    seen = []
    with subject.threads() as set_threads:
        for count in (1, 2, 5, 64):
            set_threads(count)
            seen.append(subject.run(TABLE[name], sample, FLOAT32)[0].tobytes())
    assert all(bits == seen[0] for bits in seen)


@pytest.mark.parametrize("name", ["conv", "conv_dweight"])
def test_errors_are_a_few_times_those_of_the_plain_sum(subject, name):
    """As the documentation says: 1 to 3 times as large, by their root mean square."""
    sample = sample_of(name, np.random.default_rng(6), 4, 64, 64, (14, 14), (1, 1))
    spec = TABLE[name]
    expected = expected_of(spec, sample, FLOAT32)[0].astype(np.float64)
    plain = Subject.named(subject.name.replace("winograd", "simd"))
    errors = [
        np.sqrt(np.mean((s.run(spec, sample, FLOAT32)[0] - expected) ** 2))
        for s in (subject, plain)
    ]
    size = np.sqrt(np.mean(expected**2))
    assert errors[0] < 1.3e-6 * size
    assert errors[0] < 3.5 * errors[1]


@pytest.mark.parametrize("name", KERNELS)
def test_small_images_have_smaller_tiles_and_errors(subject, name):
    """Of 2 x 2 results: errors that are less than half of those of 4 x 4."""
    spec, errors = TABLE[name], []
    for size in (2, 6, 8):
        rng = np.random.default_rng(6)
        sample = sample_of(name, rng, 32, 64, 64, (size, size), (1, 1))
        expected = expected_of(spec, sample, FLOAT32)[0].astype(np.float64)
        off = subject.run(spec, sample, FLOAT32)[0] - expected
        errors.append(np.sqrt(np.mean(off**2) / np.mean(expected**2)))
    assert errors[0] < 0.5 * errors[2]
    assert errors[1] < 0.5 * errors[2]


def test_a_nan_spoils_the_results_of_its_tiles_alone(subject):
    rng = np.random.default_rng(7)
    sample = sample_of("conv", rng, 1, 16, 32, (16, 16), (1, 1))
    sample.inputs[0][0, 3, 5, 9] = np.nan
    (out,) = subject.run(TABLE["conv"], sample, FLOAT32)
    assert np.isnan(out[:, :, 4:7, 8:11]).all()  # its windows
    assert np.isfinite(out[:, :, 8:]).all()
    assert np.isfinite(out[:, :, :, 12:]).all()
    assert np.isfinite(out[:, :, :, :8]).all()


def test_a_nan_spoils_the_weight_gradients_of_its_channels_alone(subject):
    rng = np.random.default_rng(7)
    sample = sample_of("conv_dweight", rng, 2, 16, 32, (16, 16), (1, 1))
    g, x = sample.inputs
    x[0, 3, 5, 9] = g[1, 20, 2, 2] = np.nan
    dweight, dbias = subject.run(TABLE["conv_dweight"], sample, FLOAT32)
    spoilt = np.isnan(dweight)
    assert spoilt[20].all()
    assert spoilt[:, 3].all()
    assert spoilt.sum() == 9 * (16 + 32 - 1)
    assert np.isnan(dbias).nonzero()[0].tolist() == [20]


def test_weight_gradients_are_added_into(subject):
    rng = np.random.default_rng(8)
    spec = TABLE["conv_dweight"]
    sample = sample_of("conv_dweight", rng, 3, 24, 20, (9, 14), (1, 1), groups=2)
    prior = (normal(rng, 40, 24, 3, 3), normal(rng, 40))
    expected = expected_of(spec, sample, FLOAT32, 3, prior)
    outs = subject.run(spec, sample, FLOAT32, accumulate=3, prior=prior)
    subject.judge(spec, sample, FLOAT32, outs, expected)
    fresh = subject.run(spec, sample, FLOAT32)
    for out, own, before in zip(outs, fresh, prior, strict=True):
        np.testing.assert_array_equal(out, own + before)


REASONS = {
    "windows are not 3 x 3": ((2, 32, 8, 8), (32, 32, 5, 5), 1, 1),
    "the stride is not 1": ((2, 32, 8, 8), (32, 32, 3, 3), 2, 1),
    "the dilation is not 1": ((2, 32, 8, 8), (32, 32, 3, 3), 1, 2),
    "two dimensions only": ((2, 32, 8), (32, 32, 3), 1, 1),
    "longer than they save": ((2, 3, 8, 8), (32, 3, 3, 3), 1, 1),
}


@pytest.mark.parametrize("name", ["conv", "conv_dweight"])
@pytest.mark.parametrize(("reason", "call"), REASONS.items(), ids=list(REASONS))
def test_what_it_leaves_to_others(name, reason, call):
    x, weight, stride, dilation = call
    dims = len(x) - 2
    lie = [(n,) * dims for n in (stride, 1, dilation)]
    x, weight = ac.zeros(x), ac.zeros(weight)
    operands = (x, weight, None, *lie, 1)
    if name == "conv_dweight":
        convolve = ac.nn.functional.conv2d if dims == 2 else ac.nn.functional.conv1d
        operands = (convolve(x, weight, None, *lie), x, weight.shape[2:], *lie, 1)
    text = str(ac.kernels.explain(name, *operands))
    assert f"{SETS[0]} (rank" in text
    assert reason in text.split(SETS[0])[1].splitlines()[0]


@pytest.mark.parametrize(
    ("size", "way"), [(2, "F(2 x 2, 3 x 3)"), (8, "F(4 x 4, 3 x 3)")]
)
@pytest.mark.parametrize("name", KERNELS)
def test_an_explanation_tells_which_tiles(name, size, way):
    rng = np.random.default_rng(8)
    # so many images that every instruction set decides the same way
    sample = sample_of(name, rng, 32, 64, 64, (size, size), (1, 1))
    told = ac.kernels.explain(name, *sample.inputs, *sample.attributes)
    how = {candidate.name: candidate.how for candidate in told.candidates}
    assert how[SETS[0]] == f"own kernel, {way}"


LAYER = """
import autocalc as ac
x, w = ac.zeros((2, 32, 8, 8)), ac.zeros((32, 32, 3, 3))
print(ac.kernels.explain("conv", x, w, None, (1, 1), (1, 1), (1, 1), 1))
"""


def test_it_is_chosen_and_can_be_switched_off():
    x, w = ac.zeros((2, 32, 8, 8)), ac.zeros((32, 32, 3, 3))
    call = ("conv", x, w, None, (1, 1), (1, 1), (1, 1), 1)
    assert f"runs on {SETS[0]}" in str(ac.kernels.explain(*call))
    with ac.kernels.use("simd"):
        assert "runs on simd-" in str(ac.kernels.explain(*call))
    done = subprocess.run(
        [sys.executable, "-c", LAYER],
        env={**os.environ, "AUTOCALC_DISABLE_KERNELS": "winograd"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "runs on simd-" in done.stdout
    assert f"{SETS[0]}: disabled by AUTOCALC_DISABLE_KERNELS" in done.stdout
