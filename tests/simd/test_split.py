# SPDX-License-Identifier: MIT
"""Products in bfloat16 parts: as exact as float32, and not run unasked."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.dispatcher import arrays as k
from tests.kernel_table import TABLE, Sample
from tests.oracle import expected as expected_of
from tests.simd.products import FLOAT32, check, gemm_sample, normal

import autocalc as ac
from autocalc.testing.conformance import Refused, Subject

NAME = "split-amx"
TINY = float(np.finfo(np.float32).tiny)

pytestmark = pytest.mark.skipif(
    NAME not in ac.kernels.available(), reason="this CPU has no AMX"
)


@pytest.fixture(scope="module")
def subject():
    return Subject.named(NAME)


@pytest.fixture(scope="module")
def plain():
    return Subject.named("simd-avx512")


# Whole and ragged strips of 32, chunks of 32 steps and blocks of 16 chunks, more strips
# than go together on either side.
SHAPES = [
    (256, 256, 256),
    (225, 300, 288),
    (257, 311, 543),
    (700, 260, 129),
    (230, 1100, 144),
    (1024, 128, 130),
    (272, 272, 1060),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("b", ["contiguous", "offset", "padded", "transposed"])
@pytest.mark.parametrize("a", ["contiguous", "offset", "padded", "transposed"])
def test_every_layout_is_packed(subject, shape, a, b):
    check(
        subject, "gemm", gemm_sample(np.random.default_rng(1), *shape), layouts=(a, b)
    )


def test_a_layout_that_runs_along_neither_dim_is_left_to_multiply_adds(subject, plain):
    sample = gemm_sample(np.random.default_rng(2), 300, 300, 200)
    outs = [
        check(each, "gemm", sample, layouts=("contiguous", "strided"))[0]
        for each in (subject, plain)
    ]
    np.testing.assert_array_equal(*outs)


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_tanh"])
@pytest.mark.parametrize("bias", [False, True])
def test_what_follows_the_sums(subject, activation, bias):
    rng = np.random.default_rng(3)
    sample = gemm_sample(rng, 260, 330, 545, bias, activation, want=3, scale=0.25)
    check(subject, "gemm", sample)
    prior = (normal(rng, 260, 330), normal(rng, 260, 330))
    check(subject, "gemm", sample, accumulate=1, prior=prior)


@pytest.mark.parametrize("rows", [(300,), (3, 100), (4, 7, 31)], ids=str)
def test_linear_layers_and_their_gradients(subject, rows):
    rng = np.random.default_rng(4)
    x, weight, bias = normal(rng, *rows, 260), normal(rng, 390, 260), normal(rng, 390)
    check(subject, "linear", Sample("", (x, weight, bias), ("gelu",), want=3))
    gradients = Sample("", (normal(rng, *rows, 390), x, weight), want=0b111)
    outs = check(subject, "linear_backward", gradients)
    prior = tuple(normal(rng, *out.shape) for out in outs)
    check(subject, "linear_backward", gradients, accumulate=0b111, prior=prior)
    relu = Sample("", (gradients.inputs[0], np.maximum(x, 0), weight), want=0b111)
    check(subject, "linear_relu_backward", relu)
    check(subject, "linear_relu_backward", relu, accumulate=0b110, prior=prior)


def test_one_product_of_a_backward_pass_may_be_too_small(subject):
    """2,000 rows through 128 to 200 features: dx is split, dweight is not."""
    rng = np.random.default_rng(5)
    g, x, weight = normal(rng, 2000, 200), normal(rng, 2000, 128), normal(rng, 200, 128)
    check(subject, "linear_backward", Sample("", (g, x, weight), want=0b111))


def lstm_gradients(rng, steps, batch, features, hidden, scale=1.0):
    """A sample call of lstm_backward; `scale` is the size of the incoming gradients."""
    x, h0, c0 = (
        normal(rng, *s) for s in ((steps, batch, features), *2 * [(batch, hidden)])
    )
    w_ih, w_hh = (normal(rng, 4 * hidden, n) / 8 for n in (features, hidden))
    out, _, acts, cells = k.lstm(x, w_ih, w_hh, None, None, h0, c0, False, want=15)
    g = normal(rng, steps, batch, hidden) * np.float32(scale)
    operands = (g, None, x, w_ih, w_hh, out, acts, cells, h0, c0)
    return Sample("", operands, (False,), want=0b111111)


@pytest.mark.parametrize("scale", [1.0, 2.0**-100])
@pytest.mark.parametrize("features", [40, 17])
def test_gradients_of_an_lstms_weights(subject, features, scale):
    rng = np.random.default_rng(11)
    check(subject, "lstm_backward", lstm_gradients(rng, 9, 50, features, 96, scale))


def test_an_lstm_with_few_rows_or_of_one_gradient_is_left_to_others(subject):
    rng = np.random.default_rng(12)
    few, one = lstm_gradients(rng, 2, 50, 40, 96), lstm_gradients(rng, 9, 50, 40, 96)
    for sample, want in ((few, 0b111111), (one, 0b111011)):
        with pytest.raises(Refused):
            check(subject, "lstm_backward", sample._replace(want=want))


def test_random_shapes(subject):
    rng = np.random.default_rng(6)
    ran = 0
    for _ in range(60):
        m, n = (int(110 * 10 ** rng.random()) for _ in range(2))
        sample = gemm_sample(rng, m, n, int(128 * 6 ** rng.random()))
        try:
            check(subject, "gemm", sample)
        except Refused:
            continue
        ran += 1
    assert ran >= 30


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**-100, 2.0**-126, 2.0**-149])
def test_small_numbers_lose_what_the_budget_allows(subject, scale):
    """Numbers below 2**-126 count as zero: errors of that, times the other side."""
    rng = np.random.default_rng(7)
    a, b = normal(rng, 256, 256), normal(rng, 256, 256)
    sample = Sample("", (a * np.float32(scale), b, None), (1.0, 1.0, "none"))
    (out, _) = check(subject, "gemm", sample)
    assert scale < TINY or out.any()


@pytest.mark.parametrize("size", [1e18, 3e38])
def test_large_numbers_are_exact_too(subject, size):
    """Above 3.39e38 the nearest bfloat16 is infinite; the sums are made again then."""
    rng = np.random.default_rng(8)
    a = np.clip(normal(rng, 256, 256), -1, 1) * np.float32(size)
    b = np.zeros((256, 256), np.float32)
    b[np.arange(256), np.arange(256)[::-1]] = 1
    a[3, 5] = np.finfo(np.float32).max
    (out, _) = check(subject, "gemm", Sample("", (a, b, None), (1.0, 1.0, "none")))
    np.testing.assert_array_equal(out, a[:, ::-1])


@pytest.mark.parametrize("a_layout", ["contiguous", "transposed"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("steps", [270, 1100])  # in one pass, and in three
def test_what_is_not_finite_comes_out_as_from_multiply_adds(
    subject, plain, bad, a_layout, steps
):
    rng = np.random.default_rng(9)
    sample = gemm_sample(rng, 300, 280, steps, bias=True)
    a, b, _ = sample.inputs
    a[7, 3] = a[299, 11] = b[200, 279] = bad
    b[11, 4] = 0
    spec = TABLE["gemm"]
    how = {"layouts": (a_layout, "contiguous")}
    out, other = (s.run(spec, sample, FLOAT32, **how)[0] for s in (subject, plain))
    np.testing.assert_array_equal(np.isnan(out), np.isnan(other))
    np.testing.assert_array_equal(np.isposinf(out), np.isposinf(other))
    np.testing.assert_array_equal(np.isneginf(out), np.isneginf(other))
    finite = np.isfinite(out)
    np.testing.assert_allclose(out[finite], other[finite], rtol=1e-3, atol=1e-4)
    assert not finite[7].any()
    assert not finite[:, 279].any()
    assert finite[8:299, :279].all()


@pytest.mark.parametrize("payload", [0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000])
def test_every_nan_stays_one(subject, payload):
    sample = gemm_sample(np.random.default_rng(10), 256, 256, 256)
    sample.inputs[0].view(np.uint32)[17, 31] = payload
    out, _ = subject.run(TABLE["gemm"], sample, FLOAT32)
    assert np.isnan(out[17]).all()
    assert np.isnan(out).sum() == 256


def test_errors_are_less_than_those_of_multiply_adds(subject, plain):
    """As the documentation says: half of them, by their root mean square."""
    sample = gemm_sample(np.random.default_rng(11), 512, 512, 1024)
    spec = TABLE["gemm"]
    expected = expected_of(spec, sample, FLOAT32)[0].astype(np.float64)
    split, added = (
        np.sqrt(np.mean((s.run(spec, sample, FLOAT32)[0] - expected) ** 2))
        for s in (subject, plain)
    )
    assert split < 0.7 * added


@pytest.mark.parametrize(
    "shape", [(260, 1200, 600), (1500, 150, 140), (200, 330, 1700)], ids=str
)
def test_same_bits_for_any_number_of_threads(subject, shape):
    """Few threads take the steps of the third in passes, five in one."""
    sample = gemm_sample(np.random.default_rng(12), *shape)
    seen = []
    with subject.threads() as set_threads:
        for count in (1, 2, 5):
            set_threads(count)
            seen.append(subject.run(TABLE["gemm"], sample, FLOAT32)[0].tobytes())
    assert seen[0] == seen[1] == seen[2]


REASONS = {
    "too small": ((80, 400), (400, 900), np.float32),
    "b is a batch of matrices": ((300, 300), (2, 300, 300), np.float32),
    "does not take this dtype": ((300, 300), (300, 300), np.float64),
}


@pytest.mark.parametrize(("reason", "call"), REASONS.items(), ids=list(REASONS))
def test_what_it_leaves_to_others(reason, call):
    a, b, dtype = call
    text = str(ac.kernels.explain("gemm", *(ac.zeros(s, dtype=dtype) for s in (a, b))))
    assert reason in text.split(NAME)[1].splitlines()[0]
    assert "runs on simd-avx512" in text


PRODUCT = """
import autocalc as ac
a = ac.zeros((300, 300))
print(ac.kernels.explain("gemm", a, a))
with ac.kernels.count() as calls:
    ac.nn.functional.scaled_dot_product_attention(*[a.reshape(1, 1, 300, 300)] * 3)
print(calls)
"""


@pytest.mark.parametrize(
    "switch",
    [{"AUTOCALC_DISABLE_KERNELS": "split"}, {"AUTOCALC_CPU_FEATURES": "-amx_tile"}],
    ids=lambda switch: next(iter(switch)),
)
def test_it_is_chosen_and_can_be_switched_off(switch):
    a = ac.zeros((300, 300))
    assert f"runs on {NAME}" in str(ac.kernels.explain("gemm", a, a))
    with ac.kernels.use("simd"):
        assert "runs on simd-avx512" in str(ac.kernels.explain("gemm", a, a))
    done = subprocess.run(
        [sys.executable, "-c", PRODUCT],
        env={**os.environ, **switch},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "runs on simd-avx512" in done.stdout


def test_composites_that_it_lacks_stay_whole():
    """Attention is led by gemm, but the set adds to others and takes nothing apart."""
    q = ac.rand(1, 1, 300, 300)
    with ac.kernels.count() as calls:
        ac.nn.functional.scaled_dot_product_attention(q, q, q)
    assert all(name == "simd-avx512" for _, name in calls)
