# SPDX-License-Identifier: MIT
"""What kernels spend in their phases: as measured below the profiler."""

import statistics
from time import perf_counter_ns

import numpy as np
import pytest
from tests.engine import native


def gemm(kernels, a, b, activation="none"):
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    kernels["gemm"](out, None, a, b, None, 1.0, 0.0, activation, 0)
    return out


def layer_norm(kernels, x):
    out, mean, rstd = np.empty_like(x), *np.empty((2, *x.shape[:-1], 1), x.dtype)
    kernels["layer_norm"](out, mean, rstd, x, None, None, 1e-5)
    return out, mean, rstd


def batch_norm(kernels, x):
    out, mean, var = np.empty_like(x), *np.empty((2, x.shape[1]), x.dtype)
    kernels["batch_norm"](out, mean, var, x, None, None, 1e-5)
    return out


def attention(kernels, q):
    batch, queries, heads, _ = q.shape
    out, lse = np.empty_like(q), np.empty((batch, heads, queries), q.dtype)
    kernels["attention"](out, lse, q, q, q, None, None, None, 0.1, "none", 0.0)
    return out


def lstm(kernels, x, w_ih, w_hh):
    steps, batch, hidden = *x.shape[:2], w_hh.shape[1]
    out = np.empty((steps, batch, hidden), x.dtype)
    c_n, zeros = np.empty((batch, hidden), x.dtype), np.zeros((batch, hidden), x.dtype)
    kernels["lstm"](
        out, c_n, None, None, x, w_ih, w_hh, None, None, zeros, zeros, False
    )
    return out


@pytest.fixture
def normal(rng):
    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    return normal


@pytest.fixture
def measured():
    """Measure phases and what threads work."""
    native.measure_waiting(True)
    native.measure_phases(True)
    yield
    native.measure_waiting(False)
    native.measure_phases(False)


@pytest.fixture(params=[1, 2])
def threads(request, set_threads):
    set_threads(request.param)
    return request.param


class Since:
    """What the clock of the pool says since a moment."""

    def __init__(self):
        self.begin = native.read_clock()

    def __call__(self):
        """Return nanoseconds, what threads waited and helped, and phases."""
        start, stop, *others = native.clock_between(self.begin, native.read_clock())
        return stop - start, *others


def phases_of(run, *operands, times=5):
    """Return the phases of some calls; they fit into what all threads worked."""
    run(*operands)
    since = Since()
    for _ in range(times):
        run(*operands)
    passed, _, helped, phases = since()
    assert all(taken > 0 for taken in phases.values())
    assert sum(phases.values()) <= 1.02 * (passed + helped)
    return phases


def test_a_product_packs_and_computes(kernels, measured, threads, normal):
    a, b = normal(256, 300), normal(300, 256)
    phases = phases_of(gemm, kernels, a, b)
    assert phases["compute"] > 0
    assert set(phases) <= {"pack", "compute", "epilogue"}
    turned = phases_of(gemm, kernels, a, np.ascontiguousarray(b.T).T)
    assert turned["pack"] > 0


def test_most_of_a_large_product_is_told(kernels, measured, set_threads, normal):
    set_threads(1)
    a, b, out = normal(400, 400), normal(400, 400), np.empty((400, 400), np.float32)
    told = []
    for _ in range(20):  # other programs may run in between
        since = Since()
        kernels["gemm"](out, None, a, b, None, 1.0, 0.0, "none", 0)
        passed, _, helped, phases = since()
        assert helped == 0  # one thread did all
        told.append(sum(phases.values()) / passed)
    assert max(told) > 0.9


def test_an_activation_behind_a_product_is_its_epilogue(
    kernels, measured, threads, normal
):
    a, b = normal(128, 64), normal(64, 512)
    assert phases_of(gemm, kernels, a, b, "gelu")["epilogue"] > 0


def test_a_norm_has_statistics_and_writes(kernels, measured, threads, normal):
    shares = []
    for _ in range(5):  # a thread may be interrupted in a row that is timed
        phases = phases_of(layer_norm, kernels, normal(500, 768))
        assert set(phases) == {"statistics", "normalise"}
        shares.append(phases["statistics"] / sum(phases.values()))
    # Neither is much more than the other: two passes to read, one to read and write.
    assert 0.05 < statistics.median(shares) < 0.95


def test_so_has_a_norm_over_channels(kernels, measured, threads, normal):
    phases = phases_of(batch_norm, kernels, normal(16, 32, 20, 20))
    assert set(phases) == {"statistics", "normalise"}


def test_a_norms_backward(kernels, measured, threads, normal):
    x = normal(500, 256)
    _, mean, rstd = layer_norm(kernels, x)

    def backward():
        dx = np.empty_like(x)
        dweight, dbias = np.empty((2, 256), np.float32)
        kernels["layer_norm_backward"](
            dx, dweight, dbias, x, x, mean, rstd, np.ones(256, np.float32), 0
        )

    assert set(phases_of(backward)) == {"statistics", "normalise"}


def test_attention_has_scores_softmax_and_products(kernels, measured, threads, normal):
    phases = phases_of(attention, kernels, normal(2, 200, 4, 64))
    assert {"scores", "softmax", "products"} <= set(phases)


def test_an_lstm_has_products_and_gates(kernels, measured, threads, normal):
    operands = normal(10, 32, 48), normal(4 * 64, 48), normal(4 * 64, 64)
    phases = phases_of(lstm, kernels, *operands)
    assert {"pack", "compute", "gates"} <= set(phases)


def test_a_convolution_packs_and_computes(kernels, measured, threads, normal):
    x, weight = normal(4, 32, 24, 24), normal(32, 32, 3, 3)

    def conv():
        out = np.empty_like(x)
        kernels["conv"](out, x, weight, None, (1, 1), (1, 1), (1, 1), 1)

    assert {"pack", "compute"} <= set(phases_of(conv))


def test_nothing_moves_unless_phases_are_measured(kernels, threads, normal):
    a, x = normal(200, 200), normal(300, 256)
    since = Since()
    gemm(kernels, a, a)
    layer_norm(kernels, x)
    assert since()[1:] == (0, 0, {})


def test_the_clock_is_that_of_python_and_says_what_lies_between(
    kernels, measured, normal
):
    before = perf_counter_ns()
    begin = native.read_clock()
    gemm(kernels, normal(200, 200), normal(200, 200))
    end = native.read_clock()
    after = perf_counter_ns()
    start, stop, *_, phases = native.clock_between(begin, end)
    assert before <= start < stop <= after
    assert phases
    assert native.clock_between(begin, begin) == (start, start, 0, 0, {})


@pytest.mark.parametrize(
    ("readings", "message"),
    [
        ((b"",), r"incompatible function arguments.*\n.*\(begin: bytes, end: bytes\)"),
        ((1, 2), r"incompatible function arguments.*\n.*\(begin: bytes, end: bytes\)"),
        ((b"", b""), "other bytes are given, but a reading of read_clock is needed"),
    ],
)
def test_what_is_no_reading(readings, message):
    with pytest.raises(TypeError, match=message):
        native.clock_between(*readings)


def test_measuring_changes_no_bit(kernels, threads, normal):
    a, x, q = normal(123, 200), normal(301, 257), normal(1, 70, 2, 32)
    b = normal(200, 77)
    w_ih, w_hh = normal(4 * 24, 200), normal(4 * 24, 24)

    def all_of_them():
        return (
            gemm(kernels, a, b, "gelu"),
            *layer_norm(kernels, x),
            attention(kernels, q),
            lstm(kernels, a[None], w_ih, w_hh),
        )

    plain = all_of_them()
    native.measure_phases(True)
    try:
        other = all_of_them()
    finally:
        native.measure_phases(False)
    assert all(np.array_equal(one, two) for one, two in zip(plain, other, strict=True))


def test_a_kernel_that_fails_leaves_no_phase_behind(kernels, measured, normal):
    weight, out = normal(4, 8), np.empty((1, 8), np.float32)
    with pytest.raises(Exception, match=r"\b9\b"):
        kernels["embedding"](out, weight, np.array([9]))
    since = Since()
    while since()[0] < 2_000_000:
        pass
    assert since()[-1] == {}
